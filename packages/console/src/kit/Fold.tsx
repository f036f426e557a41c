import type { ComponentChildren } from "preact"

interface FoldProps {
  readonly title: string
  /** The content that is visible while the section is closed. */
  readonly summary?: ComponentChildren
  readonly class?: string
  readonly children: ComponentChildren
}

/** A section that opens when its heading is pressed. */
export const Fold = ({ children, class: name, summary, title }: FoldProps) => (
  <details class={name === undefined ? "fold" : `fold ${name}`}>
    <summary>
      <h2>{title}</h2> <span class="fold-summary">{summary}</span>
    </summary>
    {children}
  </details>
)

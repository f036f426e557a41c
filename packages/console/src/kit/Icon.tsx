import type { IconNode } from "lucide"
import { h } from "preact"

/** An icon of 16 px in the colour of the text beside it, which says what it stands for. */
export const Icon = ({ of }: { readonly of: IconNode }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    {of.map(([tag, attributes], index) => h(tag, { key: index, ...attributes }))}
  </svg>
)

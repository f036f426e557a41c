import { partsOf } from "./Invisible.js"

interface VisibleProps {
  readonly text: string
  /** Whether the text begins and ends here, where blanks and line feeds are not seen. */
  readonly isStart?: boolean
  readonly isEnd?: boolean
}

/**
 * A value, or a text that a person wrote: characters that are not seen are drawn, and none turns the text around it. What is
 * drawn is no part of the text: who copies it gets the text.
 */
export const Visible = ({ isEnd = true, isStart = true, text }: VisibleProps) => (
  <bdi class="visible">
    {partsOf(text, isStart, isEnd).map(({ mark, text: part }, index) =>
      mark === undefined ? (
        part
      ) : (
        <span key={index} class="invisible" role="img" aria-label={mark.name} title={mark.name} data-drawn={mark.drawn}>
          {part}
        </span>
      )
    )}
  </bdi>
)

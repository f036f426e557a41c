import type { Mistake } from "@coffer/domain/formats/Format"

const maxShown = 20

/** The mistakes of a text, by line. */
export const Mistakes = ({ mistakes }: { readonly mistakes: ReadonlyArray<Mistake> }) => (
  <ul class="import-mistakes" tabIndex={0} aria-label="Mistakes">
    {mistakes.slice(0, maxShown).map(({ line, problem }) => (
      <li key={`${line} ${problem}`}>
        <span class="quiet">Line {line}</span> {problem}
      </li>
    ))}
    {mistakes.length > maxShown && <li>and {mistakes.length - maxShown} more</li>}
  </ul>
)

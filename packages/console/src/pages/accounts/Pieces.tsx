import { CopyText } from "../../kit/CopyText.js"

/** A file or a command, and what to do with it. */
export interface Piece {
  readonly what: string
  readonly lines: string
}

/** Lines to copy, each with what to do with them. */
export const Pieces = ({ pieces }: { readonly pieces: ReadonlyArray<Piece> }) => (
  <>
    {pieces.map(({ lines, what }) => (
      <div key={lines} class="accounts-piece">
        <p>{what}</p>
        <pre class="code-lines" tabIndex={0}>
          {lines}
        </pre>
        <p class="row">
          <CopyText label="Copy" text={lines} />
        </p>
      </div>
    ))}
  </>
)

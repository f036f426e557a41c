import type { Piece } from "@coffer/domain/guides/Fill"
import { CopyText } from "../../kit/CopyText.js"

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

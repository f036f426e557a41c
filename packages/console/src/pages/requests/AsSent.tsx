import type { Approval } from "@coffer/domain/requests/Approval"
import { Visible } from "../../kit/Visible.js"

/** A request as it would be sent, without the values that the server puts in. */
export const AsSent = ({ request }: { readonly request: Approval }) => {
  const { body, body_base64, headers, method, store, url } = request
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return (
    <div class="approvals-sent">
      <p>
        <span class="badge">{method}</span>{" "}
        <code>
          <Visible text={url} />
        </code>
      </p>
      {lines.length > 0 && (
        <pre class="code-lines" tabIndex={0} aria-label="Headers">
          <Visible text={lines.join("\n")} />
        </pre>
      )}
      {body !== undefined && (
        <pre class="code-lines" tabIndex={0} aria-label="Body">
          <Visible text={body} />
        </pre>
      )}
      {body_base64 !== undefined && (
        <pre class="code-lines" tabIndex={0} aria-label="Body in base64, because it is not text">
          {body_base64}
        </pre>
      )}
      {store !== undefined && (
        <p>
          Stores <Visible text={store.pointer} /> as {store.key}.
        </p>
      )}
    </div>
  )
}

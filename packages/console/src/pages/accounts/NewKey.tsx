import type { ServiceAccountWithKey } from "@coffer/domain/ServiceAccount"
import { Redacted } from "effect"
import { CopyText } from "../../kit/CopyText.js"

/** The key of an account, which the server does not show again. The page forgets it with the dialog. */
export const NewKey = ({ account }: { readonly account: ServiceAccountWithKey }) => {
  const key = Redacted.value(account.api_key)
  return (
    <div class="accounts-key">
      <p>
        <strong>This is the only time that the key is shown.</strong> Coffer stores a hash of it.
      </p>
      <code tabIndex={0} role="group" aria-label={`Key of ${account.name}`}>
        {key}
      </code>
      <p class="row">
        <CopyText label="Copy the key" text={key} />
      </p>
    </div>
  )
}

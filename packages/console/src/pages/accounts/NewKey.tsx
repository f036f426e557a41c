import type { ServiceAccountWithKey } from "@coffer/domain/directory/ServiceAccount"
import * as Redacted from "effect/Redacted"
import { OneTimeKey } from "../../kit/OneTimeKey.js"
import type { Instead } from "../../routing/Unsent.js"

interface NewKeyProps {
  readonly account: ServiceAccountWithKey
  /** Ends a key that nobody has stored. */
  readonly revoke?: Instead
}

/** The key of an account. */
export const NewKey = ({ account, revoke }: NewKeyProps) => (
  <OneTimeKey
    of={account.name}
    text={Redacted.value(account.api_key)}
    stored="Coffer stores a hash of it."
    {...(revoke !== undefined && { revoke })}
  />
)

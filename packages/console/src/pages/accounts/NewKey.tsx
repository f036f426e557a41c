import type { ServiceAccountWithKey } from "@coffer/domain/ServiceAccount"
import * as Redacted from "effect/Redacted"
import { OneTimeKey } from "../../kit/OneTimeKey.js"

/** The key of an account. */
export const NewKey = ({ account }: { readonly account: ServiceAccountWithKey }) => (
  <OneTimeKey of={account.name} text={Redacted.value(account.api_key)} stored="Coffer stores a hash of it." />
)

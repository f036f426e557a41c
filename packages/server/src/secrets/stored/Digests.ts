import type { SecretKind } from "@coffer/domain/secrets/Secret"
import * as Redacted from "effect/Redacted"
import { createHmac, randomBytes } from "node:crypto"
import type { Value } from "../../keys/Envelope.js"

/** Returns the digest of a value: equal digests are those of equal values of one kind. */
export type Digests = (kind: SecretKind, value: Value) => string

/** Digests under a key that is forgotten with them. */
export const makeDigests = (): Digests => {
  const key = randomBytes(32)
  return (kind, value) =>
    createHmac("sha256", key).update(kind).update("\n").update(Redacted.value(value)).digest("base64")
}

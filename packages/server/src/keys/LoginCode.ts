import { createHmac, randomInt, timingSafeEqual } from "node:crypto"
import type { Email } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Subkeys } from "./Keyring.js"
import { lengthPrefixed } from "./Keyring.js"

/** Returns a login code of 6 digits, uniformly distributed. */
export const mintCode: Effect.Effect<Redacted.Redacted> = Effect.sync(() =>
  Redacted.make(String(randomInt(1_000_000)).padStart(6, "0"))
)

/**
 * Returns the stored form of a login code: HMAC-SHA256 (RFC 2104) of address, record id and code, under a subkey of the
 * master key. A plain hash in a stolen database would reveal the code.
 */
export const macCode = (keyring: Subkeys, email: Email, codeId: string, code: Redacted.Redacted): Uint8Array =>
  createHmac("sha256", keyring.loginCodeKey)
    .update(lengthPrefixed(email, codeId, Redacted.value(code)))
    .digest()

/** Compares two codes' MACs, or other bytes, in constant time. */
export const sameMac = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b)

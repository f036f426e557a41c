import { createHmac, randomInt, timingSafeEqual } from "node:crypto"
import type { Email } from "@coffer/domain/Names"
import { Effect, Redacted } from "effect"
import type { Subkeys } from "./Keyring.js"
import { lengthPrefixed } from "./Keyring.js"

/** Makes a login code: 6 digits, each of the million codes equally likely. */
export const mintCode: Effect.Effect<Redacted.Redacted> = Effect.sync(() =>
  Redacted.make(String(randomInt(1_000_000)).padStart(6, "0"))
)

/**
 * The form a code is stored in: HMAC-SHA256 (RFC 2104, 32 bytes) under a subkey of the master key, so that a stolen database
 * does not tell it. It is bound to the address and to the record of this one code.
 */
export const macCode = (keyring: Subkeys, email: Email, codeId: string, code: Redacted.Redacted): Uint8Array =>
  createHmac("sha256", keyring.loginCodeKey)
    .update(lengthPrefixed(email, codeId, Redacted.value(code)))
    .digest()

/** Compares in constant time. Different lengths are different. */
export const sameMac = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b)

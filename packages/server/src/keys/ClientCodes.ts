import { type CodeChallenge, UserCode, userCodeLength, userCodeLetters } from "@coffer/domain/directory/ClientLogin"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { createHash, createHmac, randomBytes, randomInt } from "node:crypto"
import { lengthPrefixed, type Subkeys } from "./Keyring.js"
import { sameMac } from "./LoginCode.js"

/** Returns a secret of 256 random bits: a device code, or the code of a loopback redirect. */
export const mintClientSecret: Effect.Effect<Redacted.Redacted> = Effect.sync(() =>
  Redacted.make(randomBytes(32).toString("base64url"))
)

/** Returns a user code of 8 letters, uniformly distributed over 20^8. */
export const mintUserCode: Effect.Effect<UserCode> = Effect.sync(() => {
  const letters = Array.from({ length: userCodeLength }, () => userCodeLetters[randomInt(userCodeLetters.length)] ?? "")
  return UserCode.make(letters.join(""))
})

const mac = (keyring: Subkeys, purpose: string, text: string): Uint8Array =>
  createHmac("sha256", keyring.loginCodeKey).update(lengthPrefixed(purpose, text)).digest()

/** The stored forms of a user code: the MACs of its first half, by which it is found, and of the whole code. */
export const macUserCode = (keyring: Subkeys, code: UserCode) => ({
  start: mac(keyring, "user code, first half", code.slice(0, userCodeLength / 2)),
  whole: mac(keyring, "user code", code)
})

/** Whether a verifier belongs to a challenge by S256 (RFC 7636, section 4.6). */
export const fitsChallenge = (verifier: Redacted.Redacted, challenge: CodeChallenge): boolean => {
  const found = createHash("sha256").update(Redacted.value(verifier)).digest()
  const expected = Buffer.from(challenge, "base64url")
  return sameMac(found, expected)
}

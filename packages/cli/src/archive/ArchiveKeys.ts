import { readPrivate } from "@coffer/client/internal/PrivateFile"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { CannotDo } from "../base/Failures.js"
import type { Codec } from "../grammar/Specs.js"

/** Public keys that an archive is encrypted for. */
export interface Recipients {
  readonly type: "recipients"
  readonly recipients: ReadonlyArray<string>
}

export interface Passphrase {
  readonly type: "passphrase"
  /** The file that holds it. */
  readonly file: string
  readonly passphrase: Redacted.Redacted
}

/** Private keys that can decrypt an archive. */
export interface Identities {
  readonly type: "identities"
  /** The file that holds them. */
  readonly file: string
  readonly identities: ReadonlyArray<Redacted.Redacted>
}

const bech32 = "[02-9ac-hj-np-z]"

/** A recipient as age-keygen prints it. The library checks its last six digits. */
export const recipient: Codec<string> = {
  value: "text",
  description: "",
  decode: (name, text) =>
    new RegExp(`^age1${bech32}{58}$`).test(text)
      ? Either.right(text)
      : Either.left(`${name} takes a recipient as age-keygen prints it: age1 and 58 more characters`)
}

const identity = new RegExp(`^AGE-SECRET-KEY-1${bech32}{58}$`, "i")

const shortestPassphrase = 12

const contentOf = (file: string) =>
  Effect.flatMap(
    readPrivate(file),
    Effect.mapError(() => new CannotDo({ message: `${file} does not exist` }))
  )

/** Reads the passphrase of a file that only its owner can read: the text before its end of line. */
export const readPassphrase = Effect.fnUntraced(function* (file: string) {
  const passphrase = (yield* contentOf(file)).replace(/\r?\n$/, "")
  const bad = (problem: string) => new CannotDo({ message: `${file} ${problem}` })
  if (/[\r\n]/.test(passphrase)) return yield* bad("has several lines: a passphrase is one line")
  if (passphrase.length < shortestPassphrase) {
    return yield* bad(`holds a passphrase of fewer than ${shortestPassphrase} characters: choose a longer one`)
  }
  const key: Passphrase = { type: "passphrase", file, passphrase: Redacted.make(passphrase) }
  return key
})

/** Reads the identities of a file as age-keygen writes it, which only its owner can read. */
export const readIdentities = Effect.fnUntraced(function* (file: string) {
  const lines = (yield* contentOf(file)).split(/\r?\n/).map((line) => line.trim())
  const identities = lines.filter((line) => line !== "" && !line.startsWith("#"))
  const bad = (problem: string) => new CannotDo({ message: `${file} ${problem}` })
  if (!Array.isNonEmptyReadonlyArray(identities)) return yield* bad("holds no identity of age")
  if (!identities.every((line) => identity.test(line))) {
    return yield* bad(
      "holds another thing than identities as age-keygen writes them: AGE-SECRET-KEY-1 and 58 characters"
    )
  }
  const key: Identities = { type: "identities", file, identities: identities.map((line) => Redacted.make(line)) }
  return key
})

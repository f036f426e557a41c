/** Encryption by age. Loaded late: few commands need it. */
import { Decrypter, Encrypter, type Stanza } from "age-encryption"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { WrongUsage } from "../base/Failures.js"
import { BadArchive } from "../base/BadArchive.js"
import type { Identities, Passphrase, Recipients } from "./ArchiveKeys.js"

/** The size of a chunk in age's format. Between two chunks, a signal can interrupt. */
const chunkSize = 64 * 1024

const inChunks = (parts: ReadonlyArray<Uint8Array>): ReadableStream<Uint8Array> => {
  let [index, offset] = [0, 0]
  return new ReadableStream({
    pull: (controller) => {
      let part = parts[index]
      for (; part !== undefined && offset >= part.length; part = parts[++index]) offset = 0
      if (part === undefined) return controller.close()
      controller.enqueue(part.subarray(offset, offset + chunkSize))
      offset += chunkSize
    }
  })
}

/** Returns the function that encrypts for these keys, in chunks. */
export const encryptionFor = (key: Passphrase | Recipients) =>
  Effect.try({
    try: () => {
      const encrypter = new Encrypter()
      if (key.type === "passphrase") encrypter.setPassphrase(Redacted.value(key.passphrase))
      else for (const recipient of key.recipients) encrypter.addRecipient(recipient)
      return (parts: ReadonlyArray<Uint8Array>): Stream.Stream<Uint8Array> =>
        Effect.promise(() => encrypter.encrypt(inChunks(parts))).pipe(
          Effect.map((stream) =>
            Stream.orDie(
              Stream.fromReadableStream(
                () => stream,
                (cause) => cause
              )
            )
          ),
          Stream.unwrap
        )
    },
    catch: () => new WrongUsage({ message: "a recipient of --to-age is mistyped: its check digits do not fit" })
  })

const begin = Buffer.from("age-encryption.org/v")
const version = Buffer.concat([begin, Buffer.from("1\n")])

const startsWith = (bytes: Buffer, start: Buffer) => bytes.subarray(0, start.length).equals(start)

/** Why a file cannot be decrypted whose header is sound. */
const foreign = (key: Identities | Passphrase, isForPassphrase: boolean): string => {
  if (key.type === "passphrase") {
    return isForPassphrase
      ? `cannot be decrypted: the passphrase in ${key.file} is not its passphrase`
      : "is encrypted for age recipients, not with a passphrase: give --identity"
  }
  return isForPassphrase
    ? "is encrypted with a passphrase: give --passphrase-file"
    : `cannot be decrypted: it is for other recipients than the identities in ${key.file}`
}

/**
 * Decrypts a file in memory.
 *
 * @param name the file's name, for messages.
 */
export const decrypt = Effect.fnUntraced(function* (key: Identities | Passphrase, name: string, bytes: Buffer) {
  const bad = (problem: string) => new BadArchive({ message: `${name} ${problem}` })
  if (!startsWith(bytes, version)) {
    return yield* startsWith(bytes, begin)
      ? bad("is in a newer version of age's format: update coffer")
      : bad("is not a file that age has encrypted")
  }
  const damaged = () => bad("is damaged or cut off: copy it again, or export again")
  const decrypter = new Decrypter()
  if (key.type === "passphrase") decrypter.addPassphrase(Redacted.value(key.passphrase))
  else {
    yield* Effect.try({
      try: () => key.identities.forEach((identity) => decrypter.addIdentity(Redacted.value(identity))),
      catch: () => new WrongUsage({ message: `an identity in ${key.file} is mistyped: its check digits do not fit` })
    })
  }
  const unmatched: Array<string | undefined> = []
  // Asked last, and only if no key fits.
  decrypter.addIdentity({
    unwrapFileKey: (stanzas: ReadonlyArray<Stanza>) => {
      unmatched.push(...stanzas.map(({ args }) => args[0]))
      return null
    }
  })
  const stream = yield* Effect.tryPromise({
    try: () => decrypter.decrypt(inChunks([bytes])),
    catch: () => (unmatched.length === 0 ? damaged() : bad(foreign(key, unmatched.includes("scrypt"))))
  })
  const chunks = yield* Stream.runCollect(Stream.fromReadableStream(() => stream, damaged))
  return Buffer.concat(Chunk.toReadonlyArray(chunks))
})

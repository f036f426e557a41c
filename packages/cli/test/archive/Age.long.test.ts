import { assert, describe, it } from "@effect/vitest"
import { Encrypter, generateX25519Identity, identityToRecipient } from "age-encryption"
import { Chunk, Effect, Exit, Fiber, Layer, Redacted, Stream } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { decrypt, encryptionFor } from "../../src/archive/Age.js"
import { type Identities, type Passphrase, readIdentities, readPassphrase } from "../../src/archive/ArchiveKeys.js"
import { openArchive, writeArchive } from "../../src/archive/ArchiveFile.js"
import { standardInput } from "../../src/terminal/Input.js"
import { silent } from "../../src/terminal/Output.js"

const folder = mkdtempSync(join(tmpdir(), "coffer-age-"))
afterAll(() => rmSync(folder, { recursive: true }))
const path = (name: string) => join(folder, name)
const put = (name: string, text: string) => {
  writeFileSync(path(name), text, { mode: 0o600 })
  return path(name)
}

const encrypt = (key: Parameters<typeof encryptionFor>[0], ...parts: ReadonlyArray<Uint8Array>) =>
  encryptionFor(key).pipe(
    Effect.flatMap((encryption) => Stream.runCollect(encryption(parts))),
    Effect.map((chunks) => Buffer.concat(Chunk.toReadonlyArray(chunks)))
  )

const identity = Effect.promise(generateX25519Identity)
const recipientOf = (text: string) => Effect.promise(() => identityToRecipient(text))
const identitiesOf = (...all: ReadonlyArray<string>): Identities => ({
  type: "identities",
  file: "key.txt",
  identities: all.map((each) => Redacted.make(each))
})
const passphrase = (text: string): Passphrase => ({
  type: "passphrase",
  file: "pass.txt",
  passphrase: Redacted.make(text)
})

/** Encrypts with a passphrase and a work factor that is far too low for real use, to be fast. */
const quickly = (text: string, content: string) =>
  Effect.promise(() => {
    const encrypter = new Encrypter()
    encrypter.setPassphrase(text)
    encrypter.setScryptWorkFactor(4)
    return encrypter.encrypt(content)
  }).pipe(Effect.map((bytes) => Buffer.from(bytes)))

const refused = (key: Identities | Passphrase, bytes: Buffer) =>
  decrypt(key, "acme.age", bytes).pipe(
    Effect.flip,
    Effect.map(({ message }) => message)
  )

describe("a file that age encrypts", () => {
  it.live("is read by each of its recipients, whatever the sizes of its parts", () =>
    Effect.gen(function* () {
      const [own, other] = [yield* identity, yield* identity]
      const recipients = [yield* recipientOf(own), yield* recipientOf(other)]
      const parts = [0, 1, 65_535, 0, 65_536, 200_000].map((size, index) => Buffer.alloc(size, index))
      const bytes = yield* encrypt({ type: "recipients", recipients }, ...parts)
      for (const each of [identitiesOf(own), identitiesOf(yield* identity, other)]) {
        assert.deepStrictEqual(yield* decrypt(each, "acme.age", bytes), Buffer.concat(parts))
      }
      const empty = yield* encrypt({ type: "recipients", recipients })
      assert.strictEqual((yield* decrypt(identitiesOf(own), "acme.age", empty)).length, 0)
    })
  )

  it.live("is read with its passphrase, under the work factor of age", () =>
    Effect.gen(function* () {
      const bytes = yield* encrypt(passphrase("correct horse battery"), Buffer.from("content"))
      assert.match(bytes.toString("latin1"), /^age-encryption\.org\/v1\n-> scrypt \S+ 18\n/)
      const quick = yield* quickly("correct horse battery", "content")
      const plain = yield* decrypt(passphrase("correct horse battery"), "acme.age", quick)
      assert.strictEqual(plain.toString(), "content")
    })
  )

  it.live("is refused with one sentence when it is foreign, changed, cut off, newer or another file", () =>
    Effect.gen(function* () {
      const own = yield* identity
      const recipients = [yield* recipientOf(own)]
      const bytes = yield* encrypt({ type: "recipients", recipients }, Buffer.alloc(150_000, 7))
      const locked = yield* quickly("correct horse battery", "content")
      const foreign = "acme.age cannot be decrypted: it is for other recipients than the identities in key.txt"
      assert.strictEqual(yield* refused(identitiesOf(yield* identity), bytes), foreign)
      assert.strictEqual(
        yield* refused(passphrase("wrong horse battery"), locked),
        "acme.age cannot be decrypted: the passphrase in pass.txt is not its passphrase"
      )
      assert.strictEqual(
        yield* refused(identitiesOf(own), locked),
        "acme.age is encrypted with a passphrase: give --passphrase-file"
      )
      assert.strictEqual(
        yield* refused(passphrase("correct horse battery"), bytes),
        "acme.age is encrypted for age recipients, not with a passphrase: give --identity"
      )
      const damaged = "acme.age is damaged or cut off: copy it again, or export again"
      for (const size of [22, 30, 100, 180, 200, 250, 65_000, bytes.length - 65_000, bytes.length - 1]) {
        assert.strictEqual(yield* refused(identitiesOf(own), bytes.subarray(0, size)), damaged, `cut off at ${size}`)
      }
      for (const offset of [bytes.indexOf("\n--- ") + 6, bytes.length - 100_000, bytes.length - 1]) {
        const changed = Buffer.from(bytes)
        changed[offset] = (changed[offset] ?? 0) ^ 1
        assert.strictEqual(yield* refused(identitiesOf(own), changed), damaged, `changed at ${offset}`)
      }
      const text = Buffer.from("age-encryption.org/v2\n-> X25519\n")
      assert.strictEqual(
        yield* refused(identitiesOf(own), text),
        "acme.age is in a newer version of age's format: update coffer"
      )
      for (const other of ["", "{}", "age-encryption"]) {
        assert.strictEqual(
          yield* refused(identitiesOf(own), Buffer.from(other)),
          "acme.age is not a file that age has encrypted"
        )
      }
    })
  )

  it.live("is read by age itself, and what age writes is read here", (context) =>
    Effect.gen(function* () {
      context.skip(spawnSync("age", ["--version"]).status !== 0, "age is not installed")
      const own = yield* identity
      const keyFile = put("own.txt", `${own}\n`)
      const recipient = yield* recipientOf(own)
      const content = Buffer.alloc(200_000, "canary")
      const ours = yield* encrypt({ type: "recipients", recipients: [recipient] }, content)
      const options = { maxBuffer: 1_000_000 }
      assert.deepStrictEqual(execFileSync("age", ["-d", "-i", keyFile], { ...options, input: ours }), content)
      const theirs = execFileSync("age", ["-r", recipient], { ...options, input: content })
      assert.deepStrictEqual(yield* decrypt(yield* readIdentities(keyFile), "acme.age", theirs), content)
      rmSync(keyFile)
    })
  )

  it.live("is written whole or not at all, for its owner alone, and over another file only by force", () =>
    Effect.gen(function* () {
      const chunks = Stream.make(Buffer.from("one"), Buffer.from("two"))
      const file = path("acme.age")
      yield* writeArchive(yield* openArchive(file, false), chunks)
      assert.strictEqual(readFileSync(file, "utf8"), "onetwo")
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      const refused = yield* Effect.flip(openArchive(file, false))
      assert.match(refused.message, /exists: name another file, or .* --force$/)
      yield* writeArchive(yield* openArchive(file, true), Stream.make(Buffer.from("three")))
      assert.strictEqual(readFileSync(file, "utf8"), "three")
      const half = path("half.age")
      const open = yield* openArchive(half, false)
      const writing = yield* Effect.fork(writeArchive(open, Stream.concat(chunks, Stream.never)))
      yield* Effect.sleep("20 millis")
      assert.lengthOf(readdirSync(folder), 2)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(writing)))
      assert.isFalse(existsSync(half))
      assert.deepStrictEqual(readdirSync(folder), ["acme.age"])
      // Another program makes the file while the archive is written.
      writeFileSync(half, "theirs")
      assert.match(
        (yield* Effect.flip(writeArchive(open, chunks))).message,
        /another program wrote .*half\.age meanwhile/
      )
      assert.strictEqual(readFileSync(half, "utf8"), "theirs")
    }).pipe(Effect.provide(Layer.provideMerge(standardInput, silent)))
  )
})

describe("the keys of an archive", () => {
  it.live("come from files that only their owner can read", () =>
    Effect.gen(function* () {
      const own = yield* identity
      const read = yield* readIdentities(put("key.txt", `# created: today\n# public key: age1...\n${own}\n\n`))
      assert.deepStrictEqual(read.identities.map(Redacted.value), [own])
      const phrase = yield* readPassphrase(put("pass.txt", "correct horse battery\n"))
      assert.strictEqual(Redacted.value(phrase.passphrase), "correct horse battery")
      chmodSync(path("pass.txt"), 0o640)
      assert.include(
        (yield* Effect.flip(readPassphrase(path("pass.txt")))).message,
        "can be read by others; run: chmod 600"
      )
      assert.include((yield* Effect.flip(readPassphrase(path("none")))).message, "none does not exist")
      const refusals = [
        [readPassphrase(put("short", "elevenchars\n")), "holds a passphrase of fewer than 12 characters"],
        [readPassphrase(put("lines", "correct horse\nbattery staple\n")), "has several lines"],
        [readIdentities(put("comments", "# nothing\n")), "holds no identity of age"],
        [readIdentities(put("other", "AGE-PLUGIN-YUBIKEY-1QQQQ\n")), "holds another thing than identities"],
        [readIdentities(put("public", yield* recipientOf(own))), "holds another thing than identities"]
      ] as const
      for (const [reading, said] of refusals) {
        const { message } = yield* Effect.flip(
          Effect.asVoid<Identities | Passphrase, { readonly message: string }, never>(reading)
        )
        assert.include(message, said)
        assert.notMatch(message, /horse|YUBIKEY|age1/)
      }
    })
  )

  it.live("are checked by their last digits before anything is done", () =>
    Effect.gen(function* () {
      const own = yield* identity
      const mistyped = (text: string, digits: string) =>
        text.replace(/.$/, (last) => [...digits].find((digit) => digit !== last) ?? "")
      const recipients = [mistyped(yield* recipientOf(own), "qp")]
      const { message } = yield* Effect.flip(encryptionFor({ type: "recipients", recipients }))
      assert.strictEqual(message, "a recipient of --to-age is mistyped: its check digits do not fit")
      const bytes = yield* encrypt({ type: "recipients", recipients: [yield* recipientOf(own)] })
      assert.strictEqual(
        yield* refused(identitiesOf(mistyped(own, "QP")), bytes),
        "an identity in key.txt is mistyped: its check digits do not fit"
      )
    })
  )
})

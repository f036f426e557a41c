import { execFileSync, spawnSync } from "node:child_process"
import { createHash, generateKeyPairSync } from "node:crypto"
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "vitest"
import { root } from "../support/Documents.js"
import { Version } from "../../src/base/Version.js"
import { runInProcess } from "../support/InProcess.js"
import { Effect } from "effect"
import { freshFolder } from "./Support.js"

const folder = freshFolder()

const keyPair = (name: string, namedCurve = "prime256v1") => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve })
  const files = { secret: join(folder, `${name}.key`), open: join(folder, `${name}.pem`) }
  writeFileSync(files.secret, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 })
  writeFileSync(files.open, publicKey.export({ type: "spki", format: "pem" }))
  return files
}

const publisher = keyPair("publisher")
const stranger = keyPair("stranger")

const signing = JSON.stringify(`${root}scripts/release/signing.mjs`)

/** Writes the signatures beside SHA256SUMS with the release's own script. */
const sign = (target: string, key: string, of: string, commit = "0123abcd") => {
  const script = `
    import { readFile, writeFile } from "node:fs/promises"
    import { releaseKey, signatures } from ${signing}
    const [target, key, version, commit] = process.argv.slice(1)
    const made = signatures(await releaseKey(key), await readFile(target + "/SHA256SUMS", "utf8"), { commit, version })
    for (const [name, content] of Object.entries(made)) await writeFile(target + "/" + name, content)`
  execFileSync(process.execPath, ["--input-type=module", "--eval", script, target, key, of, commit])
}

const content: Readonly<Record<string, string>> = { "coffer.tgz": "the client", "man/man1/coffer.1": "a page" }

/** A release of two files and more, signed by the publisher. */
const release = (name: string, of = "9.0.0", more: typeof content = {}) => {
  const target = join(folder, name)
  const files = Object.entries({ ...content, ...more })
  for (const [path, text] of files) {
    mkdirSync(dirname(join(target, path)), { recursive: true })
    writeFileSync(join(target, path), text)
  }
  const sum = (text: string) => createHash("sha256").update(text).digest("hex")
  const sums = files.map(([path, text]) => `${sum(text)}  ${path}\n`)
  writeFileSync(join(target, "SHA256SUMS"), sums.join(""))
  sign(target, publisher.secret, of)
  return target
}

const verify = (target: string, key: ReadonlyArray<string> = ["--key", publisher.open]) =>
  Effect.runPromise(
    Effect.provideService(runInProcess(["verify-release", target, ...key, "--json"], {}), Version, "1.0.0")
  )

interface Finding {
  readonly check: string
  readonly state: string
  readonly finding: string
}

/** The check that failed and what it says. */
const refusal = async (target: string, key = publisher.open, more: ReadonlyArray<string> = []) => {
  const { code, stdout } = await verify(target, ["--key", key, ...more])
  const { data }: { readonly data: ReadonlyArray<Finding> } = JSON.parse(stdout)
  assert.strictEqual(code, 1, stdout)
  const failed = data.filter(({ state }) => state === "failed")
  assert.lengthOf(failed, 1)
  assert.lengthOf(data, 4)
  return failed.map(({ check, finding }) => `${check}: ${finding.replaceAll(folder, "")}`)[0]
}

const spoil = (name: string, path: string, change: (text: string) => string | null) => {
  const target = release(name)
  const file = join(target, path)
  const text = change(readFileSync(file, "utf8"))
  if (text === null) rmSync(file)
  else writeFileSync(file, text)
  return target
}

const flip = (text: string) => `${text.slice(0, -3)}${text.at(-3) === "A" ? "B" : "A"}${text.slice(-2)}`

describe("coffer verify-release", () => {
  it("finds a release as its publisher signed it", async () => {
    const { code, stdout } = await verify(release("good"))
    assert.strictEqual(code, 0, stdout)
    const { data }: { readonly data: ReadonlyArray<Finding> } = JSON.parse(stdout)
    assert.deepStrictEqual(
      data.map(({ check, state }) => `${check} ${state}`),
      ["sums ok", "signature ok", "provenance ok", "version ok"]
    )
    assert.match(data[2]?.finding ?? "", /0123abcd/)
  })

  it.each([
    ["a changed file", "coffer.tgz", flip, "sums: coffer.tgz is not the file that SHA256SUMS names: download it again"],
    ["a missing file", "coffer.tgz", () => null, "sums: coffer.tgz is missing; SHA256SUMS names it"],
    ["no sums", "SHA256SUMS", () => null, "has no SHA256SUMS: give the folder of a release, with all of its files"],
    [
      "a path that leaves the folder",
      "SHA256SUMS",
      (text: string) => text.replace("coffer.tgz", "../coffer.tgz"),
      "sums: SHA256SUMS, line 1: is not a digest, two spaces and the name of a file"
    ],
    ["a file twice", "SHA256SUMS", (text: string) => text + text, "sums: SHA256SUMS, line 3: names coffer.tgz again"],
    ["no signature", "SHA256SUMS.sig", () => null, "signature: the release is not signed: it has no SHA256SUMS.sig"],
    [
      "a damaged signature",
      "SHA256SUMS.sig",
      (text: string) => text.slice(0, 40),
      "signature: SHA256SUMS.sig is damaged: it holds no signature in base64"
    ],
    ["no statement", "provenance.intoto.jsonl", () => null, "provenance: the release does not say how it was made"],
    [
      "a damaged statement",
      "provenance.intoto.jsonl",
      (text: string) => text.slice(0, 90),
      "provenance: provenance.intoto.jsonl is damaged: it is no signed statement of a release"
    ],
    [
      "another statement under the same signature",
      "provenance.intoto.jsonl",
      (text: string) => text.replace(/"payload":"(.{40})/, (_, head: string) => `"payload":"${flip(head)}`),
      "provenance: provenance.intoto.jsonl was not signed by the key"
    ]
  ])("refuses %s in one sentence", async (name, path, change, sentence) => {
    assert.include(await refusal(spoil(name, path, change)), sentence)
  })

  it("refuses a file that the sums do not name, and a symbolic link in place of one", async () => {
    const more = release("more")
    writeFileSync(join(more, "install.sh"), "rm -rf /")
    assert.include(await refusal(more), "sums: install.sh is no file of the release: SHA256SUMS does not name it")
    for (const [path, sentence] of [
      ["coffer.tgz", "sums: coffer.tgz is missing; SHA256SUMS names it"],
      ["SHA256SUMS", "has no SHA256SUMS: give the folder of a release"],
      ["SHA256SUMS.sig", "signature: the release is not signed: it has no SHA256SUMS.sig"],
      ["provenance.intoto.jsonl", "provenance: the release does not say how it was made"]
    ] as const) {
      const linked = release(`linked ${path}`)
      renameSync(join(linked, path), join(folder, path))
      symlinkSync(join(folder, path), join(linked, path))
      assert.include(await refusal(linked), sentence)
    }
  })

  it("refuses what another key signed, the statement of another release, and an older one", async () => {
    const other = release("other key")
    sign(other, stranger.secret, "9.0.0")
    assert.match((await refusal(other)) ?? "", /^signature: SHA256SUMS was not signed by the key SHA256:[\w+/]{43}: /)
    const mixed = release("mixed")
    const elsewhere = release("elsewhere")
    const sums = readFileSync(join(elsewhere, "SHA256SUMS"), "utf8").split("\n")
    writeFileSync(join(elsewhere, "SHA256SUMS"), `${sums[0]}\n`)
    sign(elsewhere, publisher.secret, "9.0.0")
    writeFileSync(
      join(mixed, "provenance.intoto.jsonl"),
      readFileSync(join(elsewhere, "provenance.intoto.jsonl"), "utf8")
    )
    assert.include(await refusal(mixed), "provenance: provenance.intoto.jsonl is of another release")
    assert.include(await refusal(release("older", "0.9.9")), "version: the release is 0.9.9, which is older than 1.0.0")
  })

  it("compares versions as Semantic Versioning does, so that a pre-release precedes its version", async () => {
    for (const older of ["1.0.0-rc.1", "0.10.0", "1.0.0-0"]) {
      const sentence = `version: the release is ${older}, which is older than 1.0.0, which is installed`
      assert.include(await refusal(release(older, older)), sentence)
    }
    for (const [installed, newer] of [
      ["1.0.0-rc.1", "1.0.0"],
      ["1.0.0-rc.2", "1.0.0-rc.10"],
      ["1.0.0-alpha", "1.0.0-alpha.1"],
      ["1.0.0-1", "1.0.0-alpha"],
      ["1.0.0", "1.0.0+build.5"]
    ] as const) {
      const target = release(newer, newer)
      const run = (version: string) =>
        Effect.runPromise(
          Effect.provideService(runInProcess(["verify-release", target, "--key", publisher.open], {}), Version, version)
        )
      assert.strictEqual((await run(installed)).code, 0, `${newer} after ${installed}`)
    }
    for (const none of ["9.0.0junk", "9.0", "v9.0.0"])
      assert.include(await refusal(release(none, none)), "version: the release has no version")
  })

  it("refuses another version than the expected one, and packages of another version", async () => {
    const early = release("early", "9.0.0-rc.1", { "coffer-9.0.0-rc.1.tgz": "the client" })
    const expecting = (version: string) => verify(early, ["--key", publisher.open, "--expect", version])
    assert.include(
      await refusal(early, publisher.open, ["--expect", "9.0.0"]),
      "version: the release is 9.0.0-rc.1, not 9.0.0"
    )
    assert.strictEqual((await expecting("9.0.0-rc.1")).code, 0)
    assert.include((await expecting("v9.0.0")).stderr, "--expect takes a version, such as 0.3.0")
    assert.include(
      await refusal(release("mislabelled", "9.0.0", { "coffer-8.0.0.tgz": "the client of 8.0.0" })),
      "version: the statement is of 9.0.0, and SHA256SUMS names coffer-8.0.0.tgz: they are of different releases"
    )
  })

  it("takes a public key of P-256 alone, and asks for a key where no key is built in", async () => {
    const target = release("keys")
    const without = await verify(target, [])
    assert.include(without.stderr, "no key is built into this client: give the publisher's public key with --key")
    const { open } = keyPair("another curve", "secp384r1")
    assert.include(await refusal(target, open), "the key is no public key of the curve P-256 in PEM")
    assert.include(await refusal(target, publisher.secret), "the key is a private key")
    assert.include(await refusal(target, join(folder, "none")), "cannot read the key")
  })

  const has = (program: string) => spawnSync(program, ["--help"]).error === undefined
  const openssl = has("openssl")
  it.skipIf(!openssl)(`is what openssl finds too${openssl ? "" : " [there is no openssl]"}`, () => {
    const target = release("openssl")
    const der = join(target, "../sums.der")
    writeFileSync(der, Buffer.from(readFileSync(join(target, "SHA256SUMS.sig"), "utf8"), "base64"))
    const args = ["dgst", "-sha256", "-verify", publisher.open, "-signature", der, join(target, "SHA256SUMS")]
    assert.include(execFileSync("openssl", args, { encoding: "utf8" }), "Verified OK")
  })

  const ssh = has("ssh-keygen")
  it.skipIf(!ssh)(`is what ssh-keygen finds too${ssh ? "" : " [there is no ssh-keygen]"}`, () => {
    const target = release("ssh")
    const allowed = join(folder, "allowed_signers")
    const key = execFileSync("ssh-keygen", ["-i", "-m", "PKCS8", "-f", publisher.open], { encoding: "utf8" })
    writeFileSync(allowed, `coffer namespaces="file" ${key}`)
    const args = ["-Y", "verify", "-f", allowed, "-I", "coffer", "-n", "file"]
    const check = (input: Buffer) =>
      spawnSync("ssh-keygen", [...args, "-s", join(target, "SHA256SUMS.sshsig")], { input, encoding: "utf8" })
    const sums = readFileSync(join(target, "SHA256SUMS"))
    const { status, stderr, stdout } = check(sums)
    assert.strictEqual(status, 0, stdout + stderr)
    assert.notStrictEqual(check(Buffer.concat([sums, Buffer.from("x")])).status, 0)
  })
})

describe("the commit of a signed release", () => {
  const repository = join(folder, "repository")
  const git = (...words: ReadonlyArray<string>) => {
    const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"]
    return execFileSync("git", [...who, ...words], { cwd: repository, encoding: "utf8", stdio: "pipe" }).trim()
  }
  const commitOf = (of: string) => {
    const script = `
      import { commitOf } from ${JSON.stringify(`${root}scripts/release/source.mjs`)}
      try { console.log(commitOf(...process.argv.slice(1))) } catch (error) { console.log(error.message) }`
    const args = ["--input-type=module", "--eval", script, repository, of]
    return execFileSync(process.execPath, args, { encoding: "utf8" }).trim()
  }

  it("has the tag of the version or no tag, and the files of the release", () => {
    mkdirSync(repository)
    git("init", "--quiet")
    writeFileSync(join(repository, "package.json"), "{}")
    git("add", ".")
    git("commit", "--quiet", "--message", "first")
    assert.strictEqual(commitOf("9.0.0"), git("rev-parse", "HEAD"))
    git("tag", "v9.0.0-rc.1")
    assert.strictEqual(commitOf("9.0.0"), "the commit is tagged v9.0.0-rc.1, and package.json has the version 9.0.0")
    git("tag", "v9.0.0")
    assert.strictEqual(commitOf("9.0.0"), git("rev-parse", "HEAD"))
    writeFileSync(join(repository, "package.json"), "[]")
    assert.match(commitOf("9.0.0"), /^commit or undo what is changed, then sign the release:\n ?M package.json$/)
  })
})

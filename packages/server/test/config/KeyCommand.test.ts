import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { loadConfig } from "@coffer/server/base/Config"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, TestClock } from "effect"

const key = "c0ffee".padEnd(64, "0")

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "coffer-key-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const load = (command: unknown, environment: Readonly<Record<string, string>> = {}) =>
  Effect.map(
    loadConfig({
      PATH: process.env["PATH"],
      SMTP_HOST: "log",
      SERVICE_MASTER_KEY_COMMAND: typeof command === "string" ? command : JSON.stringify(command),
      ...environment
    }),
    ({ masterKey }) => Redacted.value(masterKey)
  )

/** Returns the part of the message after the variable's name. */
const refusal = (command: unknown, environment?: Readonly<Record<string, string>>) =>
  Effect.map(Effect.flip(load(command, environment)), ({ problems }) => {
    assert.deepStrictEqual(
      problems.map(({ variable }) => variable),
      ["SERVICE_MASTER_KEY_COMMAND"]
    )
    return problems[0]?.rule ?? ""
  })

const sh = (script: string) => ["sh", "-c", script]

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
  } catch {
    return false
  }
}

const until = (holds: () => boolean) =>
  Effect.promise(async () => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
  })

describe("the master key by a command", () => {
  it.effect("is what the command prints, with or without the end of a line", () =>
    Effect.gen(function* () {
      for (const command of [
        ["printf", key],
        ["echo", key.toUpperCase()],
        ["printf", `${key}\r\n`]
      ]) {
        assert.strictEqual((yield* load(command)).toLowerCase(), key)
      }
    })
  )

  it.effect("has a sentence for each failure, without anything that was printed", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "text")
      writeFileSync(file, "hunter2")
      chmodSync(file, 0o600)
      for (const [command, sentence] of [
        [["printf", ""], "names a program that printed nothing"],
        [["printf", "hunter2"], "names a program that printed something else than 64 hexadecimal digits"],
        [["printf", `${key} `], "names a program that printed something else than 64 hexadecimal digits"],
        [sh(`echo ${key}; echo ${key}`), "names a program that printed something else than 64 hexadecimal digits"],
        [["yes", "hunter2"], "names a program that printed more than 1024 bytes: it must print the key alone"],
        [sh(`echo ${key}; echo hunter2 >&2; exit 3`), "names a program that ended with the exit code 3"],
        [sh(`echo ${key}; kill -TERM $$`), "names a program that ended with SIGTERM"],
        [["coffer-no-such-program"], "names a program that was not found"],
        [[file], "names a program that cannot be run (EACCES)"]
      ] as const) {
        assert.strictEqual(yield* refusal(command), sentence)
      }
      const form = /^must be a JSON array of a program and its arguments/
      for (const command of [
        `op read hunter2`,
        "[]",
        '[""]',
        '["op", 1]',
        '{"op":"read"}',
        '"op"',
        '["op","\\u0000"]'
      ]) {
        assert.match(yield* refusal(command), form)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("is killed with its children after ten seconds", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const file = (name: string) => join(path, name)
      // The second one has no output of its own to hold the first one up.
      const script = `sleep 600 & echo $! > ${file("child")}; echo $$ > ${file("own")}; mv ${file("own")} ${file("parent")}; wait`
      const running = yield* Effect.fork(refusal(sh(script)))
      yield* until(() => existsSync(file("parent")))
      const pids = ["child", "parent"].map((name) => Number(readFileSync(file(name), "utf8")))
      assert.deepStrictEqual(pids.map(isRunning), [true, true])
      yield* TestClock.adjust("9 seconds")
      assert.deepStrictEqual(pids.map(isRunning), [true, true])
      yield* TestClock.adjust("1 second")
      assert.strictEqual(
        yield* Fiber.join(running),
        "names a program that did not end within 10 seconds, and was killed"
      )
      yield* until(() => !pids.some(isRunning))
    }).pipe(Effect.scoped)
  )

  it.effect("is not handed the settings of the server, nor a shell", () =>
    Effect.gen(function* () {
      const seen = join(yield* folder, "seen")
      const secrets = { SMTP_PASSWORD: "hunter2", SERVICE_NEW_MASTER_KEY: key, AWS_PROFILE: "coffer" }
      assert.strictEqual(yield* load(sh(`env > ${seen}; echo ${key}`), secrets), key)
      const environment = readFileSync(seen, "utf8")
      assert.match(environment, /^AWS_PROFILE=coffer$/m)
      assert.notMatch(environment, /hunter2|c0ffee|^SERVICE_|^SMTP_/m)
      assert.strictEqual(yield* load(["printf", "%s", key, "$(touch /tmp/coffer-shell)"].slice(0, 3)), key)
      assert.match(yield* refusal(["echo", "$HOME", ";", "id"]), /something else/)
    }).pipe(Effect.scoped)
  )

  it.effect("excludes the other ways to give the key, and names them", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* refusal(["printf", key], { SERVICE_MASTER_KEY: key }),
        "and SERVICE_MASTER_KEY are both set: give one of them"
      )
      assert.strictEqual(
        yield* refusal(["printf", key], { SERVICE_MASTER_KEY_FILE: "/etc/coffer/master.key" }),
        "and SERVICE_MASTER_KEY_FILE are both set: give one of them"
      )
    })
  )
})

const page = readFileSync(new URL("../../../../docs/operations/master-key.md", import.meta.url), "utf8")

/** The command of a recipe in the documentation, with its files in a folder. */
const recipe = (program: string, path: string): ReadonlyArray<string> => {
  const [, line = "[]"] = new RegExp(`^SERVICE_MASTER_KEY_COMMAND='(\\["${program}".*\\])'$`, "m").exec(page) ?? []
  const words: ReadonlyArray<string> = JSON.parse(line)
  assert.isAbove(words.length, 1, program)
  return words.map((word) => word.replaceAll("/etc/coffer/", `${path}/`))
}

const has = (program: string) => spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0

const run = (program: string, args: ReadonlyArray<string>, input = "", env: Readonly<Record<string, string>> = {}) => {
  const { status, stderr, stdout } = spawnSync(program, args, {
    input,
    encoding: "utf8",
    env: { ...process.env, ...env }
  })
  assert.strictEqual(status, 0, `${program}: ${stderr}`)
  return stdout
}

/** Without a key of this machine, which needs its administrator. */
const nullKey = (() => {
  const tried = spawnSync("systemd-creds", ["encrypt", "--with-key=null", "--name=x", "-", "-"], { input: "x" })
  return tried.status === 0 ? "null" : "tpm2-absent"
})()
const encrypted = spawnSync("systemd-creds", ["encrypt", `--with-key=${nullKey}`, "--name=x", "-", "-"], { input: "x" })
const hasCreds =
  encrypted.status === 0 &&
  spawnSync("systemd-creds", ["decrypt", "--name=x", "-", "-"], { input: encrypted.stdout }).status === 0

describe("the recipes of the documentation", () => {
  it.scoped.skipIf(!has("gpg"))("give the key by gpg (needs gpg)", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const home = { GNUPGHOME: path }
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => spawnSync("gpgconf", ["--homedir", path, "--kill", "all"], { stdio: "ignore" }))
      )
      const quick = ["--batch", "--quiet", "--passphrase", "", "--quick-generate-key", "coffer@example.com", "ed25519"]
      run("gpg", [...quick, "default", "never"], "", home)
      run("gpg", ["--batch", "--quiet", "--passphrase", "", "--quick-add-key", fingerprint(path), "cv25519"], "", home)
      const encrypt = ["--batch", "--encrypt", "--recipient", "coffer@example.com", "--trust-model", "always"]
      run("gpg", [...encrypt, "--output", join(path, "master.key.gpg")], `${key}\n`, home)
      assert.strictEqual(yield* load(recipe("gpg", path), home), key)
    })
  )

  it.scoped.skipIf(!has("age"))("give the key by age (needs age)", () =>
    Effect.gen(function* () {
      const path = yield* folder
      run("age-keygen", ["--output", join(path, "age.key")])
      const recipient = run("age-keygen", ["-y", join(path, "age.key")]).trim()
      run("age", ["--encrypt", "--recipient", recipient, "--output", join(path, "master.key.age")], `${key}\n`)
      assert.strictEqual(yield* load(recipe("age", path)), key)
    })
  )

  it.scoped.skipIf(!hasCreds)("give the key by systemd-creds (needs systemd-creds)", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const file = join(path, "master.key.cred")
      run("systemd-creds", ["encrypt", `--with-key=${nullKey}`, "--name=master.key", "-", file], key)
      assert.strictEqual(yield* load(recipe("systemd-creds", path)), key)
    })
  )
})

const fingerprint = (home: string): string =>
  /^fpr:+([0-9A-F]{40}):/m.exec(run("gpg", ["--homedir", home, "--list-keys", "--with-colons"]))?.[1] ?? ""

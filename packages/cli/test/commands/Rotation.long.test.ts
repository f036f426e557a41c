import { spawn, spawnSync } from "node:child_process"
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it, onTestFinished } from "vitest"
import { cleanUp, freshFolder, masterKey as oldKey, Program } from "../../../server/test/support/Program.js"
import { finish, node, type Result } from "../support/Programs.js"

const bin = fileURLToPath(new URL("../../bin/coffer.js", import.meta.url))
const serverPackage = fileURLToPath(new URL("../../../server/package.json", import.meta.url))
const root = { SUPERADMIN_EMAIL_0: "root@example.com" }
const newKey = "Ab".repeat(32)
const printed = `${"ab".repeat(32)}\n`
const secrets = "/api/orgs/acme/projects/webshop/envs/prod/secrets"
const values = { ONE: "first", TWO: "second", THREE: "third" }

type Variables = Readonly<Record<string, string>>

let template = ""

/** A folder with a copy of the database, which no server owns. */
const folderWithDatabase = () => {
  const folder = freshFolder()
  copyFileSync(join(template, "service.db"), join(folder, "service.db"))
  chmodSync(join(folder, "service.db"), 0o600)
  return folder
}

interface Options {
  readonly args?: ReadonlyArray<string>
  readonly env?: Variables
  readonly input?: string
  readonly program?: string
}

/** Runs `coffer master-key rotate` to its end. */
const rotate = (folder: string, { args = [], env = {}, input = "", program = bin }: Options): Promise<Result> =>
  finish(
    spawn(node, [program, "master-key", "rotate", "--db", "service.db", ...args], {
      cwd: folder,
      env: { PATH: process.env["PATH"], HOME: folder, SERVICE_MASTER_KEY: oldKey, ...env },
      stdio: "pipe"
    }),
    input
  )

/** The same in a shell, where `$ROTATE` stands for it. */
const shell = (folder: string, script: string, env: Variables = {}): Promise<Result> =>
  finish(
    spawn("/bin/bash", ["-c", script], {
      cwd: folder,
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        ROTATE: `${node} ${bin} master-key rotate --db service.db`,
        SERVICE_MASTER_KEY: oldKey,
        ...env
      },
      stdio: "pipe"
    })
  )

const bytesOf = (folder: string) => readFileSync(join(folder, "service.db"))

/** The database is under this key: the server starts with it, reads every secret, and finds its audit logs whole. */
const assertUnder = async (folder: string, key: string) => {
  const server = await Program.start({ ...root, SERVICE_MASTER_KEY: key }, folder)
  const token = await server.login("root@example.com")
  const get = async (path: string) => {
    const answer = await server.call("GET", path, { token })
    assert.strictEqual(answer.status, 200, answer.text)
    return answer.body
  }
  for (const [name, value] of Object.entries(values)) {
    assert.strictEqual((await get(`${secrets}/${name}`)).value, value)
  }
  assert.strictEqual((await get(`${secrets}/ONE?version=1`)).value, "earlier")
  for (const path of ["/api/audit-logs/verify", "/api/orgs/acme/audit-logs/verify"]) {
    const { entries, valid } = await get(path)
    assert.isTrue(valid, path)
    assert.isAbove(entries, 1)
  }
  await server.stop()
}

const assertUnchanged = (folder: string, result: Result, sentence: RegExp, code = 1) => {
  assert.strictEqual(result.code, code, result.stderr)
  assert.match(result.stderr, /^coffer: [^\n]*\n$/)
  assert.match(result.stderr, sentence)
  assert.notMatch(result.stderr, /[0-9a-f]{64}|Error|undefined/i)
  assert.isTrue(bytesOf(folder).equals(bytesOf(template)), "nothing is changed")
}

/**
 * The NODE_OPTIONS of a program whose disk commits and then says that it did not; with `lock`, no database can be opened
 * after that.
 */
const committingBadly = (broken: "" | "lock"): string => {
  const code = `
    import { createRequire } from "node:module"
    const Sqlite = createRequire(${JSON.stringify(serverPackage)})("better-sqlite3")
    const probe = new Sqlite(":memory:")
    const statement = Object.getPrototypeOf(probe.prepare("SELECT 1"))
    probe.close()
    let failed = false
    const broken = () => {
      failed = true
      throw new Sqlite.SqliteError("disk I/O error", "SQLITE_IOERR_FSYNC")
    }
    for (const name of ["run", "all"]) {
      const call = statement[name]
      statement[name] = function (...args) {
        const result = call.apply(this, args)
        return this.source === "COMMIT" && !this.database.memory && !failed ? broken() : result
      }
    }
    const { exec, pragma } = Sqlite.prototype
    Sqlite.prototype.exec = function (text) {
      const result = exec.call(this, text)
      return text === "COMMIT" && !this.memory && !failed ? broken() : result
    }
    Sqlite.prototype.pragma = function (...args) {
      return failed && ${JSON.stringify(broken)} === "lock" && /journal_mode/.test(args[0]) ? broken() : pragma.apply(this, args)
    }`
  return `--import ${JSON.stringify(`data:text/javascript,${encodeURIComponent(code)}`)}`
}

/** Leaves so many bytes of a small disk, about. */
const fill = (filler: string, spare: number) => {
  try {
    for (;;) appendFileSync(filler, Buffer.alloc(4096))
  } catch {
    // Full now.
  }
  truncateSync(filler, Math.max(0, statSync(filler).size - spare))
}

beforeAll(async () => {
  const server = await Program.start(root)
  const token = await server.login("root@example.com")
  const call = async (method: string, path: string, body?: object) => {
    const answer = await server.call(method, path, { token, body })
    assert.isBelow(answer.status, 300, answer.text)
  }
  await call("POST", "/api/orgs", { name: "acme" })
  await call("POST", "/api/orgs/acme/projects", { name: "webshop" })
  await call("PUT", `${secrets}/ONE`, { value: "earlier" })
  await call("PUT", `${secrets}/GONE`, { value: "removed" })
  await call("DELETE", `${secrets}/GONE`)
  await call("PUT", `${secrets}/THREE`, { value: "destroyed" })
  for (const [name, value] of Object.entries(values)) await call("PUT", `${secrets}/${name}`, { value })
  await call("POST", `${secrets}/THREE/destroy`, { versions: [1] })
  await server.stop()
  template = server.folder
})

afterAll(() => {
  cleanUp()
})

describe("master-key rotate", () => {
  it("puts the database under a key that it makes, and prints that alone", async () => {
    const folder = folderWithDatabase()
    writeFileSync(join(folder, "service.db.before-0002"), "a copy", { mode: 0o600 })
    writeFileSync(join(folder, "service.db.restore.1"), "another", { mode: 0o600 })
    const { code, stderr, stdout } = await rotate(folder, { args: ["--generate"] })
    assert.strictEqual(code, 0, stderr)
    assert.match(stdout, /^[0-9a-f]{64}\n$/)
    const [inForce = "", backups = "", left = "", ...rest] = stderr.split("\n")
    assert.match(inForce, /^coffer: the new master key is in force \(fingerprint [0-9a-f]{16}\), and 5 data keys/)
    assert.match(backups, /fingerprint [0-9a-f]{16} in coffer backup list\) stay under the old key/)
    assert.match(left, /^coffer: .*service\.db\.restore\.1 is under the old key too/)
    assert.deepStrictEqual(rest, [""])
    assert.notInclude(stderr, stdout.trim())
    assert.isFalse(existsSync(join(folder, "service.db.before-0002")), "a copy under the old key is removed")
    for (const file of readdirSync(folder)) {
      assert.strictEqual(statSync(join(folder, file)).mode & 0o077, 0, `${file} is its owner's alone`)
      if (file === "service.db-wal") assert.strictEqual(statSync(join(folder, file)).size, 0)
    }
    const { code: refusal, log } = await Program.refused(root, folder)
    assert.strictEqual(refusal, 1)
    assert.match(log, /^coffer-server: SERVICE_MASTER_KEY does not open this database/)
    await assertUnder(folder, stdout.trim())
  })

  it("takes the new key from the variable, from a file, or from standard input, and prints it in lower case", async () => {
    const folder = folderWithDatabase()
    const first = await rotate(folder, { env: { SERVICE_NEW_MASTER_KEY: newKey }, input: "f".repeat(64) })
    assert.deepStrictEqual([first.code, first.stdout], [0, printed])

    const [old, next] = [join(folder, "old"), join(folder, "next")]
    writeFileSync(old, `${newKey}\n`)
    writeFileSync(next, `${"0d".repeat(32)}\r\n`)
    const second = await rotate(folder, {
      env: { SERVICE_MASTER_KEY: "", SERVICE_MASTER_KEY_FILE: old, SERVICE_NEW_MASTER_KEY_FILE: next }
    })
    assert.deepStrictEqual([second.code, second.stdout], [0, `${"0d".repeat(32)}\n`], second.stderr)

    const third = await shell(folder, `echo ${newKey} | $ROTATE > key; cat key`, {
      SERVICE_MASTER_KEY: "0d".repeat(32)
    })
    assert.deepStrictEqual([third.code, third.stdout], [0, printed], third.stderr)
    await assertUnder(folder, newKey)
  })

  it("changes nothing when nobody can have the new key", async () => {
    const outputs = [
      ["a full disk", "$ROTATE --generate > /dev/full", /the disk is full/, 1],
      ["a pipe that nobody reads", "set -o pipefail; $ROTATE --generate | true", /EPIPE/, 1],
      ["a closed output", "$ROTATE --generate >&-", /closed or \/dev\/null/, 2],
      ["/dev/null", "$ROTATE --generate > /dev/null", /would be lost/, 2]
    ] as const
    await Promise.all(
      outputs.map(async ([what, script, sentence, code]) => {
        const folder = folderWithDatabase()
        const result = await shell(folder, script)
        assert.strictEqual(result.stdout, "", what)
        assertUnchanged(folder, result, sentence, code)
      })
    )
  })

  it("writes the new key to a new file of its owner's, and nothing to standard output, with --out", async () => {
    const folder = folderWithDatabase()
    const generate = ["--generate", "--out", "new.key"]
    const { code, stderr, stdout } = await rotate(folder, { args: generate })
    assert.deepStrictEqual([code, stdout], [0, ""], stderr)
    assert.match(
      stderr,
      /^coffer: the new master key is in force \(fingerprint [0-9a-f]{16}\) and in new\.key, and 5 data keys/
    )
    const file = join(folder, "new.key")
    const key = readFileSync(file, "utf8")
    assert.match(key, /^[0-9a-f]{64}\n$/)
    assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    assert.notInclude(stderr, key.trim())
    await assertUnder(folder, key.trim())

    const again = await rotate(folder, { args: generate })
    assert.deepStrictEqual([again.code, again.stdout], [0, ""])
    assert.match(again.stderr, /^coffer: the key in new\.key is in force already, by a rotation that was interrupted/)
    const env = { SERVICE_MASTER_KEY: key.trim() }
    const third = await rotate(folder, { args: generate, env })
    assert.strictEqual(third.code, 1)
    assert.match(third.stderr, /new\.key already exists, and holds the key that is in force/)
    assert.strictEqual(readFileSync(file, "utf8"), key)

    const given = await shell(folder, `echo ${newKey} | $ROTATE --out given.key >&-`, env)
    assert.deepStrictEqual([given.code, given.stdout], [0, ""], given.stderr)
    assert.strictEqual(readFileSync(join(folder, "given.key"), "utf8"), printed)
    await assertUnder(folder, newKey)
  })

  it("leaves no file behind, and changes nothing, when the new key cannot be written to one", async () => {
    const full = freshFolder()
    const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=4k,nr_inodes=2", "tmpfs", full]).status === 0
    if (isMounted) writeFileSync(join(full, "filler"), "")
    const cases: ReadonlyArray<readonly [string, RegExp]> = [
      [
        "nowhere/new.key",
        /nowhere\/new\.key would be in a directory that does not exist; create it first\. Nothing was changed/
      ],
      ["kept", /kept already exists: name a new file/],
      ["unused.key", /unused\.key already exists, and the key in it is not in force/],
      ...(isMounted
        ? [[join(full, "new.key"), /new\.key cannot be written: the disk is full\. Nothing was changed/] as const]
        : [])
    ]
    for (const [out, sentence] of cases) {
      const folder = folderWithDatabase()
      writeFileSync(join(folder, "kept"), "something else")
      writeFileSync(join(folder, "unused.key"), printed)
      const result = await rotate(folder, { args: ["--generate", "--out", out] })
      assert.strictEqual(result.stdout, "")
      assertUnchanged(folder, result, sentence)
      assert.strictEqual(readFileSync(join(folder, "kept"), "utf8"), "something else")
      assert.isFalse(existsSync(join(folder, "new.key")))
    }
    if (isMounted) {
      assert.deepStrictEqual(readdirSync(full), ["filler"])
      spawnSync("umount", ["--lazy", full])
    }
  })

  it("removes the file of the new key when the database cannot be written after it", async ({ skip }) => {
    const small = freshFolder()
    if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=3m,mode=700", "tmpfs", small]).status !== 0) skip()
    onTestFinished(() => void spawnSync("umount", ["--lazy", small]))
    copyFileSync(join(template, "service.db"), join(small, "service.db"))
    chmodSync(join(small, "service.db"), 0o600)
    const out = join(freshFolder(), "new.key")
    let withdrawn = 0
    // With less and less of the disk taken, until there is room for the commit.
    for (let spare = 40_000; ; spare += 20_000) {
      fill(join(small, "filler"), spare)
      const result = await rotate(small, { args: ["--generate", "--out", out] })
      rmSync(join(small, "filler"))
      if (result.code === 0) break
      assert.match(result.stderr, /the disk is full/)
      assert.isFalse(existsSync(out), result.stderr)
      if (result.stderr.includes("new.key is removed again: the key in it never was in force")) withdrawn++
    }
    assert.isAbove(withdrawn, 0)
    await assertUnder(small, readFileSync(out, "utf8").trim())
  })

  it("keeps the file of the new key when the database is under it, or when nobody can tell", async () => {
    const outcomes = [
      ["", /: the new key is in force: it is in new\.key$/m],
      [
        "lock",
        /the key in new\.key may be in force or not: keep it and the old one, and try both with coffer-server check$/m
      ]
    ] as const
    for (const [broken, sentence] of outcomes) {
      const folder = folderWithDatabase()
      const { code, stderr, stdout } = await rotate(folder, {
        args: ["--generate", "--out", "new.key"],
        env: { NODE_OPTIONS: committingBadly(broken) }
      })
      assert.deepStrictEqual([code, stdout], [1, ""], stderr)
      assert.match(stderr, sentence)
      const key = readFileSync(join(folder, "new.key"), "utf8").trim()
      assert.notInclude(stderr, key)
      await assertUnder(folder, key)
    }
  })

  it("refuses wrong keys in a sentence, shows no key, and changes nothing", async () => {
    const other = "77".repeat(32)
    const cases: ReadonlyArray<readonly [Options, RegExp, number]> = [
      [{ env: { SERVICE_MASTER_KEY: other, SERVICE_NEW_MASTER_KEY: newKey } }, /old master key does not open/, 1],
      [{ env: { SERVICE_NEW_MASTER_KEY: oldKey.toUpperCase() } }, /the new master key is the old one/, 1],
      [{ env: { SERVICE_MASTER_KEY: "", SERVICE_NEW_MASTER_KEY: newKey } }, /SERVICE_MASTER_KEY is not set/, 2],
      [{ env: { SERVICE_MASTER_KEY: "short" } }, /SERVICE_MASTER_KEY holds no master key: .*64 hexadecimal/, 2],
      [{ env: { SERVICE_NEW_MASTER_KEY: `${newKey}0` } }, /SERVICE_NEW_MASTER_KEY holds no master key/, 2],
      [
        { env: { SERVICE_NEW_MASTER_KEY_FILE: "absent" } },
        /SERVICE_NEW_MASTER_KEY_FILE must name .*: it does not exist/,
        2
      ],
      [{ env: { SERVICE_MASTER_KEY_FILE: "both" } }, /SERVICE_MASTER_KEY and .* are both set/, 2],
      [{ args: ["--generate"], env: { SERVICE_NEW_MASTER_KEY: newKey } }, /--generate .* choose one/, 2],
      [{ args: ["--generate"], env: { SERVICE_NEW_MASTER_KEY_FILE: "next" } }, /--generate .* choose one/, 2],
      [{ input: "" }, /no new key is given: .*--generate/, 2],
      [{ input: `${newKey}\n\n` }, /standard input is no master key/, 2],
      [{ input: "z".repeat(100_000) }, /standard input is no master key/, 2]
    ]
    await Promise.all(
      cases.map(async ([options, sentence, code]) => {
        const folder = folderWithDatabase()
        const result = await rotate(folder, options)
        assert.strictEqual(result.stdout, "")
        assertUnchanged(folder, result, sentence, code)
      })
    )
  })

  it("refuses what does not exist or is no database, and closes a file that others can read", async () => {
    const folder = folderWithDatabase()
    const generate = { args: ["--generate"] }
    const absent = await rotate(freshFolder(), generate)
    assert.match(absent.stderr, /^coffer: there is no database at service\.db: name its file with --db\n$/)
    chmodSync(join(folder, "service.db"), 0o640)
    const opened = await rotate(folder, generate)
    assert.strictEqual(opened.code, 0, opened.stderr)
    assert.match(
      opened.stderr,
      /^coffer: warning: others could read or write service\.db \(mode 640\): its mode is 600 now\n/
    )
    assert.strictEqual(statSync(join(folder, "service.db")).mode & 0o777, 0o600)
    writeFileSync(join(folder, "service.db"), "text ".repeat(1000))
    const text = await rotate(folder, generate)
    assert.deepStrictEqual([text.code, text.stdout], [1, ""])
    assert.match(text.stderr, /^coffer: .*not a database\n$/)
  })

  it("refuses while a server runs, which goes on under the old key", async () => {
    const folder = folderWithDatabase()
    const server = await Program.start(root, folder)
    const result = await rotate(folder, { args: ["--generate"] })
    assert.deepStrictEqual([result.code, result.stdout], [1, ""])
    assert.match(result.stderr, /^coffer: the database service\.db is in use by another coffer-server .*stop that one/)
    const token = await server.login("root@example.com")
    assert.strictEqual((await server.call("GET", `${secrets}/ONE`, { token })).body.value, values.ONE)
    await server.remove()
  })

  it("shows its progress on a terminal, on a line cleared before the key comes", async () => {
    const folder = folderWithDatabase()
    const { code, stdout } = await shell(folder, `script -qec "$ROTATE --generate" /dev/null`)
    assert.strictEqual(code, 0, stdout)
    assert.match(stdout, /\r\x1b\[K\[#+-*\] re-encrypting data keys/)
    assert.match(stdout, /\[#{24}\] re-encrypting data keys\r\x1b\[K[0-9a-f]{64}\r?\n/)
  })

  it("says where to run it when no server is installed beside the client", async () => {
    const alone = freshFolder()
    const client = dirname(dirname(bin))
    for (const part of ["bin", "dist/bundle", "package.json"]) {
      cpSync(join(client, part), join(alone, part), { recursive: true })
    }
    const folder = folderWithDatabase()
    const result = await rotate(folder, { args: ["--generate"], program: join(alone, "bin/coffer.js") })
    assert.strictEqual(result.stdout, "")
    assertUnchanged(folder, result, /no server that can do it is installed beside this client: run it where/)
  })
})

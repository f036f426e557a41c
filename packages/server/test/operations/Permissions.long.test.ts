import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, chownSync, copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, describe, it } from "vitest"
import { anotherUser, asAnotherUser } from "../support/AnotherUser.js"
import { cleanUp, freshFolder, masterKey } from "../support/Program.js"

const bin = fileURLToPath(new URL("../../bin/coffer-server.js", import.meta.url))
const isRoot = process.getuid?.() === 0
// Root may write everywhere. Without root, the tests' own user stands for the server's.
const before = isRoot ? asAnotherUser("dac_read_search") : []
const user = isRoot ? anotherUser : process.getuid?.()

afterAll(() => {
  cleanUp()
})

interface Said {
  readonly out: string
  readonly err: string
}

/** Runs the program to its end, which comes with SIGTERM once `isUp`. */
const startAt = async (path: string, args: ReadonlyArray<string> = [], isUp: (said: Said) => boolean = () => false) => {
  const [program = "", ...rest] = [...(before ?? []), process.execPath, bin, ...args]
  const child = spawn(program, rest, {
    cwd: "/",
    env: {
      PATH: process.env["PATH"],
      SERVICE_MASTER_KEY: masterKey,
      SMTP_HOST: "log",
      SERVICE_PORT: "0",
      SERVICE_DB_PATH: path
    }
  })
  const said = { out: "", err: "" }
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said.out += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said.err += text
    if (isUp(said)) child.kill("SIGTERM")
  })
  await once(child, "close")
  return { code: child.exitCode, ...said }
}

const permission = (owner: number | undefined, group: number | undefined, mode: string) =>
  `cannot be read and written by user ${user}: it belongs to user ${owner} and group ${group}, with mode ${mode}`

describe.runIf(before !== null)("a server whose user may not write", () => {
  it("the directory of the database names it, its user and the permission, also when it may write the file", async () => {
    const folder = freshFolder()
    const path = join(folder, "service.db")
    for (const isThere of [false, true]) {
      if (isThere) {
        writeFileSync(path, "", { mode: 0o600 })
        if (isRoot) chownSync(path, anotherUser, anotherUser)
      }
      chmodSync(folder, 0o555)
      const { code, err } = await startAt(path)
      assert.strictEqual(code, 1)
      const said = permission(process.getuid?.(), process.getgid?.(), "555")
      assert.include(err, `the directory ${folder} of the database ${said} (SQLite creates files in it)`)
      const { out } = await startAt(path, ["check", "--json"])
      assert.include(out, `${folder} ${said}`)
      chmodSync(folder, 0o755)
    }
  })

  it.runIf(isRoot)("the database's file or its lock names that file, its user and the permission", async () => {
    for (const name of ["service.db", "service.db.lock"]) {
      const folder = freshFolder()
      chownSync(folder, anotherUser, anotherUser)
      writeFileSync(join(folder, name), "", { mode: 0o600 })
      const { code, err } = await startAt(join(folder, "service.db"))
      assert.strictEqual(code, 1)
      assert.include(err, `${join(folder, name)} ${permission(0, 0, "600")}`)
    }
  })

  it("a directory that does not exist is named", async () => {
    const folder = join(freshFolder(), "nowhere")
    const { err } = await startAt(join(folder, "service.db"))
    assert.include(err, `the directory ${folder} of the database does not exist`)
  })

  it.runIf(!isRoot)("a directory that it cannot reach says so", async () => {
    const outer = freshFolder()
    const folder = join(outer, "data")
    mkdirSync(folder)
    chmodSync(outer, 0o600)
    const { err } = await startAt(join(folder, "service.db"))
    chmodSync(outer, 0o700)
    assert.include(err, `the directory ${folder} of the database cannot be reached by user ${user}`)
  })
})

describe.runIf(isRoot && before !== null)("the volume of a pod with fsGroup", () => {
  it("is used by a server, which closes its files to the group again, and passes the check with a warning", async () => {
    const folder = freshFolder()
    const path = join(folder, "service.db")
    chownSync(folder, 0, anotherUser)
    const open = [0o2775, 0o660] as const
    chmodSync(folder, open[0])
    writeFileSync(path, "", { mode: 0o600 })
    chownSync(path, anotherUser, anotherUser)
    for (const name of ["service.db.lock", "service.db.before-0002"]) {
      copyFileSync(path, join(folder, name))
      chownSync(join(folder, name), anotherUser, anotherUser)
    }
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), open[1])
    const warned = await startAt(path, ["check", "--json"])
    const files: ReadonlyArray<{ status: string; message: string }> = JSON.parse(warned.out).checks
    for (const message of [
      /service\.db\.lock.* can be read or written by others/,
      /every member of the group 54321 can write/
    ]) {
      assert.strictEqual(files.find((one) => message.test(one.message))?.status, "warning", String(message))
    }
    const { code, err } = await startAt(path, [], (said) => said.err.includes("listening"))
    assert.strictEqual(code, 0, err)
    for (const name of readdirSync(folder)) {
      assert.strictEqual(statSync(join(folder, name)).mode & 0o777, 0o600, name)
      assert.include(err, `others could read or write ${join(folder, name)} (mode 660): its mode is 600 now`)
    }
  })
})

import { spawn } from "node:child_process"
import { once } from "node:events"
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from "node:fs"
import Sqlite from "better-sqlite3"
import { afterAll, assert, describe, it } from "vitest"
import { cleanUp, freshFolder, type Json, masterKey } from "../support/Program.js"
import { allEntries, bin, ids, linesIn, makeProject, set, start, superadmin, until } from "./Streamed.js"

afterAll(cleanUp)

describe.concurrent("the audit stream into a file", () => {
  it("loses nothing when the server is killed, and gives what comes twice the same id", async () => {
    const first = await start()
    await makeProject(first.program, first.token)
    for (let at = 0; at < 20; at++) await set(first.program, first.token, String(at))
    await first.program.stop("SIGKILL")
    appendFileSync(first.file, '{"id":"cut in the mid')
    const { file, program, token } = await start(first.program.folder)
    const expected = ids(await allEntries(program, token))
    const streamed = () =>
      readFileSync(file, "utf8")
        .split("\n")
        .flatMap((line) => /^\{"id":"([0-9a-f-]{36})".*\}$/.exec(line)?.[1] ?? [])
    await until(() => streamed().at(-1) === expected.at(-1), "the last entry")
    assert.deepStrictEqual([...new Set(streamed())], expected)
    assert.match(readFileSync(file, "utf8"), /^\{"id":"cut in the mid$/m)
    await program.remove()
  })

  it("that cannot be written stops nobody, is told once, and goes on where it stopped", async () => {
    const { file, program, token } = await start()
    await makeProject(program, token)
    await until(() => readFileSync(file, "utf8").includes("project.create"), "the project")
    renameSync(file, `${file}.1`)
    mkdirSync(file)
    for (let at = 0; at < 10; at++) await set(program, token, String(at))
    await program.said(/the audit stream cannot be written \(EISDIR\)/)
    await set(program, token, "last")
    rmdirSync(file)
    await program.said(/the audit stream resumed where it stopped/)
    assert.lengthOf([...program.log.matchAll(/the audit stream cannot be written/g)], 1)
    const lines = () => linesIn(readFileSync(`${file}.1`, "utf8") + readFileSync(file, "utf8"))
    const expected = await allEntries(program, token)
    assert.deepStrictEqual(ids(lines()), ids(expected))

    renameSync(file, `${file}.2`)
    await set(program, token, "after it was rotated")
    await until(() => existsSync(file), "a new file")
    await program.stop()
    assert.deepStrictEqual(
      linesIn(readFileSync(file, "utf8")).map(({ action }) => action),
      ["secret.set"]
    )
  })

  it("begins anew for a database that was restored, and says so", async () => {
    const first = await start()
    await makeProject(first.program, first.token)
    await first.program.stop()
    const before = ids(linesIn(readFileSync(first.file, "utf8")))
    const memory = `${first.program.file()}.audit-stream`
    const state: Json = JSON.parse(readFileSync(memory, "utf8"))
    writeFileSync(memory, JSON.stringify({ ...state, last: { ...state.last, id: "another" } }))
    const { file, program } = await start(first.program.folder)
    assert.match(program.log, /the audit stream starts from the beginning/)
    await program.stop()
    assert.deepStrictEqual(ids(linesIn(readFileSync(file, "utf8"))).slice(before.length, 2 * before.length), before)
  })

  it("goes on where a version stopped that followed all logs by one position", async () => {
    const first = await start()
    await makeProject(first.program, first.token)
    await first.program.stop()
    const lines = linesIn(readFileSync(first.file, "utf8"))
    const stopped = lines.findIndex(({ action }) => action === "org.create")
    assert.isAbove(lines.length, stopped + 1)
    const { id } = lines[stopped]
    const db = new Sqlite(first.program.file(), { readonly: true })
    const position = db.prepare("SELECT position FROM audit_entries WHERE id = ?").pluck().get(id)
    db.close()
    writeFileSync(`${first.program.file()}.audit-stream`, JSON.stringify({ target: first.file, position, id }))
    const { file, program } = await start(first.program.folder)
    await program.stop()
    assert.notMatch(program.log, /the audit stream starts from the beginning/)
    const after = ids(linesIn(readFileSync(file, "utf8"))).slice(lines.length)
    assert.deepStrictEqual(after.slice(0, lines.length - stopped - 1), ids(lines).slice(stopped + 1))
    assert.notInclude(after, id)
  })
})

/** Starts a server whose audit stream is standard output. `said` waits for a line of its log, and returns the first group. */
const spawnStreaming = (variables: Record<string, string>) => {
  const child = spawn(process.execPath, [bin], {
    cwd: freshFolder(),
    env: {
      PATH: process.env["PATH"],
      SERVICE_MASTER_KEY: masterKey,
      SMTP_HOST: "log",
      SERVICE_PORT: "0",
      SERVICE_AUDIT_STREAM: "stdout",
      ...variables
    },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let log = ""
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (log += chunk))
  const said = async (line: RegExp) => {
    await until(() => line.test(log), String(line))
    return line.exec(log)?.[1] ?? ""
  }
  return { child, said }
}

const address = /listening on (http:[\d./:]+\d)/

describe.concurrent("the audit stream on standard output", () => {
  it("does not hold up the server when its reader hangs, and goes on when it reads again", async () => {
    const { child, said } = spawnStreaming(superadmin)
    let out = ""
    child.stdout.setEncoding("utf8").pause()
    const url = await said(address)
    const attempts = 400
    const email = superadmin.SUPERADMIN_EMAIL_0
    const call = async (method: string, path: string, body: object, token = "") => {
      const headers = { "content-type": "application/json", ...(token !== "" && { authorization: `Bearer ${token}` }) }
      const answer = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) })
      assert.isBelow(answer.status, 300)
      return (await answer.json()) as { readonly token: string }
    }
    await call("POST", "/api/auth/login", { email })
    const code = await said(/login code for \S+: (\d{6})/)
    const { token } = await call("POST", "/api/auth/verify", { email, code })
    const nameOf = (at: number) => `an-organization-with-a-name-of-many-letters-${at}`
    await call("POST", "/api/orgs", { name: nameOf(0) }, token)
    for (let at = 0; at < attempts; at++) {
      await call("PATCH", `/api/orgs/${nameOf(at)}`, { name: nameOf(at + 1) }, token)
    }
    child.stdout.on("data", (chunk: string) => (out += chunk)).resume()
    await until(() => out.split("\n").length - 1 >= attempts, "every line")
    child.kill("SIGTERM")
    await once(child, "close")
    const lines = linesIn(out).filter(({ action }) => action === "org.update")
    assert.deepStrictEqual(
      lines.map(({ seq }) => Number(seq) - Number(lines[0].seq)),
      Array.from({ length: attempts }, (_, at) => at)
    )
    assert.strictEqual(child.exitCode, 0)
  })

  it("goes on when that reader goes away, and counts the attempts that failed", async () => {
    const { child, said } = spawnStreaming({ SERVICE_METRICS_PORT: "0" })
    child.stdout.destroy()
    const url = await said(address)
    const page = await said(/metrics are at (\S+\/metrics)/)
    const verify = () =>
      fetch(`${url}/api/auth/verify`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ email: "ada@example.com", code: "000000" })
      })
    assert.strictEqual((await verify()).status, 401)
    const failures = async () =>
      Number(/^coffer_audit_stream_failures_total (\d+)$/m.exec(await (await fetch(page)).text())?.[1])
    while ((await failures()) === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    await said(/(the audit stream cannot be written \(EPIPE\))/)
    assert.strictEqual((await verify()).status, 401)
    child.kill("SIGTERM")
    await once(child, "close")
    assert.strictEqual(child.exitCode, 0)
  })
})

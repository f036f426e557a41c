import Sqlite from "better-sqlite3"
import { afterAll, assert, describe, it } from "vitest"
import { cleanUp, type Json, Program } from "../support/Program.js"

const secret = "/api/orgs/acme/projects/webshop/envs/dev/secrets/KEY"

afterAll(cleanUp)

/** A server where somebody has made a project, and the token that they have. */
const inUse = async (variables: Readonly<Record<string, string>>) => {
  const program = await Program.start(variables)
  const token = await program.login("ada@example.com")
  await program.call("POST", "/api/orgs", { token, body: { name: "acme" } })
  await program.call("POST", "/api/orgs/acme/projects", { token, body: { name: "webshop" } })
  return { program, token }
}

/** From now on the database refuses every new version of a secret, for a reason that no rule of ours foresees. */
const breakWrites = (program: Program): void => {
  const database = new Sqlite(program.file())
  database.exec(
    "CREATE TRIGGER broken BEFORE INSERT ON secret_versions BEGIN SELECT RAISE(ABORT, 'broken by the test'); END"
  )
  database.close()
}

const linesOf = (program: Program): ReadonlyArray<string> =>
  program.log.split("\n").filter((line) => line !== "" && !line.startsWith("login code for "))

describe.concurrent("the log as JSON", { timeout: 120_000 }, () => {
  it("is one object a line, and every line that belongs to a request bears its id", async () => {
    const { program, token } = await inUse({ SERVICE_LOG_FORMAT: "json" })
    breakWrites(program)
    const broken = await program.call("PUT", secret, {
      token,
      body: { value: "x" },
      headers: { "x-request-id": "r-1" }
    })
    assert.strictEqual(broken.status, 500)
    const read = await program.call("GET", secret, { token })
    await program.call("GET", "/nowhere/at/all", { headers: { "x-request-id": "r-2" } })
    // It is refused for its form, before anybody looks what it is for or who asks.
    const refused = await program.call("DELETE", "/api/orgs/acme//projects", {
      token,
      headers: { "x-request-id": "r-3" }
    })
    assert.strictEqual(refused.status, 404)
    await program.said(/"r-3"/)
    const entries: ReadonlyArray<Json> = linesOf(program).map((line): Json => JSON.parse(line))
    for (const entry of entries) {
      assert.match(entry.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.include(["debug", "info", "warn", "error"], entry.level)
      assert.isString(entry.message)
    }
    const [defect, access, ...rest] = entries.filter(({ request }) => request === "r-1")
    assert.deepStrictEqual(rest, [])
    assert.include({ ...defect }, { level: "error", message: "a request failed with an unexpected error" })
    assert.match(defect.cause, /^SqlError\n {4}at [^]*caused by SqliteError \(SQLITE_CONSTRAINT_TRIGGER\)/)
    assert.notInclude(program.log, "broken by the test")
    assert.match(broken.body.error.message, /; its log has the details under the request id r-1$/)
    const { actor, ms, time, ...told } = access
    assert.deepStrictEqual(told, {
      level: "info",
      message: "PUT /api/orgs/:org_name/projects/:project_name/envs/:env_name/secrets/:key 500",
      method: "PUT",
      route: "/api/orgs/:org_name/projects/:project_name/envs/:env_name/secrets/:key",
      status: 500,
      request: "r-1"
    })
    assert.match(actor, /^[0-9a-f-]{36}$/)
    assert.isAbove(ms, 0)
    assert.isString(time)
    const id = read.headers.get("x-request-id")
    assert.lengthOf(
      entries.filter(({ request }) => request === id),
      1
    )
    assert.include(
      { ...entries.find(({ request }) => request === "r-2") },
      { method: "GET", route: "-", status: 404, actor: "-", message: "GET - 404" }
    )
    assert.include({ ...entries.find(({ request }) => request === "r-3") }, { status: 404, actor: "-" })
    await program.remove()
  })

  it("tells which request's login code was not mailed", async () => {
    const program = await Program.start({
      SERVICE_LOG_FORMAT: "json",
      SMTP_HOST: "127.0.0.1",
      SMTP_PORT: "1",
      SMTP_FROM: "coffer@example.com"
    })
    const headers = { "x-request-id": "who-waits" }
    await program.call("POST", "/api/auth/login", { body: { email: "ada@example.com" }, headers })
    await program.said(/a login code was not mailed/)
    const entry: Json = JSON.parse(linesOf(program).find((line) => line.includes("not mailed")) ?? "")
    assert.include({ ...entry }, { level: "error", request: "who-waits", smtp_error: "ECONNREFUSED" })
    assert.notInclude(program.log, "ada@example.com")
    await program.remove()
  })
})

describe.concurrent("a reader of the log that goes away", { timeout: 120_000 }, () => {
  it("does not end the server, which counts what it could not write", async () => {
    const { program, token } = await inUse({ SERVICE_METRICS_PORT: "0" })
    const [page] = /http:\S+\/metrics/.exec(program.log) ?? []
    program.closeLog()
    for (let i = 0; i < 5; i++) {
      assert.strictEqual((await program.call("GET", "/api/orgs/acme", { token })).status, 200)
    }
    const dropped = async () => {
      const metrics = await (await fetch(page ?? "")).text()
      return Number(/^coffer_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1])
    }
    while ((await dropped()) < 5) await new Promise((resolve) => setTimeout(resolve, 20))
    await program.remove()
  })
})

describe.concurrent("the log for people", { timeout: 120_000 }, () => {
  it("is a line an entry, with the request's id too, and holds only what is at the level or above", async () => {
    const { program, token } = await inUse({ SERVICE_LOG_FORMAT: "pretty" })
    breakWrites(program)
    await program.call("PUT", secret, { token, body: { value: "x" }, headers: { "x-request-id": "r-1" } })
    await program.call("GET", "/health")
    await program.call("GET", "/nowhere", { headers: { "x-request-id": "r-2" } })
    await program.said(/request=r-2/)
    assert.match(
      program.log,
      /^\S+Z ERROR a request failed with an unexpected error {2}request=r-1\n[^]*^\S+Z INFO {2}PUT \/api\S+ 500 {2}ms=[\d.]+ request=r-1 actor=[0-9a-f-]{36}$/m
    )
    assert.match(program.log, /^\S+Z INFO {2}GET - 404 {2}ms=[\d.]+ request=r-2 actor=-$/m)
    assert.notInclude(program.log, "/health")
    await program.remove()
  })

  it("holds nothing of what a limit refuses", async () => {
    const program = await Program.start({ SERVICE_LOG_FORMAT: "pretty" })
    const ask = () => program.call("POST", "/api/auth/login", { body: { email: "ada@example.com" } })
    for (let request = 1; request <= 5; request++) assert.strictEqual((await ask()).status, 200)
    assert.strictEqual((await ask()).status, 429)
    await program.call("GET", "/nowhere")
    await program.said(/GET - 404/)
    assert.lengthOf([...program.log.matchAll(/INFO {2}POST \/api\/auth\/login/g)], 5)
    await program.remove()
  })

  it("at level debug tells of health's probes and refusals by limits too", async () => {
    const program = await Program.start({ SERVICE_LOG_LEVEL: "debug", SERVICE_LOG_FORMAT: "pretty" })
    await program.call("GET", "/health")
    await program.said(/DEBUG GET \/health 200/)
    for (let request = 1; request <= 6; request++) {
      await program.call("POST", "/api/auth/login", { body: { email: "ada@example.com" } })
    }
    await program.said(/DEBUG POST \/api\/auth\/login 429/)
    await program.remove()
  })
})

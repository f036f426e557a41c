import { readFileSync } from "node:fs"
import Sqlite from "better-sqlite3"
import { afterAll, assert, describe, it } from "vitest"
import { cleanUp, Program } from "../support/Program.js"
import { Receiver } from "./Receiver.js"

const secret = "/api/orgs/acme/projects/webshop/envs/dev/secrets/DATABASE_URL"
const secretRoute = "/api/orgs/:org_name/projects/:project_name/envs/:env_name/secrets/:key"

afterAll(cleanUp)

const inUse = async (url: string, variables: Readonly<Record<string, string>> = {}) => {
  const program = await Program.start({ OTEL_EXPORTER_OTLP_ENDPOINT: url, ...variables })
  const token = await program.login("ada@example.com")
  await program.call("POST", "/api/orgs", { token, body: { name: "acme" } })
  await program.call("POST", "/api/orgs/acme/projects", { token, body: { name: "webshop" } })
  return { program, token }
}

const nobody: Pick<Receiver, "url" | "close"> = { url: "http://127.0.0.1:1", close: () => {} }

const page = readFileSync(new URL("../../../../docs/observability.md", import.meta.url), "utf8")

/** The attributes that a span may have. */
const told = [
  "coffer.request_id",
  "db.operation.name",
  "db.query.text",
  "db.system.name",
  "error.type",
  "http.request.method",
  "http.response.status_code",
  "http.route"
]

it("the page about traces tells of each attribute that they may have", () => {
  const [, section = ""] = page.split("\n## Traces\n")
  const [table = ""] = /(^\|.*\n)+/m.exec(section) ?? []
  const names = [...table.matchAll(/`([a-z_.]+)`/g)].map(([, name = ""]) => name)
  assert.sameMembers(names, told)
})

describe("traces", () => {
  it("arrive at the receiver, at the latest when the server stops, with nothing of whom they are about", async () => {
    const receiver = await Receiver.start()
    const { program, token } = await inUse(receiver.url, {
      OTEL_SERVICE_NAME: "vault-of-acme",
      OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=observed,authorization=Basic%20Zm9v"
    })
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    const put = await program.call("PUT", `${secret}?token=inquery`, {
      token,
      body: { value: ["hunter2"] },
      headers: { traceparent, cookie: "session=incookie", "x-request-id": "r-1" }
    })
    assert.strictEqual(put.status, 400)
    await program.call("PUT", secret, { token, body: { value: "hunter2" }, headers: { traceparent } })
    await program.call("GET", secret, { token, headers: { traceparent: traceparent.replace(/01$/, "00") } })
    await program.call("GET", "/no/such/DATABASE_URL", { token })
    await program.call("GET", `${secret}_2`, { token })
    await program.call("GET", "/health/ready")
    const database = new Sqlite(program.file())
    database.exec("CREATE TRIGGER broken BEFORE INSERT ON secret_versions BEGIN SELECT RAISE(ABORT, 'broken'); END")
    database.close()
    assert.strictEqual((await program.call("PUT", secret, { token, body: { value: "hunter3" } })).status, 500)
    assert.deepStrictEqual(await program.stop(), { code: 0, signal: null })

    const { headers, path } = receiver.deliveries[0] ?? assert.fail("nothing came")
    assert.strictEqual(path, "/v1/traces")
    assert.include({ ...headers }, { "x-tenant": "observed", authorization: "Basic Zm9v" })
    assert.match(headers["content-type"] ?? "", /^application\/json/)
    assert.include(receiver.text, '{"key":"service.name","value":{"stringValue":"vault-of-acme"}}')

    const { spans } = receiver
    const puts = spans.filter(({ name }) => name === `PUT ${secretRoute}`)
    // Kind 2 is a server's span; of the codes, 1 is well and 2 is an error.
    assert.deepStrictEqual(
      puts.map(({ attributes, kind, status }) => [kind, Number(attributes["http.response.status_code"]), status.code]),
      [
        [2, 400, 1],
        [2, 200, 1],
        [2, 500, 2]
      ]
    )
    const [refused, done, broken] = puts
    assert.deepStrictEqual(refused?.attributes, {
      "http.request.method": "PUT",
      "http.route": secretRoute,
      "http.response.status_code": 400,
      "coffer.request_id": "r-1"
    })
    assert.strictEqual(done?.traceId, "4bf92f3577b34da6a3ce929d0e0e4736")
    assert.strictEqual(done?.parentSpanId, "00f067aa0ba902b7")
    assert.strictEqual(broken?.attributes["error.type"], "500")
    assert.isUndefined(broken?.parentSpanId)
    const below = (parent: string | undefined): ReadonlyArray<string> =>
      spans
        .filter(({ parentSpanId }) => parentSpanId !== undefined && parentSpanId === parent)
        .flatMap(({ name, spanId }) => [name, ...below(spanId)])
    for (const name of ["sql.transaction", "sql.execute"]) assert.include(below(done?.spanId), name)
    const read = spans.find(
      ({ name, attributes }) => name === `GET ${secretRoute}` && attributes["http.response.status_code"] === 404
    )
    assert.lengthOf(
      below(read?.spanId).filter((name) => name === "sql.execute"),
      2,
      "a read asks once for the credential and the place, and once for the secret"
    )
    const names = spans.map(({ name }) => name)
    assert.include(names, "GET")
    assert.lengthOf(
      names.filter((name) => name === `GET ${secretRoute}`),
      1,
      "one is not recorded by its caller"
    )
    assert.notInclude(names.join(), "health")

    for (const { attributes, events, name } of spans) {
      for (const key of Object.keys(attributes)) {
        if (!/^(span\.label|status\.interrupted)$/.test(key)) assert.include(told, key, name)
      }
      for (const event of events) assert.strictEqual(event.name, "exception")
    }
    for (const word of [
      ...["hunter", token, "ada@", "example.com", "DATABASE_URL", "webshop", "inquery", "incookie", "hunter3"],
      ...["authorization:", 'user-agent":"node', "127.0.0.1", "broken"]
    ]) {
      assert.notInclude(receiver.deliveries.map(({ text }) => text).join("\n"), word)
    }
    receiver.close()
  })

  it.concurrent.each([
    ["is down", () => Promise.resolve(nobody)],
    ["hangs", () => Receiver.start({ hangs: true })],
    ["refuses", () => Receiver.start({ status: 503 })]
  ])("do not matter to the API when the receiver %s", async (_name, start) => {
    const receiver: Pick<Receiver, "url" | "close"> = await start()
    const begun = performance.now()
    const { program, token } = await inUse(receiver.url)
    for (let at = 0; at < 100; at++) {
      const reply = await program.call("PUT", secret, { token, body: { value: String(at) } })
      assert.strictEqual(reply.status, 200)
    }
    await program.said(/traces cannot be sent to OTEL_EXPORTER_OTLP_ENDPOINT/)
    assert.strictEqual((await program.call("GET", secret, { token })).status, 200)
    // It ends at all, though nobody takes what is left.
    assert.deepStrictEqual(await program.stop(), { code: 0, signal: null })
    const minutes = (performance.now() - begun) / 60_000
    assert.isAtMost([...program.log.matchAll(/traces cannot be sent/g)].length, 1 + minutes, "said once a minute")
    receiver.close()
  })
})

import { assert, describe, it } from "@effect/vitest"
import * as SqlClient from "@effect/sql/SqlClient"
import { Deferred, Effect, Fiber } from "effect"
import { gzipSync } from "node:zlib"
import { valueAt } from "@coffer/server/secrets/use/FieldAt"
import { asActor, entries, envPath, grant, key, readSecret } from "../support/Services.js"
import { Uses } from "@coffer/server/secrets/use/Uses"
import { ask, canary, host, refusal, withUpstream, world } from "./World.js"

const fresh = "sk_live_FreshCanary9"
const store = { pointer: "/key/secret", key: key("STRIPE_KEY") }
const made = JSON.stringify({ id: "key_1", key: { secret: fresh, again: `Bearer ${fresh}` } })

/** A provider that returns a new key, for an agent that may write. */
const provider = (body: string | Buffer = made, status = 201, headers: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const found = yield* world()
    yield* grant(found.bot, "write", { env: "prod" })
    found.other.answer = (response) => {
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(body)
    }
    return found
  })

describe("a stored field of a response", () => {
  it.effect("becomes a new version of the secret, and comes back scrubbed wherever it stands", () =>
    Effect.gen(function* () {
      const { ada, bot, other } = yield* provider()
      const answer = yield* ask(bot, { method: "POST", store })
      assert.deepStrictEqual(answer.stored, { key: key("STRIPE_KEY"), version: 2 })
      assert.strictEqual(answer.status, 201)
      assert.notInclude(JSON.stringify(answer), "FreshCanary9")
      assert.include(answer.body, '"secret":"[scrubbed]"')
      assert.include(answer.body, '"again":"Bearer [scrubbed]"')
      assert.deepStrictEqual(yield* readSecret(ada, "STRIPE_KEY"), { version: 2, value: fresh })
      const found = yield* entries()
      assert.notInclude(JSON.stringify(found), "FreshCanary9")
      const written = found.find(({ action, actor }) => action === "secret.set" && actor === "agent")
      assert.include(written?.metadata as object, { key: "STRIPE_KEY", version: 2, host: `${host}:${other.port}` })
      const answered = found.find(({ action }) => action === "secret.answer")
      assert.include(answered?.metadata as object, { stored: "STRIPE_KEY", status: 201 })
    }).pipe(withUpstream())
  )

  it.effect("is found in a compressed response, behind escapes and in lists, and beyond what the rule shows", () =>
    Effect.gen(function* () {
      const body = JSON.stringify({ pad: "x".repeat(300_000), "a/b": [{ "c~d": fresh }] })
      const { ada, bot } = yield* provider(gzipSync(body), 200, { "content-encoding": "gzip" })
      const answer = yield* ask(bot, { method: "POST", store: { ...store, pointer: "/a~1b/0/c~0d" } })
      assert.isTrue(answer.truncated)
      assert.notInclude(JSON.stringify(answer), "FreshCanary9")
      assert.deepStrictEqual(yield* readSecret(ada, "STRIPE_KEY"), { version: 2, value: fresh })
    }).pipe(withUpstream())
  )

  it.effect("is stored under a new key, too short or too long to be scrubbed, and the response is not shown then", () =>
    Effect.gen(function* () {
      const { ada, bot, other } = yield* provider()
      for (const [name, value] of [
        ["SHORT", "short"],
        ["LONG", "l".repeat(9_000)]
      ] as const) {
        other.answer = (response) => response.end(JSON.stringify({ value, copy: value }))
        const answer = yield* ask(bot, { method: "POST", store: { pointer: "/value", key: key(name) } })
        assert.deepStrictEqual(answer.stored, { key: key(name), version: 1 })
        assert.notProperty(answer, "body")
        assert.isTrue(answer.truncated)
        assert.strictEqual((yield* readSecret(ada, name)).value, value)
      }
    }).pipe(withUpstream())
  )

  it.effect("is left alone in a response that says that the request failed, which is shown as ever", () =>
    Effect.gen(function* () {
      const { ada, bot } = yield* provider('{"key":{"secret":"no such permission"}}', 403)
      const answer = yield* ask(bot, { method: "POST", store })
      assert.notProperty(answer, "stored")
      assert.include(answer.body, "no such permission")
      assert.deepStrictEqual(yield* readSecret(ada, "STRIPE_KEY"), { version: 1, value: canary })
    }).pipe(withUpstream())
  )

  for (const [what, body, message] of [
    ["without JSON", "<html>", /has no readable JSON at \/key\/secret, so nothing was stored as STRIPE_KEY/],
    ["without the field", '{"key":{}}', /has no text at \/key\/secret/],
    ["with a number there", '{"key":{"secret":12345678}}', /has no text at \/key\/secret/],
    ["with an empty text there", '{"key":{"secret":""}}', /has no text/],
    [
      "with more there than a secret holds",
      JSON.stringify({ key: { secret: "x".repeat(70_000) } }),
      /that a secret can hold/
    ]
  ] as const) {
    it.effect(`is withheld with a response ${what}, and the message says why`, () =>
      Effect.gen(function* () {
        const { ada, bot } = yield* provider(body, 200)
        assert.match(yield* refusal(bot, { method: "POST", store }), message)
        assert.strictEqual((yield* readSecret(ada, "STRIPE_KEY")).version, 1)
        const answered = (yield* entries()).find(({ action }) => action === "secret.answer")
        assert.include(answered?.metadata as object, { failed: "not stored" })
      }).pipe(withUpstream())
    )
  }
})

describe("a request that stores a field", () => {
  it.effect("does not leave if its caller may not write there", () =>
    Effect.gen(function* () {
      const { bot, other } = yield* world()
      assert.match(yield* refusal(bot, { method: "POST", store }), /^FORBIDDEN .*write/)
      assert.lengthOf(other.arrived, 0)
      const found = yield* entries()
      assert.notInclude(
        found.map(({ action }) => action),
        "secret.use"
      )
    }).pipe(withUpstream())
  )

  it.effect("does not leave for a protected environment, because it cannot wait for votes", () =>
    Effect.gen(function* () {
      const { bot, other } = yield* provider()
      const sql = yield* SqlClient.SqlClient
      const [env] = yield* sql<{ readonly id: string; readonly org_id: string }>`
        SELECT e.id, p.org_id FROM environments e JOIN projects p ON p.id = e.project_id WHERE e.name = 'prod'`
      yield* sql`UPDATE environments SET protected = 1 WHERE name = 'prod'`
      yield* sql`INSERT INTO protections ${sql.insert({
        ...{
          env_id: env?.id ?? "",
          org_id: env?.org_id ?? "",
          needed: 1,
          self: 0,
          break_glass: "[]",
          approvers: "admins"
        },
        ...{ expires_after: "72h", passkey: 0, version: 1, updated_by: "", updated_at: "" }
      })}`
      assert.match(
        yield* refusal(bot, { method: "POST", store }),
        /^USE_REFUSED nothing was sent, because STRIPE_KEY could not be stored: .*protected/
      )
      assert.lengthOf(other.arrived, 0)
    }).pipe(withUpstream())
  )

  it.effect("is not streamed", () =>
    Effect.gen(function* () {
      const { bot, other } = yield* provider()
      assert.match(yield* refusal(bot, { method: "POST", store, stream: true }), /^USE_REFUSED give store or stream/)
      assert.lengthOf(other.arrived, 0)
    }).pipe(withUpstream())
  )

  it.effect("stores with the right that its caller has when the response comes, and otherwise says what is lost", () =>
    Effect.gen(function* () {
      const { ada, bot, other } = yield* provider()
      const arrived = yield* Deferred.make<void>()
      other.answer = (response) => {
        Effect.runSync(Deferred.succeed(arrived, undefined))
        setTimeout(() => response.setHeader("content-type", "application/json").end(made), 300)
      }
      const asked = yield* Effect.fork(refusal(bot, { method: "POST", store }))
      yield* Deferred.await(arrived)
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM acl_rules WHERE permission = 'write'`
      assert.match(
        yield* Fiber.join(asked),
        /^UPSTREAM_FAILED .* it answered, but the field at \/key\/secret was not stored as STRIPE_KEY: .*write/
      )
      assert.strictEqual((yield* readSecret(ada, "STRIPE_KEY")).version, 1)
    }).pipe(withUpstream())
  )

  it.effect("stores what has come, although its caller has gone", () =>
    Effect.gen(function* () {
      const { ada, bot, other } = yield* provider()
      const { port } = other
      const uses = yield* Uses
      const begun = yield* Deferred.make<void>()
      other.answer = (response) => {
        response.setHeader("content-type", "application/json").end(made)
        Effect.runSync(Deferred.succeed(begun, undefined))
      }
      const asked = yield* Effect.fork(
        uses
          .use(envPath(), {
            method: "POST",
            url: `https://${host}:${port}/v1/refunds`,
            secrets: [key("STRIPE_KEY")],
            store
          })
          .pipe(asActor(bot))
      )
      yield* Deferred.await(begun)
      // Whenever the caller goes, the field is stored or the response was not read.
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(asked)
      const { value, version } = yield* readSecret(ada, "STRIPE_KEY")
      const answered = (yield* entries()).find(({ action }) => action === "secret.answer")
      assert.include(
        [`1 ${canary} interrupted`, `2 ${fresh} interrupted`, `2 ${fresh} undefined`],
        `${version} ${value} ${String((answered?.metadata as { failed?: string }).failed)}`
      )
    }).pipe(withUpstream())
  )
})

describe("a JSON pointer", () => {
  it("names fields and items, and nothing of a prototype", () => {
    const json = { a: [{ "": "x" }], "m~n": { "o/p": 1 }, length: 2 }
    assert.strictEqual(valueAt(json, "/a/0/"), "x")
    assert.strictEqual(valueAt(json, "/m~0n/o~1p"), 1)
    for (const pointer of ["/a/00", "/a/length", "/a/-1", "/a/1", "/toString", "/constructor/name", "/a/0/x/y"]) {
      assert.isUndefined(valueAt(json, pointer), pointer)
    }
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Fiber, TestClock } from "effect"
import { createHmac } from "node:crypto"
import { gzipSync } from "node:zlib"
import { Access } from "@coffer/server/access/Access"
import { UseRules } from "@coffer/server/secrets/use-rules/UseRules"
import { Uses } from "@coffer/server/secrets/use/Uses"
import { Database } from "@coffer/server/database/Database"
import { asActor, entries, envPath, key, removeSecret, setSecret, transaction } from "../support/Services.js"
import { agent, allow, ask, host, refusal, resolver, withUpstream, world } from "./World.js"

const uses = Effect.flatMap(Uses, (service) =>
  Effect.flatMap(
    Effect.flatMap(Access, (access) => access.env(envPath(), "secret.uses")),
    service.uses
  )
)

/** The entries of refused uses, and why they were refused. */
const refusals = Effect.map(entries(), (found) => {
  const denied = found.filter(({ action }) => action === "access.denied")
  return { denied, reasons: denied.map(({ metadata }) => (metadata as { reason: string }).reason) }
})

describe("a request with a secret", () => {
  it.effect("carries the value where the rule says, and comes back without it", () =>
    Effect.gen(function* () {
      const { bot, other } = yield* world()
      const answer = yield* ask(bot, {
        method: "POST",
        headers: { "Content-Type": "text/plain", "idempotency-key": "k1" },
        body: "charge=ch_1"
      })
      assert.strictEqual(answer.status, 200)
      const [arrived] = other.arrived
      assert.strictEqual(arrived?.headers.authorization, "Bearer sk_live_Canary7")
      assert.strictEqual(arrived?.headers["idempotency-key"], "k1")
      assert.strictEqual(arrived?.body, "charge=ch_1")
      assert.notInclude(JSON.stringify(answer), "sk_live_Canary7")
      assert.include(answer.body, "Bearer [scrubbed]")
      assert.strictEqual(answer.scrubbed, 1)
    }).pipe(withUpstream())
  )

  it.effect("is in the audit log before it leaves, and its answer after it, without the value", () =>
    Effect.gen(function* () {
      const { bot, other, rule } = yield* world()
      yield* ask(bot)
      const found = yield* entries()
      const actions = found.map(({ action }) => action).filter((action) => action.startsWith("secret."))
      assert.deepStrictEqual(actions, ["secret.set", "secret.use", "secret.answer"])
      const [use, answer] = found.filter(({ action }) => /^secret\.(use|answer)$/.test(action))
      assert.deepStrictEqual(use?.metadata, {
        project: "webshop",
        env: "prod",
        key: "STRIPE_KEY",
        version: 1,
        rule: rule.id,
        host: `${host}:${other.port}`,
        method: "GET",
        path: "/v1/refunds",
        request_bytes: 0
      })
      assert.include(answer?.metadata as object, { key: "STRIPE_KEY", status: 200, scrubbed: 1, truncated: false })
      assert.notInclude(JSON.stringify(found), "Canary7")
    }).pipe(withUpstream())
  )

  it.effect("is refused with the part that no rule has", () =>
    Effect.gen(function* () {
      const { bot, other } = yield* world()
      const { port } = other
      const at = (address: string) => refusal(bot, { url: address })
      assert.match(
        yield* refusal(bot, { path: "/v1/payouts" }),
        /^USE_REFUSED path \/v1\/payouts is in no rule of STRIPE_KEY/
      )
      assert.match(yield* refusal(bot, { method: "DELETE" }), /^USE_REFUSED method DELETE is in no rule/)
      assert.match(
        yield* at(`https://other.test:${port}/v1/refunds`),
        /^USE_REFUSED host other\.test:\d+ is in no rule/
      )
      assert.match(yield* at(`https://${host}/v1/refunds`), /^USE_REFUSED host api\.test is in no rule/)
      assert.match(
        yield* refusal(bot, { secrets: [key("OTHER_KEY")] }),
        /^USE_REFUSED account agent is in no rule of OTHER_KEY/
      )
      assert.match(
        yield* at(`http://${host}:${port}/v1/refunds`),
        /^UPSTREAM_FAILED api\.test:\d+: (the connection failed|the address is not https)/
      )
      for (const path of [
        "/v1/refunds/../payouts",
        "/v1/refunds/%2e%2e/x",
        "/v1/refunds/a%2fb",
        "/v1/refunds/..;/x",
        "/v1/refunds//x",
        "/v1/refunds/%252e"
      ]) {
        assert.match(yield* refusal(bot, { path }), /^USE_REFUSED the path has dot segments/, path)
      }
      for (const address of [
        `https://user:pw@${host}:${port}/v1/refunds`,
        `https://${host}.:${port}/v1/refunds`,
        `https://${host}:${port}/v1/refunds#x`,
        `https://%61pi.test:${port}/v1/refunds`,
        `https://API.test\\@${host}:${port}/v1/refunds`
      ]) {
        assert.match(yield* at(address), /^USE_REFUSED the address is not a plain http/, address)
      }
      for (const header of [
        "host",
        "Authorization",
        "cookie",
        "proxy-authorization",
        "x-forwarded-for",
        "transfer-encoding",
        "connection",
        "te",
        "expect",
        "x-http-method-override",
        "accept-encoding"
      ]) {
        assert.match(
          yield* refusal(bot, { headers: { [header]: "x" } }),
          /^USE_REFUSED header .* cannot be sent/,
          header
        )
      }
      assert.match(yield* refusal(bot, { body: "x" }), /^USE_REFUSED GET has no body/)
      assert.deepStrictEqual(other.arrived, [])
      const { reasons } = yield* refusals
      assert.deepStrictEqual([...new Set(reasons)].sort(), ["request", "rule"])
      // One that did not leave because there was no connection is no refusal.
      assert.strictEqual(reasons.length, 28)
    }).pipe(withUpstream())
  )

  it.effect("is refused once its rule, its secret or its account is not there any more", () =>
    Effect.gen(function* () {
      const { ada, bot, other, rule } = yield* world()
      yield* ask(bot)
      const rules = yield* UseRules
      const place = yield* Effect.flatMap(Access, (access) => access.right(envPath(), "use_rule.delete")).pipe(
        asActor(ada)
      )
      yield* transaction(rules.remove(place, key("STRIPE_KEY"), rule.id))
      assert.match(yield* refusal(bot), /^USE_REFUSED account agent is in no rule/)
      yield* allow()
      yield* ask(bot)
      yield* removeSecret(ada, "STRIPE_KEY")
      assert.match(yield* refusal(bot), /^USE_REFUSED account agent is in no rule/)
      yield* setSecret(ada, "STRIPE_KEY", "sk_live_Canary8")
      assert.match(yield* refusal(bot), /^USE_REFUSED account agent is in no rule/)
      yield* agent("another")
      yield* allow({ accounts: ["another"] })
      assert.match(yield* refusal(bot), /^USE_REFUSED account agent is in no rule/)
      assert.strictEqual(other.arrived.length, 2)
    }).pipe(withUpstream())
  )

  it.effect("needs the permission, which is less than read", () =>
    Effect.gen(function* () {
      yield* world()
      const stranger = yield* agent("stranger")
      yield* allow({ accounts: ["agent", "stranger"] })
      assert.match(yield* refusal(stranger), /^FORBIDDEN this needs a rule with permission use/)
    }).pipe(withUpstream())
  )

  it.effect("goes nowhere unless an operator has switched it on", () =>
    Effect.gen(function* () {
      const { bot, other } = yield* world()
      assert.match(yield* refusal(bot), /^BROKER_DISABLED .*SERVICE_BROKER=1/)
      assert.deepStrictEqual(other.arrived, [])
    }).pipe(withUpstream({ SERVICE_BROKER: "0" }))
  )

  it.effect("fails without any text of the other side", () =>
    Effect.gen(function* () {
      const { bot, other } = yield* world({ response: "json" })
      other.answer = (response) => response.end("<html>secret page</html>")
      assert.match(yield* refusal(bot), /^UPSTREAM_FAILED api\.test:\d+: its response is withheld: it is not JSON/)
      other.answer = (response) => response.setHeader("content-encoding", "zstd").end("x")
      assert.match(yield* refusal(bot), /its response is withheld: its compression cannot be undone/)
      other.answer = (response) => response.destroy()
      assert.match(yield* refusal(bot), /the connection failed; the request may have had its effect/)
      const answers = (yield* entries()).filter(({ action }) => action === "secret.answer")
      assert.deepStrictEqual(
        answers.map(({ metadata }) => (metadata as { failed: string }).failed),
        ["withheld: json", "withheld: encoding", "connection"]
      )
    }).pipe(withUpstream())
  )

  it.effect("is given up after 30 seconds, and its slot is free again", () =>
    Effect.gen(function* () {
      const { bot, other } = yield* world()
      for (let time = 0; time < 5; time++) {
        const arrived = new Promise<void>((resolve) => {
          other.answer = (response) => response.write("x", () => resolve())
        })
        const waiting = yield* Effect.fork(refusal(bot))
        yield* Effect.promise(() => arrived)
        yield* TestClock.adjust("30 seconds")
        assert.match(yield* Fiber.join(waiting), /^UPSTREAM_FAILED .*: there was no complete response in time/)
      }
    }).pipe(withUpstream())
  )

  it.effect("is given up after 30 seconds also while its response is scrubbed", () =>
    Effect.gen(function* () {
      const { bot, other } = yield* world({ max_kib: 1_024 })
      const sent = new Promise<void>((resolve) => {
        other.answer = (response) =>
          response.end("\\u0061%5c&#97;".repeat(20 * 1_024), () => void setTimeout(resolve, 50))
      })
      const waiting = yield* Effect.fork(
        Effect.match(ask(bot), { onFailure: String, onSuccess: ({ status }) => `answered ${status}` })
      )
      yield* Effect.promise(() => sent)
      assert.isNull(waiting.unsafePoll(), "the scrub takes longer than that")
      yield* TestClock.adjust("30 seconds")
      assert.include(yield* Fiber.join(waiting), "there was no complete response in time")
      const answers = (yield* entries()).filter(({ action }) => action === "secret.answer")
      assert.deepInclude(answers[0]?.metadata, { failed: "timeout" })
    }).pipe(withUpstream())
  )

  it.effect("is not sent, and changes nothing, if it waited for 30 seconds before", () =>
    Effect.gen(function* () {
      const { bot, other } = yield* world()
      const { transaction: hold } = yield* Database
      const [held, end] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const before = yield* Effect.fork(hold(Effect.zipRight(Deferred.succeed(held, undefined), Deferred.await(end))))
      yield* Deferred.await(held)
      const waiting = yield* Effect.fork(refusal(bot))
      yield* TestClock.adjust("31 seconds")
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.join(before)
      assert.match(yield* Fiber.join(waiting), /^OVERLOADED the request was not sent in time, and nothing was changed/)
      assert.deepStrictEqual(other.arrived, [])
      assert.notInclude(
        (yield* entries()).map(({ action }) => action),
        "secret.use"
      )
    }).pipe(withUpstream())
  )

  it.effect("goes to the address that was judged, whatever the name resolves to then", () =>
    Effect.gen(function* () {
      const { bot, other } = yield* world()
      let asked = 0
      resolver.resolve = () =>
        Promise.resolve([{ address: asked++ === 0 ? "127.0.0.1" : "169.254.169.254", family: 4 }])
      yield* ask(bot)
      assert.strictEqual(asked, 1)
      assert.match(yield* refusal(bot), /^UPSTREAM_FAILED .*not public/)
      assert.strictEqual(other.arrived.length, 1)
    }).pipe(withUpstream())
  )
})

describe("an answer", () => {
  const spelled = 'sk_live_Canary/7+q~ü"x'
  const forms: ReadonlyArray<
    readonly [name: string, text: string | Buffer, headers?: Readonly<Record<string, string>>]
  > = [
    ["as it is", `a ${spelled} b`],
    ["in JSON", JSON.stringify({ a: spelled })],
    ["in base64, first offset", Buffer.from(spelled).toString("base64")],
    ["in base64, second offset", Buffer.from(`x${spelled}y`).toString("base64url")],
    ["in base64, third offset", Buffer.from(`xy${spelled}zz`).toString("base64")],
    ["in percent signs", encodeURIComponent(spelled)],
    ["in hex", Buffer.from(spelled).toString("hex").toUpperCase()],
    ["compressed", gzipSync(`a ${spelled} b`), { "content-encoding": "gzip" }],
    [
      "in a header",
      "ok",
      { location: `https://x.test/?k=${encodeURIComponent(spelled)}`, "set-cookie": spelled.replace("ü", "") }
    ]
  ]
  it.effect("has no spelling of the value", () =>
    Effect.gen(function* () {
      const { bot, other } = yield* world({ place: { in: "query", name: "key" } }, spelled)
      for (const [name, text, headers = {}] of forms) {
        other.answer = (response) => {
          for (const [header, value] of Object.entries(headers)) response.setHeader(header, value)
          response.end(text)
        }
        const answer = yield* ask(bot)
        const whole = JSON.stringify(answer)
        assert.isAtLeast(answer.scrubbed, 1, name)
        assert.notInclude(whole, "Canary", name)
        assert.notInclude(whole, Buffer.from("live_Can").toString("hex").toUpperCase(), name)
        assert.notInclude(whole, "set-cookie", name)
      }
      assert.strictEqual(new URL(`https://x${other.arrived[0]?.url}`).searchParams.get("key"), spelled)
    }).pipe(withUpstream())
  )

  it.effect("is withheld if it holds the value in a form that cannot be scrubbed", () =>
    Effect.gen(function* () {
      const { bot, other } = yield* world()
      const twice = Buffer.from(Buffer.from("sk_live_Canary7").toString("base64")).toString("base64")
      for (const text of [
        twice,
        Buffer.from("sk_live_Canary7").toString("hex").replace(/../g, "%$&").replace(/%/g, "%25"),
        Array.from("sk_live_Canary7", (one) => `&#${one.charCodeAt(0)};`).join(""),
        Buffer.from("sk_live_Canary7", "utf16le").toString("latin1")
      ]) {
        other.answer = (response) => response.end(Buffer.from(text, "latin1"))
        assert.match(yield* refusal(bot), /^UPSTREAM_FAILED .*holds the value in a form that cannot be scrubbed/, text)
      }
    }).pipe(withUpstream())
  )

  it.effect("is cut at the limit, and a value across the cut is not halved", () =>
    Effect.gen(function* () {
      const { bot, other } = yield* world({ max_kib: 1 })
      for (const before of [1_000, 1_015, 1_020, 1_023, 1_024, 1_100]) {
        other.answer = (response) => response.end(`${"-".repeat(before)}sk_live_Canary7${"-".repeat(5_000)}`)
        const answer = yield* ask(bot)
        assert.isTrue(answer.truncated)
        assert.isAtMost(answer.body?.length ?? 0, 1_024)
        assert.notInclude(answer.body, "sk_l")
      }
      other.answer = (response) => {
        const timer = setInterval(() => response.write("x".repeat(10_000)), 1)
        response.on("close", () => {
          clearInterval(timer)
        })
      }
      assert.isTrue((yield* ask(bot)).truncated, "of an answer without an end")
    }).pipe(withUpstream())
  )

  it.effect("is only the status if the rule says so, and its redirects are not followed", () =>
    Effect.gen(function* () {
      const { bot, other } = yield* world({ response: "status" })
      other.answer = (response) => response.writeHead(302, { location: "https://api.test/v1/payouts" }).end("moved")
      assert.deepStrictEqual(yield* ask(bot), { status: 302, headers: {}, truncated: false, scrubbed: 0 })
      assert.strictEqual(other.arrived.length, 1)
    }).pipe(withUpstream())
  )
})

describe("a value", () => {
  it.effect("is placed as a password, a parameter or a signature", () =>
    Effect.gen(function* () {
      const { bot, other } = yield* world({ place: { in: "basic", user: "ada" } })
      const basic = yield* ask(bot)
      assert.strictEqual(
        other.arrived[0]?.headers.authorization,
        `Basic ${Buffer.from("ada:sk_live_Canary7").toString("base64")}`
      )
      assert.notInclude(JSON.stringify(basic), Buffer.from("sk_live_Canary7").toString("base64").slice(0, 12))
      yield* allow({ paths: ["/query"], place: { in: "query", name: "api_key" } })
      assert.match(yield* refusal(bot, { path: "/query?API_KEY=mine" }), /parameter api_key is filled by a use rule/)
      assert.notInclude(JSON.stringify(yield* ask(bot, { path: "/query?a=1" })), "Canary7")
      assert.strictEqual(other.arrived[1]?.url, "/query?a=1&api_key=sk_live_Canary7")
      yield* allow({ paths: ["/hook"], place: { in: "hmac-sha256", header: "x-signature", format: "sha256={}" } })
      const echoed = yield* ask(bot, { path: "/hook", method: "POST", body: "event" })
      const mac = createHmac("sha256", "sk_live_Canary7").update("event").digest("hex")
      assert.strictEqual(other.arrived[2]?.headers["x-signature"], `sha256=${mac}`)
      assert.include(echoed.body, "sha256=[scrubbed]")
    }).pipe(withUpstream())
  )

  it.effect("has a body of at most 10 MiB, of any bytes, which a rule can sign", () =>
    Effect.gen(function* () {
      const place = { in: "hmac-sha256", header: "x-signature", format: "{}" } as const
      const { bot, other } = yield* world({ paths: ["/upload"], place })
      other.answer = (response) => response.end("stored")
      const upload = (bytes: Buffer) =>
        ({ path: "/upload", method: "POST", body_base64: bytes.toString("base64") }) as const
      const largest = Buffer.alloc(10 * 1024 * 1024, "a")
      assert.strictEqual((yield* ask(bot, upload(largest))).status, 200)
      const [arrived] = other.arrived
      assert.strictEqual(arrived?.body.length, largest.length)
      const mac = createHmac("sha256", "sk_live_Canary7").update(largest).digest("hex")
      assert.strictEqual(arrived?.headers["x-signature"], mac)
      const tooLarge = /USE_REFUSED a body has at most 10 MiB/
      assert.match(yield* refusal(bot, upload(Buffer.concat([largest, Buffer.from("a")]))), tooLarge)
      assert.match(yield* refusal(bot, { path: "/upload", method: "POST", body: "ä".repeat(5_300_000) }), tooLarge)
      assert.lengthOf(other.arrived, 1)
    }).pipe(withUpstream())
  )

  it.effect.each(["-", "_", "!", " ", "\n", "=", "ä"])("is refused if its long body in base64 has %j in it", (wrong) =>
    Effect.gen(function* () {
      const { bot } = yield* world({ paths: ["/upload"] })
      const text = Buffer.alloc(150_000, 7).toString("base64")
      const body_base64 = `${text.slice(0, 100_001)}${wrong}${text.slice(100_002)}`
      const found = yield* refusal(bot, { path: "/upload", method: "POST", body_base64 })
      assert.strictEqual(found, "USE_REFUSED body_base64: must be base64 with padding")
    }).pipe(withUpstream())
  )

  it.effect("signs requests to AWS", () =>
    Effect.gen(function* () {
      const place = { in: "aws-sigv4", service: "s3", region: "eu-central-1", access_key_id: "AKIDEXAMPLE" } as const
      const { bot, other } = yield* world({ paths: ["/bucket/*"], place }, "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
      const echoed = yield* ask(bot, { path: "/bucket/a%20file.txt?versionId=1", method: "POST", body: "hello" })
      assert.match(echoed.body ?? "", /Signature=\[scrubbed\]/)
      const [arrived] = other.arrived
      assert.match(
        arrived?.headers.authorization ?? "",
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\/s3\/aws4_request, SignedHeaders=[a-z0-9;-]*host[a-z0-9;-]*, Signature=[0-9a-f]{64}$/
      )
      assert.match(arrived?.headers["x-amz-content-sha256"] as string, /^[0-9a-f]{64}$/)
    }).pipe(withUpstream())
  )

  it.effect("is not used if a header cannot carry it, or if it is too short to be scrubbed", () =>
    Effect.gen(function* () {
      const { ada, bot, other } = yield* world({}, "line\r\nx-evil: 1")
      assert.match(
        yield* refusal(bot),
        /^USE_REFUSED STRIPE_KEY: the value has characters that header authorization cannot/
      )
      yield* setSecret(ada, "STRIPE_KEY", "short77")
      assert.match(yield* refusal(bot), /^USE_REFUSED the value of STRIPE_KEY cannot be used by rules/)
      assert.deepStrictEqual(other.arrived, [])
      const [{ left_today } = { left_today: 0 }] = yield* uses.pipe(asActor(bot))
      assert.strictEqual(left_today, 1_000, "what did not leave is not counted")
    }).pipe(withUpstream())
  )
})

describe("a budget", () => {
  it.effect("leaves an entry of each refusal, of the requests in flight too", () =>
    Effect.gen(function* () {
      const { bot, other } = yield* world({ per_minute: 6 })
      const arrived = new Promise<void>((resolve) => {
        other.answer = () => (other.arrived.length === 4 ? resolve() : undefined)
      })
      const flying = yield* Effect.forEach([1, 2, 3, 4], () => Effect.fork(ask(bot)))
      yield* Effect.promise(() => arrived)
      assert.match(yield* refusal(bot), /^USE_BUDGET 4 of your requests are in flight/)
      yield* Fiber.interruptAll(flying)
      other.answer = (response) => response.end()
      yield* ask(bot)
      yield* ask(bot)
      assert.match(yield* refusal(bot), /^USE_BUDGET the rule of STRIPE_KEY allows 6 requests a minute/)
      const { denied, reasons } = yield* refusals
      assert.deepStrictEqual(reasons, ["concurrency", "budget"])
      assert.deepInclude(denied[1]?.metadata, { action: "secret.use", key: "STRIPE_KEY", env: "prod", method: "GET" })
    }).pipe(withUpstream())
  )

  it.effect("is counted exactly, whatever runs at the same time", () =>
    Effect.gen(function* () {
      const { bot, other } = yield* world({ per_minute: 20 })
      const { UsePermits } = yield* Effect.promise(() => import("@coffer/server/secrets/use/UsePermits"))
      const permits = yield* UsePermits
      const access = yield* Access
      const wanted = {
        method: "GET",
        url: "https://x.test/",
        headers: {},
        body: null,
        secrets: [key("STRIPE_KEY")],
        target: { host: `${host}:${other.port}`, method: "GET", path: "/v1/refunds" }
      } as const
      const outcomes = yield* Effect.forEach(
        Array.from({ length: 50 }),
        () =>
          Effect.either(
            access.change(access.env(envPath(), "secret.use"), (place) => permits.permit(place, wanted))
          ).pipe(asActor(bot)),
        { concurrency: "unbounded" }
      )
      const failures = outcomes.filter(Either.isLeft)
      assert.strictEqual(outcomes.length - failures.length, 20)
      for (const { left } of failures)
        assert.match(left.message, /allows 20 requests a minute: try again in \d+ seconds/)
      const used = (yield* entries()).filter(({ action }) => action === "secret.use")
      assert.strictEqual(used.length, 20)
      const [use] = yield* uses.pipe(asActor(bot))
      assert.strictEqual(use?.left_this_minute, 0)
      assert.strictEqual(use?.left_today, 980)
    }).pipe(withUpstream())
  )

  it.effect("is there again in the next minute, and then ends for the day", () =>
    Effect.gen(function* () {
      const { bot } = yield* world({ per_minute: 2, per_day: 3 })
      yield* ask(bot)
      yield* ask(bot)
      assert.match(yield* refusal(bot), /^USE_BUDGET the rule of STRIPE_KEY allows 2 requests a minute/)
      yield* TestClock.adjust("1 minute")
      yield* ask(bot)
      assert.match(yield* refusal(bot), /^USE_BUDGET the rule of STRIPE_KEY allows 3 requests a day/)
    }).pipe(withUpstream())
  )
})

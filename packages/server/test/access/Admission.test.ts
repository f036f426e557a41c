import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import { setImmediate } from "node:timers/promises"
import { Authentication, type Caller, CurrentCaller, type Delegated, type UserActor } from "@coffer/domain/access/Actor"
import {
  AnyContentType,
  BodyLimit,
  Compressible,
  ForDelegations,
  LargeResponse,
  Polled,
  RecentLogin,
  recentLogin,
  Requires,
  requires
} from "@coffer/domain/api/Requirement"
import { DelegationId } from "@coffer/domain/base/Ids"
import { Access, type Place } from "@coffer/server/access/Access"
import { makeAdmission } from "@coffer/server/access/Admission"
import { NodeRequest } from "@coffer/server/http/NodeRequest"
import {
  HttpApi,
  HttpApiEndpoint,
  HttpApiGroup,
  type HttpMethod,
  HttpRouter,
  HttpServerRequest
} from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Schema } from "effect"
import { account, asActor, entries, envPath, member, onDatabase, organization, uuid } from "../support/Services.js"

const limit = Schema.Struct({ limit: Schema.optional(Schema.String) })
const named = Schema.Struct({ name: Schema.String })
const tagged = Schema.Union(Schema.Struct({ type: Schema.Literal("a") }), Schema.Struct({ type: Schema.Literal("b") }))

const system = HttpApiGroup.make("system")
  .add(HttpApiEndpoint.get("health", "/health").annotate(Requires, "nothing"))
  .add(HttpApiEndpoint.post("say", "/say").setPayload(named).annotate(Requires, "nothing"))

const use = HttpApiGroup.make("use")
  .add(HttpApiEndpoint.get("use", "/use").annotate(Requires, "credential").annotate(ForDelegations, "any"))
  .middleware(Authentication)

const things = HttpApiGroup.make("things")
  .add(
    HttpApiEndpoint.get("list", "/things")
      .setUrlParams(limit)
      .annotate(Requires, "credential")
      .annotate(ForDelegations, "any")
      .annotate(LargeResponse, 5_000)
      .annotate(Compressible, true)
      .annotate(Polled, true)
  )
  .add(HttpApiEndpoint.get("whole", "/whole").annotate(Requires, "credential").annotate(ForDelegations, "whole"))
  .add(HttpApiEndpoint.get("read", "/own").annotate(Requires, "credential"))
  .add(HttpApiEndpoint.get("unnamed", "/unnamed"))
  .add(HttpApiEndpoint.post("make", "/orgs/:org_name/things").setPayload(named).pipe(requires("org.update")))
  .add(HttpApiEndpoint.post("recover", "/recover").pipe(recentLogin("recovery")).annotate(Requires, "credential"))
  .add(HttpApiEndpoint.post("decide", "/decide").pipe(recentLogin("handler")).annotate(Requires, "credential"))
  .add(HttpApiEndpoint.post("note", "/note").annotate(RecentLogin, "never").annotate(Requires, "credential"))
  .add(
    HttpApiEndpoint.put("small", "/small")
      .setPayload(tagged)
      .annotate(Requires, "credential")
      .annotate(RecentLogin, "never")
      .annotate(BodyLimit, 40)
      .annotate(AnyContentType, true)
  )
  .middleware(Authentication)

const contract = HttpApi.make("test").add(system).add(use).add(things)

interface Sent {
  readonly caller?: Caller
  readonly query?: Readonly<Record<string, string>>
  readonly params?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly from?: string
}

const requestOf = (method: string, path: string, { body = "", from = "203.0.113.7", headers = {} }: Sent) => {
  const socket = new Socket()
  Object.defineProperty(socket, "remoteAddress", { value: from })
  const source = new IncomingMessage(socket)
  source.method = method
  source.url = path
  const json = { "content-type": "application/json", "content-length": String(body.length) }
  source.headers = { ...(body === "" ? {} : json), ...headers }
  const begun: Array<number> = []
  const request = new NodeRequest(source, () => ({
    hold: () => true,
    begin: (bytes) => Effect.sync(() => void begun.push(bytes))
  }))
  const arrive = () => {
    source.push(body)
    source.push(null)
  }
  return { arrive, begun, request, source }
}

const unhandled = Effect.dieMessage("no handler")

/** "admitted", or the error's tag and message: the boundary answers with such a defect. */
const saidOf = (exit: Exit.Exit<unknown, unknown>): string => {
  if (Exit.isSuccess(exit)) return "admitted"
  const failed: unknown = Cause.squash(exit.cause)
  if (!(failed instanceof Error)) return assert.fail(String(failed))
  return `${"_tag" in failed ? String(failed._tag) : failed.name}: ${failed.message}`
}

type Admit = Effect.Effect.Success<ReturnType<typeof makeAdmission<"test", never, never, never>>>

/** Admits a call of a route as the toolkit does, before the handler. */
const admitted = (admit: Admit, method: HttpMethod.HttpMethod, path: HttpRouter.PathInput, sent: Sent = {}) =>
  Effect.gen(function* () {
    const made = requestOf(method, path, sent)
    const called = sent.caller === undefined ? admit : Effect.provideService(admit, CurrentCaller, sent.caller)
    const exit = yield* Effect.exit(
      called.pipe(
        Effect.provideService(HttpRouter.RouteContext, {
          [HttpRouter.RouteContextTypeId]: HttpRouter.RouteContextTypeId,
          params: sent.params ?? {},
          route: HttpRouter.makeRoute(method, path, unhandled)
        }),
        Effect.provideService(HttpServerRequest.HttpServerRequest, made.request),
        Effect.provideService(HttpServerRequest.ParsedSearchParams, sent.query ?? {})
      )
    )
    return { ...made, said: saidOf(exit) }
  })

/** The body that the handler gets, or how it is refused. */
const bodyOf = ({ arrive, request }: ReturnType<typeof requestOf>) =>
  Effect.gen(function* () {
    const reading = yield* Effect.fork(Effect.exit(request.body))
    yield* Effect.promise(async () => setImmediate())
    arrive()
    const exit = yield* reading
    return Exit.isSuccess(exit) ? exit.value : saidOf(exit)
  })

const scene = Effect.gen(function* () {
  const ada = yield* organization()
  const dev = yield* member("dev@example.com", "developer")
  const bot = yield* account("bot")
  return { ada, dev, bot, admit: yield* makeAdmission(contract), orgId: bot.orgId }
})

const delegated = (actor: UserActor, place: Place<"secret.list">, keys: Delegated["keys"]): UserActor => {
  const { env, org, project } = place
  const delegation: Delegated = {
    ...{ id: DelegationId.make(uuid()), name: "agent", org, places: [{ project, env }] },
    ...{ permission: "write", reveal: true, keys, ofSuperadmin: false, isConnected: false },
    ...{ createdAt: "2026-01-01T00:00:00.000Z", expiresAt: "2999-01-01T00:00:00.000Z" }
  }
  return { ...actor, delegation }
}

describe("the admission of a call", () => {
  it.scoped("is for calls of the contract, from the server that listens", () =>
    Effect.gen(function* () {
      const { admit } = yield* scene
      const missing = "RuntimeException: the endpoint is not part of the contract"
      assert.strictEqual((yield* admitted(admit, "GET", "/health")).said, "admitted")
      assert.strictEqual((yield* admitted(admit, "POST", "/health")).said, missing)
      assert.strictEqual((yield* admitted(admit, "GET", "/healthy")).said, missing)
      const other = HttpServerRequest.fromWeb(new Request("http://coffer.test/health"))
      const exit = yield* Effect.exit(
        admit.pipe(
          Effect.provideService(HttpRouter.RouteContext, {
            [HttpRouter.RouteContextTypeId]: HttpRouter.RouteContextTypeId,
            params: {},
            route: HttpRouter.makeRoute("GET", "/health", unhandled)
          }),
          Effect.provideService(HttpServerRequest.HttpServerRequest, other),
          Effect.provideService(HttpServerRequest.ParsedSearchParams, {})
        )
      )
      assert.strictEqual(saidOf(exit), missing)
    }).pipe(onDatabase())
  )

  it.scoped("is for requests with secrets, and the system's calls, where the process has no others", () =>
    Effect.gen(function* () {
      const { ada } = yield* scene
      const admit = yield* makeAdmission(contract, true)
      const caller = { actor: ada }
      assert.strictEqual((yield* admitted(admit, "GET", "/health")).said, "admitted")
      assert.strictEqual((yield* admitted(admit, "GET", "/use", { caller })).said, "admitted")
      const refused = yield* admitted(admit, "GET", "/things", { caller })
      assert.match(refused.said, /^NotFound: this process only makes requests with secrets/)
      assert.isNull(refused.request.info.route)
    }).pipe(onDatabase())
  )

  it.scoped("notes the route, the caller and the tenant, and what the answer may be", () =>
    Effect.gen(function* () {
      const { admit, ada, bot, orgId } = yield* scene
      const about = ({ begun, request: { info, isCompressible, isPolled, tenant } }: ReturnType<typeof requestOf>) => ({
        ...{ actor: info.actor, route: info.route, tenant: tenant.name, isCompressible, isPolled, begun }
      })
      const plain = { isCompressible: false, isPolled: false, begun: [] }
      const health = yield* admitted(admit, "GET", "/health", { from: "2001:db8::7" })
      assert.deepStrictEqual(about(health), {
        ...{ ...plain, actor: null, route: "/health", tenant: "2001:db8:0:0::/64" }
      })
      const own = yield* admitted(admit, "GET", "/own", { caller: { actor: ada } })
      assert.deepStrictEqual(about(own), { ...plain, actor: ada.id, route: "/own", tenant: ada.id })
      const list = yield* admitted(admit, "GET", "/things", { caller: { actor: bot } })
      assert.deepStrictEqual(about(list), {
        ...{ actor: bot.id, route: "/things", tenant: orgId, isCompressible: true, isPolled: true, begun: [5_000] }
      })
    }).pipe(onDatabase())
  )

  it.scoped("refuses a parameter that the call does not have, but of a call that anybody makes without a body", () =>
    Effect.gen(function* () {
      const { admit, ada } = yield* scene
      const caller = { actor: ada }
      const long = "a".repeat(100)
      for (const [method, path, query, said] of [
        ["GET", "/things", { limit: "3" }, "admitted"],
        ["GET", "/things", { limit: "3", after: "x" }, "ValidationError: after: is not a parameter of this call"],
        ["GET", "/own", { limit: "3" }, "ValidationError: limit: is not a parameter of this call"],
        ["GET", "/own", { [long]: "" }, `ValidationError: ${long}: is not a parameter of this call`],
        ["GET", "/own", { [`${long}a`]: "" }, "ValidationError: the query: is not a parameter of this call"],
        ["GET", "/own", { "<b>": "" }, "ValidationError: the query: is not a parameter of this call"],
        ["GET", "/own", { "a b": "" }, "ValidationError: the query: is not a parameter of this call"],
        ["GET", "/own", { "": "" }, "ValidationError: the query: is not a parameter of this call"],
        ["GET", "/health", { monitor: "1" }, "admitted"],
        ["POST", "/say", { monitor: "1" }, "ValidationError: monitor: is not a parameter of this call"]
      ] as const) {
        assert.strictEqual((yield* admitted(admit, method, path, { caller, query })).said, said)
      }
    }).pipe(onDatabase())
  )

  it.scoped("refuses delegations where the call says nothing of them, and records it under the name of the call", () =>
    Effect.gen(function* () {
      const { admit, ada } = yield* scene
      const place = yield* (yield* Access).right(envPath(), "secret.list").pipe(asActor(ada))
      const whole = { actor: delegated(ada, place, null) }
      const limited = { actor: delegated(ada, place, new Set()) }
      const never = "Forbidden: a delegation never does this: the person who made it has to"
      const before = (yield* entries()).length
      for (const [path, ofWhole, ofLimited] of [
        ["/things", "admitted", "admitted"],
        ["/use", "admitted", "admitted"],
        ["/whole", "admitted", "Forbidden: a delegation that is limited to keys never does this"],
        ["/own", never, never]
      ] as const) {
        assert.strictEqual((yield* admitted(admit, "GET", path, { caller: whole })).said, ofWhole, path)
        assert.strictEqual((yield* admitted(admit, "GET", path, { caller: limited })).said, ofLimited, path)
        assert.strictEqual((yield* admitted(admit, "GET", path, { caller: { actor: ada } })).said, "admitted", path)
      }
      assert.deepStrictEqual(
        (yield* entries()).slice(before).map(({ action, metadata, resource }) => [action, resource, metadata]),
        (
          [
            ["thing.whole", limited],
            ["thing.read", whole],
            ["thing.read", limited]
          ] as const
        ).map(([action, { actor }]) => {
          const delegation = { id: actor.delegation?.id, name: "agent" }
          return ["access.denied", ["env", place.env.id], { project: "webshop", env: "prod", action, delegation }]
        })
      )
    }).pipe(onDatabase())
  )

  it.scoped("asks a person for a recent login before a change, as the call says", () =>
    Effect.gen(function* () {
      const { admit, ada, bot } = yield* scene
      const old = { ...ada, loginIsRecent: false, mayRecover: false }
      const rows = [
        ["no caller", {}],
        ["an account", { caller: { actor: bot } }],
        ["a recent login", { caller: { actor: { ...ada, loginIsRecent: true, mayRecover: false } } }],
        ["an old login", { caller: { actor: old } }],
        ["a login without the passkey", { caller: { actor: { ...old, mayRecover: true } } }]
      ] as const
      const asked: Record<string, ReadonlyArray<string>> = {}
      for (const [method, path] of [
        ["POST", "/orgs/:org_name/things"],
        ["POST", "/recover"],
        ["POST", "/decide"],
        ["POST", "/note"],
        ["GET", "/own"]
      ] as const) {
        const refused: Array<string> = []
        for (const [name, sent] of rows) {
          const { said } = yield* admitted(admit, method, path, sent)
          if (said !== "admitted") refused.push(name)
          if (said !== "admitted") assert.match(said, /^Reauthenticate: /)
        }
        asked[path] = refused
      }
      assert.deepStrictEqual(asked, {
        "/orgs/:org_name/things": ["an old login", "a login without the passkey"],
        "/recover": ["an old login"],
        "/decide": [],
        "/note": [],
        "/own": []
      })
      const { said } = yield* admitted(admit, "POST", "/recover", { caller: { actor: { ...old, hasPasskey: true } } })
      assert.include(said, "or log in again if you lost it")
    }).pipe(onDatabase())
  )
})

describe("the body of a call", () => {
  const body = `{"name":"a"}`
  const params = { org_name: "acme" }

  it.scoped("is not read of a call without one", () =>
    Effect.gen(function* () {
      const { admit, ada } = yield* scene
      const made = yield* admitted(admit, "POST", "/note", { body, caller: { actor: ada } })
      assert.match(String(yield* bodyOf(made)), /the body of a request is read as JSON, after the call is admitted/)
    }).pipe(onDatabase())
  )

  it.scoped("is read once the right of the caller is known", () =>
    Effect.gen(function* () {
      const { admit, ada, dev } = yield* scene
      const path = "/orgs/:org_name/things"
      const recent = { loginIsRecent: true }
      const ofOwner = yield* admitted(admit, "POST", path, { body, params, caller: { actor: { ...ada, ...recent } } })
      assert.deepStrictEqual(yield* bodyOf(ofOwner), { name: "a" })
      const ofOther = yield* admitted(admit, "POST", path, { body, params, caller: { actor: { ...dev, ...recent } } })
      assert.match(String(yield* bodyOf(ofOther)), /^Forbidden: /)
      assert.strictEqual(ofOther.source.readableFlowing, null)
    }).pipe(onDatabase())
  )

  it.scoped("of a stranger is read in a later turn of the event loop, and that of a caller at once", () =>
    Effect.gen(function* () {
      const { admit, ada } = yield* scene
      for (const [caller, readers] of [
        [{ actor: ada }, 1],
        [undefined, 0]
      ] as const) {
        const made = yield* admitted(admit, "POST", "/say", { body, ...(caller !== undefined && { caller }) })
        const reading = yield* Effect.fork(made.request.body)
        yield* Effect.yieldNow()
        assert.strictEqual(made.source.listenerCount("data"), readers)
        yield* Effect.promise(async () => setImmediate())
        made.arrive()
        assert.deepStrictEqual(yield* reading, { name: "a" })
      }
    }).pipe(onDatabase())
  )

  it.scoped("is JSON within the limit of the call, whose tags are no objects", () =>
    Effect.gen(function* () {
      const { admit, ada } = yield* scene
      const caller = { actor: ada }
      const put = (sent: Sent) => Effect.flatMap(admitted(admit, "PUT", "/small", { caller, ...sent }), bodyOf)
      const headers = { "content-type": "text/plain" }
      assert.deepStrictEqual(yield* put({ body: `{"type":"a"}` }), { type: "a" })
      assert.deepStrictEqual(yield* put({ body: `{"type":{"toString":1}}` }), { type: null })
      assert.deepStrictEqual(yield* put({ body: `{"type":"a"}`, headers }), { type: "a" })
      assert.match(String(yield* put({ body: `{"type":"${"a".repeat(40)}"}` })), /^PayloadTooLarge: .* 40 bytes/)
      const say = yield* admitted(admit, "POST", "/say", { body, headers })
      assert.match(String(yield* bodyOf(say)), /^UnsupportedMediaType: /)
      const said = yield* admitted(admit, "POST", "/say", { body })
      assert.deepStrictEqual(yield* bodyOf(said), { name: "a" })
      const large = yield* admitted(admit, "POST", "/say", { body: `"${"a".repeat(1024 * 1024 - 1)}"` })
      assert.match(String(yield* bodyOf(large)), /^PayloadTooLarge: .* 1048576 bytes/)
    }).pipe(onDatabase())
  )

  it.scoped("of strangers takes memory by their network, apart from that of callers", () =>
    Effect.gen(function* () {
      const { admit, ada } = yield* scene
      const large = `"${"a".repeat(1024 * 1024 - 2)}"`
      const say = (from: string, caller?: Caller) =>
        Effect.flatMap(
          admitted(admit, "POST", "/say", { body: large, from, ...(caller !== undefined && { caller }) }),
          bodyOf
        )
      const length = (answer: unknown) => (typeof answer === "string" ? answer.length : 0)
      assert.strictEqual(length(yield* say("203.0.113.7")), 1024 * 1024 - 2)
      assert.match(String(yield* say("203.0.113.7")), /^Overloaded: /)
      assert.strictEqual(length(yield* say("203.0.113.8")), 1024 * 1024 - 2)
      assert.strictEqual(length(yield* say("203.0.113.7", { actor: ada })), 1024 * 1024 - 2)
      assert.strictEqual(length(yield* say("203.0.113.7", { actor: ada })), 1024 * 1024 - 2)
    }).pipe(onDatabase())
  )
})

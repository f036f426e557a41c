import type { UserActor } from "@coffer/domain/access/Actor"
import { ApiKeyId, OrgId, ServiceAccountId, UserId } from "@coffer/domain/base/Ids"
import { OrgName, SecretKey, ServiceAccountName } from "@coffer/domain/base/Names"
import { SecretValue } from "@coffer/domain/secrets/SecretValues"
import { AuthenticatedCaller } from "@coffer/server/access/caller/AuthenticatedCaller"
import type { FoundPlace } from "@coffer/server/access/place/PlaceRow"
import { tenantOfCaller } from "@coffer/server/access/caller/Subject"
import { Tenant } from "@coffer/server/base/Tenant"
import { makeTurns } from "@coffer/server/database/limits/Attempts"
import { makeScopeLines } from "@coffer/server/database/postgres/ScopeLocks"
import { serverScope } from "@coffer/server/database/Scopes"
import { Bundles } from "@coffer/server/secrets/services/Bundles"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Redacted, TestClock } from "effect"
import { enterFor } from "../history/Support.js"
import { email, onDatabase, organization } from "../support/Services.js"

const as = (name: string) => Effect.provideService(Tenant, { name })

const turns = Effect.repeatN(Effect.yieldNow(), 50)

/** Runs as many effects of a tenant at once as it wants, until `end`. Returns their fibers. */
const flood = <A, E, R>(tenant: string, count: number, effect: Effect.Effect<A, E, R>) =>
  Effect.forEach(Array(count).keys(), () => Effect.fork(as(tenant)(Effect.exit(effect)))).pipe(Effect.zipLeft(turns))

const refusedOf = (fibers: ReadonlyArray<Fiber.RuntimeFiber<Exit.Exit<unknown, unknown>>>) =>
  fibers.filter((fiber) => {
    const ended = fiber.unsafePoll()
    return ended !== null && Exit.isSuccess(ended) && Exit.isFailure(ended.value)
  }).length

describe("a line that tenants share", () => {
  it.effect("has room for another tenant's change of a scope beside one that fills its share", () =>
    Effect.gen(function* () {
      const inLines = makeScopeLines()
      const end = yield* Deferred.make<void>()
      const fibers = yield* flood("bulk", 500, inLines([serverScope], Deferred.await(end)))
      assert.strictEqual(refusedOf(fibers), 300)
      const other = yield* Effect.fork(as("other")(Effect.exit(inLines([serverScope], Effect.succeed("changed")))))
      yield* turns
      assert.isNull(other.unsafePoll(), "it waits")
      yield* Deferred.succeed(end, undefined)
      assert.deepStrictEqual(yield* Fiber.join(other), Exit.succeed("changed"))
      yield* Fiber.joinAll(fibers)
    })
  )

  it.effect("has room for another network's attempt beside one that fills its share", () =>
    Effect.gen(function* () {
      const inTurn = makeTurns()
      const end = yield* Deferred.make<void>()
      const fibers = yield* flood("bulk", 100, inTurn("ada@example.com")(Deferred.await(end)))
      assert.strictEqual(refusedOf(fibers), 67)
      const other = yield* Effect.fork(as("other")(Effect.exit(inTurn("ada@example.com")(Effect.succeed("sent")))))
      yield* turns
      assert.isNull(other.unsafePoll(), "it waits")
      yield* Deferred.succeed(end, undefined)
      assert.deepStrictEqual(yield* Fiber.join(other), Exit.succeed("sent"))
      yield* Fiber.joinAll(fibers)
    })
  )
})

describe("changes of many keys", () => {
  const set = new Map(
    Array.from({ length: 60 }, (_, index) => [
      SecretKey.make(`KEY_${index}`),
      Redacted.make(SecretValue.make(`value ${index}`))
    ])
  )

  it.live("are prepared two at a time of a tenant, and wait; another tenant's is prepared beside them", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const bundles = yield* Bundles
      const entering = enterFor(ada, "secret.write")
      const prepared: Array<string> = []
      const end = yield* Deferred.make<void>()
      const change = (tenant: string) =>
        Effect.scoped(
          Effect.zipRight(
            Effect.tap(bundles.prepare(entering, { set }), () => void prepared.push(tenant)),
            Deferred.await(end)
          )
        )
      const fibers = yield* flood("bulk", 8, change("bulk"))
      fibers.push(...(yield* flood("other", 1, change("other"))))
      yield* Effect.sleep(500)
      assert.sameMembers(prepared, ["bulk", "bulk", "other"])
      yield* Deferred.succeed(end, undefined)
      for (const fiber of fibers) assert.isTrue(Exit.isSuccess(yield* Fiber.join(fiber)))
      assert.lengthOf(prepared, 9)
    }).pipe(onDatabase())
  )

  it.effect("that found no turn within 30 seconds are refused with OVERLOADED", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const bundles = yield* Bundles
      const entering = enterFor(ada, "secret.write")
      const hold = Effect.scoped(Effect.zipRight(bundles.prepare(entering, { set }), Effect.never))
      const fibers = yield* flood("bulk", 3, hold)
      yield* TestClock.adjust("30 seconds")
      yield* turns
      assert.strictEqual(refusedOf(fibers), 1)
      const exits = yield* Effect.forEach(fibers, (fiber) =>
        fiber.unsafePoll() === null ? Effect.as(Fiber.interrupt(fiber), null) : Fiber.join(fiber)
      )
      const [refused] = exits.flatMap((exit) => (exit === null || Exit.isSuccess(exit) ? [] : [exit.cause]))
      assert.deepInclude(Cause.squash(refused ?? Cause.empty), { _tag: "Overloaded", code: "OVERLOADED" })
    }).pipe(onDatabase())
  )
})

describe("the tenant of a caller", () => {
  const acme = OrgId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d20")
  const globex = OrgId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d21")
  const ada: UserActor = {
    type: "user",
    id: UserId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"),
    email: email("ada@example.com"),
    name: "ada",
    superadmin: false,
    sessionId: null,
    sessionKind: null,
    loginIsRecent: true,
    mayRecover: true,
    hasPasskey: false,
    passkeyIsRecent: false,
    delegation: null
  }
  const names = { org: "acme", project: null, env: null }
  const at = (role: FoundPlace["role"]): FoundPlace => ({
    org: { id: acme, name: OrgName.make("acme") },
    project: null,
    env: null,
    isProtected: false,
    extent: { secrets: 0, bytes: 0 },
    invitation: null,
    role,
    grants: []
  })

  it("is the organization on the path for its members; a name on the path alone uses up nobody's share", () => {
    assert.strictEqual(tenantOfCaller(new AuthenticatedCaller(ada, names, at("member"))), acme)
    assert.strictEqual(tenantOfCaller(new AuthenticatedCaller(ada, names, at(null))), ada.id)
    assert.strictEqual(tenantOfCaller(new AuthenticatedCaller(ada, names, null)), ada.id)
    const bot = {
      type: "service_account",
      id: ServiceAccountId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2f"),
      name: ServiceAccountName.make("bot"),
      orgId: globex,
      orgName: OrgName.make("globex"),
      project: null,
      reveal: true,
      credential: { type: "key", id: ApiKeyId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d22"), sessionId: null }
    } as const
    assert.strictEqual(tenantOfCaller(new AuthenticatedCaller(bot, names, at(null))), globex)
  })
})

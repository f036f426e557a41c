import { type Actor, CurrentCaller } from "@coffer/domain/access/Actor"
import { TargetName } from "@coffer/domain/base/Names"
import { Access } from "@coffer/server/access/Access"
import { Requester } from "@coffer/server/access/caller/Requester"
import { Pushes, type PlanRequest } from "@coffer/server/secrets/delivery/Pushes"
import { type NewTarget, Targets } from "@coffer/server/secrets/delivery/Targets"
import { Context, Effect, Layer, TestClock } from "effect"
import {
  asActor,
  enter,
  envPath,
  key,
  onDatabase,
  organization,
  person,
  setSecret,
  transaction
} from "../support/Services.js"
import { KvServer, token } from "./KvServer.js"

export class Platform extends Context.Tag("@coffer/server/World/Platform")<Platform, KvServer>() {}

const platform = Effect.acquireRelease(
  Effect.promise(() => KvServer.start()),
  (server) => Effect.promise(() => server.stop())
)

export const bao = TargetName.make("bao")
export const path = "webshop/prod"
/** A value that occurs nowhere else. */
export const canary = "sk_live_Canary7_0123456789"

/** Runs a test on a database of its own, beside a platform. */
export const withPlatform = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.flatMap(platform, (server) =>
    test.pipe(
      Effect.provide(Layer.mergeAll(Targets.Default, Pushes.Default)),
      Effect.provideService(Platform, server),
      onDatabase({ SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8" })
    )
  ).pipe(Effect.scoped)

/** Makes the target `bao` as ada, who owns the organization. */
export const target = (wish: Partial<NewTarget> = {}) =>
  Effect.gen(function* () {
    const ada = yield* person("ada@example.com")
    const { url } = yield* Platform
    const place = yield* Effect.flatMap(Access, (access) => access.right(envPath(), "target.create")).pipe(asActor(ada))
    const targets = yield* Targets
    return yield* transaction(
      targets.create(place, {
        ...{ name: bao, kind: "vault", credential_key: key("VAULT_TOKEN") },
        place: { url, mount: "secret", path },
        ...wish
      })
    )
  })

/** An organization whose environment has a target, a credential for it, and a secret. */
export const world = (wish: Partial<NewTarget> = {}) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(Date.UTC(2026, 0, 31, 12))
    const ada = yield* organization()
    yield* setSecret(ada, "VAULT_TOKEN", token)
    yield* setSecret(ada, "STRIPE_KEY", canary)
    const made = yield* target(wish)
    return { ada, kv: yield* Platform, target: made }
  })

export const plan = (actor: Actor, request: PlanRequest = {}) =>
  Effect.flatMap(Pushes, (pushes) => pushes.plan(envPath(), bao, request)).pipe(asActor(actor), Effect.scoped)

/** Acts as a person whose session needs no check. */
export const asPerson =
  (actor: Actor) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(enter(actor, "secret.list"), ({ org }) =>
      Effect.provideService(effect, CurrentCaller, new Requester(actor, org.id))
    )

/** Makes a plan, or pushes what a test planned before. */
export const push = (actor: Actor, request: PlanRequest & { readonly plan?: string } = {}) =>
  Effect.gen(function* () {
    const planned = request.plan ?? (yield* plan(actor, request)).plan
    const pushes = yield* Pushes
    return yield* pushes.push(envPath(), bao, { ...request, plan: planned })
  }).pipe(asPerson(actor), Effect.scoped)

/** The changes of a plan, as `NAME change`. */
export const changesOf = (actor: Actor, request: PlanRequest = {}) =>
  Effect.map(plan(actor, request), ({ data }) => data.map(({ change, name }) => `${name} ${change}`))

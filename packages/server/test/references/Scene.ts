import type { Actor } from "@coffer/domain/access/Actor"
import { EnvName } from "@coffer/domain/base/Names"
import { Access } from "@coffer/server/access/Access"
import { Environments } from "@coffer/server/secrets/environments/Environments"
import { ReferenceReader } from "@coffer/server/secrets/references/ReferenceReader"
import { History } from "@coffer/server/secrets/services/History"
import { Promotion } from "@coffer/server/secrets/services/Promotion"
import { Revisions } from "@coffer/server/secrets/services/Revisions"
import { ServiceAccounts } from "@coffer/server/directory/service-accounts/ServiceAccounts"
import { Effect, Layer } from "effect"
import {
  asActor,
  enter,
  envPath,
  grant,
  key,
  member,
  onDatabase,
  organization,
  projectPath,
  readSecret,
  setSecret,
  transaction
} from "../support/Services.js"

const more = Layer.mergeAll(
  History.Default,
  Promotion.Default,
  Revisions.Default,
  ReferenceReader.Default,
  ServiceAccounts.Default
)

/** Adds what reads and moves references to the services of a test. */
export const withMoves = <A, E, R>(test: Effect.Effect<A, E, R>) => Effect.provide(test, more)

/** Runs a test with what reads and moves references, on a database of its own. */
export const withReferences = <A, E, R>(test: Effect.Effect<A, E, R>) => test.pipe(withMoves, onDatabase())

export const newEnv = (actor: Actor, name: string) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(), "env.create").pipe(asActor(actor))
    return yield* transaction((yield* Environments).create(place, EnvName.make(name)))
  })

export const removeEnv = (actor: Actor, name: string, force = true) =>
  Effect.gen(function* () {
    const place = yield* enter(actor, "env.delete", envPath(name))
    return yield* transaction((yield* Environments).remove(place, force))
  })

/** ada, who owns the organization, with `shared` beside `prod`; bob, who writes `prod` and may not see `shared`. */
export const scene = Effect.gen(function* () {
  const ada = yield* organization()
  yield* newEnv(ada, "shared")
  const bob = yield* member("bob@example.com", "developer")
  yield* grant(bob, "write", { env: "prod" })
  return { ada, bob }
})

/** Writes a reference. */
export const refer = (actor: Actor, name: string, text: string, env = "prod") =>
  setSecret(actor, name, text, { kind: "reference", path: envPath(env) })

/** The value of a secret. */
export const read = (actor: Actor, name: string, env = "prod") =>
  Effect.map(readSecret(actor, name, { path: envPath(env) }), ({ value }) => value)

/** How a call was refused: the code and the message. */
export const refusal = <A, E extends { readonly code: string; readonly message: string }, R>(
  effect: Effect.Effect<A, E, R>
) => Effect.map(Effect.flip(effect), ({ code, message }) => `${code}: ${message}`)

export const inTransaction = <A, E, R>(
  actor: Actor,
  env: string,
  change: (place: Effect.Effect.Success<ReturnType<typeof enter<"secret.write">>>) => Effect.Effect<A, E, R>
) => transaction(Effect.flatMap(enter(actor, "secret.write", envPath(env)), change))

export const rollback = (actor: Actor, name: string, version: number, env = "prod") =>
  Effect.flatMap(History, (history) =>
    inTransaction(actor, env, (place) => history.rollback(place, key(name), { version }))
  )

export const undelete = (actor: Actor, name: string, env = "prod") =>
  Effect.flatMap(History, (history) => inTransaction(actor, env, (place) => history.undelete(place, key(name))))

export const copy = (actor: Actor, from: string, to: string, keys?: ReadonlyArray<string>) =>
  Effect.flatMap(Promotion, (promotion) =>
    inTransaction(actor, to, (place) =>
      Effect.gen(function* () {
        const origin = yield* (yield* Access).env(envPath(from), "secret.copy").pipe(asActor(actor))
        return yield* promotion.copy(place, origin, keys === undefined ? {} : { keys: keys.map(key) })
      })
    )
  )

export const revert = (actor: Actor, to: number, env = "prod", force = false) =>
  Effect.flatMap(Revisions, (revisions) =>
    inTransaction(actor, env, (place) => revisions.revert(place, { to, force }, undefined))
  )

export const diff = (actor: Actor, one: string, other: string, resolved: boolean) =>
  Effect.gen(function* () {
    const access = yield* Access
    const compare = (env: string) => access.env(envPath(env), "secret.compare").pipe(asActor(actor))
    const read = (env: string) => access.env(envPath(env), "secret.read").pipe(asActor(actor))
    const reading = resolved ? { here: yield* read(one), there: yield* read(other) } : undefined
    const { data } = yield* (yield* Promotion).diff(yield* compare(one), yield* compare(other), reading)
    return Object.fromEntries(data.map(({ key, status }) => [key, status]))
  })

export const around = (actor: Actor, name: string, env = "prod") =>
  Effect.gen(function* () {
    const place = yield* enter(actor, "secret.list", envPath(env))
    const { hidden, kind, referred_by, refers_to } = yield* (yield* ReferenceReader).around(place, key(name))
    const named = (places: typeof refers_to) => places.map(({ env, key }) => `${env}:${key}`)
    return { kind, refers_to: named(refers_to), referred_by: named(referred_by), hidden }
  })

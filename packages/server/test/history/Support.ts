import type { Actor } from "@coffer/domain/access/Actor"
import type { EnvPath } from "@coffer/domain/api/Paths"
import type { Action, ScopeOf } from "@coffer/domain/access/Permissions"
import { EnvName } from "@coffer/domain/base/Names"
import { Access } from "@coffer/server/access/Access"
import { Environments } from "@coffer/server/secrets/environments/Environments"
import { History } from "@coffer/server/secrets/services/History"
import { Promotion } from "@coffer/server/secrets/services/Promotion"
import { Revisions } from "@coffer/server/secrets/services/Revisions"
import { SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"
import {
  asActor,
  entries,
  envPath,
  key,
  onDamagedDatabase,
  onDatabase,
  projectPath,
  type Place,
  servicesAt,
  servicesIn,
  transaction
} from "../support/Services.js"

const historyLayer = Layer.mergeAll(History.Default, Promotion.Default, Revisions.Default)

/** The services over the database file at a path, those of history and promotion among them. */
export const historyAt = (path: string) => Layer.provideMerge(historyLayer, servicesAt(path))

/** As `historyAt`, over a database of the project's engine. */
export const historyIn = (place: Place) => Layer.provideMerge(historyLayer, servicesIn(place))

/** As `onDatabase`, with history and promotion. */
export const onHistory = <A, E, R>(test: Effect.Effect<A, E, R>) => onDatabase()(Effect.provide(test, historyLayer))

/** As `onHistory`, for a test that damages the database by raw SQL. */
export const onDamagedHistory = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  onDamagedDatabase()(Effect.provide(test, historyLayer))

type EnvAction = { [A in Action]: ScopeOf<A> extends "env" ? A : never }[Action]

/** Enters an environment for any action, as the handlers do. */
export const enterFor = <A extends EnvAction>(actor: Actor, action: A, path: EnvPath = envPath()) =>
  Effect.flatMap(Access, (access) => access.right(path, action)).pipe(asActor(actor))

interface At {
  readonly path?: EnvPath
}

export const listVersions = (
  actor: Actor,
  name: string,
  options: At & { readonly limit?: number; readonly before?: number } = {}
) =>
  Effect.gen(function* () {
    const { path, ...page } = options
    const place = yield* enterFor(actor, "secret.list", path)
    return yield* (yield* History).versions(place, key(name), page)
  })

export const rollback = (
  actor: Actor,
  name: string,
  version: number,
  options: At & { readonly expected?: number } = {}
) =>
  transaction(
    Effect.gen(function* () {
      const place = yield* enterFor(actor, "secret.write", options.path)
      const expected = options.expected === undefined ? {} : { expected_version: options.expected }
      return yield* (yield* History).rollback(place, key(name), { version, ...expected })
    })
  )

export const undelete = (actor: Actor, name: string, options: At = {}) =>
  transaction(
    Effect.gen(function* () {
      const place = yield* enterFor(actor, "secret.write", options.path)
      return yield* (yield* History).undelete(place, key(name))
    })
  )

/** Destroys versions; the whole answer. */
export const destroying = (actor: Actor, name: string, versions: ReadonlyArray<number>, options: At = {}) =>
  Effect.gen(function* () {
    const history = yield* History
    const { data, erased } = yield* transaction(
      Effect.flatMap(enterFor(actor, "secret.destroy", options.path), (place) =>
        history.destroy(place, key(name), versions)
      )
    )
    return { data, erased: yield* erased }
  })

/** Destroys versions; their records. */
export const destroy = (...asked: Parameters<typeof destroying>) => Effect.map(destroying(...asked), ({ data }) => data)

/** Enters both sides in the order of the handler: the side that is written first. */
export const copy = (
  actor: Actor,
  places: { readonly from: string; readonly to: string },
  request: { readonly keys?: ReadonlyArray<string>; readonly dry_run?: boolean } = {}
) =>
  transaction(
    Effect.gen(function* () {
      const to = yield* enterFor(actor, "secret.write", envPath(places.to))
      const from = yield* enterFor(actor, "secret.copy", envPath(places.from))
      const { written } = yield* (yield* Promotion).copy(to, from, {
        ...(request.keys !== undefined && { keys: request.keys.map(key) }),
        ...(request.dry_run !== undefined && { dry_run: request.dry_run })
      })
      return written
    })
  )

export const listRevisions = (actor: Actor, options: At & { readonly limit?: number; readonly before?: number } = {}) =>
  Effect.gen(function* () {
    const { path, ...page } = options
    const place = yield* enterFor(actor, "secret.list", path)
    return yield* (yield* Revisions).list(place, page)
  })

export const revert = (
  actor: Actor,
  to: number,
  options: At & { readonly dryRun?: boolean; readonly ifMatch?: string } = {}
) =>
  transaction(
    Effect.gen(function* () {
      const place = yield* enterFor(actor, "secret.write", options.path)
      const request = { to, dry_run: options.dryRun ?? false }
      const { written } = yield* (yield* Revisions).revert(place, request, options.ifMatch)
      return written
    })
  )

/** Enters two environments, and returns the call that compares them. */
export const comparing = (actor: Actor, here: string, there: string) =>
  Effect.gen(function* () {
    const mine = yield* enterFor(actor, "secret.compare", envPath(here))
    const other = yield* enterFor(actor, "secret.compare", envPath(there))
    return (yield* Promotion).diff(mine, other)
  })

export const diff = (actor: Actor, here: string, there: string) => Effect.flatten(comparing(actor, here, there))

export const newEnvironment = (actor: Actor, name: string) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(), "env.create").pipe(asActor(actor))
    return yield* transaction((yield* Environments).create(place, EnvName.make(name)))
  })

export const removeEnvironment = (actor: Actor, name: string) =>
  Effect.gen(function* () {
    const place = yield* enterFor(actor, "env.delete", envPath(name))
    yield* transaction((yield* Environments).remove(place))
  })

/** The entries about changes of secrets. */
export const changeEntries = Effect.map(entries(), (all) =>
  all.filter(({ action }) => /^secret\.|^env\.revert$/.test(action) && action !== "secret.read")
)

/** Every row that a change of a secret may touch, and the changes on record. */
export const everything = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    environments: yield* sql`SELECT * FROM environments ORDER BY id`,
    secrets: yield* sql`SELECT * FROM secrets ORDER BY id`,
    versions: yield* sql`SELECT * FROM secret_versions ORDER BY secret_id, version`,
    changes: yield* sql`SELECT * FROM secret_changes ORDER BY env_id, revision, key`,
    entries: yield* changeEntries
  }
})

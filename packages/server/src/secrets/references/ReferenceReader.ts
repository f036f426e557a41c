import { ReferenceRefused } from "@coffer/domain/errors/Errors"
import type { EnvId } from "@coffer/domain/base/Ids"
import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import type { Action } from "@coffer/domain/access/Permissions"
import type { SecretReferences } from "@coffer/domain/secrets/Secret"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { Access, type EnvPlace, type Place, sourceOf } from "../../access/Access.js"
import type { AuditEvent, AuditSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { environmentsRepo } from "../../directory/environments/Repo.js"
import { kindOf, type Value } from "../../keys/Envelope.js"
import { secretsRepo } from "../stored/Repo.js"
import { secretNotFound } from "../stored/NotThere.js"
import { Versions } from "../stored/Versions.js"
import { referencesRepo } from "../stored/ReferencesRepo.js"
import { walk } from "./Graph.js"
import { type Closure, type Passed, Resolver, type Resolving, type Source } from "./Resolver.js"

/** How many secrets are read that refer to one; `hidden` counts the others up to here. */
const maxDependents = 2_000

/** An environment that the values of another one depend on: with its revision and the keys, if the caller may read it. */
export type Passage = readonly [name: EnvName, id: EnvId | null, revision: number | null, keys?: string]

export const referenceRefused = (key: SecretKey, why: string) => new ReferenceRefused({ message: `${key} ${why}` })

/** The audit entries about what became part of the values of `keys` of a place: one for each environment that was passed. */
export const passedEntries = (
  place: EnvPlace<Action>,
  action: "secret.read" | "secret.use" | "secret.push",
  passed: ReadonlyArray<Passed>,
  keys: Iterable<SecretKey>
): ReadonlyArray<{ readonly source: AuditSource; readonly event: AuditEvent }> => {
  const named = new Set(keys)
  const others = passed.filter(({ key, place: there }) => there.env.id !== place.env.id || !named.has(key))
  return Object.values(Array.groupBy(others, (one) => one.place.env.id)).map((some) => ({
    source: sourceOf(some[0].place),
    event: {
      action,
      resource_type: "env",
      resource_id: some[0].place.env.id,
      metadata: { keys: some.map(({ key, version }) => ({ key, version })), referred_from: place.env.name }
    }
  }))
}

/** Reads values that refer to others, and what a secret refers to. */
export class ReferenceReader extends Effect.Service<ReferenceReader>()("@coffer/server/ReferenceReader", {
  effect: Effect.gen(function* () {
    const { alongside } = yield* Access
    const audit = yield* AuditLog
    const resolver = yield* Resolver
    const repo = yield* referencesRepo
    const secrets = yield* secretsRepo
    const environments = yield* environmentsRepo
    const versions = yield* Versions

    /** The value that a reference leads to, with the secrets that it passed. */
    const valueOf = Effect.fnUntraced(function* <A extends Resolving>(closure: Closure<A>, source: Source) {
      const { passed, values } = yield* resolver.resolve(closure, [source])
      const value = values.get(source.key) ?? Either.left("leads to nothing")
      if (Either.isLeft(value)) return yield* referenceRefused(source.key, value.left)
      return { value: value.right, passed }
    })

    /** The values that references lead to. Fails with ReferenceRefused for the first that leads to none. */
    const valuesOf = Effect.fnUntraced(function* (closure: Closure<"secret.read">, sources: ReadonlyArray<Source>) {
      const found = new Map<SecretKey, Value>()
      for (const [key, value] of (yield* resolver.resolve(closure, sources)).values) {
        if (Either.isLeft(value)) return yield* referenceRefused(key, value.left)
        found.set(key, value.right)
      }
      return found
    })

    /** Records what was read to make the values of `keys`. */
    const auditPassed = (
      place: Place<"secret.read">,
      passed: ReadonlyArray<Passed>,
      keys: Iterable<SecretKey>
    ): Effect.Effect<void> =>
      passed.length === 0
        ? Effect.void
        : Effect.forEach(
            passedEntries(place, "secret.read", passed, keys),
            ({ event, source }) => audit.seen(source, event),
            { discard: true }
          )

    /**
     * The other environments that values of an environment may depend on, each with what makes a value another one: its
     * revision, and whether the caller may read it. Call it in a snapshot or a transaction.
     */
    const passages = Effect.fnUntraced(function* (place: EnvPlace<Action>): Effect.fn.Return<ReadonlyArray<Passage>> {
      const first = yield* repo.targetEnvironments({ envId: place.env.id })
      if (first.length === 0) return []
      const all = yield* environments.revisions({ projectId: place.project.id })
      const byName = new Map(all.map((env) => [env.name, env]))
      const passageOf = (name: EnvName): Passage => {
        const env = byName.get(name)
        if (env === undefined) return [name, null, null]
        const there = alongside(place, env, "secret.read", "some")
        if (there === null) return [name, env.id, null]
        return there.reach === null ? [name, env.id, env.revision] : [name, env.id, env.revision, there.reach.text]
      }
      const next = (level: ReadonlyArray<Passage>) =>
        Effect.map(
          Effect.forEach(level, ([_name, id, revision]) =>
            id === null || revision === null ? Effect.succeed([]) : repo.targetEnvironments({ envId: id })
          ),
          (found) => found.flat().map(({ env }) => passageOf(env))
        )
      const found = yield* walk(
        first.map(({ env }) => passageOf(env)),
        ([name]) => name,
        next,
        { visited: new Set([place.env.name]) }
      )
      return [...found].sort(([a], [b]) => (a < b ? -1 : 1))
    })

    /** Returns the secrets that a secret refers to, and those that refer to it. */
    const around = Effect.fnUntraced(function* (place: Place<"secret.list">, key: SecretKey) {
      const { env, project } = place
      const row = yield* secrets.find({ envId: env.id, key })
      if (row === undefined) return yield* secretNotFound(key)
      yield* versions.checkNewest(place, row)
      const targets = yield* repo.targets({ id: row.id, version: row.version })
      const dependents = yield* repo.dependents({ projectId: project.id, env: env.name, key, limit: maxDependents })
      const seen = dependents.filter(
        (one) => alongside(place, { id: one.env_id, name: one.env }, "secret.list", { key: one.key }) !== null
      )
      const found: SecretReferences = {
        kind: kindOf(row),
        refers_to: targets.map((one) => ({ env: one.target_env, key: one.target_key })),
        referred_by: seen.map((one) => ({ env: one.env, key: one.key })),
        hidden: dependents.length - seen.length
      }
      return found
    })

    return { load: resolver.load, resolve: resolver.resolve, valueOf, valuesOf, auditPassed, passages, around } as const
  }),
  dependencies: [Resolver.Default, Versions.Default]
}) {}

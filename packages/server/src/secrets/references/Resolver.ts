import { keysOf } from "@coffer/domain/access/Actor"
import type { EnvId } from "@coffer/domain/base/Ids"
import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import { maxReferenceDepth } from "@coffer/domain/secrets/Reference"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { Access, type EnvPlace } from "../../access/Access.js"
import { mapInSlices } from "../../base/EventLoop.js"
import { Database } from "../../database/Database.js"
import { environmentsRepo } from "../../directory/environments/Repo.js"
import { kindOf, type Value } from "../../keys/Envelope.js"
import { referencesRepo } from "../stored/ReferencesRepo.js"
import { secretsRepo, type WholeRow } from "../stored/Repo.js"
import { type Altered, Versions } from "../stored/Versions.js"
import { filling, maxPassedBytes, nodesOf, partsOf, type Step, tooMuch } from "./Fill.js"
import { type Node, nodeId, walk } from "./Graph.js"

/** The actions that resolve references. The caller needs the same action in every environment on the path. */
export type Resolving = "secret.read" | "secret.use"

/** A reference to resolve: the text that stands at a key of the place. */
export interface Source {
  readonly key: SecretKey
  readonly text: Value
}

/** A secret whose value became part of another one. */
export interface Passed<A extends Resolving = Resolving> extends Pick<WholeRow, "id" | "key" | "version"> {
  readonly place: EnvPlace<A>
  readonly value: Value
}

/** A secret that references lead to, as it is stored, or why it cannot be passed. */
type Found<A extends Resolving> = { readonly place: EnvPlace<A>; readonly row: WholeRow } | { readonly why: string }

/** All that references of a place lead to, as it is stored. */
export interface Closure<A extends Resolving> {
  readonly place: EnvPlace<A>
  /** Secrets of the place that were read already. */
  readonly known: ReadonlyMap<SecretKey, WholeRow>
  readonly environments: Effect.Effect<ReadonlyArray<{ readonly id: EnvId; readonly name: EnvName }>>
  readonly found: Map<string, Found<A>>
  /** The environments that were read as a whole. */
  readonly whole: Map<EnvName, ReadonlyArray<WholeRow>>
  bytes: number
}

const needOf = (action: Resolving): string => (action === "secret.use" ? "use" : "read")

type Referring = Pick<WholeRow, "id" | "version" | "format">

/** More keys than these are read as the pages of the whole environment. */
const manyKeys = 400

/** Replaces references by the values that they lead to, seen from where each of them stands. */
export class Resolver extends Effect.Service<Resolver>()("@coffer/server/Resolver", {
  effect: Effect.gen(function* () {
    const { alongside } = yield* Access
    const { snapshot } = yield* Database
    const environments = yield* environmentsRepo
    const secrets = yield* secretsRepo
    const references = yield* referencesRepo
    const versions = yield* Versions

    /** The place of an environment, or why the caller may not pass it. */
    const placeOf = Effect.fnUntraced(function* <A extends Resolving>(closure: Closure<A>, name: EnvName) {
      const { place } = closure
      if (name === place.env.name) return place
      const env = (yield* closure.environments).find((env) => env.name === name)
      if (env === undefined) return "which does not exist"
      const need = needOf(place.action)
      return alongside<A>(place, env, place.action, "some") ?? `and this needs ${need} on environment ${name}`
    })

    const rowsOf = Effect.fnUntraced(function* <A extends Resolving>(
      closure: Closure<A>,
      { env: { id, name } }: EnvPlace<A>,
      keys: ReadonlySet<SecretKey>
    ) {
      const before = closure.whole.get(name)
      const isSome = keys.size <= manyKeys
      const rows = before ?? (yield* secrets.select(id, isSome ? [...keys] : undefined))
      if (before !== undefined) return rows.filter(({ key }) => keys.has(key))
      for (const { value_bytes } of rows) closure.bytes += value_bytes
      if (isSome) return rows
      closure.whole.set(name, rows)
      return rows.filter(({ key }) => keys.has(key))
    })

    /** Loads secrets of one environment, or notes why they cannot be passed. */
    const loadSome = Effect.fnUntraced(function* <A extends Resolving>(
      closure: Closure<A>,
      env: EnvName,
      keys: ReadonlyArray<SecretKey>
    ) {
      const there = yield* placeOf(closure, env)
      const note = (key: SecretKey, one: Found<A>) => closure.found.set(nodeId({ env, key }), one)
      const refuse = (why: string) => {
        for (const key of keys) if (!closure.found.has(nodeId({ env, key }))) note(key, { why })
      }
      if (typeof there === "string") return refuse(there)
      const only = keysOf(there.actor)
      const need = needOf(there.action)
      const known = env === closure.place.env.name ? closure.known : new Map<SecretKey, WholeRow>()
      const wanted = new Set<SecretKey>()
      for (const key of keys) {
        const row = known.get(key)
        if (only?.has(key) === false) note(key, { why: "and this delegation is limited to other keys" })
        else if (there.reach?.has(key) === false) note(key, { why: `and this needs ${need} on that key` })
        else if (row === undefined) wanted.add(key)
        else note(key, { place: there, row })
      }
      if (wanted.size === 0) return
      if (closure.bytes > maxPassedBytes) return refuse(`which ${tooMuch}`)
      for (const row of yield* rowsOf(closure, there, wanted)) note(row.key, { place: there, row })
      refuse("which does not exist")
    })

    /** Returns the targets of secrets of one environment, by the index of references. */
    const targetsOf = (rows: ReadonlyArray<Referring>): Effect.Effect<ReadonlyArray<Node>> =>
      Effect.map(references.targetsOf(rows.filter((row) => kindOf(row) === "reference")), (targets) =>
        targets.map(({ target_env: env, target_key: key }) => ({ env, key }))
      )

    /** Loads secrets and all that they refer to, one step further each time, and never further than references may reach. */
    const extend = <A extends Resolving>(closure: Closure<A>, start: ReadonlyArray<Node>) => {
      const next = Effect.fnUntraced(function* (level: ReadonlyArray<Node>) {
        for (const some of Object.values(Array.groupBy(level, ({ env }) => env))) {
          yield* loadSome(
            closure,
            some[0].env,
            some.map(({ key }) => key)
          )
        }
        return yield* targetsOf(
          level.flatMap((node) => {
            const found = closure.found.get(nodeId(node))
            return found === undefined || "why" in found ? [] : [found.row]
          })
        )
      })
      return walk(start, nodeId, next, { levels: maxReferenceDepth, visited: new Set(closure.found.keys()) })
    }

    /**
     * Loads all that the references among `rows` lead to, without decrypting it. `known` are current secrets of the place that were
     * read already. Call it in the snapshot that read the rows, and `resolve` after that.
     */
    const load = Effect.fnUntraced(function* <A extends Resolving>(
      place: EnvPlace<A>,
      rows: ReadonlyArray<Referring>,
      known: ReadonlyArray<WholeRow> = []
    ) {
      const closure: Closure<A> = {
        place,
        known: new Map(known.map((row) => [row.key, row])),
        environments: yield* Effect.cached(environments.revisions({ projectId: place.project.id })),
        found: new Map(),
        whole: new Map(),
        bytes: 0
      }
      yield* extend(closure, yield* targetsOf(rows))
      return closure
    })

    /**
     * Decrypts what was loaded, and resolves references of its place. On the left of a key, a clause says why it has no value, by keys
     * and places. `texts` are the values of secrets of the place that were decrypted already.
     */
    const resolve = Effect.fnUntraced(function* <A extends Resolving>(
      closure: Closure<A>,
      sources: ReadonlyArray<Source>,
      texts: ReadonlyMap<SecretKey, Value> = new Map()
    ) {
      const here = closure.place.env.name
      const steps = new Map<string, Step>()
      const passed = new Map<string, Passed<A>>()
      const stepOf = (node: Node) => steps.get(nodeId(node))
      const next = (level: ReadonlyArray<Node>): ReadonlyArray<Node> =>
        level.flatMap((node) => {
          const step = stepOf(node)
          return step === undefined || "why" in step ? [] : nodesOf(node.env, step.parts)
        })

      /** Decrypts a secret that was loaded. Returns what was altered. */
      const open = (node: Node): ReadonlyArray<Altered> => {
        const id = nodeId(node)
        const found = closure.found.get(id)
        if (found !== undefined && "why" in found) steps.set(id, found)
        if (found === undefined || "why" in found) return []
        const { place, row } = found
        const known = node.env === here ? texts.get(node.key) : undefined
        const opened = known === undefined ? versions.opened(place, row, row) : Either.right(known)
        if (Either.isLeft(opened)) {
          steps.set(id, { why: "which does not authenticate: it was altered" })
          return [opened.left]
        }
        const value = opened.right
        steps.set(id, { value, parts: kindOf(row) === "reference" ? partsOf(value) : null })
        passed.set(id, { place, id: row.id, key: row.key, version: row.version, value })
        return []
      }

      const openAll = Effect.fnUntraced(function* (level: ReadonlyArray<Node>) {
        // Only if the index of references is damaged: the texts say what a reference names.
        const absent = level.filter((node) => !closure.found.has(nodeId(node)))
        if (absent.length > 0) yield* snapshot(extend(closure, absent))
        // One altered value must not hide all others.
        const altered = (yield* mapInSlices(level, open)).flat()
        yield* Effect.forEach(altered, (one) => Effect.ignore(versions.failed(one)), { discard: true })
        return next(level)
      })

      const parsed = sources.map(({ key, text }) => ({ node: { env: here, key }, parts: partsOf(text) }))
      const targets = (some: typeof parsed) => some.flatMap(({ parts }) => nodesOf(here, parts))
      yield* walk(targets(parsed), nodeId, openAll, { levels: maxReferenceDepth })
      const fill = filling(here, stepOf)
      const values = new Map<SecretKey, Either.Either<Value, string>>()
      const resolved = yield* mapInSlices(parsed, (source) => {
        const value = fill(source.node, source.parts)
        values.set(source.node.key, value)
        return Either.isRight(value) ? [source] : []
      })
      const used = yield* walk(targets(resolved.flat()), nodeId, (level) => Effect.sync(() => next(level)))
      return { values, passed: used.flatMap((node) => passed.get(nodeId(node)) ?? []) }
    })

    return { load, resolve } as const
  }),
  dependencies: [Versions.Default]
}) {}

import type { EnvId, SecretId } from "@coffer/domain/Ids"
import type { EnvName, SecretKey } from "@coffer/domain/Names"
import {
  maxReferenceDepth,
  parseReference,
  type ReferencePart,
  type ReferenceTarget,
  targetsOf,
  targetText
} from "@coffer/domain/Reference"
import { byteLength, maxSecretValueBytes, SecretValue } from "@coffer/domain/SecretValues"
import { Array, Effect, Either, Redacted } from "effect"
import { Access, type EnvPlace } from "../../access/Access.js"
import { forEachInSlices, pacing } from "../../base/EventLoop.js"
import { EnvironmentsRepo } from "../../directory/environments/Repo.js"
import { kindOf, type Value } from "../../keys/Envelope.js"
import { SecretsRepo, type WholeRow } from "../stored/Repo.js"
import { Versions } from "../stored/Versions.js"
import { type Node, nodeId } from "./Graph.js"

/** The actions that resolve references. The caller needs the same action in every environment on the path. */
export type Resolving = "secret.read" | "secret.use"

/** A reference to resolve: the text that stands at a key of the place. */
export interface Source {
  readonly key: SecretKey
  readonly text: Value
}

/** A secret whose value became part of another one. */
export interface Passed<A extends Resolving = Resolving> {
  readonly place: EnvPlace<A>
  readonly id: SecretId
  readonly key: SecretKey
  readonly version: number
  readonly value: Value
}

/** A visited secret: its value and parsed parts, or why it cannot be resolved. */
type Step<A extends Resolving> =
  { readonly passed: Passed<A>; readonly parts: ReadonlyArray<ReferencePart> | null } | { readonly why: string }

interface Environment {
  readonly id: EnvId
  readonly name: EnvName
}

/** More keys than these are read as the pages of the whole environment. */
const manyKeys = 400

/** How many bytes all values of one answer may have together. */
const maxResolvedBytes = 8 * 1024 * 1024

/** How many bytes one answer may load for its references, and how many it may make of them on the way to its values. */
const maxPassedBytes = 4 * maxResolvedBytes

const tooMuch = "does not fit: the references of one answer pass at most 32 MiB of values"
const tooLong = "is longer than 64 KB with the values that it refers to"
const tooDeep = `passes more than ${maxReferenceDepth} references, one after another`

const partsOf = (text: Value): ReadonlyArray<ReferencePart> =>
  Either.getOrElse(parseReference(Redacted.value(text)), () => [])

/** Replaces references by the values that they lead to, seen from where each of them stands. */
export class Resolver extends Effect.Service<Resolver>()("@coffer/server/Resolver", {
  effect: Effect.gen(function* () {
    const { alongside } = yield* Access
    const environments = yield* EnvironmentsRepo
    const secrets = yield* SecretsRepo
    const versions = yield* Versions

    /**
     * Resolves references of one environment. On the left of a key, a clause says why it has no value, by keys and places.
     * `known` are secrets of this environment that were read already. Call it in a snapshot.
     */
    const resolve = <A extends Resolving>(
      place: EnvPlace<A>,
      sources: ReadonlyArray<Source>,
      known: ReadonlyMap<
        SecretKey,
        { readonly row: Pick<WholeRow, "id" | "version" | "format">; readonly value: Value }
      >
    ): Effect.Effect<{
      readonly values: ReadonlyMap<SecretKey, Either.Either<Value, string>>
      readonly passed: ReadonlyArray<Passed<A>>
    }> =>
      Effect.gen(function* () {
        const here = place.env.name
        const need = place.action === "secret.use" ? "use" : "read"
        const byName = new Map<EnvName, Environment>(
          (yield* environments.revisions({ projectId: place.project.id })).map((env) => [env.name, env])
        )
        const steps = new Map<string, Step<A>>()
        const at = (env: EnvName, { env: other, key }: ReferenceTarget) => ({ env: other ?? env, key })
        const nameOf = ({ env, key }: Node): string => targetText({ env: env === here ? null : env, key })

        const stepOf = (
          there: EnvPlace<A>,
          key: SecretKey,
          { id, version, ...row }: Pick<WholeRow, "id" | "version" | "format">,
          value: Value
        ): Step<A> => ({
          passed: { place: there, id, key, version, value },
          parts: kindOf(row) === "reference" ? partsOf(value) : null
        })

        /** The environments that were read as a whole. */
        const whole = new Map<EnvName, ReadonlyArray<WholeRow>>()
        let [loaded, filled] = [0, 0]

        const noteLoaded = (rows: ReadonlyArray<WholeRow>) => {
          for (const { value_bytes } of rows) loaded += value_bytes
          return rows
        }

        const rowsOf = Effect.fnUntraced(function* (there: EnvPlace<A>, keys: ReadonlySet<SecretKey>) {
          const { id, name } = there.env
          const before = whole.get(name)
          if (before === undefined && keys.size <= manyKeys) return noteLoaded(yield* secrets.select(id, [...keys]))
          const all = before ?? noteLoaded(yield* secrets.select(id, undefined))
          whole.set(name, all)
          return all.filter(({ key }) => keys.has(key))
        })

        /** Loads secrets of one environment, or notes why they cannot be passed. */
        const load = Effect.fnUntraced(function* (env: EnvName, keys: ReadonlyArray<SecretKey>) {
          const refuse = (key: SecretKey, why: string) => steps.set(nodeId({ env, key }), { why })
          const found = byName.get(env)
          const there = env === here ? place : found === undefined ? null : alongside<A>(place, found, place.action)
          if (there === null) {
            const why = found === undefined ? "which does not exist" : `and this needs ${need} on environment ${env}`
            for (const key of keys) refuse(key, why)
            return
          }
          const [absent, present] = Array.partition(keys, (key) => env === here && known.has(key))
          for (const key of present) {
            const one = known.get(key)
            if (one !== undefined) steps.set(nodeId({ env, key }), stepOf(there, key, one.row, one.value))
          }
          const wanted = new Set(absent)
          if (wanted.size === 0) return
          if (loaded > maxPassedBytes) {
            for (const key of wanted) refuse(key, `which ${tooMuch}`)
            return
          }
          const rows = yield* rowsOf(there, wanted)
          yield* forEachInSlices(rows, (row) => {
            wanted.delete(row.key)
            return Effect.match(versions.open(there, row, row), {
              onSuccess: (value) => steps.set(nodeId({ env, key: row.key }), stepOf(there, row.key, row, value)),
              // One altered value must not hide all others. The failure is reported where it is found.
              onFailure: () => refuse(row.key, "which does not authenticate: it was altered")
            })
          })
          for (const key of wanted) refuse(key, "which does not exist")
        })

        /** Loads what is referred to, one step further each time, and never further than references may reach. */
        const parsed = sources.map(({ key, text }) => ({ key, parts: partsOf(text) }))
        let open = parsed.flatMap(({ parts }) => targetsOf(parts).map((target) => at(here, target)))
        for (let depth = 0; depth < maxReferenceDepth && open.length > 0; depth++) {
          const fresh = new Map(open.filter((node) => !steps.has(nodeId(node))).map((node) => [nodeId(node), node]))
          const byEnv = Object.values(Array.groupBy(fresh.values(), ({ env }) => env))
          for (const [first, ...rest] of byEnv)
            yield* load(
              first.env,
              [first, ...rest].map(({ key }) => key)
            )
          open = [...fresh].flatMap(([id, { env }]) => {
            const step = steps.get(id)
            return step === undefined || "why" in step || step.parts === null
              ? []
              : targetsOf(step.parts).map((target) => at(env, target))
          })
        }

        type Made = Either.Either<{ readonly text: string; readonly depth: number }, string>
        const made = new Map<string, Made>()

        const fill = (env: EnvName, parts: ReadonlyArray<ReferencePart>, way: ReadonlyArray<string>): Made => {
          if (filled > maxPassedBytes) return Either.left(tooMuch)
          let [text, depth] = ["", 0]
          for (const part of parts) {
            if (typeof part === "string") {
              text += part
              continue
            }
            const node = at(env, part)
            const value = make(node, way)
            if (Either.isLeft(value)) return Either.left(`refers to ${nameOf(node)}, ${value.left}`)
            depth = Math.max(depth, 1 + value.right.depth)
            text += value.right.text
            filled += value.right.text.length
            // Checked with each part, so that no text grows far beyond the limit.
            if (text.length > maxSecretValueBytes) return Either.left(tooLong)
          }
          if (depth > maxReferenceDepth) return Either.left(tooDeep)
          return byteLength(text) > maxSecretValueBytes ? Either.left(tooLong) : Either.right({ text, depth })
        }

        const make = (node: Node, way: ReadonlyArray<string>): Made => {
          const id = nodeId(node)
          if (way.includes(id)) return Either.left("which refers to itself")
          const before = made.get(id)
          if (before !== undefined) return before
          const step = steps.get(id)
          if (step === undefined) return Either.left(`which ${tooDeep}`)
          if ("why" in step) return Either.left(step.why)
          const { parts, passed } = step
          const result: Made =
            parts === null
              ? Either.right({ text: Redacted.value(passed.value), depth: 0 })
              : Either.mapLeft(fill(node.env, parts, [...way, id]), (why) => `which ${why}`)
          if (Either.isRight(result)) made.set(id, result)
          return result
        }

        let bytes = 0
        const pace = pacing()
        const values = new Map<SecretKey, Either.Either<Value, string>>()
        const down = new Map<string, ReadonlyArray<Node>>()
        for (const [id, step] of steps) {
          if ("why" in step || step.parts === null) continue
          down.set(
            id,
            targetsOf(step.parts).map((target) => at(step.passed.place.env.name, target))
          )
        }
        const used = new Map<string, Passed<A>>()
        /** Records the secrets that contribute to a value. Each secret is passed once, however many values it is part of. */
        const use = (targets: ReadonlyArray<Node>): void => {
          const open = [...targets].reverse()
          for (let node = open.pop(); node !== undefined; node = open.pop()) {
            const id = nodeId(node)
            const step = steps.get(id)
            if (used.has(id) || step === undefined || "why" in step) continue
            used.set(id, step.passed)
            open.push(...(down.get(id) ?? []))
          }
        }
        for (const { key, parts } of parsed) {
          const value = Either.flatMap(fill(here, parts, [nodeId({ env: here, key })]), ({ text }) => {
            bytes += byteLength(text)
            return bytes > maxResolvedBytes
              ? Either.left("does not fit: the values of one answer have at most 8 MiB together")
              : Either.right(Redacted.make(SecretValue.make(text)))
          })
          values.set(key, value)
          if (Either.isRight(value)) use(targetsOf(parts).map((target) => at(here, target)))
          yield* pace
        }
        return { values, passed: [...used.values()] }
      })

    return { resolve } as const
  }),
  dependencies: [EnvironmentsRepo.Default, SecretsRepo.Default, Versions.Default]
}) {}

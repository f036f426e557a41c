import { keysOf, mayReveal } from "@coffer/domain/access/Actor"
import {
  Conflict,
  LimitExceeded,
  ReferenceRefused,
  type UseWidens,
  ValidationError
} from "@coffer/domain/errors/Errors"
import type { EnvId, ProjectId, SecretId } from "@coffer/domain/base/Ids"
import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import type { Action } from "@coffer/domain/access/Permissions"
import {
  maxReferenceDepth,
  maxReferences,
  parseReference,
  type ReferenceTarget,
  targetsOf,
  targetText
} from "@coffer/domain/secrets/Reference"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { Access, type EnvPlace, type Place } from "../../access/Access.js"
import type { Transaction } from "../../database/Database.js"
import { environmentsRepo } from "../../directory/environments/Repo.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { secretsRepo } from "../stored/Repo.js"
import type { Value } from "../../keys/Envelope.js"
import { type Arrival, ReferenceRules } from "./ReferenceRules.js"
import { checking, type Graph, graphOf, type Node, nodeId, walk, type Wrong } from "./Graph.js"
import { type DependentRow, type EdgeRow, referencesRepo } from "../stored/ReferencesRepo.js"

/** The new state of a key. */
export type Change =
  | { readonly kind: "gone" }
  | { readonly kind: "text" }
  | { readonly kind: "reference"; readonly targets: ReadonlyArray<ReferenceTarget> }

interface Options {
  /** Whether keys may go that others refer to. */
  readonly force?: boolean | undefined
  /**
   * Values that the change moves from other secrets or versions. Their references may name secrets that do not exist; those that are
   * given may not.
   */
  readonly arriving?: ReadonlyArray<Arrival> | undefined
}

/** A secret on the path of a reference, with the path as a message says it. */
interface Passing {
  readonly node: Node
  readonly way: string
}

/** Proof that the references of a change were checked. Every write of secrets asks for it. */
class Admitted {
  protected readonly admitted = true
}
// A type only: other modules cannot construct one.
export type { Admitted }

/** How many references the secrets of a project may have together. */
export const maxEdges = 20_000

export const tooManyEdges = (project: string) =>
  new LimitExceeded({
    message: `the secrets of ${project} have at most ${maxEdges.toLocaleString("en-US")} references together`
  })

/** How many secrets a message names. */
export const maxNamed = 20

export const edgeOf = ({ env, key, target_env, target_key }: EdgeRow) => ({
  from: { env, key },
  to: { env: target_env, key: target_key }
})

/** A sentence on the references of a secret that may not be written. */
export const sentenceOf = (name: string, wrong: Wrong, named: (node: Node) => string): string =>
  wrong.wrong === "cycle"
    ? `${name} would refer to itself: ${wrong.way.map(named).join(" -> ")}`
    : `${name} would exceed the maximum reference depth of ${maxReferenceDepth}`

const refused = (message: string) => new ReferenceRefused({ message })

/** Parses a text that is to become the reference at a key. Fails with ValidationError if it is malformed. */
export const referenceAt = (key: SecretKey, text: Value): Effect.Effect<Change, ValidationError> =>
  Either.match(parseReference(Redacted.value(text)), {
    onLeft: (wrong) => new ValidationError({ message: `${key}: ${wrong}` }),
    onRight: (parts) => Effect.succeed({ kind: "reference", targets: targetsOf(parts) })
  })

/** Decides which references may be written, and which secrets may go although others refer to them. */
export class ReferenceChecks extends Effect.Service<ReferenceChecks>()("@coffer/server/ReferenceChecks", {
  effect: Effect.gen(function* () {
    const { alongside } = yield* Access
    const repo = yield* referencesRepo
    const secrets = yield* secretsRepo
    const environments = yield* environmentsRepo
    const flows = yield* ReferenceRules

    /** How a message names a secret: without its environment if it is in the one of the place. */
    const named =
      (place: EnvPlace<Action>) =>
      ({ env, key }: Node): string =>
        targetText({ env: env === place.env.name ? null : env, key })

    /** The secrets that a reference names, seen from the place. */
    const nodesOf = (place: Place<"secret.write">, targets: ReadonlyArray<ReferenceTarget>): ReadonlyArray<Node> =>
      targets.map(({ env, key }) => ({ env: env ?? place.env.name, key }))

    /** The failure of a removal: it names the secrets that refer to what goes, as far as the caller may see them. */
    const stillNeeded = (place: EnvPlace<Action>, what: string, rows: ReadonlyArray<DependentRow>): Conflict => {
      const only = keysOf(place.actor)
      const seen = rows.filter(
        ({ env, env_id, key }) =>
          alongside(place, { id: env_id, name: env }, "secret.list", { key }) !== null && only?.has(key) !== false
      )
      const names = seen.slice(0, maxNamed).map(named(place))
      // Secrets that a delegation may not name are not counted either.
      const others = only === null ? rows.length - names.length : 0
      const all = [
        ...names,
        ...(others === 0 && names.length > 0
          ? []
          : [names.length === 0 ? "secrets that you may not see" : `${others} more`])
      ]
      const [name] = names
      return new Conflict({
        message:
          name !== undefined && all.length === 1
            ? `${name} refers to ${what}: change ${name} first, or force the removal (${name} then cannot be read)`
            : `${all.join(", ")} refer to ${what}: change them first, or force the removal (they then cannot be read)`
      })
    }

    /** Fails with Conflict if secrets that stay as they are refer to a key that goes. */
    const checkGone = Effect.fnUntraced(function* (
      place: Place<"secret.write">,
      changes: ReadonlyMap<SecretKey, Change>
    ) {
      const { env, project } = place
      const gone = [...changes].flatMap(([key, { kind }]) => (kind === "gone" ? [key] : []))
      if (gone.length === 0 || (yield* repo.anyTo({ projectId: project.id, env: env.name })) === undefined) return
      yield* forEachInSlices(gone, (key) =>
        Effect.gen(function* () {
          // Referrers that the change itself removes or rewrites must not crowd out the others.
          const limit = changes.size + 2 * maxNamed
          const rows = yield* repo.dependents({ projectId: project.id, env: env.name, key, limit })
          const staying = rows.filter((row) => {
            const change = row.env === env.name ? changes.get(row.key) : undefined
            if (change === undefined) return true
            return (
              change.kind === "reference" &&
              nodesOf(place, change.targets).some((node) => node.env === env.name && node.key === key)
            )
          })
          if (staying.length > 0) return yield* stillNeeded(place, `secret ${key}`, staying)
        })
      )
    })

    /** Sends the first statement of `admit` for keys that go. */
    const goneAhead = (projectId: ProjectId, env: EnvName) => repo.anyTo.ahead({ projectId, env })

    /**
     * Fails unless the caller may read every environment on the path of a reference. Otherwise its writer could read foreign
     * values through it. `checked` are the secrets of which this is known.
     */
    const checkRights = (
      place: Place<"secret.write">,
      envIds: ReadonlyMap<EnvName, EnvId>,
      { down }: Graph,
      from: Node,
      checked: Set<string>
    ): Effect.Effect<void, ReferenceRefused> => {
      const isOpen = (env: EnvName, id: EnvId) =>
        id === place.env.id || alongside(place, { id, name: env }, "secret.copy") !== null
      const step = ({ node, way }: Passing) =>
        Effect.forEach(down.get(nodeId(node)) ?? [], (next) => {
          const envId = envIds.get(next.env)
          const further = `${way} ${node === from ? "" : "which "}refers to ${named(place)(next)},`
          return envId === undefined || isOpen(next.env, envId)
            ? Effect.succeed<Passing>({ node: next, way: further })
            : refused(`${further} and this needs read on environment ${next.env}`)
        })
      const next = (level: ReadonlyArray<Passing>) => Effect.map(Effect.forEach(level, step), (found) => found.flat())
      const start: Passing = { node: from, way: from.key }
      return Effect.asVoid(walk([start], ({ node }) => nodeId(node), next, { visited: checked }))
    }

    /** Fails unless the target of a reference exists. */
    const checkTarget = Effect.fnUntraced(function* (
      place: Place<"secret.write">,
      envIds: ReadonlyMap<EnvName, EnvId>,
      { key, target }: { readonly key: SecretKey; readonly target: Node },
      changes: ReadonlyMap<SecretKey, Change>
    ) {
      const envId = envIds.get(target.env)
      const absent = refused(`${key} refers to ${named(place)(target)}, which does not exist: set that first`)
      if (envId === undefined) return yield* absent
      const change = envId === place.env.id ? changes.get(target.key) : undefined
      if (change === undefined) {
        if ((yield* secrets.findLive({ envId, key: target.key })) === undefined) return yield* absent
      } else if (change.kind === "gone") return yield* absent
    })

    /** Checks new references against all of the project. */
    const checkReferences = Effect.fnUntraced(function* (
      place: Place<"secret.write">,
      changes: ReadonlyMap<SecretKey, Change>,
      { arriving }: Options
    ) {
      const here = place.env.name
      const all = yield* environments.revisions({ projectId: place.project.id })
      const envIds = new Map(all.map(({ id, name }) => [name, id]))
      const changed = new Map(
        [...changes].map(([key, change]) => {
          const from = { env: here, key }
          const targets = change.kind === "reference" ? nodesOf(place, change.targets) : []
          return [nodeId(from), { key, from, targets }] as const
        })
      )
      const edges = (yield* repo.edges(place.project.id, maxEdges + 1))
        .map(edgeOf)
        .filter(({ from }) => !changed.has(nodeId(from)))
      const references = [...changed.values()].filter(({ targets }) => targets.length > 0)
      if (edges.length + references.reduce((sum, { targets }) => sum + targets.length, 0) > maxEdges) {
        return yield* tooManyEdges("a project")
      }
      const graph = graphOf(edges, changed.values())
      const check = checking(graph)
      const checked = new Set<string>()
      yield* forEachInSlices(references, ({ from, key, targets }) =>
        Effect.gen(function* () {
          if (targets.length > maxReferences) {
            return yield* refused(`${key} has ${targets.length} references: a value has at most ${maxReferences}`)
          }
          yield* checkRights(place, envIds, graph, from, checked)
          const given = arriving !== undefined ? [] : new Map(targets.map((node) => [nodeId(node), node])).values()
          for (const target of given) yield* checkTarget(place, envIds, { key, target }, changes)
          const wrong = check(from)
          if (wrong !== null) return yield* refused(sentenceOf(key, wrong, named(place)))
        })
      )
      yield* flows.check(place, graph, envIds, {
        arriving: arriving ?? [],
        references: references.map(({ key }) => key)
      })
    })

    /** Fails with Conflict if secrets of other environments refer to those of one that was removed in this transaction. */
    const admitEnvRemoval = Effect.fnUntraced(function* (
      place: Place<"env.delete">
    ): Effect.fn.Return<void, Conflict, Transaction> {
      const { env, project } = place
      const rows = yield* repo.dependentsOfEnv({
        projectId: project.id,
        env: env.name,
        envId: env.id,
        limit: 2 * maxNamed
      })
      if (rows.length > 0) return yield* stillNeeded(place, `secrets of environment ${env.name}`, rows)
    })

    /**
     * Validates the references of a change before it is applied. Fails with ReferenceRefused for
     * references that may not be written, with Conflict for a key that others refer to, with UseWidens if values would come under
     * wider use rules, and with LimitExceeded.
     */
    const admit = Effect.fnUntraced(function* (
      place: Place<"secret.write">,
      changes: ReadonlyMap<SecretKey, Change>,
      options: Options = {}
    ): Effect.fn.Return<Admitted, Conflict | LimitExceeded | ReferenceRefused | UseWidens, Transaction> {
      if (options.force !== true) yield* checkGone(place, changes)
      const isReferring = [...changes.values()].some(
        (change) => change.kind === "reference" && change.targets.length > 0
      )
      const mayCarry = (options.arriving ?? []).length > 0 && !mayReveal(place.actor)
      // The messages of these checks name other secrets.
      if (isReferring || mayCarry) {
        const limited =
          keysOf(place.actor) !== null
            ? "a delegation that is limited to keys"
            : place.reach !== null
              ? "a caller whose rules are for some keys"
              : null
        if (limited !== null) {
          return yield* refused(
            isReferring
              ? `${limited} writes no references`
              : `${limited} and who is given no values restores no versions`
          )
        }
      }
      if (isReferring || mayCarry) {
        yield* checkReferences(place, changes, options)
      }
      return new Admitted()
    })

    /** Returns the change to the references of a version that comes back. */
    const changeOf = (id: SecretId, version: number): Effect.Effect<Change> =>
      Effect.map(repo.targets({ id, version }), (rows) =>
        rows.length === 0
          ? { kind: "text" }
          : {
              kind: "reference",
              targets: rows.map(({ target_env: env, target_key: key }) => ({ env, key }))
            }
      )

    return { admit, admitEnvRemoval, changeOf, goneAhead } as const
  }),
  dependencies: [ReferenceRules.Default]
}) {}

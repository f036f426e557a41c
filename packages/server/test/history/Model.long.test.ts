import type { Actor } from "@coffer/domain/access/Actor"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, FastCheck, Option, Predicate, TestClock } from "effect"
import {
  account,
  envPath,
  freshPlace,
  grant,
  invariantsIn,
  isOnPostgres,
  listSecrets,
  organization,
  outcome,
  readBundle,
  readSecret,
  removeSecret,
  setSecret,
  writeBundle
} from "../support/Services.js"
import { currentOf, Model, type Outcome } from "./Model.js"
import {
  changeEntries,
  copy,
  destroy,
  diff,
  historyIn,
  listRevisions,
  listVersions,
  newEnvironment,
  removeEnvironment,
  revert,
  rollback,
  undelete
} from "./Support.js"
import { runs } from "../../../domain/test/support/Runs.js"

const envs = ["staging", "prod"] as const
const keys = ["A", "B", "__proto__", "c"] as const
const robot = "deployer"
const owner = "ada@example.com"

const env = FastCheck.constantFrom(...envs)
const name = FastCheck.constantFrom(...keys)
const text = FastCheck.oneof(
  FastCheck.constantFrom("", "x", "y", "é", "a\0b"),
  FastCheck.string({ unit: "grapheme", maxLength: 20 })
)
const expected = FastCheck.option(FastCheck.oneof(FastCheck.constant("current" as const), FastCheck.nat({ max: 3 })), {
  freq: 1
})
const version = FastCheck.nat({ max: 5 })
const someKeys = FastCheck.uniqueArray(name, { maxLength: 3 })

/** A write of a bundle whose `If-Match` is none, the environment's ETag, or one that it had before. */
const ifMatch = FastCheck.constantFrom(...(["none", "none", "current", "earlier", "other"] as const))

const step = FastCheck.oneof(
  { weight: 5, arbitrary: FastCheck.record({ do: FastCheck.constant("set" as const), env, name, text, expected }) },
  { weight: 3, arbitrary: FastCheck.record({ do: FastCheck.constant("remove" as const), env, name, expected }) },
  { weight: 3, arbitrary: FastCheck.record({ do: FastCheck.constant("undelete" as const), env, name }) },
  {
    weight: 3,
    arbitrary: FastCheck.record({ do: FastCheck.constant("rollback" as const), env, name, version, expected })
  },
  {
    weight: 2,
    arbitrary: FastCheck.record({
      do: FastCheck.constant("destroy" as const),
      env,
      name,
      versions: FastCheck.array(version, { minLength: 1, maxLength: 3 })
    })
  },
  {
    weight: 3,
    arbitrary: FastCheck.record({
      do: FastCheck.constant("copy" as const),
      to: env,
      keys: FastCheck.option(someKeys, { freq: 1 }),
      dryRun: FastCheck.boolean()
    })
  },
  {
    weight: 3,
    arbitrary: FastCheck.record({
      do: FastCheck.constant("write" as const),
      env,
      set: FastCheck.array(FastCheck.tuple(name, text), { maxLength: 3 }),
      delete: someKeys,
      dryRun: FastCheck.boolean(),
      ifMatch
    })
  },
  {
    weight: 4,
    arbitrary: FastCheck.record({
      do: FastCheck.constant("revert" as const),
      env,
      back: FastCheck.integer({ min: -1, max: 10 }),
      dryRun: FastCheck.boolean(),
      ifMatch
    })
  },
  { weight: 1, arbitrary: FastCheck.record({ do: FastCheck.constant("renew" as const), env }) }
)
type Step = typeof step extends FastCheck.Arbitrary<infer A> ? A : never

const other = (of: string): (typeof envs)[number] => (of === "prod" ? "staging" : "prod")

type Bundled = ReadonlyArray<{ readonly key: string; readonly value: string }> | undefined

/** The history of an environment is a sequence of ETags; one that comes back comes back with its content. */
const contents = () => {
  const byTag = new Map<string, string>()
  const ofEnv = new Map<string, string>()
  const remembered = new Map<string, unknown>()
  const values = (data: Bundled) => data?.map(({ key, value }) => [key, value])
  return {
    /** Keeps what an environment holds at a revision. */
    remember: (place: string, revision: number | undefined, data: Bundled) =>
      remembered.set(`${place} ${revision}`, values(data)),
    /** An environment holds what it held at a revision. */
    isAsAt: (place: string, revision: number, data: Bundled) =>
      assert.deepStrictEqual<unknown>(values(data), remembered.get(`${place} ${revision}`)),

    see: (place: string, etag: string, content: unknown) => {
      const told = JSON.stringify([place, content])
      assert.strictEqual(byTag.get(etag) ?? told, told, "an ETag came back with other content")
      byTag.set(etag, told)
      ofEnv.set(place, etag)
    },
    current: (place: string) => ofEnv.get(place)!,
    /** One that some environment had once and that is nobody's any more. */
    earlier: () => [...byTag.keys()].find((etag) => ![...ofEnv.values()].includes(etag)) ?? '"none"'
  }
}

type Contents = ReturnType<typeof contents>

/** How a call ended, in the words of the model. */
const ended = <A, E extends { readonly _tag: string }, R>(call: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.exit(call), (exit): unknown => {
    if (Exit.isSuccess(exit)) return { answer: exit.value }
    const failure = Cause.failureOption(exit.cause)
    return Option.isSome(failure) ? { refused: failure.value._tag } : { defect: Cause.pretty(exit.cause) }
  })

const currentVersion = (model: Model, place: string, of: string) => model.env(place).live.get(of)?.versions.length ?? 0

/** Does one step in the model and in the service, which end alike. */
const take = (actor: Actor, model: Model, seen: Contents, at: string, step: Step) =>
  Effect.gen(function* () {
    const who = { name: actor.type === "user" ? actor.email : actor.name, at }
    const resolve = (place: string, of: string, wanted: "current" | number | null) =>
      wanted === null ? undefined : wanted === "current" ? currentVersion(model, place, of) : wanted
    const tagOf = (of: {
      readonly env: (typeof envs)[number]
      readonly ifMatch: "none" | "current" | "earlier" | "other"
    }) =>
      ({
        none: undefined,
        current: seen.current(of.env),
        earlier: seen.earlier(),
        other: seen.current(other(of.env))
      })[of.ifMatch]
    const options = (place: string, wanted: number | undefined) => ({
      path: envPath(place),
      ...(wanted !== undefined && { expected: wanted })
    })
    const agree = <A, E extends { readonly _tag: string }, R>(call: Effect.Effect<A, E, R>, wanted: () => Outcome) =>
      Effect.map(ended(call), (found) => assert.deepStrictEqual<unknown>(found, wanted(), JSON.stringify(step)))

    switch (step.do) {
      case "set": {
        const wanted = resolve(step.env, step.name, step.expected)
        return yield* agree(setSecret(actor, step.name, step.text, options(step.env, wanted)), () =>
          model.set(step.env, step.name, step.text, wanted, who)
        )
      }
      case "remove": {
        const wanted = resolve(step.env, step.name, step.expected)
        return yield* agree(removeSecret(actor, step.name, options(step.env, wanted)), () =>
          model.remove(step.env, step.name, wanted, who)
        )
      }
      case "undelete":
        return yield* agree(undelete(actor, step.name, { path: envPath(step.env) }), () =>
          model.undelete(step.env, step.name, who)
        )
      case "rollback": {
        const wanted = resolve(step.env, step.name, step.expected)
        return yield* agree(rollback(actor, step.name, step.version, options(step.env, wanted)), () =>
          model.rollback(step.env, step.name, step.version, wanted, who)
        )
      }
      case "destroy":
        return yield* agree(destroy(actor, step.name, step.versions, { path: envPath(step.env) }), () =>
          model.destroy(step.env, step.name, step.versions, who)
        )
      case "copy": {
        const from = other(step.to)
        const request = { ...(step.keys !== null && { keys: step.keys }), dry_run: step.dryRun }
        return yield* agree(copy(actor, { from, to: step.to }, request), () =>
          model.copy(from, step.to, step.keys ?? undefined, step.dryRun, who)
        )
      }
      case "write": {
        const set = Object.fromEntries(step.set)
        const tag = tagOf(step)
        const request = { set, delete: step.delete, dry_run: step.dryRun }
        return yield* agree(
          writeBundle(actor, request, { path: envPath(step.env), ...(tag !== undefined && { ifMatch: tag }) }),
          () =>
            model.write(
              step.env,
              { set, delete: step.delete },
              { dryRun: step.dryRun, matches: ["none", "current"].includes(step.ifMatch) },
              who
            )
        )
      }
      case "revert": {
        const path = envPath(step.env)
        const to = Math.max(0, model.env(step.env).revision - step.back)
        const tag = tagOf(step)
        const request = { path, dryRun: step.dryRun, ...(tag !== undefined && { ifMatch: tag }) }
        const reverted = yield* ended(revert(actor, to, request))
        const options = { dryRun: step.dryRun, matches: ["none", "current"].includes(step.ifMatch) }
        const place = { project: "webshop", env: step.env }
        assert.deepStrictEqual<unknown>(reverted, model.revert(place, to, options, who), JSON.stringify(step))
        if (Predicate.hasProperty(reverted, "answer") && !step.dryRun) {
          seen.isAsAt(step.env, to, (yield* readBundle(actor, { path })).data)
        }
        return
      }
      case "renew":
        yield* removeEnvironment(actor, step.env)
        yield* newEnvironment(actor, step.env)
        return model.renew(step.env)
    }
  })

/** Both environments are as the model has them, and their ETags are of this content alone. */
const bundlesAgree = (actor: Actor, model: Model, seen: Contents) =>
  Effect.forEach(
    envs,
    (place) =>
      Effect.gen(function* () {
        const { etag, ...bundle } = yield* readBundle(actor, { path: envPath(place) })
        assert.deepStrictEqual<unknown>(bundle, model.bundle(place))
        seen.see(place, etag, bundle.data)
        seen.remember(place, bundle.revision, bundle.data)
      }),
    { discard: true }
  )

/** An entry without the names of its project and environment, which are the same throughout. */
const withoutPlace = ({
  action,
  actor,
  metadata
}: {
  readonly action: string
  readonly actor: string
  readonly metadata: unknown
}) => {
  const { env: _env, project: _project, ...rest } = { ...(metadata as Record<string, unknown>) }
  return { action, actor, metadata: rest }
}

/** Everything that the service tells of the past agrees with the model. */
const historyAgrees = (actor: Actor, model: Model) =>
  Effect.gen(function* () {
    for (const place of envs) {
      const path = envPath(place)
      const { live } = model.env(place)
      const { etag } = yield* readBundle(actor, { path })
      const { revisions } = model.env(place)
      assert.deepStrictEqual<unknown>(yield* listRevisions(actor, { path }), revisions)
      const page = yield* listRevisions(actor, { path, limit: 2, before: Math.max(1, revisions.length) })
      assert.deepStrictEqual<unknown>(page, revisions.slice(1, 3))
      const again = yield* readBundle(actor, { path, ifNoneMatch: etag })
      assert.deepStrictEqual(again, { etag, revision: undefined, data: undefined })
      const listed = yield* listSecrets(actor, path)
      assert.deepStrictEqual<unknown>(
        listed,
        model.bundle(place).data.map(({ key, updated_at, version }) => ({ key, version, updated_at }))
      )
      for (const of of keys) {
        const life = live.get(of)
        if (life === undefined) {
          assert.strictEqual(yield* outcome(readSecret(actor, of, { path })), "NotFound")
          assert.strictEqual(yield* outcome(readSecret(actor, of, { path, version: 1 })), "NotFound")
          assert.strictEqual(yield* outcome(listVersions(actor, of, { path })), "NotFound")
          continue
        }
        const count = life.versions.length
        const all = model.versions(life)
        assert.deepStrictEqual<unknown>(yield* listVersions(actor, of, { path }), all)
        const page = yield* listVersions(actor, of, { path, limit: 2, before: count })
        assert.deepStrictEqual<unknown>(page, all.slice(1, 3))
        assert.deepStrictEqual(yield* readSecret(actor, of, { path }), {
          version: count,
          value: currentOf(life).value
        })
        for (const [index, { destroyed, value }] of life.versions.entries()) {
          const read = yield* ended(readSecret(actor, of, { path, version: index + 1 }))
          const wanted = destroyed ? { refused: "NotFound" } : { answer: { version: index + 1, value } }
          assert.deepStrictEqual(read, wanted)
        }
        assert.strictEqual(yield* outcome(readSecret(actor, of, { path, version: count + 1 })), "NotFound")
      }
      const difference = yield* diff(actor, place, other(place))
      assert.deepStrictEqual<unknown>(difference, { data: model.diff(place, other(place)) })
    }

    const found = yield* changeEntries
    assert.deepStrictEqual<unknown>(found.map(withoutPlace), model.entries.map(withoutPlace))
    // One id a life of a key, and one life an id.
    const pairs = found.map(({ resource }, index) => `${String(resource)} ${model.entries[index]!.life}`)
    const ids = new Set(found.map(({ resource }) => String(resource)))
    const lives = new Set(model.entries.map(({ life }) => life))
    assert.deepStrictEqual([new Set(pairs).size, ids.size], [lives.size, lives.size])
  })

describe("the history of secrets", () => {
  it.effect.prop(
    "is what plain maps would hold, whatever is done to it, and after a restart too",
    [FastCheck.array(FastCheck.tuple(step, FastCheck.boolean()), { minLength: 5, maxLength: 20, size: "max" })],
    ([steps]) =>
      Effect.gen(function* () {
        const place = yield* freshPlace
        const model = new Model(envs)
        const seen = contents()
        let millis = Date.UTC(2026, 0, 31)

        const actors = yield* Effect.gen(function* () {
          yield* TestClock.setTime(millis)
          const ada = yield* organization("acme", "webshop", owner)
          const deployer = yield* account(robot)
          yield* grant(deployer, "admin")
          yield* bundlesAgree(ada, model, seen)
          for (const [next, byRobot] of steps) {
            yield* TestClock.setTime(++millis)
            const actor = byRobot && next.do !== "renew" ? deployer : ada
            yield* take(actor, model, seen, new Date(millis).toISOString(), next)
            yield* bundlesAgree(ada, model, seen)
          }
          yield* historyAgrees(ada, model)
          return { ada, deployer }
        }).pipe(Effect.provide(historyIn(place)))

        yield* Effect.gen(function* () {
          yield* bundlesAgree(actors.ada, model, seen)
          yield* historyAgrees(actors.ada, model)
          yield* TestClock.setTime(++millis)
          const at = new Date(millis).toISOString()
          const last: Step = { do: "set", env: "prod", name: "A", text: "after the restart", expected: "current" }
          yield* take(actors.deployer, model, seen, at, last)
          yield* bundlesAgree(actors.deployer, model, seen)
        }).pipe(Effect.provide(historyIn(place)))
        yield* invariantsIn(place)
      }).pipe(Effect.scoped),
    { timeout: 1_200_000, fastCheck: { numRuns: runs(isOnPostgres() ? 5 : 25) } }
  )
})

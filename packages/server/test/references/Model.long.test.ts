import type { Actor } from "@coffer/domain/access/Actor"
import { ProjectName } from "@coffer/domain/base/Names"
import { parseReference } from "@coffer/domain/secrets/Reference"
import { Access } from "@coffer/server/access/Access"
import { Projects } from "@coffer/server/directory/projects/Projects"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import fc from "fast-check"
import {
  account,
  asActor,
  envPath,
  grant,
  member,
  organization,
  projectPath,
  readBundle,
  removeSecret,
  setSecret,
  transaction,
  writeBundle
} from "../support/Services.js"
import { hasty, holds } from "../model/Support.js"
import type { people } from "./Plain.js"
import { after, type AtomicCall, type Call, emptyWorld, envs, keys, rightOf, valueOf, type World } from "./Plain.js"
import { copy, newEnv, read, refer, removeEnv, revert, rollback, undelete, withReferences } from "./Scene.js"
import { isSoak, runs } from "../../../domain/test/support/Runs.js"

/** The first calls in each world, so that random references lead somewhere. */
const seeds = envs.flatMap((env) =>
  keys.slice(0, 2).map((key): AtomicCall => ({ call: "text", by: "ada", env, key, text: key }))
)
const seeded = seeds.reduce((world: World, call) => after(world, call) ?? world, emptyWorld)

/** A call, two at the same time, or a project that has another name for a moment. */
type Step = { readonly at: ReadonlyArray<Call> } | { readonly at: "renameProject" }

const env = fc.constantFrom(...envs)
const key = fc.constantFrom(...keys)
const by = fc.constantFrom<["ada", "ada", "bob", "blind"]>("ada", "ada", "bob", "blind")
const part = fc.oneof(
  fc.constantFrom("x", "-", "$", "$1", "$${"),
  key.map((name) => `\${${name}}`),
  fc.tuple(env, key).map(([place, name]) => `\${${place}:${name}}`)
)
const text = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(""))
const plainText = fc.string({ unit: fc.constantFrom("a", "b", "$", "{"), maxLength: 4 })
const version = fc.integer({ min: 1, max: 4 })
const revision = fc.integer({ min: 0, max: 6 })
const references = fc.uniqueArray(fc.tuple(key, text), { maxLength: 3, selector: ([name]) => name })

const atomic: fc.Arbitrary<AtomicCall> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ call: fc.constant("text" as const), by, env, key, text: plainText }) },
  { weight: 8, arbitrary: fc.record({ call: fc.constant("refer" as const), by, env, key, text }) },
  { weight: 3, arbitrary: fc.record({ call: fc.constantFrom("remove", "force", "undelete"), by, env, key }) },
  { weight: 2, arbitrary: fc.record({ call: fc.constant("rollback" as const), by, env, key, version }) },
  { weight: 2, arbitrary: fc.record({ call: fc.constant("copy" as const), by, env, key, to: env }) },
  { weight: 1, arbitrary: fc.record({ call: fc.constant("revert" as const), by, env, to: revision }) },
  {
    weight: 2,
    arbitrary: fc
      .record({
        call: fc.constant("bundle" as const),
        by,
        env,
        references,
        removals: fc.uniqueArray(key, { maxLength: 1 })
      })
      .filter(({ references, removals }) => references.every(([name]) => !removals.includes(name)))
  }
)
const call: fc.Arbitrary<Call> = fc.oneof(
  { weight: 8, arbitrary: atomic },
  {
    weight: 1,
    arbitrary: fc.oneof(
      fc.record({ call: fc.constant("renameKey" as const), by, env, key, to: key }).filter(({ key, to }) => key !== to),
      fc.record({ call: fc.constant("renew" as const), env })
    )
  },
  {
    weight: 2,
    arbitrary: fc.record({
      call: fc.constant("right" as const),
      who: fc.constantFrom("bob", "blind"),
      env,
      right: fc.constantFrom("none", "read", "write")
    })
  }
)
const steps: fc.Arbitrary<ReadonlyArray<Step>> = fc.array(
  fc.oneof(
    { weight: 12, arbitrary: call.map((one) => ({ at: [one] })) },
    { weight: 3, arbitrary: fc.tuple(atomic, atomic).map((both) => ({ at: both })) },
    { weight: 1, arbitrary: fc.constant({ at: "renameProject" as const }) }
  ),
  { minLength: 4, maxLength: isSoak ? 40 : 16 }
)

const renameProject = (ada: Actor, from: string, to: string) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).project(projectPath(from), "project.update").pipe(asActor(ada))
    yield* transaction((yield* Projects).change(place, { name: ProjectName.make(to) }))
  })

/** Stores what is at a key under another one, as `coffer secret rename` does. */
const renameKey = (actor: Actor, path: ReturnType<typeof envPath>, from: string, to: string) =>
  Effect.gen(function* () {
    const { data = [], etag } = yield* readBundle(actor, { path, keys: [from], raw: true })
    const values = Object.fromEntries(data.map((secret) => [to, secret.value]))
    const stored = data.some(({ kind }) => kind === "reference") ? { references: values } : { set: values }
    return yield* writeBundle(actor, { ...stored, delete: [from] }, { path, ifMatch: etag })
  })

type Actors = Readonly<Record<(typeof people)[number], Actor>>

const perform = (actors: Actors, call: Call) =>
  Effect.gen(function* () {
    const path = envPath(call.env)
    if (call.call === "renew") {
      yield* removeEnv(actors.ada, call.env)
      yield* newEnv(actors.ada, call.env)
      return
    }
    if (call.call === "right") {
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM acl_rules WHERE subject_id = ${actors[call.who].id} AND env_pattern = ${call.env}`
      if (call.right !== "none") yield* grant(actors[call.who], call.right, { env: call.env })
      return
    }
    const actor = actors[call.by]
    switch (call.call) {
      case "text":
        yield* setSecret(actor, call.key, call.text, { path })
        return
      case "refer":
        yield* refer(actor, call.key, call.text, call.env)
        return
      case "bundle":
        yield* writeBundle(actor, { references: Object.fromEntries(call.references), delete: call.removals }, { path })
        return
      case "remove":
      case "force":
        yield* removeSecret(actor, call.key, { path, force: call.call === "force" })
        return
      case "undelete":
        yield* undelete(actor, call.key, call.env)
        return
      case "rollback":
        yield* rollback(actor, call.key, call.version, call.env)
        return
      case "copy":
        yield* copy(actor, call.env, call.to, [call.key])
        return
      case "revert":
        yield* revert(actor, call.to, call.env)
        return
      case "renameKey":
        yield* renameKey(actor, path, call.key, call.to)
        return
    }
  })

/** How a call ended: "done", or the error. */
const told = <A, E extends { readonly _tag: string; readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.match(effect, { onFailure: ({ _tag, message }) => `${_tag}: ${message}`, onSuccess: () => "done" })

/** Returns the values that a person gets in an environment, by key: null for one that fails. Null if there is no bundle. */
const expectedView = (world: World, who: "ada" | "bob", env: string) =>
  rightOf(world, who, env) === "none"
    ? null
    : Object.fromEntries(
        Object.keys(world.live[env] ?? {})
          .sort()
          .map((name) => [name, valueOf(world, who, env, name)])
      )

/** Worlds that the calls may have led to, one after another in any order, with whether each call was done. */
const outcomes = (world: World, calls: ReadonlyArray<Call>) => {
  const orders = calls.length < 2 ? [calls] : [calls, calls.toReversed()]
  return orders.map((order) => {
    const done = new Map<Call, boolean>()
    const end = order.reduce((now, call) => {
      const next = after(now, call)
      done.set(call, next !== null)
      return next ?? now
    }, world)
    return { end, done: calls.map((call) => done.get(call) ?? false) }
  })
}

describe("references", () => {
  it.live(
    "lead for every random history to what a plain interpreter says, and an ETag never names two contents",
    () =>
      Effect.gen(function* () {
        yield* hasty
        const ada = yield* organization()
        const bob = yield* member("bob@example.com", "developer")
        const blind = yield* account("blind", { reveal: false })
        const actors: Actors = { ada, bob, blind }
        for (const name of envs.filter((one) => one !== "prod")) yield* newEnv(ada, name)
        const contents = new Map<string, string>()
        const counts = { done: 0, refused: 0, together: 0 }

        /** Reads an environment as a bundle and key by key. Checks that the ETag never named other contents. */
        const view = Effect.fnUntraced(function* (actor: Actor, name: string, project: string) {
          const path = envPath(name, project)
          const bundle = yield* Effect.option(readBundle(actor, { path }))
          if (bundle._tag === "None") return null
          const { data = [], errors = [], etag } = bundle.value
          const entries = [
            ...data.map((secret) => [secret.key, secret.value] as const),
            ...errors.map((error) => [error.key, null] as const)
          ]
          const found = Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)))
          assert.strictEqual(Object.keys(found).length, data.length + errors.length)
          const now = JSON.stringify([name, found])
          assert.strictEqual(contents.get(etag) ?? now, now, "the ETag names two contents")
          contents.set(etag, now)
          const [first] = Object.keys(found)
          if (first !== undefined && project === "webshop") {
            const alone = yield* Effect.option(read(actor, first, name))
            assert.strictEqual(alone._tag === "Some" ? alone.value : null, found[first])
          }
          return found
        })
        const views = (project = "webshop") =>
          Effect.forEach(["ada", "bob"] as const, (who) =>
            Effect.forEach(envs, (name) => view(actors[who], name, project))
          )
        const expectedViews = (world: World) =>
          (["ada", "bob"] as const).map((who) => envs.map((name) => expectedView(world, who, name)))

        const begin = Effect.gen(function* () {
          for (const name of envs) yield* perform(actors, { call: "renew", env: name })
          for (const who of ["bob", "blind"] as const) {
            for (const name of envs) {
              yield* perform(actors, { call: "right", who, env: name, right: rightOf(emptyWorld, who, name) })
            }
          }
          yield* Effect.forEach(seeds, (call) => perform(actors, call), { discard: true })
        })

        yield* holds(
          steps,
          (run) =>
            Effect.gen(function* () {
              yield* begin
              let worlds: ReadonlyArray<World> = [seeded]
              for (const { at } of run) {
                if (at === "renameProject") {
                  yield* renameProject(ada, "webshop", "moved")
                  assert.include(
                    worlds.map((world) => JSON.stringify(expectedViews(world))),
                    JSON.stringify(yield* views("moved"))
                  )
                  yield* renameProject(ada, "moved", "webshop")
                  continue
                }
                const ended = yield* Effect.forEach(at, (call) => told(perform(actors, call)), {
                  concurrency: "unbounded"
                })
                const seen = yield* views()
                for (const name of envs) {
                  const hidden = yield* Effect.option(readBundle(blind, { path: envPath(name) }))
                  assert.strictEqual(hidden._tag, "None")
                }
                const possible = worlds.flatMap((world) => outcomes(world, at))
                const fitting = possible.filter(
                  ({ done, end }) =>
                    done.every((is, index) => is === (ended[index] === "done")) &&
                    JSON.stringify(expectedViews(end)) === JSON.stringify(seen)
                )
                if (fitting.length === 0) {
                  assert.deepStrictEqual(
                    { at, ended, seen },
                    {
                      at,
                      ended: possible[0]?.done,
                      seen: possible[0] === undefined ? [] : expectedViews(possible[0].end)
                    }
                  )
                }
                worlds = [...new Map(fitting.map(({ end }) => [JSON.stringify(end), end])).values()]
                for (const one of ended) counts[one === "done" ? "done" : "refused"]++
                if (at.length > 1) counts.together++
              }
            }),
          { numRuns: runs(40) }
        )
        assert.isAbove(counts.done, counts.refused / 4)
        assert.isAbove(Math.min(counts.refused, counts.together), 0)
      }).pipe(withReferences),
    isSoak ? 1_200_000 : 120_000
  )

  it("have texts that are parsed as a plain reading says", () => {
    const pieces = fc.array(fc.constantFrom("$", "{", "}", "$$", "${", "A", "${A}", "${prod:A}", "$${", ":", "x"), {
      maxLength: 12
    })
    fc.assert(
      fc.property(pieces, (all) => {
        const source = all.join("")
        const parsed = parseReference(source)
        if (Either.isLeft(parsed)) {
          assert.match(source, /\$\{/)
          return
        }
        const again = parsed.right
          .map((part) =>
            typeof part === "string"
              ? part.replaceAll("${", () => "$${")
              : `\${${part.env === null ? "" : `${part.env}:`}${part.key}}`
          )
          .join("")
        assert.strictEqual(again, source)
      }),
      { numRuns: runs(2_500) }
    )
  })
})

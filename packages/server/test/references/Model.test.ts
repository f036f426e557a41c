import type { Actor } from "@coffer/domain/Actor"
import { parseReference } from "@coffer/domain/Reference"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import fc from "fast-check"
import { account, envPath, grant, readBundle, removeSecret, setSecret, writeBundle } from "../support/Services.js"
import { hasty, holds, long } from "../model/Support.js"
import { copy, newEnv, read, refer, removeEnv, revert, rollback, scene, undelete, withReferences } from "./Scene.js"

const envs = ["prod", "shared", "far"] as const
type Env = (typeof envs)[number]
const keys = ["A", "B", "C", "D"] as const
type Key = (typeof keys)[number]

interface Stored {
  readonly kind: "text" | "reference"
  readonly text: string
}
type Contents = Readonly<Record<string, Stored>>

/** What a plain interpreter knows: each environment's present contents, and those of all its revisions. */
interface World {
  readonly live: Map<Env, Contents>
  readonly past: Map<Env, Array<Contents>>
  readonly versions: Map<string, Array<Stored>>
  readonly removed: Map<string, ReadonlyArray<Stored>>
}

const targets = (text: string): ReadonlyArray<{ readonly env: string | null; readonly key: string }> =>
  [...text.matchAll(/\$\{(?:(?<env>[a-z]+):)?(?<key>[A-Z])\}/g)].map(({ groups }) => ({
    env: groups?.env ?? null,
    key: groups?.key ?? ""
  }))

/** What a secret leads to for somebody who may read some environments; null if nothing. */
const valueOf = (world: World, mayRead: ReadonlySet<string>, env: string, key: string, depth = 0): string | null => {
  if (depth > 5 || !mayRead.has(env)) return null
  const stored = world.live.get(env as Env)?.[key]
  if (stored === undefined) return null
  if (stored.kind === "text") return stored.text
  let whole = true
  const filled = stored.text.replaceAll(
    /\$\{(?:([a-z]+):)?([A-Z])\}/g,
    (_, other: string | undefined, target: string) => {
      const value = valueOf(world, mayRead, other ?? env, target, depth + 1)
      if (value === null) whole = false
      return value ?? ""
    }
  )
  return whole ? filled : null
}

/** The longest way down from a secret; Infinity for a circle. */
const depthOf = (world: World, env: string, key: string, way: ReadonlyArray<string> = []): number => {
  const id = `${env}:${key}`
  if (way.includes(id)) return Infinity
  const stored = world.live.get(env as Env)?.[key]
  if (stored === undefined || stored.kind === "text") return 0
  return Math.max(
    0,
    ...targets(stored.text).map((target) => 1 + depthOf(world, target.env ?? env, target.key, [...way, id]))
  )
}

const isWellFormed = (world: World): boolean => envs.every((env) => keys.every((key) => depthOf(world, env, key) <= 5))

type Call =
  | {
      readonly call: "text" | "refer"
      readonly by: "ada" | "bob"
      readonly env: Env
      readonly key: Key
      readonly text: string
    }
  | { readonly call: "remove" | "force" | "undelete"; readonly by: "ada" | "bob"; readonly env: Env; readonly key: Key }
  | {
      readonly call: "rollback"
      readonly by: "ada" | "bob"
      readonly env: Env
      readonly key: Key
      readonly version: number
    }
  | { readonly call: "copy"; readonly by: "ada" | "bob"; readonly env: Env; readonly key: Key; readonly to: Env }
  | { readonly call: "revert"; readonly by: "ada" | "bob"; readonly env: Env; readonly to: number }
  | {
      readonly call: "bundle"
      readonly by: "ada" | "bob"
      readonly env: Env
      readonly texts: ReadonlyArray<readonly [Key, string]>
    }

const env = fc.constantFrom(...envs)
const key = fc.constantFrom(...keys)
const by = fc.constantFrom<["ada", "ada", "bob"]>("ada", "ada", "bob")
const part = fc.oneof(
  fc.constantFrom("x", "-", "$", "$1"),
  key.map((name) => `\${${name}}`),
  fc.tuple(env, key).map(([place, name]) => `\${${place}:${name}}`)
)
const text = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("").replaceAll("$$", "$"))
const calls: fc.Arbitrary<ReadonlyArray<Call>> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        call: fc.constant("text" as const),
        by,
        env,
        key,
        text: fc.string({ unit: fc.constantFrom("a", "b", "$", "{"), maxLength: 4 })
      })
    },
    { weight: 8, arbitrary: fc.record({ call: fc.constant("refer" as const), by, env, key, text }) },
    {
      weight: 3,
      arbitrary: fc.record({
        call: fc.constantFrom("remove" as const, "force" as const, "undelete" as const),
        by,
        env,
        key
      })
    },
    {
      weight: 2,
      arbitrary: fc.record({
        call: fc.constant("rollback" as const),
        by,
        env,
        key,
        version: fc.integer({ min: 1, max: 4 })
      })
    },
    { weight: 2, arbitrary: fc.record({ call: fc.constant("copy" as const), by, env, key, to: env }) },
    {
      weight: 1,
      arbitrary: fc.record({ call: fc.constant("revert" as const), by, env, to: fc.integer({ min: 0, max: 6 }) })
    },
    {
      weight: 2,
      arbitrary: fc.record({
        call: fc.constant("bundle" as const),
        by,
        env,
        texts: fc.uniqueArray(fc.tuple(key, text), { maxLength: 3, selector: ([name]) => name })
      })
    }
  ),
  { minLength: 4, maxLength: long ? 40 : 16 }
)

/** What bob may read; he writes there, too. */
const bobs: ReadonlySet<string> = new Set(["prod", "far"])
const all: ReadonlySet<string> = new Set(envs)

const mine = (call: { readonly by: "ada" | "bob" }): ReadonlySet<string> => (call.by === "ada" ? all : bobs)

/** What a call does, by the rules alone: the contents after it, or null if it is refused. */
const expected = (world: World, call: Call): ReadonlyMap<Env, Contents> | null => {
  if (!mine(call).has(call.env)) return null
  const here = world.live.get(call.env) ?? {}
  const mayWrite = mine(call)

  /** The contents after the keys of one environment changed; null if that is refused. */
  const after = (
    place: Env,
    changes: ReadonlyMap<string, Stored | null>,
    options: { readonly force?: boolean; readonly strict?: boolean } = {}
  ) => {
    const before = world.live.get(place) ?? {}
    const next = Object.fromEntries(
      [...Object.entries({ ...before, ...Object.fromEntries(changes) })].flatMap(([name, stored]) =>
        stored === null ? [] : [[name, stored] as const]
      )
    )
    const live = new Map<Env, Contents>([...world.live, [place, next]])
    const later = { ...world, live }
    for (const [name, stored] of changes) {
      if (stored === null) {
        if (options.force === true) continue
        const isReferred = envs.some((other) =>
          Object.values(live.get(other) ?? {}).some(
            (one) =>
              one.kind === "reference" &&
              targets(one.text).some((target) => (target.env ?? other) === place && target.key === name)
          )
        )
        if (isReferred) return null
      } else if (stored.kind === "reference") {
        for (const target of targets(stored.text)) {
          const there = target.env ?? place
          if (!mayWrite.has(there)) return null
          if (options.strict === true && live.get(there as Env)?.[target.key] === undefined) return null
        }
      }
    }
    return isWellFormed(later) ? live : null
  }

  switch (call.call) {
    case "text":
      return after(call.env, new Map([[call.key, { kind: "text", text: call.text }]]))
    case "refer":
      return after(call.env, new Map([[call.key, { kind: "reference", text: call.text }]]), { strict: true })
    case "bundle":
      return after(
        call.env,
        new Map(call.texts.map(([name, one]) => [name, { kind: "reference", text: one } as const])),
        { strict: true }
      )
    case "remove":
    case "force":
      return here[call.key] === undefined
        ? null
        : after(call.env, new Map([[call.key, null]]), { force: call.call === "force" })
    case "undelete": {
      const last = world.removed.get(`${call.env}:${call.key}`)?.at(-1)
      return here[call.key] !== undefined || last === undefined ? null : after(call.env, new Map([[call.key, last]]))
    }
    case "rollback": {
      const version = world.versions.get(`${call.env}:${call.key}`)?.[call.version - 1]
      return here[call.key] === undefined || version === undefined
        ? null
        : after(call.env, new Map([[call.key, version]]))
    }
    case "copy": {
      const stored = here[call.key]
      return stored === undefined || !mayWrite.has(call.to) ? null : after(call.to, new Map([[call.key, stored]]))
    }
    case "revert": {
      const then = world.past.get(call.env)?.[call.to]
      if (then === undefined) return null
      const names = new Set([...Object.keys(here), ...Object.keys(then)])
      const differing = [...names].filter((name) => JSON.stringify(here[name]) !== JSON.stringify(then[name]))
      return after(call.env, new Map(differing.map((name) => [name, then[name] ?? null])))
    }
  }
}

const perform = (actor: Actor, call: Call) =>
  Effect.gen(function* () {
    const path = envPath(call.env)
    switch (call.call) {
      case "text":
        yield* setSecret(actor, call.key, call.text, { path })
        return
      case "refer":
        yield* refer(actor, call.key, call.text, call.env)
        return
      case "bundle":
        yield* writeBundle(actor, { references: Object.fromEntries(call.texts) }, { path })
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
    }
  })

/** Notes what a call did: versions, removals and revisions. A value that stays as it is makes none, where it is compared. */
const note = (world: World, call: Call, live: ReadonlyMap<Env, Contents>): void => {
  const always = call.call === "text" || call.call === "refer" || call.call === "rollback" || call.call === "undelete"
  for (const place of envs) {
    const [before, after] = [world.live.get(place) ?? {}, live.get(place) ?? {}]
    let isChanged = false
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const id = `${place}:${name}`
      const [old, now] = [before[name], after[name]]
      const isNamed = "key" in call && call.key === name && call.env === place
      if (JSON.stringify(old) === JSON.stringify(now) && !(always && isNamed)) continue
      isChanged = true
      const versions = world.versions.get(id) ?? []
      if (now === undefined) {
        world.removed.set(id, versions)
        world.versions.delete(id)
      } else if (call.call === "undelete") {
        world.versions.set(id, [...(world.removed.get(id) ?? [])])
        world.removed.delete(id)
      } else world.versions.set(id, [...versions, now])
    }
    if (isChanged) world.past.get(place)?.push(after)
    world.live.set(place, after)
  }
}

describe("references", () => {
  it.live(
    "lead for every random history to what a plain interpreter says, and an ETag never names two contents",
    () =>
      Effect.gen(function* () {
        yield* hasty
        const { ada, bob } = yield* scene
        yield* newEnv(ada, "far")
        yield* grant(bob, "write", { env: "far" })
        const blind = yield* account("blind", { reveal: false })
        yield* grant(blind, "read")
        const contents = new Map<string, string>()
        let [done, refused] = [0, 0]
        yield* holds(
          calls,
          (run) =>
            Effect.gen(function* () {
              for (const name of envs) {
                yield* removeEnv(ada, name)
                yield* newEnv(ada, name)
              }
              const world: World = {
                live: new Map(envs.map((name) => [name, {}])),
                past: new Map(envs.map((name) => [name, [{}]])),
                versions: new Map(),
                removed: new Map()
              }
              for (const call of run) {
                const wanted = expected(world, call)
                const outcome = yield* Effect.either(
                  Effect.mapError(
                    perform(call.by === "ada" ? ada : bob, call),
                    ({ _tag, message }) => `${_tag} ${message}`
                  )
                )
                const told = Either.isLeft(outcome) ? outcome.left : "done"
                assert.strictEqual(told === "done", wanted !== null, `${JSON.stringify(call)}: ${told}`)
                if (wanted === null) refused++
                else {
                  note(world, call, wanted)
                  done++
                }
                for (const [actor, mayRead] of [
                  [ada, all],
                  [bob, bobs]
                ] as const) {
                  for (const place of mayRead) {
                    const bundle = yield* readBundle(actor, { path: envPath(place) })
                    const names = Object.keys(world.live.get(place as Env) ?? {}).sort()
                    const found = new Map(bundle.data?.map((secret) => [String(secret.key), secret.value]))
                    for (const name of names) {
                      const plain = valueOf(world, mayRead, place, name)
                      assert.strictEqual(
                        found.get(name) ?? null,
                        plain,
                        `${place}:${name} after ${JSON.stringify(call)}`
                      )
                    }
                    const failed = bundle.errors?.map((error) => String(error.key)) ?? []
                    assert.deepStrictEqual([...found.keys(), ...failed].sort(), names)
                    const now = JSON.stringify([place, [...found], failed])
                    const known = contents.get(bundle.etag)
                    assert.strictEqual(known ?? now, now, "the ETag names two contents")
                    contents.set(bundle.etag, now)
                    const [name] = names
                    if (name !== undefined) {
                      const alone = yield* Effect.option(read(actor, name, place))
                      assert.strictEqual(alone._tag === "Some" ? alone.value : null, found.get(name) ?? null)
                    }
                  }
                }
              }
            }),
          { numRuns: long ? 400 : 25 }
        )
        assert.isAbove(done, refused / 4)
        assert.isAbove(refused, 0)
      }).pipe(withReferences),
    long ? 1_200_000 : 120_000
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
      { numRuns: long ? 50_000 : 2_000 }
    )
  })
})

import { TargetName } from "@coffer/domain/base/Names"
import { Targets } from "@coffer/server/secrets/delivery/Targets"
import { Access } from "@coffer/server/access/Access"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, TestClock } from "effect"
import {
  asActor,
  entries,
  envPath,
  key,
  raw,
  removeSecret,
  setSecret,
  transaction,
  writeBundle
} from "../support/Services.js"
import { token } from "./KvServer.js"
import { canary, changesOf, path, plan, push, target, withPlatform, world } from "./World.js"

const keysOf = (metadata: unknown) =>
  (metadata as { readonly keys?: ReadonlyArray<{ readonly key: string }> }).keys?.map((one) => one.key)

/** The keys of the entries `secret.push`, oldest first. */
const pushed = Effect.map(entries(), (all) =>
  all.filter(({ action }) => action === "secret.push").map(({ metadata }) => keysOf(metadata))
)

const message = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => error.message)

describe("a push", () => {
  it.effect("writes what is new and what changed, without the credential, and then has nothing to do", () =>
    Effect.gen(function* () {
      const { ada, kv } = yield* world()
      assert.deepStrictEqual(yield* changesOf(ada), ["STRIPE_KEY new"])
      assert.deepStrictEqual(yield* push(ada), {
        ...{ target: TargetName.make("bao"), revision: 2, pushed: 1, removed: 0, left: 0 }
      })
      assert.deepStrictEqual(kv.data(path), { STRIPE_KEY: canary })
      assert.deepStrictEqual(yield* changesOf(ada), ["STRIPE_KEY same"])
      yield* setSecret(ada, "STRIPE_KEY", "another")
      yield* setSecret(ada, "EMPTY", "")
      assert.deepStrictEqual(yield* changesOf(ada), ["EMPTY new", "STRIPE_KEY changed"])
      yield* push(ada)
      assert.deepStrictEqual(kv.data(path), { STRIPE_KEY: "another", EMPTY: "" })
      const before = kv.writes().length
      yield* push(ada)
      assert.strictEqual(kv.writes().length, before)
      assert.deepStrictEqual(yield* pushed, [["STRIPE_KEY"], ["EMPTY", "STRIPE_KEY"]])
    }).pipe(withPlatform)
  )

  it.effect("has its entry in the log, and its keys among ours, before the first value leaves", () =>
    Effect.gen(function* () {
      const { ada, kv } = yield* world()
      const db = yield* raw
      const seen: Array<unknown> = []
      kv.before = ({ method }) => {
        if (method !== "GET") {
          seen.push(db.prepare("SELECT name, digest FROM target_keys").all())
          seen.push(db.prepare("SELECT count(*) AS n FROM audit_entries WHERE action = 'secret.push'").get())
        }
        return Promise.resolve(undefined)
      }
      yield* push(ada)
      assert.deepStrictEqual(seen[0], [{ name: "STRIPE_KEY", digest: null }])
      assert.lengthOf(yield* pushed, 1)
    }).pipe(withPlatform)
  )

  it.effect("leaves alone what others wrote, unless it is to take it over", () =>
    Effect.gen(function* () {
      const { ada, kv } = yield* world()
      kv.write(path, { STRIPE_KEY: "by hand", OTHER: 12_345, SAME: "same" })
      yield* setSecret(ada, "SAME", "same")
      assert.deepStrictEqual(yield* changesOf(ada), ["OTHER theirs", "SAME same", "STRIPE_KEY theirs"])
      yield* push(ada)
      assert.strictEqual(kv.data(path)["STRIPE_KEY"], "by hand")
      assert.deepStrictEqual(yield* changesOf(ada, { take_over: true }), [
        "OTHER theirs",
        "SAME same",
        "STRIPE_KEY changed"
      ])
      yield* push(ada, { take_over: true })
      assert.deepStrictEqual(kv.data(path), { STRIPE_KEY: canary, OTHER: 12_345, SAME: "same" })
    }).pipe(withPlatform)
  )

  it.effect("removes what left the environment only if it wrote it, and may", () =>
    Effect.gen(function* () {
      const { ada, kv } = yield* world({ remove: "own" })
      kv.write(path, { OTHER: "theirs" })
      yield* push(ada)
      yield* removeSecret(ada, "STRIPE_KEY")
      assert.deepStrictEqual(yield* changesOf(ada), ["OTHER theirs", "STRIPE_KEY removed"])
      assert.strictEqual((yield* push(ada)).removed, 1)
      assert.deepStrictEqual(kv.data(path), { OTHER: "theirs" })
      kv.write(path, { OTHER: "theirs", STRIPE_KEY: "by hand" })
      assert.deepStrictEqual(yield* changesOf(ada), ["OTHER theirs", "STRIPE_KEY theirs"])
    }).pipe(withPlatform)
  )

  it.effect("keeps what left the environment if it may remove nothing", () =>
    Effect.gen(function* () {
      const { ada, kv } = yield* world()
      yield* push(ada)
      yield* removeSecret(ada, "STRIPE_KEY")
      assert.deepStrictEqual(yield* changesOf(ada), ["STRIPE_KEY theirs"])
      yield* push(ada)
      assert.deepStrictEqual(kv.data(path), { STRIPE_KEY: canary })
    }).pipe(withPlatform)
  )

  it.effect("names keys as the target says, and refuses two of one name", () =>
    Effect.gen(function* () {
      const { ada, kv } = yield* world({ prefix: "WEB_", keys: ["STRIPE_*", "A*"], rename: { A: "B/c" } })
      yield* setSecret(ada, "A", "one")
      yield* setSecret(ada, "STRIPE_URL", "two")
      yield* setSecret(ada, "UNNAMED", "three")
      yield* push(ada)
      assert.deepStrictEqual(kv.data(path), { "B/c": "one", WEB_STRIPE_KEY: canary, WEB_STRIPE_URL: "two" })
    }).pipe(withPlatform)
  )

  it.effect("refuses a value that contains the credential, and a reference that leads to nothing", () =>
    Effect.gen(function* () {
      const { ada, kv } = yield* world({ rename: { A: "STRIPE_KEY" } })
      yield* setSecret(ada, "A", "one")
      yield* setSecret(ada, "HEADER", `Bearer ${token}`)
      yield* writeBundle(ada, { references: { REFERENCE: "token=${VAULT_TOKEN}" } })
      const { data } = yield* plan(ada)
      assert.deepStrictEqual(
        data.map(({ change, name, reason }) => `${name} ${change}: ${reason}`),
        [
          "HEADER refused: it contains a credential of a target",
          "REFERENCE refused: it contains a credential of a target",
          "STRIPE_KEY refused: several keys have this name there"
        ]
      )
      yield* push(ada)
      assert.lengthOf(kv.writes(), 0)
    }).pipe(withPlatform)
  )

  it.effect("pushes the values that references lead to", () =>
    Effect.gen(function* () {
      const { ada, kv } = yield* world()
      yield* writeBundle(ada, { references: { URL: "https://u:${STRIPE_KEY}@x" } })
      yield* push(ada)
      assert.strictEqual(kv.data(path)["URL"], `https://u:${canary}@x`)
    }).pipe(withPlatform)
  )
})

describe("a plan", () => {
  it.effect("is made as it was shown, or not at all: the environment has changed, or the platform", () =>
    Effect.gen(function* () {
      const { ada, kv } = yield* world()
      const first = (yield* plan(ada)).plan
      yield* setSecret(ada, "STRIPE_KEY", "another")
      assert.match(yield* message(push(ada, { plan: first })), /has changed since the plan, and nothing was sent/)
      const second = (yield* plan(ada)).plan
      kv.write(path, { OTHER: "theirs" })
      assert.match(yield* message(push(ada, { plan: second })), /has changed since the plan/)
      assert.deepStrictEqual(kv.data(path), { OTHER: "theirs" })
      assert.lengthOf(yield* pushed, 0)
    }).pipe(withPlatform)
  )

  it.effect("overwrites nothing that was written between its look and its write", () =>
    Effect.gen(function* () {
      const { ada, kv } = yield* world()
      kv.write(path, { OTHER: "theirs" })
      let isFirst = true
      kv.before = ({ method }) => {
        if (method === "PATCH" && isFirst) {
          isFirst = false
          kv.write(path, { OTHER: "theirs", STRIPE_KEY: "by hand" })
        }
        return Promise.resolve(undefined)
      }
      assert.match(yield* message(push(ada)), /^target bao: it has changed meanwhile/)
      assert.deepStrictEqual(kv.data(path), { OTHER: "theirs", STRIPE_KEY: "by hand" })
      // It was not written, so it is not ours.
      assert.deepStrictEqual(yield* changesOf(ada), ["OTHER theirs", "STRIPE_KEY theirs"])
    }).pipe(withPlatform)
  )

  it.effect("has no value, as the log, the errors and the database have no value", () =>
    Effect.gen(function* () {
      const { ada, kv } = yield* world()
      const texts = [JSON.stringify(yield* plan(ada)), JSON.stringify(yield* push(ada))]
      kv.before = () => Promise.resolve(500)
      texts.push(yield* message(plan(ada)))
      kv.before = () => Promise.resolve(403)
      texts.push(yield* message(plan(ada)))
      texts.push(JSON.stringify(yield* entries()))
      const db = yield* raw
      texts.push(JSON.stringify(db.prepare("SELECT * FROM targets").all()))
      texts.push(JSON.stringify(db.prepare("SELECT * FROM target_keys").all()))
      for (const text of texts) assert.notMatch(text, /Canary/)
      assert.strictEqual(texts[2], "target bao: it answered with the status 500")
      assert.strictEqual(texts[3], "target bao: it answered with the status 403: the credential may not do this there")
    }).pipe(withPlatform)
  )
})

describe("an interrupted push", () => {
  it.effect("may have had its effect: the keys stay ours, and the next push goes on", () =>
    Effect.gen(function* () {
      const { ada, kv } = yield* world({ remove: "own" })
      kv.before = ({ body, method }) => {
        if (method === "GET") return Promise.resolve(undefined)
        kv.write(path, (JSON.parse(body) as { data: Record<string, unknown> }).data)
        return Promise.resolve("cut")
      }
      assert.match(yield* message(push(ada)), /^target bao: the connection failed/)
      kv.before = () => Promise.resolve(undefined)
      yield* setSecret(ada, "STRIPE_KEY", "another")
      assert.deepStrictEqual(yield* changesOf(ada), ["STRIPE_KEY changed"])
      yield* push(ada)
      yield* removeSecret(ada, "STRIPE_KEY")
      assert.deepStrictEqual(yield* changesOf(ada), ["STRIPE_KEY removed"])
    }).pipe(withPlatform)
  )

  it.effect("keeps others out for a minute, and records nothing once another has begun", () =>
    Effect.gen(function* () {
      const { ada, kv } = yield* world()
      const arrived = yield* Deferred.make<void>()
      let go: (instead: undefined) => void = () => undefined
      kv.before = ({ method }) => {
        if (method === "GET") return Promise.resolve(undefined)
        Deferred.unsafeDone(arrived, Effect.void)
        return new Promise((resolve) => {
          go = resolve
        })
      }
      const slow = yield* Effect.fork(Effect.either(push(ada)))
      yield* Deferred.await(arrived)
      kv.before = () => Promise.resolve(undefined)
      assert.match(yield* message(push(ada)), /another push goes on/)
      yield* TestClock.setTime(Date.UTC(2026, 0, 31, 12, 2))
      yield* setSecret(ada, "STRIPE_KEY", "another")
      yield* push(ada)
      const db = yield* raw
      const digests = () => db.prepare("SELECT digest FROM target_keys").all()
      const before = digests()
      go(undefined)
      yield* Fiber.await(slow)
      assert.deepStrictEqual(digests(), before)
      // The write of the first one had the version that it saw.
      assert.deepStrictEqual(kv.data(path), { STRIPE_KEY: "another" })
    }).pipe(withPlatform)
  )
})

describe("a target", () => {
  it.effect("has the place that its kind needs, an address that may be reached, and a credential", () =>
    Effect.gen(function* () {
      yield* world()
      const other = { name: TargetName.make("other") }
      const place = { url: "https://bao.example.com", mount: "secret", path }
      const wrong = (wish: Parameters<typeof target>[0]) => message(target({ ...other, ...wish }))
      assert.strictEqual(
        yield* wrong({ place: { url: "https://bao.example.com" } }),
        "place: vault needs mount, the mount of the engine, such as secret; it takes url, mount, path [namespace]"
      )
      assert.match(
        yield* wrong({ place: { ...place, region: "x" } }),
        /^place: vault has no region; it takes url, mount/
      )
      assert.match(yield* wrong({ place: { ...place, path: "a/../b" } }), /^place: path must be/)
      assert.match(yield* wrong({ place: { ...place, url: "https://10.0.0.1" } }), /^place: url: .*not public/)
      assert.match(yield* wrong({ place, credential_key: key("NOPE") }), /NOPE/)
      assert.match(yield* message(target()), /the target name bao is in use/)
    }).pipe(withPlatform)
  )

  it.effect("is deleted with its memory, and leaves what is there", () =>
    Effect.gen(function* () {
      const { ada, kv } = yield* world()
      yield* push(ada)
      const place = yield* Effect.flatMap(Access, (access) => access.right(envPath(), "target.delete")).pipe(
        asActor(ada)
      )
      yield* transaction((yield* Targets).remove(place, TargetName.make("bao")))
      assert.deepStrictEqual(kv.data(path), { STRIPE_KEY: canary })
      assert.strictEqual((yield* message(plan(ada))).includes("target bao"), true)
      yield* target()
      assert.deepStrictEqual(yield* changesOf(ada), ["STRIPE_KEY same"])
    }).pipe(withPlatform)
  )
})

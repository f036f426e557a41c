import { existsSync, readFileSync } from "node:fs"
import { setTimeout } from "node:timers/promises"
import { AuditLog } from "@coffer/server/audit/AuditLog"
import { AuditStreamLive } from "@coffer/server/audit/AuditStream"
import { sharedStreamPlaces } from "@coffer/server/audit/SharedStreamPlaces"
import { Fence, LeaseLost, unfenced } from "@coffer/server/database/jobs/Lease"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { everythingOnPostgres } from "../model/Support.js"
import { configAt, freshPath, transaction } from "../support/Services.js"
import { freshDatabase } from "../support/postgres/Databases.js"
import { newOrganization, write } from "../trail/Support.js"

const streamed = (file: string): ReadonlyArray<{ readonly org_id: string | null; readonly seq: number }> =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as { org_id: string | null; seq: number })
    : []

const until = (holds: () => boolean) =>
  Effect.promise(async () => {
    for (let tries = 0; !holds(); tries++) {
      assert.isBelow(tries, 1_000)
      await setTimeout(10)
    }
  })

/** A server with a stream into a file, whose entries are appended before the end of a transaction. */
const scene = Effect.gen(function* () {
  const { url } = yield* freshDatabase()
  const path = yield* freshPath
  const file = `${path}.jsonl`
  const streamAt = (folder: string) =>
    AuditStreamLive.pipe(Layer.provide([configAt(folder, { SERVICE_AUDIT_STREAM: file }), unfenced]))
  const services = everythingOnPostgres(url, path, { environment: { SERVICE_AUDIT_REQUIRED: "1" } })
  return { file, services, streaming: Layer.provideMerge(streamAt(path), services), streamAt }
})

const seqsOf = (file: string, log: string) =>
  streamed(file)
    .filter(({ org_id }) => org_id === log)
    .map(({ seq }) => seq)

describe("the audit stream on PostgreSQL", () => {
  it.scopedLive("has the entry of a transaction that commits after one with a later position", () =>
    Effect.gen(function* () {
      const { file, streaming } = yield* scene
      yield* Effect.gen(function* () {
        const [slow, fast] = [yield* newOrganization("slow"), yield* newOrganization("fast")]
        const [appended, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const held = yield* Effect.fork(
          transaction(
            write(slow.id).pipe(
              Effect.zipRight(Deferred.succeed(appended, undefined)),
              Effect.zipRight(Deferred.await(release))
            )
          )
        )
        yield* Deferred.await(appended)
        yield* write(fast.id)
        yield* until(() => seqsOf(file, fast.id).length === 2)
        assert.deepStrictEqual(seqsOf(file, slow.id), [1], "not before its commit")
        yield* Deferred.succeed(release, undefined)
        yield* Fiber.join(held)
        yield* until(() => seqsOf(file, slow.id).length === 2)
        assert.deepStrictEqual(seqsOf(file, slow.id), [1, 2])
        assert.deepStrictEqual(seqsOf(file, fast.id), [1, 2])
      }).pipe(Effect.provide(streaming))
    })
  )

  it.scopedLive("has every entry of each log once and in order, with many writers and after a restart", () =>
    Effect.gen(function* () {
      const { file, services, streaming } = yield* scene
      const logs = yield* Effect.gen(function* () {
        const made = yield* Effect.forEach(["one", "two", "three", "four"], (name) => newOrganization(name))
        yield* Effect.forEach(
          Array.from({ length: 60 }, (_, n) => n),
          (n) => write(made[n % made.length]!.id),
          { concurrency: 12 }
        )
        return made.map(({ id }) => id)
      }).pipe(Effect.provide(streaming))
      const expect = (count: number) => {
        for (const log of logs) {
          assert.deepStrictEqual(
            seqsOf(file, log),
            Array.from({ length: count }, (_, n) => n + 1)
          )
        }
      }
      expect(16)
      yield* Effect.forEach(logs, (log) => write(log)).pipe(Effect.provide(services))
      expect(16)
      yield* Effect.flatMap(AuditLog, ({ flush }) => flush).pipe(Effect.provide(streaming))
      expect(17)
    })
  )

  it.scopedLive("goes on where another server stopped, and a server without the lease does not set it back", () =>
    Effect.gen(function* () {
      const { file, services, streamAt } = yield* scene
      yield* Effect.gen(function* () {
        const { id } = yield* newOrganization("one")
        const wait = (count: number) => until(() => seqsOf(file, id).length >= count)
        yield* Effect.scoped(Effect.zipRight(Layer.build(streamAt(yield* freshPath)), wait(1)))
        yield* write(id)
        yield* Effect.scoped(Effect.zipRight(Layer.build(streamAt(yield* freshPath)), wait(2)))
        assert.deepStrictEqual(seqsOf(file, id), [1, 2])

        const late = yield* sharedStreamPlaces(file).pipe(
          Effect.provideService(Fence, () => Effect.die(new LeaseLost({ job: "stream" })))
        )
        assert.isTrue(Exit.isFailure(yield* Effect.exit(late.save(new Map([[id, 1]])))))
        const places = yield* Effect.flatMap(Effect.provide(sharedStreamPlaces(file), unfenced), ({ load }) => load)
        assert.strictEqual(places?.get(id), 2)
      }).pipe(Effect.provide(services))
    })
  )
})

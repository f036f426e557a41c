import { Tenant } from "@coffer/server/base/Tenant"
import { makeSlots, makeStreamSlots } from "@coffer/server/secrets/use/Slots"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Fiber, Option, TestClock, TestContext } from "effect"
import fc from "fast-check"
import { runs } from "../../../domain/test/support/Runs.js"

/** A request of one of three accounts of one of four organizations. */
const request = fc.record({ organization: fc.nat({ max: 3 }), account: fc.nat({ max: 2 }) })

/** A request that starts, or the end or interruption of one that started before. */
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("start" as const), request }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("end" as const, "interrupt" as const), index: fc.nat() }) }
)

describe("the slots of uses", () => {
  it("are never more than 4 of an account, 8 of an organization and 16 of the server, and are all given back", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), (steps) =>
        Effect.gen(function* () {
          const inSlot = yield* makeSlots
          const running: Array<typeof request extends fc.Arbitrary<infer A> ? A : never> = []
          const started: Array<{
            readonly end: Deferred.Deferred<void>
            readonly fiber: Fiber.RuntimeFiber<unknown, unknown>
          }> = []
          const most = (key: (one: (typeof running)[number]) => string): number => {
            const counts = new Map<string, number>()
            for (const one of running) counts.set(key(one), (counts.get(key(one)) ?? 0) + 1)
            return Math.max(0, ...counts.values())
          }
          for (const one of steps) {
            if (one.do === "start") {
              const { account, organization } = one.request
              const end = yield* Deferred.make<void>()
              const inFlight = Effect.acquireUseRelease(
                Effect.sync(() => running.push(one.request)),
                () => Deferred.await(end),
                () => Effect.sync(() => running.splice(running.indexOf(one.request), 1))
              )
              const fiber = yield* inSlot(`${organization} ${account}`, inFlight, Effect.fail).pipe(
                Effect.provideService(Tenant, { name: `${organization}` }),
                Effect.fork
              )
              started.push({ end, fiber })
            } else {
              const chosen = started[one.index % Math.max(1, started.length)]
              if (chosen !== undefined) {
                yield* one.do === "end" ? Deferred.succeed(chosen.end, undefined) : Fiber.interruptFork(chosen.fiber)
              }
            }
            yield* Effect.yieldNow()
            yield* Effect.yieldNow()
            assert.isAtMost(running.length, 16)
            assert.isAtMost(
              most(({ organization }) => `${organization}`),
              8
            )
            assert.isAtMost(
              most(({ account, organization }) => `${organization} ${account}`),
              4
            )
          }
          for (const { end } of started) yield* Deferred.succeed(end, undefined)
          yield* TestClock.adjust("1 minute")
          for (const { fiber } of started) yield* Fiber.await(fiber)
          assert.deepStrictEqual(running, [])

          // All permits are there again: 8 of one organization and, beside it, 4 of another one.
          const end = yield* Deferred.make<void>()
          const accounts = ["0 a", "0 b", "1 a"]
          const full = yield* Effect.forEach(accounts, (account) =>
            Effect.forEach([1, 2, 3, 4], () =>
              inSlot(account, Deferred.await(end), Effect.fail).pipe(
                Effect.provideService(Tenant, { name: account.slice(0, 1) }),
                Effect.either,
                Effect.fork
              )
            )
          )
          yield* TestClock.adjust("10 seconds")
          const polled = yield* Effect.forEach(full.flat(), Fiber.poll)
          assert.isTrue(polled.every(Option.isNone), "each has a slot, and none was refused")
          yield* Deferred.succeed(end, undefined)
          for (const fiber of full.flat()) assert.isTrue(Either.isRight(yield* Fiber.join(fiber)))
        }).pipe(Effect.provide(TestContext.TestContext), Effect.runPromise)
      ),
      { numRuns: runs(60) }
    )
  })

  it.effect("are left to others by two organizations whose hosts hang, and refused to these after 4 seconds", () =>
    Effect.gen(function* () {
      const inSlot = yield* makeSlots
      const use = (organization: string, account: number, work: Effect.Effect<string>) =>
        inSlot(`${organization} ${account}`, work, Effect.fail).pipe(
          Effect.provideService(Tenant, { name: organization }),
          Effect.either
        )
      const hang = (organization: string) =>
        Effect.forEach([1, 2, 3, 4], (account) =>
          Effect.replicateEffect(Effect.fork(use(organization, account, Effect.never)), 4)
        ).pipe(Effect.zipRight(Effect.repeatN(Effect.yieldNow(), 10)))
      yield* hang("first")
      assert.deepStrictEqual(yield* use("other", 1, Effect.succeed("sent")), Either.right("sent"))
      // More than its half is refused to the first, whatever is free.
      const own = yield* Effect.fork(use("first", 5, Effect.succeed("sent")))
      yield* hang("second")
      const second = yield* Effect.fork(use("second", 5, Effect.succeed("sent")))
      assert.deepStrictEqual(yield* use("other", 1, Effect.succeed("sent")), Either.right("sent"))
      yield* hang("third")
      assert.deepStrictEqual(yield* use("other", 1, Effect.succeed("sent")), Either.right("sent"))
      yield* TestClock.adjust("4 seconds")
      for (const fiber of [own, second]) {
        assert.deepInclude(Option.getOrThrow(Either.getLeft(yield* Fiber.join(fiber))), {
          _tag: "Overloaded",
          code: "OVERLOADED"
        })
      }
    })
  )
})

describe("the slots of streams", () => {
  it.effect("are 8 of an account and 16 of an organization, and leave the next organization its own", () =>
    Effect.gen(function* () {
      const enter = yield* makeStreamSlots
      const held = (organization: string, account: string) =>
        Effect.exit(Effect.scoped(Effect.zipRight(enter(`${organization} ${account}`), Effect.never))).pipe(
          Effect.provideService(Tenant, { name: organization }),
          Effect.fork
        )
      const ended = (fibers: ReadonlyArray<Fiber.RuntimeFiber<unknown, unknown>>) =>
        fibers.filter((fiber) => fiber.unsafePoll() !== null).length
      const ofOne = yield* Effect.forEach(Array(20).keys(), () => held("bulk", "one"))
      yield* TestClock.adjust(0)
      assert.strictEqual(ended(ofOne), 12)
      const others = yield* Effect.forEach(["two", "three", "four"], (account) =>
        Effect.forEach(Array(8).keys(), () => held("bulk", account))
      )
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(ended(others.flat()), 16)
      const other = yield* Effect.forEach(Array(8).keys(), () => held("other", "one"))
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(ended(other), 0)
      const all = [...ofOne, ...others.flat(), ...other]
      yield* Effect.forEach(all, Fiber.interrupt, { concurrency: "unbounded" })
      const again = yield* held("bulk", "one")
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(ended([again]), 0)
      yield* Fiber.interrupt(again)
    })
  )
})

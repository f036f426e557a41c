import { makeFairSemaphore } from "@coffer/server/base/FairSemaphore"
import { Tenant } from "@coffer/server/base/Tenant"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck, Fiber } from "effect"
import { runs } from "../../../domain/test/support/Runs.js"

const makePass = () => makeFairSemaphore({ total: 1, each: 1 }).inside<void, never, never>

/** Every few steps another fiber has its turn, as after some two thousand otherwise. */
const inShortTurns = (before: number, effect: Effect.Effect<void>) =>
  Effect.withMaxOpsBeforeYield(Effect.zipRight(Effect.repeatN(Effect.void, before), effect), 12)

const turns = (count: number) => Effect.repeatN(Effect.yieldNow(), count)

const as = (name: string) => Effect.provideService(Tenant, { name })

describe("a semaphore with one permit", () => {
  it.effect("lets the next one in, at whichever step the turns of those at it end", () =>
    Effect.gen(function* () {
      for (let before = 0; before < 12; before++) {
        for (let stay = 0; stay < 8; stay++) {
          const pass = makePass()
          const first = yield* Effect.fork(pass(turns(stay)))
          const second = yield* Effect.fork(inShortTurns(before, pass(Effect.void)))
          yield* turns(100)
          assert.isNotNull(second.unsafePoll(), `${before} steps before it, while the first stays for ${stay} turns`)
          yield* Fiber.joinAll([first, second])
        }
      }
    })
  )

  it.effect("lets the next one in, at whichever step the one before it gives up waiting", () =>
    Effect.gen(function* () {
      for (let before = 0; before < 12; before++) {
        for (let patience = 0; patience < 8; patience++) {
          const pass = makePass()
          const first = yield* Effect.fork(pass(turns(20)))
          const second = yield* Effect.fork(inShortTurns(before, pass(Effect.void)))
          yield* turns(patience)
          yield* Fiber.interruptFork(second)
          const third = yield* Effect.fork(pass(Effect.void))
          yield* turns(100)
          assert.isNotNull(third.unsafePoll(), `${before} steps before it, and then ${patience} turns`)
          yield* Fiber.joinAll([first, third])
        }
      }
    })
  )

  it.effect("lets a tenant in after one of another, however many of them wait", () =>
    Effect.gen(function* () {
      const { inside } = makeFairSemaphore({ total: 1, each: 1 })
      const order: Array<string> = []
      const enter = (name: string, isLast = false) =>
        as(name)(
          inside(
            Effect.zipRight(
              Effect.sync(() => void order.push(name)),
              turns(10)
            ),
            isLast
          )
        )
      const fibers = []
      fibers.push(yield* Effect.fork(enter("commit")))
      yield* turns(1)
      fibers.push(yield* Effect.fork(enter("commit", true)))
      for (let index = 0; index < 5; index++) fibers.push(yield* Effect.fork(enter("bulk")))
      fibers.push(yield* Effect.fork(enter("other")))
      yield* Fiber.joinAll(fibers)
      assert.deepStrictEqual(order, ["commit", "bulk", "other", "bulk", "bulk", "bulk", "bulk", "commit"])
    })
  )
})

type Step =
  { readonly do: "ask"; readonly tenant: string; readonly last: boolean } | { readonly do: "leave" | "give up" }

const step: FastCheck.Arbitrary<Step> = FastCheck.oneof(
  FastCheck.record({
    do: FastCheck.constant("ask" as const),
    tenant: FastCheck.constantFrom("a", "b", "c"),
    last: FastCheck.boolean()
  }),
  FastCheck.record({ do: FastCheck.constantFrom("leave" as const, "give up" as const) })
)

describe("a semaphore", () => {
  it("never grants more than its bounds, and lets nobody wait while a permit is free", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.integer({ min: 1, max: 4 }),
        FastCheck.integer({ min: 1, max: 4 }),
        FastCheck.array(step, { maxLength: 60 }),
        FastCheck.nat(),
        (permits, each, steps, seed) => {
          const { isFree, release, request } = makeFairSemaphore({ total: permits, each })
          const held: Array<string> = []
          const waiting: Array<{ readonly tenant: string; readonly stop: () => void }> = []
          const heldBy = (tenant: string) => held.filter((one) => one === tenant).length
          for (const [index, one] of steps.entries()) {
            if (one.do === "ask") {
              const { tenant } = one
              const entry = { tenant, stop: (): void => undefined }
              waiting.push(entry)
              entry.stop = request(
                tenant,
                () => {
                  held.push(tenant)
                  waiting.splice(waiting.indexOf(entry), 1)
                },
                one.last
              )
            } else if (one.do === "leave") {
              const [tenant] = held.splice((seed + index) % Math.max(1, held.length), 1)
              if (tenant !== undefined) release(tenant)
            } else {
              const [entry] = waiting.splice((seed + index) % Math.max(1, waiting.length), 1)
              entry?.stop()
            }
            assert.isAtMost(held.length, permits)
            assert.strictEqual(isFree(), held.length < permits)
            for (const tenant of held) assert.isAtMost(heldBy(tenant), each)
            for (const { tenant } of waiting) assert.isTrue(held.length === permits || heldBy(tenant) >= each)
          }
        }
      ),
      { numRuns: runs(500) }
    )
  })

  it("grants a permit to each tenant that waits before any tenant has a second one", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(FastCheck.constantFrom("a", "b", "c", "d"), { minLength: 1 }), (asking) => {
        const { release, request } = makeFairSemaphore({ total: 1, each: 1 })
        const granted: Array<string> = []
        request("first", () => undefined)
        for (const tenant of asking) request(tenant, () => void granted.push(tenant))
        release("first")
        while (granted.length < asking.length) release(granted.at(-1) ?? "")
        const tenants = new Set(asking)
        assert.deepStrictEqual(new Set(granted.slice(0, tenants.size)), tenants)
        assert.deepStrictEqual(granted.toSorted(), asking.toSorted())
      })
    )
  })
})

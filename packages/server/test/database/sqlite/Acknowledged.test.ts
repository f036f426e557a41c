import { Transaction } from "@coffer/server/database/Database"
import { openConnection } from "@coffer/server/database/sqlite/Connection"
import { groupCommit } from "@coffer/server/database/sqlite/GroupCommit"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber } from "effect"
import fc from "fast-check"
import { failingNowAndThen } from "../../support/FailingDriver.js"
import { freshPath, rawAt } from "../../support/Services.js"
import { runs } from "../../../../domain/test/support/Runs.js"

const part = fc.constantFrom(
  ...([
    "write",
    "part",
    "part that fails",
    "leaves",
    "part that leaves",
    "part that leaves and fails",
    "turn",
    "wait"
  ] as const)
)
const request = fc.record({
  parts: fc.array(part, { minLength: 1, maxLength: 5 }),
  end: fc.constantFrom(...(["done", "done", "done", "fails", "throws", "alone"] as const)),
  /** After how many steps another fiber has its turn; the program's own do some two thousand. */
  steps: fc.integer({ min: 12, max: 30 }),
  /** After how many turns it is given up. */
  patience: fc.option(fc.nat(40), { freq: 3 }),
  traced: fc.boolean()
})
type Request = typeof request extends fc.Arbitrary<infer A> ? A : never

const fault = fc.record({ after: fc.nat(20), rollsBack: fc.boolean() })

const scene = Effect.gen(function* () {
  const path = yield* freshPath
  const connection = yield* openConnection(path)
  for (const text of [
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = OFF",
    "CREATE TABLE notes (id INTEGER, note TEXT) STRICT",
    "CREATE TABLE leftovers (id INTEGER) STRICT"
  ]) {
    yield* connection.execute(text, [], undefined)
  }
  const { alone, beforeCommit, transaction } = yield* groupCommit(connection)
  const db = yield* rawAt(path)
  const notes = db.prepare<[number], string>("SELECT note FROM notes WHERE id = ? ORDER BY rowid")
  const leftovers = db.prepare<[number], number>("SELECT count(*) FROM leftovers WHERE id = ?")
  const run = (text: string, parameters: ReadonlyArray<unknown>) =>
    Effect.flatMap(Transaction, ([{ connection }]) => Effect.orDie(connection.execute(text, parameters, undefined)))
  const insert = (id: number, note: string) => run("INSERT INTO notes (id, note) VALUES (?, ?)", [id, note])

  const lost = new Set<number>()
  const leave = beforeCommit<number>((ids) =>
    transaction(Effect.forEach(ids, (id) => run("INSERT INTO leftovers (id) VALUES (?)", [id]))).pipe(
      Effect.catchAllCause(() =>
        Effect.sync(() => {
          for (const id of ids) lost.add(id)
        })
      )
    )
  )

  const doing = (id: number, what: Request["parts"][number], note: string) => {
    switch (what) {
      case "write":
        return insert(id, note)
      case "part":
        return transaction(Effect.zipRight(Effect.yieldNow(), insert(id, note)))
      case "part that fails":
        return Effect.exit(transaction(Effect.zipRight(insert(id, "no"), Effect.fail("no"))))
      case "leaves":
        return leave(id)
      case "part that leaves":
        return transaction(Effect.zipRight(Effect.yieldNow(), leave(id)))
      case "part that leaves and fails":
        return Effect.exit(transaction(Effect.zipRight(leave(id), Effect.fail("no"))))
      case "turn":
        return Effect.yieldNow()
      case "wait":
        return Effect.sleep(0)
    }
  }

  const asked = (id: number, { end, parts }: Request): Effect.Effect<unknown, unknown> =>
    end === "alone"
      ? alone(connection.execute("INSERT INTO notes (id, note) VALUES (?, ?)", [id, "0"], undefined))
      : transaction(
          Effect.gen(function* () {
            for (const [index, what] of parts.entries()) yield* doing(id, what, String(index))
            if (end === "fails") return yield* Effect.fail("no")
            if (end === "throws") throw new Error("no")
          })
        )

  return {
    asked,
    kept: (id: number) => notes.pluck().all(id),
    left: (id: number) => leftovers.pluck().get(id),
    /** Whether what a request left could not be done: its change may be kept all the same. */
    isLost: (id: number) => lost.has(id)
  }
})

const whole = ({ end, parts }: Request): ReadonlyArray<string> =>
  end === "alone" ? ["0"] : parts.flatMap((what, index) => (what === "write" || what === "part" ? [String(index)] : []))

const leftBy = ({ end, parts }: Request): number =>
  end === "alone" ? 0 : parts.filter((what) => what === "leaves" || what === "part that leaves").length

describe("whatever fails, is given up or comes between,", () => {
  it.live(
    "what is told as done is kept whole, with what it left to the commit, what failed not at all, and nobody waits for ever",
    () =>
      Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(
            fc.array(request, { minLength: 2, maxLength: 10 }),
            fc.array(fault, { maxLength: 6 }),
            (requests, faults) =>
              Effect.gen(function* () {
                const { asked, isLost, kept, left } = yield* scene
                const check = (request: Request, id: number) =>
                  Effect.gen(function* () {
                    const { patience, steps, traced } = request
                    const fiber = yield* asked(id, request).pipe(
                      Effect.withMaxOpsBeforeYield(steps),
                      Effect.withTracerEnabled(traced),
                      Effect.fork
                    )
                    if (patience !== null) {
                      yield* Effect.repeatN(Effect.yieldNow(), patience)
                      yield* Fiber.interruptFork(fiber)
                    }
                    const exit = yield* Fiber.await(fiber)
                    const [found, all] = [kept(id), whole(request)]
                    const isInterrupted = Exit.isFailure(exit) && Cause.isInterrupted(exit.cause)
                    // Whether it has happened: what was given up may have, and shows where it wrote something.
                    const happened = Exit.isSuccess(exit) || (isInterrupted && found.length > 0)
                    if (isInterrupted && all.length === 0) return
                    assert.deepStrictEqual(found, happened ? all : [])
                    assert.strictEqual(left(id), happened && !isLost(id) ? leftBy(request) : 0)
                  })
                yield* failingNowAndThen(faults, Effect.forEach(requests, check, { concurrency: "unbounded" }))
                const last: Request = { parts: ["write"], end: "done", steps: 2_048, patience: null, traced: false }
                yield* check(last, requests.length)
              }).pipe(Effect.scoped, Effect.timeout("5 seconds"), Effect.runPromise)
          ),
          { numRuns: runs(100) }
        )
      )
  )
})

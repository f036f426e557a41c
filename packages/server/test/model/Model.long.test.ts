import { assert, describe, it } from "@effect/vitest"
import { Pattern } from "@coffer/domain/base/Pattern"
import { Effect, Schema } from "effect"
import fc from "fast-check"
import { matcherOf } from "@coffer/domain/base/PatternMatch"
import type { Calls } from "./Calls.js"
import { driver, people } from "./Driver.js"
import * as model from "./Model.js"
import { anyRun, headcount, play, type Run, weights } from "./Runs.js"
import { type Everything, hasty, holds, onEverything } from "./Support.js"
import { isOnPostgres } from "../support/Services.js"
import { isSoak, runs } from "../../../domain/test/support/Runs.js"

describe("authorization", () => {
  it.live(
    "does for every random sequence of calls what a plain model of the specification says, and no more",
    () =>
      Effect.gen(function* () {
        yield* hasty
        const persons = yield* people(headcount + 1)
        let begun = 0
        const outcomes = new Map<string, number>()
        const property = (run: Run) =>
          Effect.gen(function* () {
            const service: Calls<Everything> = yield* driver(persons)
            for (const sentence of yield* play({ run: ++begun, service, persons }, run)) {
              const [, call = ""] = /: (\w+) /.exec(sentence) ?? []
              const kind = `${call} ${sentence.slice(-3)}`
              outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1)
            }
          })
        yield* holds(anyRun, property, { numRuns: runs(isOnPostgres() ? 12 : 60) })
        // The runs say something only when each call is both allowed and refused among them.
        for (const call of isSoak ? Object.keys(weights).filter((call) => call !== "superadmin") : []) {
          for (const wanted of [200, call === "createOrg" ? 409 : 403]) {
            assert.isAbove(outcomes.get(`${call} ${wanted}`) ?? 0, 0, `${call} was never ${wanted}`)
          }
        }
        if (process.env.COFFER_SHOW === "1") console.log(Object.fromEntries([...outcomes].sort()))
      }).pipe(onEverything),
    isSoak ? 1_200_000 : 300_000
  )
})

const isPattern = Schema.is(Schema.typeSchema(Pattern))
const letters = fc.constantFrom("a", "b", "-", "0")
const names = fc.string({ unit: letters, minLength: 2, maxLength: 8 }).filter((name) => !/^-|-$/.test(name))
const words = fc.string({ unit: fc.oneof(letters, fc.constantFrom("*", "?")), maxLength: 4 })
const groups = fc.array(words, { minLength: 2, maxLength: 3 }).map((choices) => `{${choices.join(",")}}`)
const patterns = fc
  .array(fc.oneof({ weight: 2, arbitrary: words }, { weight: 1, arbitrary: groups }), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join("").replace(/\*+/g, "*"))
  .filter((text) => isPattern(text))

describe("a pattern", () => {
  it("matches the names that a plain matcher says", () => {
    fc.assert(
      fc.property(patterns, fc.array(names, { minLength: 1, maxLength: 10 }), (pattern, all) => {
        for (const name of all) assert.strictEqual(matcherOf(name)(pattern), model.globMatches(pattern, name), name)
      }),
      { numRuns: runs(5_000) }
    )
  })
})

import { mayReveal } from "@coffer/domain/access/Actor"
import type { KeyWarning } from "@coffer/domain/secrets/DeclaredKey"
import { isRequired } from "@coffer/domain/secrets/Required"
import { PatternBroken } from "@coffer/domain/errors/Errors"
import type { SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Place } from "../../access/Access.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import type { Totals } from "../stored/ChangesRepo.js"
import type { Value } from "../../keys/Envelope.js"
import type { Content } from "../stored/Versions.js"
import { makeMatching } from "./Patterns.js"
import { declaredRepo } from "./Repo.js"

/** A change of one key: a new value, or null to remove the secret. */
export interface ValueChange {
  readonly key: SecretKey
  readonly value: Value | null
}

/** The changes to validate. A reference is not validated: its text is not its value, which other secrets change. */
export const valueChangesOf = (key: SecretKey, content: Content | null): ReadonlyArray<ValueChange> =>
  content === null ? [{ key, value: null }] : content.kind === "reference" ? [] : [{ key, value: content.value }]

/** Validates writes against the declared keys. */
export class WriteChecks extends Effect.Service<WriteChecks>()("@coffer/server/WriteChecks", {
  effect: Effect.gen(function* () {
    const repo = yield* declaredRepo

    const broken = (place: Place<"secret.write">, key: SecretKey) =>
      new PatternBroken({
        message: `secret ${key}: the value breaks the declared pattern, and project ${place.project.name} is strict; nothing was changed`
      })

    /**
     * Returns the warnings about the changes, in their order. Fails with PatternBroken if the project is strict. Runs no statement if
     * the project declares nothing, and one for a single change. `values` says where the values come from: an account that is never
     * given values is not warned of values that it did not send, but in a strict project they are refused. Restored values never are,
     * because they were accepted before. Once the time for matching is used up, a strict project fails with LimitExceeded; in others
     * the rest is written without warnings.
     */
    const validate = Effect.fnUntraced(function* (
      place: Place<"secret.write">,
      { declares }: Pick<Totals, "declares">,
      changes: ReadonlyArray<ValueChange>,
      values: "given" | "moved" | "restored" = "given"
    ) {
      if (declares === 0 || changes.length === 0) return []
      const isStrict = declares === 2 && values !== "restored"
      const [only] = changes
      const declared = yield* changes.length === 1 && only !== undefined
        ? repo.expectedOf(place.project.id, only.key)
        : repo.expected(place.project.id)
      const expected = new Map(declared.map((one) => [one.key, one]))
      // Whoever may read values could match them without the server, so the result is no oracle.
      const maySay = values === "given" || mayReveal(place.actor)
      const matches = makeMatching()
      const isMatch = (pattern: string, value: string) =>
        isStrict ? matches(pattern, value) : Effect.orElseSucceed(matches(pattern, value), () => true)
      const found = yield* forEachInSlices(
        changes,
        Effect.fnUntraced(function* ({ key, value }) {
          const { pattern = null, required_in = [] } = expected.get(key) ?? {}
          if (value === null) {
            return isRequired(required_in, place.env.name) ? [{ key, problem: "required" } satisfies KeyWarning] : []
          }
          if (pattern === null || (!isStrict && !maySay)) return []
          if (yield* isMatch(pattern, Redacted.value(value))) return []
          return isStrict ? yield* broken(place, key) : [{ key, problem: "breaks_pattern" } satisfies KeyWarning]
        })
      )
      return found.flat()
    })

    return { validate } as const
  })
}) {}

/** The field of an answer; absent if there is nothing to warn of. */
export const warningsOf = (warnings: ReadonlyArray<KeyWarning>): { readonly warnings?: ReadonlyArray<KeyWarning> } =>
  warnings.length === 0 ? {} : { warnings }

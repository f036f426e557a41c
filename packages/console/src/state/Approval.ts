import { signal } from "@preact/signals"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import { placeOfPath } from "../routing/ApiPlace.js"

/** How a change of a protected environment is sent: these headers. */
export type Answer = Readonly<Record<string, string>>

/** Has the change wait for votes. */
export const requestWith = (reason: string): Answer => ({
  prefer: "respond-async",
  ...(reason !== "" && { "x-coffer-reason": encodeURIComponent(reason) })
})

/** Makes the change at once, without votes. */
export const breakGlassWith = (reason: string): Answer => ({ "x-coffer-break-glass": encodeURIComponent(reason) })

/** The reason that the person has given already. */
export const suggestedReason = signal("")

interface Waiting {
  /** The path of the protected place, or of the place that holds it. */
  readonly path: string
  readonly done: (answer: Answer | null) => void
}

const waiting = new Set<Waiting>()

/** The path of the place that the person is asked about; null: none. */
export const askedAbout = signal<string | null>(null)

const askNext = () => {
  const [next] = waiting
  askedAbout.value = next?.path ?? null
}

/** Answers for all calls about the place; null declines. */
export const answer = (given: Answer | null): void => {
  const path = askedAbout.peek()
  for (const one of [...waiting]) if (one.path === path) one.done(given)
}

/** The answers that were given while an action runs: it asks once about a place. */
export const answers = FiberRef.unsafeMake<Map<string, Answer>>(new Map())

/** Asks the person what to do about a protected place. Fails with `failure` if they decline. */
export const askApproval = <E>(sentTo: string, failure: E): Effect.Effect<Answer, E> =>
  Effect.flatMap(FiberRef.get(answers), (known) =>
    Effect.suspend(() => {
      const path = placeOfPath(sentTo)
      const given = known.get(path)
      if (given !== undefined) return Effect.succeed(given)
      return Effect.async<Answer, E>((resume) => {
        const end = () => {
          waiting.delete(one)
          askNext()
        }
        const one: Waiting = {
          path,
          done: (next) => {
            end()
            if (next === null) return resume(Effect.fail(failure))
            known.set(path, next)
            resume(Effect.succeed(next))
          }
        }
        waiting.add(one)
        askNext()
        return Effect.sync(end)
      })
    })
  )

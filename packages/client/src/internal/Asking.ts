import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"

/** The headers that the changes of the fiber send. With `prefer`, a change of a protected environment waits for votes. */
export const asking = FiberRef.unsafeMake<Readonly<Record<string, string>>>({ prefer: "respond-async" })

type Same = <A, E, R>(changes: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

const adding = (name: string, text: string): Same =>
  Effect.locallyWith(asking, (headers) => ({ ...headers, [name]: encodeURIComponent(text) }))

/** Gives a reason to the changes of an effect, for the people who vote on them. */
export const withReason = (reason: string): Same => adding("x-coffer-reason", reason)

/** Makes the changes of an effect at once where an environment is protected. Its owners are mailed the reason. */
export const breakingGlass = (reason: string): Same => adding("x-coffer-break-glass", reason)

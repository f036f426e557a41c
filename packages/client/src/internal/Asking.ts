import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"

/** The headers of changes. With `prefer`, one of a protected environment waits for votes. */
export const asking = FiberRef.unsafeMake<Readonly<Record<string, string>>>({ prefer: "respond-async" })

type Same = <A, E, R>(changes: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

const adding = (name: string, text: string): Same =>
  Effect.locallyWith(asking, (headers) => ({ ...headers, [name]: encodeURIComponent(text) }))

/** The reason of the changes of an effect, for those who vote. */
export const withReason = (reason: string): Same => adding("x-coffer-reason", reason)

/** Changes protected environments at once. Owners are mailed the reason. */
export const breakingGlass = (reason: string): Same => adding("x-coffer-break-glass", reason)

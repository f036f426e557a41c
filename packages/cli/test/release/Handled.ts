/** An application that the compiler checks: it handles each error of a read, or keeps the error in its type. */
import { Coffer } from "@coffer/client"
import { Effect } from "effect"

const said = ({ message }: { readonly message: string }) => Effect.succeed(message)
const read = Effect.flatMap(Coffer, ({ refresh }) => Effect.as(refresh, "read"))

const others = {
  DatabaseUnavailable: said,
  DecryptionFailed: said,
  Forbidden: said,
  InternalError: said,
  NotFound: said,
  Overloaded: said,
  ServerUnreachable: said,
  SignInFailed: said,
  UnexpectedResponse: said,
  UnknownApiError: said
} as const

export const handled: Effect.Effect<string, never, Coffer> = Effect.catchTags(read, { ...others, Unauthorized: said })

export const unhandled = Effect.catchTags(read, others)
// @ts-expect-error nothing handles a revoked key
export const isHandled: [Effect.Effect.Error<typeof unhandled>] extends [never] ? true : never = true

// @ts-expect-error a read meets no such error
export const foreign = Effect.catchTags(read, { Conflict: said })

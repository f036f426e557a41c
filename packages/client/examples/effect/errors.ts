import { Coffer } from "@coffer/client"
import { Console, Effect } from "effect"

const rotated = Effect.gen(function* () {
  const coffer = yield* Coffer
  const { revision } = yield* coffer.refresh
  return `revision ${revision}`
})

export const described = rotated.pipe(
  Effect.catchTags({
    Overloaded: ({ retryAfter = 1 }) => Effect.succeed(`the server asks to wait ${retryAfter} s`),
    ServerUnreachable: ({ message }) => Effect.succeed(message),
    Unauthorized: () => Effect.succeed("the key was revoked: the last values stay")
  }),
  Effect.tap(Console.log)
)

import { CannotDo, WrongUsage } from "../Failures.js"
import { askHidden, canAsk } from "../Prompts.js"
import { Effect, Redacted } from "effect"

const maxInputLength = 1_000

const standardInput = Effect.tryPromise({
  try: async () => {
    let text = ""
    const source: AsyncIterable<string> = process.stdin.setEncoding("latin1")
    for await (const piece of source) {
      text += piece
      if (text.length > maxInputLength) break
    }
    return Redacted.make(text)
  },
  catch: () => new CannotDo({ message: "standard input cannot be read" })
})

const rule = "a session token starts with svc_st_ and has 56 characters, as coffer-server session EMAIL prints it"

/**
 * Reads a session token from standard input, or at a prompt that does not show it. A token is never an argument: other
 * users of the machine can read those. Fails with WrongUsage on what is no session token, without showing it.
 */
export const readSessionToken = Effect.fnUntraced(function* (option: string) {
  if (option !== "-") {
    return yield* new WrongUsage({
      message: "a token on the command line can be read by others: write --token - and give it on standard input"
    })
  }
  const text = Redacted.value(yield* canAsk() ? askHidden("Session token: ") : standardInput).trim()
  if (/^svc_st_[0-9A-Za-z]{49}$/.test(text)) return Redacted.make(text)
  return yield* new WrongUsage({
    message: text.startsWith("svc_sa_")
      ? "that is a service account's API key: set SERVICE_API_KEY to it; --token takes a person's session token"
      : `standard input holds no session token: ${rule}`
  })
})

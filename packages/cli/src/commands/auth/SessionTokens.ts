import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { WrongUsage } from "../../base/Failures.js"
import { readBytes, standardInput } from "../../terminal/Bytes.js"
import { askHidden, canAsk } from "../../terminal/Prompts.js"

const maxInputLength = 1_000

const rule = "a session token starts with svc_st_ and has 56 characters, as coffer-server session EMAIL prints it"

const noToken = new WrongUsage({ message: `standard input holds no session token: ${rule}` })

/** Bytes as text: what is not ASCII fits no token. */
const fromInput = Effect.map(readBytes(standardInput, maxInputLength, noToken), (bytes) =>
  Redacted.make(bytes.toString("latin1"))
)

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
  const text = Redacted.value((yield* canAsk) ? yield* askHidden("Session token: ") : yield* fromInput).trim()
  if (/^svc_st_[0-9A-Za-z]{49}$/.test(text)) return Redacted.make(text)
  if (!text.startsWith("svc_sa_")) return yield* noToken
  return yield* new WrongUsage({
    message: "that is a service account's API key: set SERVICE_API_KEY to it; --token takes a person's session token"
  })
})

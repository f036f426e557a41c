import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { readText } from "../../terminal/TextFile.js"
import { standardInput } from "../../terminal/Bytes.js"
import { note, write } from "../../terminal/Print.js"
import { readCredential } from "./Credential.js"
import { lookUp } from "./Hosts.js"
import { type PlaceOptions, settingsFor } from "./TrustedPlace.js"

const maxRequest = 64 * 1024

/** The attributes of a request (gitcredentials(7)): lines of NAME=VALUE. Those with several values are not asked for. */
const attributesIn = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split("\n").flatMap((line) => {
      const at = line.indexOf("=")
      return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)] as const]
    })
  )

/**
 * Answers git's credential protocol. Without a credential, git asks its next helper, and then a person. What git wants stored or
 * erased is ignored, as the protocol says.
 */
export const answerGit = Effect.fnUntraced(function* (operation: string, options: PlaceOptions) {
  if (operation !== "get") return
  const text = yield* readText(standardInput, maxRequest, "larger than any request of git")
  const request = attributesIn(Redacted.value(text))
  const host = request.get("host")
  if (host === undefined) return
  const settings = yield* settingsFor(options)
  const answer = yield* lookUp(settings, "git", host, request.get("path"))
  if (answer.type === "distrusted") return yield* note(`${host}: ${answer.problem}`)
  if (answer.type === "none") return
  const { key, username } = answer.rule
  if ((request.get("username") ?? username) !== username) return
  const protocol = request.get("protocol")
  if (protocol !== "https")
    return yield* note(`${host}: a credential is given for https alone, not for ${protocol ?? ""}`)
  const password = Redacted.value(yield* readCredential(settings, options, key))
  yield* write(`username=${username}\npassword=${password}\n`)
})

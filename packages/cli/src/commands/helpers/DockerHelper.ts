import { serviceFileName } from "@coffer/client/internal/ServiceFileKeys"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { CannotDo } from "../../base/Failures.js"
import { standardInput } from "../../terminal/Bytes.js"
import { write } from "../../terminal/Print.js"
import { readText } from "../../terminal/TextFile.js"
import { readCredential } from "./Credential.js"
import { lookUp, rulesFor } from "./Hosts.js"
import { distrust, type PlaceOptions, settingsFor } from "./TrustedPlace.js"

export const dockerOperations = ["get", "list", "store", "erase"] as const

/** By these words, Docker knows that there is none (docker-credential-helpers, credentials/error.go). */
const notFound = new CannotDo({ message: "credentials not found in native keychain" })

const readOnly = new CannotDo({
  message: `coffer keeps no logins of Docker: store the password with coffer secret set, and name it under helpers in ${serviceFileName}`
})

/** The host of a registry, such as `https://index.docker.io/v1/`; undefined for one without TLS. */
const hostOf = (server: string): string | undefined => /^(?:https:\/\/)?([^/]+)(?:\/|$)/i.exec(server)?.[1]

const get = Effect.fnUntraced(function* (options: PlaceOptions) {
  const text = yield* readText(standardInput, 4096, "larger than any request of Docker")
  const server = Redacted.value(text).trim()
  const host = hostOf(server)
  if (host === undefined) return yield* notFound
  const settings = yield* settingsFor(options)
  const answer = yield* lookUp(settings, "docker", host)
  if (answer.type === "none") return yield* notFound
  if (answer.type === "distrusted") return yield* new CannotDo({ message: answer.problem })
  const password = yield* readCredential(settings, options, answer.rule.key)
  const { username } = answer.rule
  yield* write(`${JSON.stringify({ ServerURL: server, Username: username, Secret: Redacted.value(password) })}\n`)
})

/** The registries that have a credential, with their users. */
const list = Effect.fnUntraced(function* (options: PlaceOptions) {
  const settings = yield* settingsFor(options)
  const file = settings.files.helpers?.file
  const isTrusted = file !== undefined && (yield* distrust(settings, [file])) === undefined
  const rules = isTrusted ? rulesFor(settings, "docker") : []
  yield* write(`${JSON.stringify(Object.fromEntries(rules.map(({ host, username }) => [host, username])))}\n`)
})

/** Answers the protocol of Docker's credential helpers. */
export const answerDocker = (operation: (typeof dockerOperations)[number], options: PlaceOptions) => {
  if (operation === "get") return get(options)
  return operation === "list" ? list(options) : Effect.fail(readOnly)
}

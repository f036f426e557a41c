import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Credential, DelegationToken } from "./Credential.js"
import { type CredentialError, machineCredentialFor, NotAuthenticated, sessionFor } from "./Credentials.js"
import { type DelegatedPlace, placeName, readDelegation } from "./DelegationFile.js"
import type { PrivateFileError } from "./PrivateFile.js"
import type { ServerUrl } from "./ServerUrl.js"
import { variable, Variables } from "./Variables.js"

const isTerminal = (descriptor: number): boolean => process.getBuiltinModule("node:tty").isatty(descriptor)

/** The delegation for a place, also one that has ended: a session must not take its place unasked. */
const delegationFor = Effect.fnUntraced(function* (
  { origin }: ServerUrl,
  place: DelegatedPlace
): Effect.fn.Return<Option.Option<DelegationToken>, NotAuthenticated | PrivateFileError> {
  const found = yield* readDelegation(origin, place)
  if (Option.isNone(found)) return Option.none()
  const { expiresAt, name, token } = found.value
  const millis = yield* Clock.currentTimeMillis
  if (Date.parse(expiresAt) > millis) return Option.some({ type: "delegation", secret: token })
  return yield* new NotAuthenticated({
    message: `the delegation ${name} for ${placeName(place)} has ended: ask its person to run coffer delegate ${placeName(place)} --name '${name}', or to forget it with coffer delegate revoke '${name}', after which the session is taken again`
  })
})

/**
 * Returns the credential for this server: that of the variables, or else a user's session. Without a terminal, where nobody can
 * be asked, the delegation for the place comes before the session. With `takesNoSession` or SERVICE_NON_INTERACTIVE=1, the session
 * never counts.
 */
export const credentialFor = Effect.fnUntraced(function* (
  server: ServerUrl,
  place?: DelegatedPlace,
  takesNoSession?: boolean
): Effect.fn.Return<Credential, CredentialError> {
  const machine = yield* machineCredentialFor(server)
  if (Option.isSome(machine)) return machine.value
  const env = yield* Variables
  const isNonInteractive = takesNoSession === true || variable(env, "SERVICE_NON_INTERACTIVE") === "1"
  if (place !== undefined && (isNonInteractive || (!isTerminal(0) && !isTerminal(2)))) {
    const delegation = yield* delegationFor(server, place)
    if (Option.isSome(delegation)) return delegation.value
  }
  if (isNonInteractive) {
    const problem =
      place === undefined
        ? "this names no environment, and there is no delegation for more than one: name one"
        : `no delegation is stored for ${placeName(place)}: ask a person to run coffer delegate ${placeName(place)} --name NAME`
    return yield* new NotAuthenticated({
      message: `no session is taken without a person (SERVICE_NON_INTERACTIVE), and ${problem}, or set SERVICE_API_KEY`
    })
  }
  const session = yield* sessionFor(server)
  if (Option.isSome(session)) return session.value
  return yield* new NotAuthenticated({
    message: `there is no session at ${server.origin} and SERVICE_API_KEY is not set: run coffer login, or set SERVICE_API_KEY`
  })
})

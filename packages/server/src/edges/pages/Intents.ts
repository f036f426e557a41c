import { ClientState, CodeChallenge, LoopbackUri, MachineName } from "@coffer/domain/directory/ClientLogin"
import { ValidationError } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { home, ownAddress } from "./Next.js"

/**
 * `next`: the address of the server's own that the browser opens after the login. `needsProof`: the login is for calls that need
 * a recent one, so the provider has to ask the person.
 */
const Browser = Schema.Struct({ type: Schema.Literal("browser"), next: Schema.String, needsProof: Schema.Boolean })

/** A program on the browser's machine, to which the browser brings a code (RFC 8252). */
const Loopback = Schema.Struct({
  type: Schema.Literal("loopback"),
  redirect_uri: LoopbackUri,
  state: ClientState,
  challenge: CodeChallenge,
  machine: Schema.NullOr(MachineName)
})
export type Loopback = typeof Loopback.Type

/** A program on any machine, whose code the person enters (RFC 8628). The id of its login is null until then. */
const Device = Schema.Struct({ type: Schema.Literal("device"), id: Schema.NullOr(Schema.String) })
export type Device = typeof Device.Type

/** The purpose of a login in a browser. */
export const Intent = Schema.Union(Browser, Loopback, Device)
export type Intent = typeof Intent.Type

/** For a login that nothing asked for. */
export const toHome: Intent = { type: "browser", next: home, needsProof: false }

/** The parameters with which a program opens the login page. */
const Parameters = Schema.Struct({
  redirect_uri: LoopbackUri,
  state: ClientState,
  code_challenge: CodeChallenge,
  code_challenge_method: Schema.Literal("S256"),
  machine: Schema.optional(MachineName)
})

const decodeParameters = Schema.decodeUnknownEither(Parameters)

/** The page redirects nowhere, because the address that it would redirect to is one of these. */
const badParameters = new ValidationError({
  message: "this address is not as coffer login makes it: run coffer login again"
})

/**
 * Returns the purpose of a login by the address of its first page. Fails with ValidationError if a program made a wrong
 * address.
 */
export const intentOf = (url: string): Effect.Effect<Intent, ValidationError> => {
  const query = url.indexOf("?")
  const parameters = new URLSearchParams(query < 0 ? "" : url.slice(query + 1))
  if (!parameters.has("redirect_uri")) {
    const next = ownAddress(parameters.get("next"))
    return Effect.succeed({ type: "browser", next, needsProof: parameters.has("recent") })
  }
  return Either.mapBoth(decodeParameters(Object.fromEntries(parameters)), {
    onLeft: () => badParameters,
    onRight: ({ code_challenge, machine, redirect_uri, state }): Intent => ({
      type: "loopback",
      redirect_uri,
      state,
      challenge: code_challenge,
      machine: machine ?? null
    })
  })
}

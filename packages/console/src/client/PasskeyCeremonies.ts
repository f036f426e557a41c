import { isPasskeyTransport, type PasskeyName } from "@coffer/domain/directory/Passkey"
import type { SessionId } from "@coffer/domain/base/Ids"
import { startAuthentication, startRegistration } from "@simplewebauthn/browser"
import * as Effect from "effect/Effect"
import { call, type Failure } from "./Calls.js"
import { plainCall } from "./Client.js"

/** Why the browser gave no passkey. */
class NoPasskey implements Failure {
  readonly _tag = "NoPasskey"
  constructor(readonly message: string) {}
}

const reasons: Readonly<Record<string, string>> = {
  NotAllowedError: "no passkey was used: it was cancelled, or took too long; try again",
  InvalidStateError: "this device holds a passkey of yours already",
  SecurityError: "browsers give a passkey only at the server's public address: open the console there",
  AbortError: "no passkey was used: it was cancelled; try again"
}

const ask = <A>(browser: () => Promise<A>): Effect.Effect<A, NoPasskey> =>
  Effect.tryPromise({
    try: browser,
    catch: (error) => {
      const name = isSecureContext ? (error instanceof Error ? error.name : "") : "SecurityError"
      return new NoPasskey(reasons[name] ?? "this browser could not use a passkey")
    }
  })

interface Descriptor {
  readonly id: string
  readonly type: "public-key"
  readonly transports?: ReadonlyArray<string>
}

const descriptorOf = ({ id, transports = [], type }: Descriptor) => ({
  id,
  type,
  transports: transports.filter(isPasskeyTransport)
})

/** Proves a session of the person with a passkey; without an id, that of this browser. */
export const prove = (session_id?: SessionId) =>
  Effect.gen(function* () {
    const { allowCredentials, ...options } = yield* plainCall("passkeys", (api) =>
      api.challenge({ payload: session_id === undefined ? {} : { session_id } })
    )
    const optionsJSON = { ...options, allowCredentials: allowCredentials.map(descriptorOf) }
    const credential = yield* ask(() => startAuthentication({ optionsJSON }))
    yield* plainCall("passkeys", (api) => api.verify({ payload: { credential } }))
  })

/** Registers a passkey of this browser, or of what it reaches. */
export const register = (name: PasskeyName) =>
  Effect.gen(function* () {
    const { excludeCredentials, pubKeyCredParams, ...options } = yield* call("passkeys", (api) => api.options())
    const optionsJSON = {
      ...options,
      pubKeyCredParams: [...pubKeyCredParams],
      excludeCredentials: excludeCredentials.map(descriptorOf)
    }
    const credential = yield* ask(() => startRegistration({ optionsJSON }))
    return yield* call("passkeys", (api) => api.create({ payload: { name, credential } }))
  })

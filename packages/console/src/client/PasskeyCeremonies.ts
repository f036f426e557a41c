import { AssertionResponse, type PasskeyName, RegistrationResponse } from "@coffer/domain/directory/Passkey"
import type { SessionId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
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

const notUsed = new NoPasskey("this browser could not use a passkey")

/** Only one question is open at a time: a new one ends that before. */
let asking = new AbortController()

/** Asks for a passkey. The response is the JSON of the credential. */
const ask = <A, I>(
  response: Schema.Schema<A, I>,
  browser: (signal: AbortSignal) => Promise<Credential | null>
): Effect.Effect<A, NoPasskey> =>
  Effect.tryPromise({
    try: async (): Promise<unknown> => {
      asking.abort()
      asking = new AbortController()
      const credential = await browser(asking.signal)
      return credential instanceof PublicKeyCredential ? credential.toJSON() : null
    },
    catch: (error) => {
      const name = isSecureContext ? (error instanceof Error ? error.name : "") : "SecurityError"
      return new NoPasskey(reasons[name] ?? notUsed.message)
    }
  }).pipe(Effect.flatMap((json) => Effect.mapError(Schema.decodeUnknown(response)(json), () => notUsed)))

interface Descriptor {
  readonly id: string
  readonly type: "public-key"
  readonly transports?: ReadonlyArray<string>
}

const descriptorOf = ({ transports = [], ...rest }: Descriptor) => ({ ...rest, transports: [...transports] })

/** Proves a session of the person with a passkey; without an id, that of this browser. */
export const prove = (session_id?: SessionId) =>
  Effect.gen(function* () {
    const { allowCredentials, ...options } = yield* plainCall("passkeys", (api) =>
      api.challenge({ payload: session_id === undefined ? {} : { session_id } })
    )
    const json = { ...options, allowCredentials: allowCredentials.map(descriptorOf) }
    const credential = yield* ask(AssertionResponse, (signal) =>
      navigator.credentials.get({ signal, publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(json) })
    )
    yield* plainCall("passkeys", (api) => api.verify({ payload: { credential } }))
  })

/** Registers a passkey of this browser, or of what it reaches. */
export const register = (name: PasskeyName) =>
  Effect.gen(function* () {
    const { excludeCredentials, pubKeyCredParams, ...options } = yield* call("passkeys", (api) => api.options())
    const json = {
      ...options,
      pubKeyCredParams: [...pubKeyCredParams],
      excludeCredentials: excludeCredentials.map(descriptorOf)
    }
    const credential = yield* ask(RegistrationResponse, (signal) =>
      navigator.credentials.create({ signal, publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(json) })
    )
    return yield* call("passkeys", (api) => api.create({ payload: { name, credential } }))
  })

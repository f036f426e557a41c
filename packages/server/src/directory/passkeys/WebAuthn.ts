import { type AssertionResponse, passkeyAlgorithms, type RegistrationResponse } from "@coffer/domain/directory/Passkey"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { RelyingParty } from "./RelyingParty.js"

/** A credential whose proof was accepted. */
export interface RegisteredCredential {
  readonly id: string
  readonly publicKey: Uint8Array
  readonly counter: number
}

// Loaded on demand: the library takes as long to load as the rest of the server, and few calls need it.
const library = Effect.promise(() => import("@simplewebauthn/server"))
const helpers = Effect.promise(() => import("@simplewebauthn/server/helpers"))

/** Null if the library rejects what it was given. Its texts repeat that. */
const accepted = <A>(verify: () => Promise<A | null>): Effect.Effect<A | null> =>
  Effect.orElseSucceed(Effect.tryPromise(verify), () => null)

const ClientData = Schema.parseJson(
  Schema.Struct({ challenge: Schema.String, crossOrigin: Schema.optional(Schema.Boolean) })
)
const clientData = Schema.decodeUnknownOption(ClientData)

/** The challenge that a browser says it was for; null for a page that was in another site's frame. */
export const challengeIn = (clientDataJSON: string): string | null =>
  Option.match(clientData(Buffer.from(clientDataJSON, "base64url").toString()), {
    onNone: () => null,
    onSome: ({ challenge, crossOrigin }) => (crossOrigin === true ? null : challenge)
  })

/** Verifies a new credential; null if it is not one. */
export const verifyRegistration = Effect.fnUntraced(function* (
  { id, response: { attestationObject, clientDataJSON } }: RegistrationResponse,
  challenge: string,
  party: RelyingParty
) {
  const { verifyRegistrationResponse } = yield* library
  const { decodeAttestationObject } = yield* helpers
  return yield* accepted<RegisteredCredential>(async () => {
    const decoded = decodeAttestationObject(Uint8Array.from(Buffer.from(attestationObject, "base64url")))
    // A browser sends no certificate, because none was asked for. The library would ask addresses in one whether it was revoked.
    const isPlain = decoded.get("fmt") === "none" || decoded.get("attStmt").get("x5c") === undefined
    if (!isPlain || !["none", "packed"].includes(decoded.get("fmt"))) return null
    const { registrationInfo } = await verifyRegistrationResponse({
      response: {
        id,
        rawId: id,
        type: "public-key",
        clientExtensionResults: {},
        response: { clientDataJSON, attestationObject }
      },
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...passkeyAlgorithms]
    })
    // The response is not signed: the id in it may be another one.
    return registrationInfo?.credential.id === id ? registrationInfo.credential : null
  })
})

/** Verifies a proof with a credential. Returns the authenticator's counter, for the caller to compare; null if it is no proof. */
export const verifyAssertion = Effect.fnUntraced(function* (
  { id, response }: AssertionResponse,
  challenge: string,
  party: RelyingParty,
  publicKey: Uint8Array
) {
  const { verifyAuthenticationResponse } = yield* library
  return yield* accepted(async () => {
    const { authenticationInfo, verified } = await verifyAuthenticationResponse({
      response: { id, rawId: id, type: "public-key", clientExtensionResults: {}, response: { ...response } },
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      credential: { id, publicKey: Uint8Array.from(publicKey), counter: 0 }
    })
    return verified ? authenticationInfo.newCounter : null
  })
})

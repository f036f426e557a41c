import * as Schema from "effect/Schema"
import { PasskeyId, SessionId } from "../base/Ids.js"
import { withMessage } from "../base/Message.js"
import { passkeyNameForm } from "../base/NameForms.js"
import { boundedArray, Count, createdAt, field, optional, Timestamp } from "../base/Schemas.js"

/** How many passkeys a person may have. */
export const maxPasskeys = 10

/** The signatures that a passkey may make: ES256 and RS256, one of which every authenticator has. */
export const passkeyAlgorithms = [-7, -257] as const

export const PasskeyName = Schema.String.pipe(
  Schema.filter((text) => passkeyNameForm.pattern.test(text), {
    ...withMessage(passkeyNameForm.message),
    identifier: "PasskeyName",
    description: "what holds it: 1 to 64 letters, digits, spaces, dots, underscores and hyphens, and not a UUID",
    jsonSchema: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$" },
    examples: ["adas-laptop"]
  }),
  Schema.brand("PasskeyName")
)
export type PasskeyName = typeof PasskeyName.Type

export const Passkey = Schema.Struct({
  id: field(PasskeyId, "its id"),
  name: field(Schema.String, "what holds it", "adas-laptop"),
  created_at: createdAt,
  last_used_at: field(Schema.NullOr(Timestamp), "time of the last proof with it; null: never", null)
}).annotations({ identifier: "Passkey", description: "a passkey of a person: what the server knows of it" })
export type Passkey = typeof Passkey.Type

/** Bytes in base64url, of which the text has at most `max` characters. */
const bytes = (max: number) => {
  const pattern = new RegExp(`^[A-Za-z0-9_-]{1,${max}}$`)
  const text = `must be base64url of 1 to ${max} characters`
  return Schema.String.pipe(Schema.pattern(pattern, withMessage(text)))
}

/** A credential's id has at most 1,023 bytes (Web Authentication, section 4). */
const credentialId = bytes(1_364)
const credentialIdExample = "rUq3Xj3T0fEJm1lXn0m2hA"
const challengeExample = "SplxlOBeZQQYbYS6WxSbIAGmRhmhcxhwAzkoEqiM-00"
const clientDataExample = "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0"

const transports = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"] as const
export type PasskeyTransport = (typeof transports)[number]
export const isPasskeyTransport = (text: string): text is PasskeyTransport => transports.some((known) => known === text)

const Transports = boundedArray(Schema.String.pipe(Schema.maxLength(40, withMessage("at most 40 characters"))), {
  items: { type: "string", description: "a way to reach the authenticator", examples: ["internal"], maxLength: 40 },
  max: 16,
  text: "at most 16 transports"
})

/** Ignores excess fields: a browser's `toJSON` of a credential has more than the server needs. */
const ofBrowser = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct(fields).annotations({ parseOptions: { onExcessProperty: "ignore" } })

/** A new credential, as `PublicKeyCredential.toJSON()` gives it. */
export const RegistrationResponse = ofBrowser({
  id: field(credentialId, "the credential's id", credentialIdExample),
  response: field(
    ofBrowser({
      clientDataJSON: field(bytes(8_192), "what the browser signed for", clientDataExample),
      attestationObject: field(bytes(16_384), "the new key", "o2NmbXRkbm9uZQ"),
      transports: optional(Transports, "the ways to reach the authenticator", ["internal"])
    }),
    "the response of the authenticator"
  )
}).annotations({ identifier: "RegistrationResponse", description: "a new credential, as a browser gives it as JSON" })
export type RegistrationResponse = typeof RegistrationResponse.Type

/** An assertion, as `PublicKeyCredential.toJSON()` gives it. */
export const AssertionResponse = ofBrowser({
  id: field(credentialId, "the credential's id", credentialIdExample),
  response: field(
    ofBrowser({
      clientDataJSON: field(bytes(8_192), "what the browser signed for", clientDataExample),
      authenticatorData: field(
        bytes(4_096),
        "what the authenticator says",
        "SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2M"
      ),
      signature: field(bytes(4_096), "the signature of both", "MEUCIQDXDYN5YgOjGh0NBcPZHZgW4")
    }),
    "the response of the authenticator"
  )
}).annotations({
  identifier: "AssertionResponse",
  description: "a proof with a passkey, as a browser gives it as JSON"
})
export type AssertionResponse = typeof AssertionResponse.Type

const Descriptor = Schema.Struct({
  id: field(Schema.String, "the credential's id", credentialIdExample),
  type: field(Schema.Literal("public-key"), "its type", "public-key"),
  transports: optional(Schema.Array(Schema.String), "the ways to reach the authenticator", ["internal"])
}).annotations({ identifier: "CredentialDescriptor", description: "a credential that the person has registered" })

const common = {
  challenge: field(Schema.String, "what the authenticator signs; valid for 5 minutes, once", challengeExample),
  timeout: field(Count, "how long the browser asks, in milliseconds", 300_000)
}

const userVerification = field(Schema.Literal("required"), "the authenticator checks the person, always", "required")

export const RegistrationOptions = Schema.Struct({
  ...common,
  rp: field(
    Schema.Struct({
      id: field(Schema.String, "the host of the server's public address", "coffer.example.com"),
      name: field(Schema.String, "its name, for people", "Coffer")
    }),
    "the server"
  ),
  user: field(
    Schema.Struct({
      id: field(Schema.String, "the person's id, in base64url", "NWIwYzdhMGUtM2Y3ZC00YzFlLTlhNTEtMmY2ZDFjMGI4ZTQ0"),
      name: field(Schema.String, "the person's address", "ada@example.com"),
      displayName: field(Schema.String, "the person's name", "ada")
    }),
    "the person"
  ),
  pubKeyCredParams: field(
    Schema.Array(
      Schema.Struct({
        alg: field(Schema.Int, "an algorithm of COSE", -7),
        type: field(Schema.Literal("public-key"), "its type", "public-key")
      })
    ),
    "the signatures that the server knows",
    [{ alg: -7, type: "public-key" }]
  ),
  excludeCredentials: field(Schema.Array(Descriptor), "what the person has registered already", []),
  authenticatorSelection: field(
    Schema.Struct({
      residentKey: field(Schema.Literal("preferred"), "whether the authenticator keeps the credential", "preferred"),
      userVerification
    }),
    "what the authenticator has to do"
  ),
  attestation: field(Schema.Literal("none"), "the server does not ask of which make it is", "none")
}).annotations({
  identifier: "RegistrationOptions",
  description: "for `PublicKeyCredential.parseCreationOptionsFromJSON` and `navigator.credentials.create`"
})
export type RegistrationOptions = typeof RegistrationOptions.Type

export const AssertionOptions = Schema.Struct({
  ...common,
  rpId: field(Schema.String, "the host of the server's public address", "coffer.example.com"),
  allowCredentials: field(Schema.Array(Descriptor), "the person's credentials", [
    { id: credentialIdExample, type: "public-key" }
  ]),
  userVerification
}).annotations({
  identifier: "AssertionOptions",
  description: "for `PublicKeyCredential.parseRequestOptionsFromJSON` and `navigator.credentials.get`"
})
export type AssertionOptions = typeof AssertionOptions.Type

export const ProvenSession = Schema.Struct({
  session_id: field(SessionId, "the session's id"),
  passkey_at: field(Timestamp, "time of the proof")
}).annotations({ identifier: "ProvenSession", description: "a session that was proven with a passkey" })
export type ProvenSession = typeof ProvenSession.Type

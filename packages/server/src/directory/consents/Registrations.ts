import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Keyring } from "../../keys/Keyring.js"
import { openText, sealText } from "../../keys/Sealed.js"
import { type Program, programName } from "./Program.js"
import { isRedirectUri } from "./RedirectUri.js"

/** Tells the ids of registrations from addresses. */
const prefix = "svc_oc_"
const purpose = "oauth client"

const maxRedirectUris = 10
const longestText = 2_000

/** The metadata of a program that registers itself (RFC 7591, section 2). Others are ignored, as that section allows. */
const Metadata = Schema.Struct({
  redirect_uris: Schema.Array(Schema.String),
  client_name: Schema.optional(Schema.String)
})

const Sealed = Schema.parseJson(Schema.Struct({ uris: Schema.Array(Schema.String), name: Schema.String }))
const seal = Schema.encodeSync(Sealed)
const open = Schema.decodeOption(Sealed)

/** An error of RFC 7591, section 3.2.2. */
export interface RegistrationProblem {
  readonly error: "invalid_redirect_uri" | "invalid_client_metadata"
  readonly error_description: string
}

const problem = (error: RegistrationProblem["error"], error_description: string): RegistrationProblem => ({
  error,
  error_description
})

/**
 * The programs that register themselves (RFC 7591). The server stores nothing: the client id is the sealed registration, so that
 * strangers fill no table, and every server knows it.
 */
export class Registrations extends Effect.Service<Registrations>()("@coffer/server/Registrations", {
  effect: Effect.map(Keyring, ({ loginFlowKey }) => ({
    register: (metadata: unknown): Program | RegistrationProblem => {
      const decoded = Schema.decodeUnknownOption(Metadata)(metadata)
      if (Option.isNone(decoded)) {
        return problem("invalid_client_metadata", "redirect_uris: is required, a list of texts; client_name: a text")
      }
      const { client_name, redirect_uris } = decoded.value
      if (redirect_uris.length === 0 || redirect_uris.length > maxRedirectUris) {
        return problem("invalid_redirect_uri", `redirect_uris: 1 to ${maxRedirectUris} addresses`)
      }
      if (!redirect_uris.every(isRedirectUri)) {
        return problem(
          "invalid_redirect_uri",
          "redirect_uris: each is https, http to a loopback address, or a scheme of the program's own, without a fragment"
        )
      }
      const name = programName(client_name, "a program without a name")
      const text = seal({ uris: redirect_uris, name })
      return text.length > longestText
        ? problem("invalid_redirect_uri", `redirect_uris: at most ${longestText} characters with the name`)
        : { id: prefix + sealText(loginFlowKey, purpose, text), name, host: null, redirectUris: redirect_uris }
    },

    isRegistered: (id: string): boolean => id.startsWith(prefix),

    /** The program of an id; null if no server with this master key made it. */
    find: (id: string): Program | null => {
      const text = openText(loginFlowKey, purpose, id.slice(prefix.length))
      const found = text === null ? Option.none() : open(text)
      return Option.match(found, {
        onNone: () => null,
        onSome: ({ name, uris }) => ({ id, name, host: null, redirectUris: uris })
      })
    }
  }))
}) {}

import { CodeChallenge } from "@coffer/domain/directory/ClientLogin"
import { ValidationError } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { isResource } from "../../http/mcp/Issuer.js"
import { type AskedScope, askedScope } from "./AskedScope.js"
import type { Program } from "./Program.js"
import { answerAt, matchesRedirect } from "./RedirectUri.js"

/** An error that is reported to the program (RFC 6749, section 4.1.2.1; RFC 8707, section 2). */
interface Problem {
  readonly error:
    | "invalid_request"
    | "unsupported_response_type"
    | "invalid_scope"
    | "invalid_target"
    | "request_not_supported"
    | "request_uri_not_supported"
  readonly description: string
}

/** The request of a program whose address for the answer is proved. */
export interface AuthorizationRequest {
  readonly program: Program
  readonly redirectUri: string
  /** The address with an answer. It names the issuer, so that no other server's answer is taken for it (RFC 9207). */
  readonly answer: (parameters: Readonly<Record<string, string>>) => string
  /** Why it cannot be granted, or what to grant. */
  readonly asked: Problem | (AskedScope & { readonly challenge: CodeChallenge })
}

const longestState = 1_024

const isChallenge = Schema.is(CodeChallenge)

const invalid = (description: string): Problem => ({ error: "invalid_request", description })

/** Checks the rest of a request, once it is known where an answer goes. */
const checked = (parameters: URLSearchParams, issuer: string): AuthorizationRequest["asked"] => {
  const repeated = [...parameters.keys()].find((name) => parameters.getAll(name).length > 1)
  if (repeated !== undefined) return invalid("a parameter is repeated")
  const get = (name: string) => parameters.get(name)
  if (get("response_type") !== "code") {
    return { error: "unsupported_response_type", description: "response_type: must be code" }
  }
  if (parameters.has("request")) return { error: "request_not_supported", description: "request: is not supported" }
  if (parameters.has("request_uri")) {
    return { error: "request_uri_not_supported", description: "request_uri: is not supported" }
  }
  if ((get("response_mode") ?? "query") !== "query") return invalid("response_mode: must be query")
  if ((get("state") ?? "").length > longestState) return invalid("state: is too long")
  // RFC 7636, section 4.4.1; without the method, it would be plain.
  if (get("code_challenge_method") !== "S256") return invalid("code_challenge_method: must be S256")
  const challenge = get("code_challenge")
  if (!isChallenge(challenge)) return invalid("code_challenge: must have 43 characters of base64url")
  if (!isResource(issuer, get("resource") ?? "")) {
    return { error: "invalid_target", description: "resource: must be the address of this server's /mcp" }
  }
  const scope = askedScope(get("scope"))
  if (scope === null) return { error: "invalid_scope", description: "scope: must be of use, read, write and reveal" }
  return { ...scope, challenge }
}

/**
 * Reads an authorization request (OAuth 2.1, section 4.1.1). Fails with ValidationError while it is not proved that the address for
 * the answer is the program's: such an error is shown, and leads nowhere (RFC 9700, section 4.11).
 */
export const readAuthorizationRequest = (
  query: string,
  issuer: string,
  find: (id: string) => Effect.Effect<Program, ValidationError>
): Effect.Effect<AuthorizationRequest, ValidationError> =>
  Effect.gen(function* () {
    const parameters = new URLSearchParams(query)
    const only = (name: string): Effect.Effect<string, ValidationError> => {
      const [value, ...others] = parameters.getAll(name)
      return value === undefined || others.length > 0
        ? new ValidationError({ message: `${name}: must be in the address, once` })
        : Effect.succeed(value)
    }
    const id = yield* only("client_id")
    const redirectUri = yield* only("redirect_uri")
    const program = yield* find(id)
    if (!matchesRedirect(program.redirectUris, redirectUri)) {
      return yield* new ValidationError({
        message: "redirect_uri: is not an address of this program: it may be a trick, so close this page"
      })
    }
    const state = parameters.getAll("state").length === 1 ? parameters.get("state") : null
    return {
      program,
      redirectUri,
      answer: (answer) => answerAt(redirectUri, { ...answer, ...(state !== null && { state }), iss: issuer }),
      asked: checked(parameters, issuer)
    }
  })

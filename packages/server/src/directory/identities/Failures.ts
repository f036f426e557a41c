import * as Data from "effect/Data"
import * as Predicate from "effect/Predicate"
import { AuthorizationResponseError, ResponseBodyError } from "openid-client"

interface Told {
  /** For the person. */
  readonly message: string
  /** For the log, without any token. */
  readonly detail: string
}

/** The provider cannot be reached, or does not work. */
export class ProviderDown extends Data.TaggedError("ProviderDown")<Told> {
  readonly status = 502
}

/** The provider's response does not fit the login, or says that there is none. `reason` is for the audit log. */
export class ProviderRefused extends Data.TaggedError("ProviderRefused")<Told & { readonly reason: string }> {
  readonly status = 403
}

const property = (error: unknown, name: string): unknown =>
  Predicate.hasProperty(error, name) ? error[name] : undefined

/** Codes of Node and of the library: they name what failed, and hold nothing of the response. */
const codeOf = (error: unknown): string => {
  const code = property(error, "code")
  if (typeof code === "string" && /^[A-Z0-9_]{1,60}$/i.test(code)) return code
  const cause = property(error, "cause")
  return cause === undefined ? (error instanceof Error ? error.name : "unknown reason") : codeOf(cause)
}

/** An OAuth error such as `access_denied`. */
const oauthErrorOf = (error: AuthorizationResponseError | ResponseBodyError): string =>
  /^[a-z_]{1,60}$/.test(error.error) ? error.error : "an error"

/** Codes of responses that came, but do not fit the login. */
const misfit = /^OAUTH_(JWT|INVALID_RESPONSE|KEY|JSON_ATTRIBUTE|UNSUPPORTED)/

/** Classifies a failure of the library. */
export const failureOf = (name: string, error: unknown): ProviderDown | ProviderRefused => {
  if (error instanceof AuthorizationResponseError) {
    const told = oauthErrorOf(error)
    return new ProviderRefused({
      reason: told,
      message: `${name} did not log you in (${told})`,
      detail: `it answered ${told}`
    })
  }
  if (error instanceof ResponseBodyError && error.status < 500) {
    const told = oauthErrorOf(error)
    return new ProviderRefused({
      reason: told,
      message: `${name} did not accept the login (${told}): start again`,
      detail: `its token endpoint answered ${error.status} ${told}`
    })
  }
  const code = codeOf(error)
  return misfit.test(code)
    ? new ProviderRefused({
        reason: code,
        message: `the answer of ${name} does not fit this login: start again`,
        detail: `its answer does not fit: ${code}`
      })
    : new ProviderDown({
        message: `${name} cannot be reached at the moment: try again, or log in another way`,
        detail: `it cannot be used: ${code}`
      })
}

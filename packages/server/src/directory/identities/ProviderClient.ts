import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as openid from "openid-client"
import type { ProviderSettings } from "../../base/config/IdentitySettings.js"
import { isRecentLogin, recentMillis, sessionMillis } from "../../access/caller/SessionLimits.js"
import { timestamp } from "../../base/Time.js"
import { addressIn, isComplete } from "./EmailTrust.js"
import { failureOf, type ProviderDown, ProviderRefused } from "./Failures.js"
import { groupsIn, isMissing } from "./GroupsClaim.js"
import { callbackPath, type Checks, type Claims, type Proof } from "./ProviderLogin.js"

/** With `max_age`, a provider must say when the person proved who they are, and ask again if that was earlier. */
const parametersOf: Readonly<Record<Proof, Readonly<Record<string, string>>>> = {
  any: { max_age: String(sessionMillis / 1000) },
  recent: { max_age: String(recentMillis / 1000) },
  now: { max_age: String(recentMillis / 1000), prompt: "login" }
}

/** How long the provider's metadata are used. */
const freshMillis = 60 * 60_000
/** For one request to the provider, in seconds. */
const timeout = 10

/** Plain HTTP, for a provider on loopback alone: the settings take no other. */
// eslint-disable-next-line @typescript-eslint/no-deprecated
const allowPlainHttp: (configured: openid.Configuration) => void = openid.allowInsecureRequests

class Configured extends Data.Class<{ readonly metadata: openid.ServerMetadata; readonly at: number }> {}

/** The client of a provider: the authorization code flow with PKCE, state and nonce. */
export const makeClient = Effect.fnUntraced(function* (provider: ProviderSettings, publicUrl: string) {
  const { assumesProof, clientId, emailTrust, groups, issuer, name } = provider
  const claim = groups?.claim ?? null
  const secret = Redacted.value(provider.clientSecret)
  const execute = issuer.startsWith("http:") ? [allowPlainHttp] : []
  const redirectUri = `${publicUrl}${callbackPath}`
  const scope = yield* Effect.scope
  let known: Configured | null = null
  let discovering: Fiber.RuntimeFiber<openid.ServerMetadata, ProviderDown | ProviderRefused> | null = null

  const asking = <A>(ask: () => Promise<A>): Effect.Effect<A, ProviderDown | ProviderRefused> =>
    Effect.tryPromise({ try: ask, catch: (error) => failureOf(name, error) }).pipe(
      Effect.tapError(({ detail }) => Effect.logWarning(`the provider of single sign-on: ${detail}`))
    )

  const discover = Effect.gen(function* () {
    const found = yield* asking(() =>
      openid.discovery(new URL(issuer), clientId, undefined, openid.None(), { execute, timeout })
    )
    known = new Configured({ metadata: found.serverMetadata(), at: yield* Clock.currentTimeMillis })
    return known.metadata
  }).pipe(Effect.ensuring(Effect.sync(() => (discovering = null))))

  /**
   * Read again after an hour, and after each failure. All that ask at the same time share one response: one after another, they
   * would each wait for a provider that does not answer.
   */
  const metadata = Effect.gen(function* () {
    if (known !== null && (yield* Clock.currentTimeMillis) - known.at < freshMillis) return known.metadata
    discovering ??= yield* Effect.forkIn(discover, scope)
    return yield* Fiber.join(discovering)
  })

  /** A new one for each login: its keys are then the provider's current ones, also right after a rotation. */
  const configuration = Effect.map(metadata, (found) => {
    const methods = found.token_endpoint_auth_methods_supported ?? ["client_secret_basic"]
    const authentication = methods.includes("client_secret_basic") ? openid.ClientSecretBasic : openid.ClientSecretPost
    const configured = new openid.Configuration({ ...found }, clientId, undefined, authentication(secret))
    configured.timeout = timeout
    for (const extend of execute) extend(configured)
    openid.enableNonRepudiationChecks(configured)
    return configured
  })

  /** Some providers send groups only for a scope of that name. Others refuse a scope that they do not know. */
  const scopeOf = ({ scopes_supported }: openid.ServerMetadata): string =>
    claim !== null && scopes_supported?.includes("groups") === true ? "openid email groups" : "openid email"

  /** Begins a login: where to send the browser, and what the response must fit. */
  const begin = Effect.fnUntraced(function* (proof: Proof) {
    const configured = yield* configuration
    const checks: Checks = {
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      verifier: openid.randomPKCECodeVerifier()
    }
    const challenge = yield* Effect.promise(() => openid.calculatePKCECodeChallenge(checks.verifier))
    const address = openid.buildAuthorizationUrl(configured, {
      redirect_uri: redirectUri,
      scope: scopeOf(configured.serverMetadata()),
      ...parametersOf[proof],
      state: checks.state,
      nonce: checks.nonce,
      code_challenge: challenge,
      code_challenge_method: "S256"
    })
    return { address, checks }
  })

  const notProven = new ProviderRefused({
    reason: "auth_time",
    message: `${name} did not say that you have just logged in there: log in with a code, or log out there first`,
    detail: "its token has no auth_time of the last 15 minutes"
  })

  const proofOf = (authTime: number | undefined) =>
    Effect.map(Clock.currentTimeMillis, (millis) => {
      if (assumesProof) return timestamp(millis)
      // The provider's clock may be ahead.
      const proven = authTime === undefined ? null : timestamp(Math.min(authTime * 1000, millis))
      return proven !== null && isRecentLogin(proven, millis) ? proven : null
    })

  /**
   * Exchanges the code of a response, and checks it. Some providers return the address or the groups only at their userinfo
   * endpoint.
   */
  const exchange = Effect.fnUntraced(function* (query: string, { nonce, state, verifier }: Checks, proof: Proof) {
    const configured = yield* configuration
    const tokens = yield* asking(() =>
      openid.authorizationCodeGrant(configured, new URL(`${redirectUri}${query}`), {
        pkceCodeVerifier: verifier,
        expectedNonce: nonce,
        expectedState: state,
        idTokenExpected: true
      })
    )
    const claims = tokens.claims()
    if (claims === undefined) return yield* Effect.dieMessage("an answer without an ID token was accepted")
    const { auth_time, iss, sub } = claims
    const provenAt = yield* proofOf(auth_time)
    if (proof === "now" && provenAt === null) return yield* notProven
    const hasAll = isComplete(emailTrust, claims) && (claim === null || !isMissing(claim, claims))
    const info =
      hasAll || configured.serverMetadata().userinfo_endpoint === undefined
        ? claims
        : yield* asking(() => openid.fetchUserInfo(configured, tokens.access_token, sub))
    const groupNames = claim === null ? [] : yield* groupsIn(name, claim, isMissing(claim, claims) ? info : claims)
    return {
      issuer: iss,
      sub,
      ...addressIn(emailTrust, claims, info),
      provenAt,
      groups: groupNames
    } satisfies Claims
  })

  /** Where a person logs out at the provider, if it has such a page. */
  const logoutUrl = Effect.gen(function* () {
    const configured = yield* configuration
    return configured.serverMetadata().end_session_endpoint === undefined
      ? null
      : openid.buildEndSessionUrl(configured, { post_logout_redirect_uri: `${publicUrl}/login` }).href
  }).pipe(Effect.catchAll(() => Effect.succeed(null)))

  // A provider that is down stops no server: it is asked again at the next login.
  yield* metadata.pipe(Effect.ignore, Effect.forkScoped)

  return { begin, exchange, logoutUrl } as const
})

export type Client = Effect.Effect.Success<ReturnType<typeof makeClient>>

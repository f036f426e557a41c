import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import { domain, duration, type Format, listOf, password, text, word } from "./SettingFormats.js"
import { hostOf, isLoopback } from "./Loopback.js"
import { joined, problem, satisfying, type Setting } from "./ConfigProblems.js"
import type { Reader } from "./Variables.js"

/**
 * The proof that an address is verified. `verified`: `email_verified` alone. `edov`: Entra's `xms_edov` where that is absent.
 * `domains`: where that is absent, the operator, who owns the provider's directory, for the allowed domains.
 */
export type EmailTrust = "verified" | "edov" | "domains"

/** The provider of single sign-on (OpenID Connect). */
export interface ProviderSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted
  /** For people. */
  readonly name: string
  /** In lowercase; empty for all that the provider lets in. */
  readonly allowedDomains: ReadonlyArray<string>
  readonly emailTrust: EmailTrust
  /** Whether a known user may log in by the provider, and is linked to the identity at the first login. */
  readonly linksKnownUsers: boolean
  /** Whether each login by the provider counts as a proof of who the person is, because its tokens have no `auth_time`. */
  readonly assumesProof: boolean
  /** The claim that names a person's groups, and how long those count after a login, in milliseconds; null: none are taken. */
  readonly groups: { readonly claim: string; readonly maxAge: number } | null
}

export interface IdentitySettings {
  /** The origin at which browsers reach the server; null if it is not configured. */
  readonly publicUrl: string | null
  readonly provider: ProviderSettings | null
  /** Whether people may log in with codes that are mailed. */
  readonly emailLogin: boolean
}

const isSafe = (url: URL): boolean =>
  url.username === "" &&
  url.password === "" &&
  (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(hostOf(url))))

const publicUrl: Format<string> = {
  rule: "must be an https address without a path, such as https://coffer.example.com; http only for loopback",
  read: (value) =>
    Option.filterMap(Option.liftPredicate(value, URL.canParse), (parsable) => {
      const url = new URL(parsable)
      const isOrigin = url.pathname === "/" && !/[?#\s]/.test(value)
      return isOrigin && isSafe(url) ? Option.some(url.origin) : Option.none()
    })
}

/** Kept as it is written: the issuer of a token must be equal as text. */
const issuer: Format<string> = {
  rule: "must be the https address of the provider's issuer, without query or fragment; http only for loopback",
  read: (value) =>
    Option.liftPredicate(value, (text) => URL.canParse(text) && isSafe(new URL(text)) && !/[?#\s]/.test(text))
}

const variable = "SERVICE_OIDC_ISSUER"

/** Settings that have no effect without an issuer. */
const ofProvider = [
  "SERVICE_OIDC_CLIENT_ID",
  "SERVICE_OIDC_CLIENT_SECRET",
  "SERVICE_OIDC_CLIENT_SECRET_FILE",
  "SERVICE_OIDC_NAME",
  "SERVICE_OIDC_ALLOWED_DOMAINS",
  "SERVICE_OIDC_GROUPS_CLAIM"
]

const trust = "SERVICE_OIDC_EMAIL_TRUST"
const trusts = word<EmailTrust>({ verified: "verified", edov: "edov", domains: "domains" })

/** The tenants of Entra that stand for all others, and the one of all personal accounts. */
const sharedTenants = ["common", "organizations", "consumers", "9188040d-6c67-4c5b-b112-36a304b66dad"]

/** Whether people of any tenant log in by this issuer, or it is a template such as https://…/{tenantid}/v2.0. */
const isShared = (issuer: string): boolean => {
  const [tenant = ""] = new URL(issuer).pathname.toLowerCase().split("/").filter(Boolean)
  return /[{}%]/.test(issuer) || sharedTenants.includes(tenant)
}

/** Whoever administers one of many tenants can give people there any address. */
const checkTrust = (provider: ProviderSettings): Setting<ProviderSettings> =>
  provider.emailTrust === "verified"
    ? Effect.succeed(provider)
    : isShared(provider.issuer)
      ? problem(trust, `must be verified with an issuer for many tenants: name one tenant in ${variable}`)
      : provider.emailTrust === "domains" && provider.allowedDomains.length === 0
        ? problem("SERVICE_OIDC_ALLOWED_DOMAINS", `is required when ${trust} is domains: only those count as verified`)
        : Effect.succeed(provider)

const linking = "SERVICE_OIDC_LINK"
const linkings = word({ "verified-email": true, never: false })
const proof = "SERVICE_OIDC_AUTH_TIME"
const proofs = word({ required: false, assumed: true })

const maxAge = "SERVICE_OIDC_GROUPS_MAX_AGE"
const maxAges = duration(30)
const defaultMaxAge = 12 * 60 * 60_000

const groups = (settings: Reader): Setting<ProviderSettings["groups"]> =>
  Effect.map(
    Effect.all(
      {
        claim: settings.optional("SERVICE_OIDC_GROUPS_CLAIM", text),
        maxAge: settings.withDefault(maxAge, maxAges, defaultMaxAge)
      },
      { mode: "validate" }
    ).pipe(Effect.mapError(joined)),
    ({ claim, maxAge }) => (claim === null ? null : { claim, maxAge })
  )

const withoutProvider = (settings: Reader): Setting<null> => {
  const first = ofProvider.find((name) => settings.given(name) !== null)
  return first === undefined
    ? Effect.as(
        Effect.all([
          settings.optional(trust, trusts),
          settings.optional(linking, linkings),
          settings.optional(proof, proofs),
          settings.optional(maxAge, maxAges)
        ]),
        null
      )
    : problem(variable, `is required when ${first} is set`)
}

const provider = (settings: Reader): Setting<ProviderSettings | null> =>
  settings.given(variable) === null
    ? withoutProvider(settings)
    : Effect.all(
        {
          issuer: settings.required(variable, issuer),
          clientId: settings.required("SERVICE_OIDC_CLIENT_ID", text),
          clientSecret: settings.requiredSecret("SERVICE_OIDC_CLIENT_SECRET", password),
          name: settings.optional("SERVICE_OIDC_NAME", text),
          allowedDomains: settings.withDefault("SERVICE_OIDC_ALLOWED_DOMAINS", listOf(domain), []),
          emailTrust: settings.withDefault(trust, trusts, "verified" as const),
          linksKnownUsers: settings.withDefault(linking, linkings, true),
          assumesProof: settings.withDefault(proof, proofs, false),
          groups: groups(settings)
        },
        { mode: "validate" }
      ).pipe(
        Effect.mapBoth({
          onFailure: joined,
          onSuccess: ({ name, ...rest }) => ({ ...rest, name: name ?? new URL(rest.issuer).host })
        }),
        Effect.flatMap(checkTrust)
      )

export const identity = (settings: Reader): Setting<IdentitySettings> =>
  Effect.all(
    {
      publicUrl: settings
        .optional("SERVICE_PUBLIC_URL", publicUrl)
        .pipe(
          satisfying(
            "SERVICE_PUBLIC_URL",
            `is required when ${variable} is set: the provider sends people back there`,
            (url) => url !== null || settings.given(variable) === null
          )
        ),
      provider: provider(settings),
      emailLogin: settings
        .withDefault("SERVICE_EMAIL_LOGIN", word({ 0: false, 1: true }), true)
        .pipe(
          satisfying(
            "SERVICE_EMAIL_LOGIN",
            `must not be 0 without ${variable}: nobody could log in`,
            (isOn) => isOn || settings.given(variable) !== null
          )
        )
    },
    { mode: "validate" }
  ).pipe(Effect.mapError(joined))

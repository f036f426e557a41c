import type { EnvPath } from "@coffer/domain/api/Paths"
import { configuredBy, sessionFor } from "@coffer/client/internal/Credentials"
import { credentialFor } from "@coffer/client/internal/ProgramCredential"
import { placeName } from "@coffer/client/internal/DelegationFile"
import { storedDelegations } from "@coffer/client/internal/StoredDelegations"
import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import type { Identity } from "@coffer/domain/directory/User"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import { momentText } from "../../base/Moments.js"
import { sentenceFor } from "../../program/Explain.js"
import { type Call, clientWith } from "../../grammar/Command.js"
import { endedLine, shownDelegations } from "../delegations/StoredDelegations.js"
import { failed, type Finding, ok, problem, warning } from "./Finding.js"
import { checkRenewal } from "./RenewalChecks.js"
import { checkTargets } from "./TargetChecks.js"

const nameOf = (identity: Identity) =>
  identity.type === "user" ? identity.email : `the service account ${identity.name} of ${identity.org}`

/** Which credential is used, and by what it is given. */
const kindOf = (server: ServerUrl) =>
  Effect.gen(function* () {
    const variable = yield* configuredBy
    if (variable === undefined) return "a session"
    const session = yield* sessionFor(server)
    const kind = variable === "SERVICE_ACCOUNT" ? "a session without a stored key" : "an API key"
    return `${kind} (${variable}${Option.isSome(session) ? ", which goes before your session" : ""})`
  })

const subjectOf = (identity: Identity) =>
  identity.type === "user"
    ? ({ subject_type: "user", email: identity.email } as const)
    : ({ subject_type: "service_account", subject_id: identity.id } as const)

/** Checks the permissions of the caller at the place. */
const checkRights = (call: Call, identity: Identity, { env_name, org_name, project_name }: EnvPath) => {
  const place = `${org_name}/${project_name}/${env_name}`
  const urlParams = { ...subjectOf(identity), project: project_name, env: env_name }
  return Effect.match(
    call("acl", (api) => api.explain({ path: { org_name }, urlParams })),
    {
      onFailure: (failure) => ({ isAdmin: false, rights: failed("rights", failure) }),
      onSuccess: ({ allowed, allowed_for_some: some = [] }) => ({
        isAdmin: identity.type === "user" && allowed.includes("admin"),
        rights:
          allowed.length + some.length > 0
            ? ok(
                "rights",
                `${[...allowed, ...some.map((permission) => `${permission} for some keys`)].join(", ")} in ${place}`
              )
            : problem("rights", `none in ${place}; ask an administrator of ${org_name} for coffer acl grant`)
      })
    }
  )
}

/** Whether the server takes the credential, whose it is, and what that may do at the place. */
export const checkAccount = (server: ServerUrl, path: Option.Option<EnvPath>) =>
  Effect.gen(function* () {
    const credential = yield* credentialFor(server)
    const kind = yield* kindOf(server)
    const { call } = yield* clientWith(server, Option.some(credential))
    const identity = yield* call("auth", (api) => api.me({}))
    const account = ok("credential", `${kind} of ${nameOf(identity)}`)
    if (Option.isNone(path)) return [account, warning("rights", "not asked for: the place is not complete, see above")]
    const { isAdmin, rights } = yield* checkRights(call, identity, path.value)
    const findings: ReadonlyArray<Finding> = [
      account,
      rights,
      ...(isAdmin ? [...(yield* checkTargets(call, path.value)), ...(yield* checkRenewal(call, path.value))] : [])
    ]
    return findings
  }).pipe(
    Effect.catchAll((failure) => Effect.map(sentenceFor(failure), (sentence) => [problem("credential", sentence)]))
  )

/** Whether the server still takes a stored delegation. A server that cannot be asked is another check's finding. */
const isTaken = (server: ServerUrl, secret: Redacted.Redacted) =>
  clientWith(server, Option.some({ type: "delegation", secret })).pipe(
    Effect.flatMap(({ call }) => call("auth", (api) => api.me({}))),
    Effect.match({ onSuccess: () => true, onFailure: ({ _tag }) => _tag !== "Unauthorized" })
  )

/** The delegations that commands without a terminal take, or are refused for. One of this place that has ended is a problem. */
export const checkDelegations = (server: ServerUrl, path: Option.Option<EnvPath>) =>
  Effect.gen(function* () {
    // An account of the variables goes before every delegation.
    if ((yield* configuredBy) !== undefined) return []
    const here = Option.map(path, placeName)
    const tokens = new Map((yield* storedDelegations(server.origin)).map(({ place, token }) => [place, token]))
    return yield* Effect.forEach(yield* shownDelegations(server), (delegation) =>
      Effect.gen(function* () {
        const { name, place } = delegation
        const token = tokens.get(place)
        const ended = delegation.ended || (token !== undefined && !(yield* isTaken(server, token)))
        if (!ended) {
          return ok(
            "delegation",
            `commands without a terminal take ${name} in ${place}, until ${momentText(delegation.expires_at)}`
          )
        }
        return (Option.contains(here, place) ? problem : warning)("delegation", endedLine(delegation))
      })
    )
  }).pipe(Effect.catchAll((failure) => Effect.succeed([failed("delegation", failure)])))

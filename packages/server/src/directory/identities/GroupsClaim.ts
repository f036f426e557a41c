import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { ProviderRefused } from "./Failures.js"

type Claims = Readonly<Record<string, unknown>>

const maxGroups = 2_000

/** Whether a provider says where the claim is instead of sending it (OpenID Connect Core 1.0, 5.6.2), as Entra with many groups. */
const isElsewhere = (claim: string, { _claim_names, hasgroups }: Claims): boolean =>
  (Predicate.isRecord(_claim_names) && Object.hasOwn(_claim_names, claim)) ||
  (claim === "groups" && (hasgroups === true || hasgroups === "true"))

/** Whether claims say nothing about groups, so that other ones may. */
export const isMissing = (claim: string, claims: Claims): boolean =>
  !Object.hasOwn(claims, claim) && !isElsewhere(claim, claims)

const refused = (reason: string, message: string) => new ProviderRefused({ reason, message, detail: message })

/**
 * The groups of a claim: a list of names, or one name. Without the claim there are none. Fails if the provider leaves the groups
 * out because they are many, and if the claim has another form or more than 2,000 names: rights that depend on which names
 * happened to fit would come and go.
 */
export const groupsIn = (
  name: string,
  claim: string,
  claims: Claims
): Effect.Effect<ReadonlyArray<string>, ProviderRefused> => {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined
  if (value === undefined && isElsewhere(claim, claims)) {
    return refused(
      "groups_overage",
      `${name} left out your groups because there are too many for a token: its administrator has to let it send only the groups that are assigned to this application, or roles of the application instead`
    )
  }
  if (value === undefined || value === null) return Effect.succeed([])
  if (Predicate.isString(value)) return Effect.succeed([value])
  if (!Array.isArray(value) || !value.every(Predicate.isString)) {
    return refused(
      "groups_form",
      `the claim of ${name} that should list your groups is no list of names: its administrator, or the operator of this server, has to correct the claim`
    )
  }
  return value.length > maxGroups
    ? refused(
        "groups_many",
        `${name} sent more than ${maxGroups.toLocaleString("en")} groups of yours: its administrator has to let it send only the groups that are assigned to this application`
      )
    : Effect.succeed(value)
}

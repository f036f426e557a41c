import { maxRuleDays } from "@coffer/domain/access/AclRule"
import type { ArchivedOrganization, ArchivedPlace } from "@coffer/domain/archive/ArchivedOrganization"
import { dayMillis } from "@coffer/domain/secrets/DueState"
import { maxEnvironmentDays } from "@coffer/domain/directory/Environment"

/** A sentence on what a call refuses; null if none would. */
type Wrong = string | null

const first = <A>(items: ReadonlyArray<A>, wrongOf: (item: A) => Wrong): Wrong => {
  for (const item of items) {
    const wrong = wrongOf(item)
    if (wrong !== null) return wrong
  }
  return null
}

/** The environments that an environment is a copy of end somewhere: each was there before its copy. */
const circleOf = (environments: ReadonlyArray<ArchivedPlace>): string | undefined => {
  const origins = new Map<string, string | undefined>(environments.map(({ from, name }) => [name, from]))
  return environments.find(({ from, name }) => {
    let origin: string | undefined = from
    for (let steps = 0; origin !== undefined && origin !== name && steps < environments.length; steps++) {
      origin = origins.get(origin)
    }
    return origin === name
  })?.name
}

/**
 * Returns the first reason for which the calls that make such records would refuse them. A schema's rules for one record and
 * the rules between the parts are checked elsewhere. An end that has passed since the export is no reason, and
 * `ProtectionChecks` has the votes.
 */
export const refusedByCalls = (structure: ArchivedOrganization, now: number): Wrong => {
  const { projects, rules } = structure
  return (
    first(projects, ({ environments, name }) => {
      const circle = circleOf(environments)
      return circle === undefined ? null : `environment ${name}/${circle} is a copy of itself`
    }) ??
    first(projects, ({ environments, name }) =>
      first(environments, ({ expires_at, name: env }) =>
        expires_at !== undefined && Date.parse(expires_at) > now + maxEnvironmentDays * dayMillis
          ? `environment ${name}/${env} ends more than ${maxEnvironmentDays.toLocaleString("en")} days ahead`
          : null
      )
    ) ??
    first(rules, ({ expires_at, subject }) =>
      expires_at !== undefined && Date.parse(expires_at) > now + maxRuleDays * dayMillis
        ? `a rule of ${subject} ends more than ${maxRuleDays.toLocaleString("en")} days ahead`
        : null
    )
  )
}

import type { OrgName } from "@coffer/domain/base/Names"
import { originOf } from "@coffer/domain/server/Webhook"
import * as Effect from "effect/Effect"
import { momentText } from "../base/Moments.js"
import { plural } from "../terminal/Plural.js"
import { note, printTable } from "../terminal/Print.js"
import type { View } from "../terminal/View.js"
import { nameOf, type Place, totalOf } from "./Contents.js"
import { recordsOf } from "./Summary.js"
import type { Archive } from "./Unpack.js"

/** The data that an archive never contains. */
const notCarried = [
  "keys of service accounts",
  "signing keys of webhooks",
  "sessions, passkeys and delegations",
  "requests, and the access that they gave for a while",
  "audit logs"
] as const

/** Returns the plan of an import from an archive, without any value. */
export const planOf = ({ manifest, organization, parts }: Archive, name: OrgName): View => {
  const { counts, created_at, created_by, organization: from, server, versions } = manifest
  const countedAt = (place: Place) =>
    totalOf(parts.filter((part) => nameOf(part) === nameOf(place)).map(({ tally }) => tally))
  const environments = organization.projects.flatMap((project) =>
    project.environments.map(({ name: env, protection }) => {
      const { secrets, use_rules, versions } = countedAt({ project: project.name, env })
      return { project: project.name, env, secrets, versions, use_rules, protected: protection !== undefined }
    })
  )
  const missing = [...(versions ? [] : ["values of earlier versions"]), ...notCarried]
  const members = organization.members.map(({ email, role }) => ({ email, role }))
  const accounts = organization.accounts.map((account) => account.name)
  const webhooks = organization.webhooks.map(({ url }) => originOf(url))
  const json = {
    name,
    archive: { organization: from, created_at, created_by, server, versions },
    ...{ counts, environments, members, accounts, webhooks },
    not_carried: missing
  }
  const text = Effect.gen(function* () {
    yield* note(`${from}, exported by ${created_by} at ${momentText(created_at)} from a server of version ${server}`)
    yield* note(`would become ${name}: ${recordsOf(counts, versions)}`)
    yield* printTable(
      ["environment", "secrets", "earlier versions", "use rules", "protected"],
      environments.map(({ env, project, protected: isProtected, secrets, use_rules, versions }) => [
        `${project}/${env}`,
        ...[secrets, versions - secrets, use_rules],
        isProtected ? "yes" : "no"
      ])
    )
    yield* note(
      `${plural(counts.declared, "declared key")}, ${plural(counts.groups, "group")}, ${plural(counts.rules, "access rule")}`
    )
    yield* Effect.forEach(members, ({ email, role }) => note(`member: ${email} as ${role}; nobody is mailed`))
    yield* Effect.forEach(accounts, (account) => note(`service account without a key: ${account}`))
    yield* Effect.forEach(webhooks, (url) => note(`webhook, disabled, with a new signing key: ${url}`))
    yield* note(`not in an archive: ${missing.join("; ")}`)
    yield* note("nothing was sent; without --plan, it is imported")
  })
  return { json, text }
}

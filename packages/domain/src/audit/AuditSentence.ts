/** The sentences of audit entries, for people. Without schemas, because the console loads it with the page. */
import * as Predicate from "effect/Predicate"
import type { AuditAction, AuditEntry } from "./AuditEntry.js"
import { conjoined, Facts } from "./AuditFacts.js"
import { placeSummary } from "../requests/RequestSummary.js"

type Named = Pick<AuditEntry, "action" | "actor_name" | "metadata">

const because = (facts: Facts): string => facts.with("reason", (reason) => `: ${reason}`)

/** Whether a rule denied what it names. */
const denial = (facts: Facts): string => (facts.has("denies") ? "the denial of " : "")

/** The ways to log in that are not by a code. */
const methods: Readonly<Record<string, string>> = {
  oidc: " by single sign-on",
  device: " by device code",
  loopback: " from the terminal, by the browser",
  key: " with an API key",
  passkey: " with a passkey",
  code: " by a code"
}

const login = (facts: Facts): string =>
  [
    facts.with("method", (method) => methods[method] ?? ` by ${method}`),
    facts.with("machine", (machine) => ` on ${machine}`)
  ].join("")

const renamed = (kind: string, facts: Facts): string =>
  facts.has("before") && facts.text("before") !== facts.text("name")
    ? `renamed the ${kind} ${facts.text("before")} to ${facts.text("name")}`
    : `changed the ${kind} ${facts.text("name")}`

/** An act on something in an environment, by its name. */
const named =
  (did: string) =>
  (facts: Facts): string =>
    `${did} ${facts.text("name")}${facts.inPlace()}`

/** The words for each action, after the name of the actor. The compiler asks for those of each new action. */
const deeds: Readonly<Record<AuditAction, (facts: Facts) => string>> = {
  "auth.login": () => "asked for a login code",
  "auth.logout": () => "ended a session",
  "auth.verify": (facts) =>
    facts.has("email") ? `started a session for ${facts.text("email")}` : `logged in${login(facts)}`,
  "auth.verify_failed": (facts) =>
    facts.has("refused")
      ? `refused a login${facts.with("machine", (machine) => ` of ${machine}`)}`
      : `failed to log in${login(facts)}${because(facts)}`,
  "auth.lockout": () => "was locked out after too many failed logins",
  "auth.federate": (facts) =>
    facts.has("refused")
      ? `was refused a sign-in with a token${facts.with("issuer", (issuer) => ` of ${issuer}`)}`
      : `signed in with a token, via the federation ${facts.text("federation")}`,
  "org.create": (facts) => `created the organization ${facts.text("name")}`,
  "org.update": (facts) =>
    `${renamed("organization", facts)}${facts.with("passkey_recovery", (by) => ` (recovery without a passkey: ${by})`)}${facts.with("unused_access_mail", (when) => ` (mail about unused access: ${when})`)}`,
  "org.delete": (facts) => `deleted the organization ${facts.text("name")}`,
  "org.restore": (facts) =>
    `restored the removed organization ${facts.has("before") ? `${facts.text("before")} as ${facts.text("name")}` : facts.text("name")}`,
  "org.erase": (facts) => `erased the removed organization ${facts.text("name")} for good`,
  "org.export": (facts) =>
    `asked to export the organization ${facts.text("name")}${facts.has("versions") ? ", with earlier versions" : ""}`,
  "org.export_approve": (facts) => `approved the export of ${facts.text("requester")}`,
  "org.export_end": (facts) => `ended the export of ${facts.text("requester")}`,
  "org.import": (facts) => `imported the organization ${facts.text("name")}: ${facts.text("secrets", "some")} secrets`,
  "org.member_invite": (facts) => `invited ${facts.text("email")} as ${facts.text("role", "a member")}`,
  "org.member_remove": (facts) =>
    facts.has("left") ? "left the organization" : `removed ${facts.text("email")} from the organization`,
  "org.member_role_update": (facts) =>
    `changed the role of ${facts.text("email")} to ${facts.text("role")}${facts.with("before", (role) => ` (was ${role})`)}`,
  "project.create": (facts) => `created the project ${facts.text("name")}`,
  "project.update": (facts) => renamed("project", facts),
  "project.delete": (facts) => `deleted the project ${facts.text("name")}`,
  "project.restore": (facts) =>
    `restored the removed project ${facts.has("before") ? `${facts.text("before")} as ${facts.text("name")}` : facts.text("name")}`,
  "project.erase": (facts) => `erased the removed project ${facts.text("name")} for good`,
  "declared.set": (facts) =>
    `${facts.has("before") ? "changed the declaration of" : "declared"} ${facts.text("key")}${facts.inPlace()}`,
  "declared.delete": (facts) => `removed the declaration of ${facts.text("key")}${facts.inPlace()}`,
  "previews.set": (facts) =>
    `allowed previews of ${facts.text("from", "an environment")}, named ${facts.text("pattern")}${facts.with("project", (of) => `, in ${of}`)}`,
  "previews.delete": (facts) => `allowed no previews any more${facts.with("project", (of) => ` in ${of}`)}`,
  "env.create": (facts) =>
    `created ${facts.environment()}${facts.with("from", (from) => ` from ${from}`)}${facts.with("expires_at", (at) => ` until ${at}`)}`,
  "env.extend": (facts) =>
    `set the end of ${facts.environment()} to ${facts.text("expires_at", "never")}${facts.with("before", (at) => ` (was ${at})`)}`,
  "env.expiring": (facts) => `noted that ${facts.environment()} ends${facts.with("expires_at", (at) => ` at ${at}`)}`,
  "env.expire": (facts) => `noted that ${facts.environment()} ended${facts.with("expires_at", (at) => ` at ${at}`)}`,
  "env.delete": (facts) => `deleted ${facts.environment()}`,
  "env.restore": (facts) =>
    `restored ${facts.environment()}${facts.has("before") ? `, which was removed as ${facts.text("before")}` : ", which was removed"}`,
  "env.erase": (facts) => `erased the removed environment ${facts.text("name")} for good`,
  "env.revert": (facts) => `reverted ${facts.place() || "an environment"} to revision ${facts.text("to")}`,
  "secret.set": (facts) =>
    facts.has("rolled_back_to")
      ? `rolled ${facts.text("key")} back to version ${facts.text("rolled_back_to")}${facts.inPlace()}`
      : `set ${facts.secret()}${facts.with("reverted_to", (revision) => `, by going back to revision ${revision}`)}`,
  "secret.read": (facts) =>
    `read ${facts.secrets()}${facts.with("referred_from", (env) => `, for a reference from ${env}`)}`,
  "secret.check": (facts) => `checked ${facts.secrets()} against the declarations`,
  "secret.compare": (facts) => {
    const others = conjoined(facts.names("with"))
    if (facts.has("key")) return `compared the versions of ${facts.secret()}`
    if (facts.has("env")) return `compared ${facts.place()} with ${others || "others"}`
    return `compared ${others || "environments"}${facts.inPlace()}`
  },
  "secret.delete": (facts) => `deleted ${facts.secret()}`,
  "secret.update": (facts) => `changed the due date or the owner of ${facts.secret()}`,
  "secret.due": (facts) =>
    `noted that ${facts.secret()} ${
      facts.text("state", "due") === "overdue"
        ? `is overdue${facts.with("due_at", (at) => ` (was due at ${at})`)}`
        : `is due${facts.with("due_at", (at) => ` at ${at}`)}`
    }`,
  "secret.copy": (facts) => `copied ${facts.secret()} from ${facts.text("from", "another environment")}`,
  "secret.rotated": (facts) => `renewed ${facts.secret()}`,
  "secret.undelete": (facts) => `restored ${facts.secret()}`,
  "secret.destroy": (facts) => `destroyed ${facts.secret()}`,
  "secret.decryption_failed": (facts) => `could not read ${facts.secret()}: it does not decrypt`,
  "secret.use": (facts) => `used ${facts.secret()} for ${facts.target()}`,
  "secret.answer": (facts) =>
    facts.has("failed")
      ? `got no response to the request with ${facts.secret()}: ${facts.text("failed")}`
      : `got the status ${facts.text("status")} to the request with ${facts.secret()}${facts.has("stored") ? `, and stored ${facts.text("stored")}` : ""}`,
  "secret.push": (facts) => `pushed ${facts.secrets()} to ${facts.text("name", "a target")}`,
  "push.failed": (facts) => `${named("could not push to the target")(facts)}: ${facts.text("problem")}`,
  "target.create": named("added the target"),
  "target.update": named("changed the target"),
  "target.delete": named("deleted the target"),
  "use_rule.create": (facts) => `allowed a use of ${facts.secret()}`,
  "use_rule.update": (facts) => `changed a use rule of ${facts.secret()}`,
  "use_rule.delete": (facts) => `revoked a use of ${facts.secret()}`,
  "connection.create": named("added the connection"),
  "connection.delete": named("deleted the connection"),
  "connection.test": named("tried the connection"),
  "rotation.create": named("added the rotation"),
  "rotation.update": named("changed the rotation"),
  "rotation.delete": named("deleted the rotation"),
  "rotation.run": named("ran the rotation"),
  "rotation.failed": (facts) => `${named("failed at the rotation")(facts)}: ${facts.text("problem")}`,
  "lease_role.create": (facts) =>
    `let ${facts.text("connection")} be leased by role ${facts.text("name")}${facts.inPlace()}`,
  "lease_role.delete": (facts) => `removed role ${facts.text("name")}${facts.inPlace()}`,
  "lease.create": (facts) =>
    `leased ${facts.text("role")}${facts.inPlace()}${facts.with("until", (until) => ` until ${until}`)}`,
  "lease.renew": (facts) =>
    `renewed a lease of ${facts.text("role")}${facts.inPlace()}${facts.with("until", (until) => ` until ${until}`)}`,
  "lease.revoke": (facts) =>
    `ended a lease of ${facts.text("role")}${facts.inPlace()}${facts.with("holder", (holder) => ` by ${holder}`)}`,
  "lease.ended": (facts) =>
    `removed the user of a lease of ${facts.text("role")}${facts.inPlace()}: ${facts.text("reason")}`,
  "lease.failed": (facts) =>
    `could not remove the user of a lease of ${facts.text("role")}${facts.inPlace()}: ${facts.text("problem")}`,
  "lease.left": (facts) =>
    `gave up removing the user ${facts.text("username")} of a lease of ${facts.text("role")}${facts.inPlace()}: ${facts.text("problem")}`,
  "orphan.found": (facts) =>
    `found users without a lease by the connection ${facts.text("connection")}${facts.inPlace()}: ${facts.text("count")}`,
  "orphan.delete": (facts) =>
    `removed the user ${facts.text("username")}, which no lease has, from ${facts.text("connection")}${facts.inPlace()}`,
  "approval.request": (facts) => `asked to use ${facts.secrets()} for ${facts.target()}`,
  "approval.approve": (facts) => `approved a request of ${facts.text("account")}${facts.inPlace()}`,
  "approval.refuse": (facts) => `refused a request of ${facts.text("account")}${facts.inPlace()}`,
  "protection.set": (facts) =>
    `protected ${facts.place() || "an environment"}: ${facts.text("needed", "some")} to approve`,
  "protection.delete": (facts) => `ended the protection of ${facts.place() || "an environment"}`,
  "request.create": (facts) => {
    if (facts.has("permission")) return `asked for ${facts.text("permission")}${facts.inPlace()}${because(facts)}`
    const summary = placeSummary(facts.text("call", ""))
    const change =
      summary === undefined ? `change ${facts.secrets()}` : `${summary} ${facts.place() || "an environment"}`
    return `asked to ${change}${because(facts)}`
  },
  "request.read": (facts) => `read what the request of ${facts.text("requester")} sets: ${facts.secrets()}`,
  "request.approve": (facts) => `approved the request of ${facts.text("requester")}${facts.inPlace()}`,
  "request.refuse": (facts) => `refused the request of ${facts.text("requester")}${facts.inPlace()}`,
  "request.withdraw": (facts) => `withdrew a request${facts.inPlace()}`,
  "request.apply": (facts) =>
    `made the requested change${facts.inPlace()}, approved by ${conjoined(facts.names("approved_by")) || "people"}`,
  "request.expire": (facts) => `noted that the request of ${facts.text("requester")}${facts.inPlace()} expired`,
  "request.outdate": (facts) => `noted that the request of ${facts.text("requester")}${facts.inPlace()} is outdated`,
  "secret.break_glass": (facts) => `broke the glass${facts.inPlace()}${because(facts)}`,
  "acl.grant": (facts) =>
    `${facts.has("denies") ? "denied" : "granted"} ${facts.subject()} ${facts.text("permission")} on ${facts.covered()}${facts.with("expires_at", (at) => ` until ${at}`)}${facts.with("before", (permission) => ` (was ${permission})`)}`,
  "acl.revoke": (facts) =>
    `revoked ${denial(facts)}${facts.text("permission")} of ${facts.subject()} on ${facts.covered()}`,
  "acl.expire": (facts) =>
    `noted that ${denial(facts)}${facts.text("permission")} of ${facts.subject()} on ${facts.covered()} ended${facts.with("expires_at", (at) => ` at ${at}`)}`,
  "acl.review": (facts) =>
    `reviewed who has ${facts.text("permission", "a permission")}${facts.inPlace()}${facts.with("note", (note) => `: ${note}`)}`,
  "group.create": (facts) => `created the group ${facts.text("name")}`,
  "group.update": (facts) => `renamed the group ${facts.text("before")} to ${facts.text("name")}`,
  "group.delete": (facts) => `deleted the group ${facts.text("name")}`,
  "group.member_add": (facts) => `added ${facts.text("email")} to the group ${facts.text("name")}`,
  "group.member_remove": (facts) => `removed ${facts.text("email")} from the group ${facts.text("name")}`,
  "group.members_set": (facts) => {
    const changes = (["added", "removed"] as const).flatMap((change) => {
      const people = facts.names(change)
      if (people.length === 0) return []
      return [`${change} ${people.length > 3 ? `${people.length} people` : conjoined(people)}`]
    })
    return `set the members of the group ${facts.text("name")}: ${facts.text("members")} (${changes.join(", ")})`
  },
  "group.map": (facts) => {
    const changes = (["added", "removed"] as const).flatMap((change) => {
      const pairs = facts.names(change)
      return pairs.length === 0 ? [] : [`${change} ${pairs.length > 3 ? pairs.length : conjoined(pairs)}`]
    })
    return `set which groups of the provider count as groups: ${facts.text("mappings")} (${changes.join(", ")})`
  },
  "group.login": (facts) => {
    const changes = (
      [
        ["joined", "added"],
        ["left", "removed"]
      ] as const
    ).flatMap(([verb, change]) => {
      const groups = facts.names(change)
      if (groups.length === 0) return []
      return [
        `${verb} ${groups.length > 3 ? `${groups.length} groups` : `the ${groups.length === 1 ? "group" : "groups"} ${conjoined(groups)}`}`
      ]
    })
    return `${changes.join(" and ") || "changed groups"} by a login at the provider`
  },
  "scim.enable": () => "let a directory manage people by SCIM",
  "scim.rotate": () => "renewed the token of SCIM",
  "scim.disable": () => "ended the management of people by SCIM",
  "delegation.create": (facts) =>
    `delegated ${facts.text("permission")}${facts.inPlace()} to ${facts.text("name")}${facts.with("expires_at", (at) => ` until ${at}`)}`,
  "delegation.revoke": (facts) => `revoked the delegation to ${facts.text("name")}${facts.inPlace()}`,
  "passkey.create": (facts) => `registered the passkey ${facts.text("name")}`,
  "passkey.delete": (facts) =>
    `removed the passkey ${facts.text("name")}${facts.has("recovery") ? ", by a login without one" : ""}`,
  "service_account.create": (facts) =>
    `created the service account ${facts.text("name")}${facts.with("project", (project) => `, bound to ${project}`)}`,
  "service_account.update": (facts) => {
    const networks = facts.names("allowed_networks")
    const from = networks.length > 3 ? `${networks.length} networks` : conjoined(networks)
    return `let the service account ${facts.text("name")} call from ${from === "" ? "anywhere" : `${from} alone`}`
  },
  "service_account.revoke": (facts) => `revoked the service account ${facts.text("name")}`,
  "service_account.rotate": (facts) => `gave the service account ${facts.text("name")} a new key`,
  "service_account.expiring": (facts) =>
    `noted that the key of ${facts.text("name")} expires${facts.with("expires_at", (at) => ` at ${at}`)}`,
  "federation.create": (facts) =>
    `let ${facts.text("account")} sign in with tokens of ${facts.text("issuer")} (federation ${facts.text("name")})`,
  "federation.revoke": (facts) =>
    `revoked the federation ${facts.text("name")} of ${facts.text("account")}, for tokens of ${facts.text("issuer")}`,
  "webhook.create": (facts) => `created the webhook to ${facts.text("name")}`,
  "webhook.update": (facts) =>
    `changed the webhook to ${facts.text("name")}${facts.with("before", (origin) => ` (was to ${origin})`)}`,
  "webhook.delete": (facts) => `deleted the webhook to ${facts.text("name")}`,
  "webhook.rotate": (facts) => `gave the webhook to ${facts.text("name")} a new signing key`,
  "webhook.test": (facts) => `sent a test to the webhook to ${facts.text("name")}`,
  "webhook.send": (facts) => `sent a delivery to the webhook to ${facts.text("name")} again`,
  "webhook.disable": (facts) =>
    `disabled the webhook to ${facts.text("name")}${facts.with("tries", (tries) => ` after ${tries} failed tries`)}`,
  "user.disable": (facts) => `disabled ${facts.text("email")}`,
  "user.enable": (facts) => `enabled ${facts.text("email")}`,
  "user.end_sessions": (facts) => `ended the sessions of ${facts.text("email")}`,
  "backup.create": (facts) => `made the backup ${facts.text("id")}`,
  "backup.restore": (facts) => `restored the backup ${facts.text("id", facts.text("file"))}`,
  "backup.drill": (facts) => `checked the backup ${facts.text("id")}: it is ${facts.has("valid") ? "good" : "damaged"}`,
  "key.rotate": () => "rotated the master key",
  "audit.break": () => "found that the log was altered",
  "audit.missing": (facts) =>
    facts.has("host")
      ? `may miss the last entries of reads of the server on ${facts.text("host")}, which was killed after ${facts.text("seen_at")}`
      : `could not keep ${facts.text("entries", "some")} entries`,
  "audit.archive": (facts) =>
    `moved the entries ${facts.text("first_seq")} to ${facts.text("last_seq")} of the log ${facts.text("log")} to the archive ${facts.text("name")}`,
  "access.denied": (facts) => {
    const keys = facts.has("key") || facts.has("keys") ? ` of ${facts.secrets()}` : facts.inPlace()
    return `was denied ${facts.text("action", "an action")}${keys}${because(facts)}`
  }
}

const isKnown = (action: string): action is AuditAction => Object.hasOwn(deeds, action)

/** Says what was done, such as `granted deploy read on webshop/prod`: the sentence without its subject. */
export const auditDeed = ({ action, metadata }: Omit<Named, "actor_name">): string => {
  const facts = new Facts(metadata)
  // Later versions have more actions.
  const deed = isKnown(action) ? deeds[action](facts) : `did ${action}${facts.inPlace()}`
  const times = facts.with("attempts", (count) => `, ${count} more times`)
  const delegation = metadata["delegation"]
  const by =
    Predicate.isRecord(delegation) && typeof delegation["name"] === "string"
      ? `, by the delegation to ${delegation["name"]}`
      : ""
  const people = action === "request.apply" ? [] : facts.names("approved_by")
  const approved = people.length === 0 ? "" : `, approved by ${conjoined(people)}`
  return `${deed}${times}${by}${approved}${facts.text("via", "") === "superadmin" ? ", as a superadmin" : ""}`
}

/** Says what happened in one sentence, such as `ada@example.com granted deploy read on webshop/prod`. */
export const auditSentence = (entry: Named): string => `${entry.actor_name} ${auditDeed(entry)}`

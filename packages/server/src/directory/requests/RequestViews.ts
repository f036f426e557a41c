import { type Actor, delegationOf } from "@coffer/domain/access/Actor"
import type { ApprovalRequest, RequestedKey } from "@coffer/domain/requests/ApprovalRequest"
import type { Role } from "@coffer/domain/directory/Member"
import { secretKeyForm } from "@coffer/domain/base/NameForms"
import type { SecretKey } from "@coffer/domain/base/Names"
import { requestSummary } from "@coffer/domain/requests/RequestSummary"
import * as Predicate from "effect/Predicate"
import type { AffectedKey } from "../../access/gate/GateDecision.js"
import { approversIn } from "../../access/gate/Protections.js"
import { isApprover } from "../../access/gate/Voting.js"
import { timestamp } from "../../base/Time.js"
import type { RequestRow } from "./Repo.js"

/** How many votes a request for access to an environment without a protection needs, and whose. */
export const unprotected = { needed: 1, approvers: "admins", self: false, passkey: false, version: 0 } as const

/**
 * Returns the terms that decide on the votes of a request now. People cannot grant themselves access, whatever the
 * protection says of changes.
 */
export const rulesOf = ({
  approvers,
  kind,
  passkey,
  self,
  version
}: Pick<RequestRow, "approvers" | "kind" | "passkey" | "self" | "version">) =>
  approvers === null || version === null
    ? unprotected
    : { approvers: approversIn(approvers), self: self === 1 && kind === "change", passkey: passkey === 1, version }

/** Whether the actor asked. A delegation knows only the requests that it made, not those of its person. */
export const isOwn = (actor: Actor, row: Pick<RequestRow, "actor_id" | "delegation_id">): boolean => {
  const delegation = delegationOf(actor)
  return actor.id === row.actor_id && (delegation === null || delegation.id === row.delegation_id)
}

/** Why an actor may not vote on a request; null if it may. */
export const voteRefusal = (actor: Actor, role: Role | null, row: RequestRow): string | null => {
  if (actor.type !== "user" || delegationOf(actor) !== null) return "only people vote, as themselves"
  const { approvers, self } = rulesOf(row)
  if (!isApprover(approvers, role, actor.email)) return `the protection of ${row.project}/${row.env} does not name you`
  return isOwn(actor, row) && !self ? "your own request needs the vote of somebody else" : null
}

const votesIn = (votes: string | null): ApprovalRequest["votes"] =>
  votes === null
    ? []
    : votes
        .split("\n")
        .map((line) => {
          const [by = "", vote = "", created_at = "", ...rest] = line.split(" ")
          const comment = rest.join(" ")
          return { by, vote, ...(comment !== "" && { comment }), created_at }
        })
        .sort((one, other) => (one.created_at < other.created_at ? -1 : 1))

const isKey = (text: unknown): text is SecretKey => typeof text === "string" && secretKeyForm.is(text)

/** The keys of a JSON column. */
export const affectedIn = (keys: string | null): ReadonlyArray<AffectedKey> => {
  const found: unknown = keys === null ? [] : JSON.parse(keys)
  const all: ReadonlyArray<unknown> = Array.isArray(found) ? found : []
  return all.flatMap((item) => {
    if (!Predicate.hasProperty(item, "key") || !isKey(item.key)) return []
    const change = Predicate.hasProperty(item, "change") && typeof item.change === "string" ? item.change : ""
    const version = Predicate.hasProperty(item, "version") && typeof item.version === "number" ? item.version : 0
    const id = Predicate.hasProperty(item, "id") && typeof item.id === "string" ? { id: item.id } : {}
    const from = Predicate.hasProperty(item, "from") && typeof item.from === "string" ? { from: item.from } : {}
    return [{ key: item.key, change, version, ...id, ...from }]
  })
}

/** The texts of a JSON column. */
export const textsIn = (texts: string): ReadonlyArray<string> => {
  const found: unknown = JSON.parse(texts)
  const all: ReadonlyArray<unknown> = Array.isArray(found) ? found : []
  return all.filter(Predicate.isString)
}

/** A request as its caller sees it. */
export const requestOf = (actor: Actor, role: Role | null, row: RequestRow): ApprovalRequest => {
  const { call, decided_at, details, expires_in, keys, outdated, permission, reason, revision, rule_id } = row
  const votes = votesIn(row.votes)
  const hasVoted = actor.type === "user" && votes.some(({ by }) => by === actor.email)
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    project: row.project,
    env: row.env,
    requester: row.actor_name,
    ...(reason !== null && { reason }),
    ...(call !== null && { call }),
    ...(details !== null && { details: textsIn(details) }),
    ...(keys !== null && {
      keys: affectedIn(keys).map(({ change, key, version }): RequestedKey => ({ key, change, version }))
    }),
    ...(permission !== null && { permission }),
    ...(expires_in !== null && { expires_in }),
    ...(rule_id !== null && { rule_id }),
    ...(revision !== null && { revision }),
    needed: row.needed,
    votes,
    ...(outdated !== null && { outdated: textsIn(outdated) }),
    may_vote: row.state === "pending" && !hasVoted && voteRefusal(actor, role, row) === null,
    is_own: isOwn(actor, row),
    created_at: row.created_at,
    expires_at: timestamp(row.expires_at),
    ...(decided_at !== null && { decided_at })
  }
}

/** How many keys a message or a mail names. */
const maxNamed = 20

/** The facts of a mail to those who vote. The reason is the requester's text, which may hold anything: it is not one of them. */
export const factsOf = ({ call, env, keys, permission, project }: RequestRow): Readonly<Record<string, string>> => {
  if (permission !== null) return { Access: permission }
  const affected = affectedIn(keys)
  const Change = `${requestSummary({ call: call ?? "", keys: affected })} ${project}/${env}`
  if (affected.length === 0) return { Change }
  const names = affected.slice(0, maxNamed).map(({ key }) => key)
  const more = affected.length > maxNamed ? ` and ${affected.length - maxNamed} more` : ""
  return { Change, Secrets: `${names.join(", ")}${more}` }
}

const versionText = (version: number) => (version === 0 ? "did not exist" : `was at version ${version}`)

/** Returns the differences, by key, between what was asked for and what would be changed now. */
export const differences = (
  asked: ReadonlyArray<AffectedKey>,
  now: ReadonlyArray<AffectedKey>
): ReadonlyArray<string> => {
  const current = new Map(now.map((affected) => [affected.key, affected]))
  const wanted = new Map(asked.map((affected) => [affected.key, affected]))
  const changed = asked.flatMap((affected) => {
    const found = current.get(affected.key)
    if (found === undefined) return [`${affected.key} is not changed any more`]
    if (found.version !== affected.version) {
      return [`${affected.key} is at version ${found.version}, and ${versionText(affected.version)}`]
    }
    // Earlier versions of the server stored no id.
    if (affected.id !== undefined && found.id !== affected.id) return [`${affected.key} was removed and set again`]
    if (found.from !== affected.from) return [`the value that ${affected.key} would get has changed`]
    return found.change === affected.change
      ? []
      : [`${affected.key} would be ${found.change}, and was to be ${affected.change}`]
  })
  const more = now.flatMap(({ key }) => (wanted.has(key) ? [] : [`${key} would be changed too`]))
  const all = [...changed, ...more]
  return all.length <= maxNamed ? all : [...all.slice(0, maxNamed), `and ${all.length - maxNamed} more keys`]
}

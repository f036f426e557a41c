import {
  type AccountCredential,
  type Actor,
  actorName,
  delegationOf,
  type UserActor
} from "@coffer/domain/access/Actor"
import type { ActorType, AuditAction, ResourceType } from "@coffer/domain/audit/AuditEntry"
import type { OrgId } from "@coffer/domain/base/Ids"
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { uuidV7At } from "../base/Uuid.js"
import { RequestInfo, type RequestInfoShape } from "../base/RequestInfo.js"
import type { Draft } from "./Chain.js"

/** The log of events that belong to no organization. */
export const systemLog = "system"

/** Metadata holds names, numbers and keys; never a value, token or code. */
export interface AuditEvent {
  readonly action: AuditAction
  readonly resource_type: ResourceType
  readonly resource_id: string | null
  readonly metadata?: Record<string, unknown>
}

/**
 * The actor and the place of an event. Metadata records the names of the project and the environment at that time: people
 * search by name, and ids of removed rows resolve to nothing. `via` is set if only the right of a superadmin allowed it;
 * `delegation`, if a delegation of the actor did it; `approved_by` and `request`, if people approved it.
 */
export interface AuditSource {
  readonly actor: { readonly type: ActorType; readonly id: string | null; readonly name: string }
  readonly orgId: OrgId | null
  readonly project?: string
  readonly env?: string
  readonly via?: string
  readonly delegation?: { readonly id: string; readonly name: string }
  /** The request that was approved, and by whom. */
  readonly approval?: { readonly id: string; readonly by: ReadonlyArray<string> }
}

/** Whether the log has it as an act of the server itself. */
const isOwnAct = ({ type }: AccountCredential): boolean => type === "rotation" || type === "scim"

/** The source of an event that belongs to no organization. */
export const actorSource = (actor: Actor): AuditSource => {
  if (actor.type === "service_account" && isOwnAct(actor.credential)) return systemSource(actor.name)
  const delegation = delegationOf(actor)
  return {
    actor: { type: actor.type, id: actor.id, name: actorName(actor) },
    orgId: null,
    ...(delegation !== null && { delegation: { id: delegation.id, name: delegation.name } })
  }
}

/** The source of an event that the server causes by itself, as the name says. */
export const systemSource = (name: string, orgId: OrgId | null = null): AuditSource => ({
  actor: { type: "system", id: null, name },
  orgId
})

/** The source of an event on the whole server, which only a superadmin may cause. */
export const superadminSource = (actor: UserActor): AuditSource => ({ ...actorSource(actor), via: "superadmin" })

/** The entries of one change or one read: all in one log, and appended all or none. */
export interface EntryGroup {
  readonly log: string
  readonly millis: number
  /** About how many characters their metadata has. */
  readonly characters: number
  /** Made when they are asked for first: no request waits for that. */
  readonly drafts: Array.NonEmptyReadonlyArray<Draft>
}

const metadataOf = (
  { approval, delegation, env, project, via }: AuditSource,
  { metadata = {} }: AuditEvent,
  { client, program }: Pick<RequestInfoShape, "client" | "program">
) => {
  const all: Record<string, unknown> = {}
  if (project !== undefined) all["project"] = project
  if (env !== undefined) all["env"] = env
  Object.assign(all, metadata)
  if (via === "superadmin") all["via"] = via
  if (delegation !== undefined) all["delegation"] = delegation
  if (approval !== undefined) {
    all["request"] = approval.id
    all["approved_by"] = approval.by
  }
  if (client !== null) all["client"] = client
  if (program !== undefined) all["program"] = program
  return all
}

/** About how many characters the metadata of an event has: only texts and lists of keys can be long. */
const charactersOf = ({ metadata = {} }: AuditEvent): number =>
  Object.values(metadata).reduce<number>((sum, value) => {
    if (typeof value === "string") return sum + value.length
    return sum + (Array.isArray(value) ? value.length * 100 : 10)
  }, 100)

/** Groups the entries of events, with the address and the client of the current request. */
export const entryGroup = (
  source: AuditSource,
  events: Array.NonEmptyReadonlyArray<AuditEvent>
): Effect.Effect<EntryGroup> =>
  Clock.clockWith((clock) =>
    Effect.map(RequestInfo, (info) => {
      const millis = clock.unsafeCurrentTimeMillis()
      const log = source.orgId ?? systemLog
      let drafts: EntryGroup["drafts"] | null = null
      return {
        log,
        millis,
        characters: events.reduce((sum, event) => sum + charactersOf(event), 0),
        get drafts() {
          drafts ??= Array.map(events, (event) => ({
            id: uuidV7At(millis),
            log,
            org_id: source.orgId,
            actor_type: source.actor.type,
            actor_id: source.actor.id,
            actor_name: source.actor.name,
            action: event.action,
            resource_type: event.resource_type,
            resource_id: event.resource_id,
            ip_address: info.ip,
            metadata: JSON.stringify(metadataOf(source, event, info))
          }))
          return drafts
        }
      }
    })
  )

/** How many characters of metadata one batch holds; a larger group is a batch of its own. */
const batchCharacters = 256 * 1024
/** How many reads one batch holds, because a batch is committed in one event-loop tick: as many as one INSERT. */
const readsAtOnce = 64

export const countEntries = (groups: ReadonlyArray<EntryGroup>): number =>
  groups.reduce((sum, { drafts }) => sum + drafts.length, 0)

/** Splits groups into batches that can be appended without blocking the event loop. */
export const inBatches = (groups: ReadonlyArray<EntryGroup>): ReadonlyArray<ReadonlyArray<EntryGroup>> => {
  const batches: Array<Array<EntryGroup>> = []
  let size = batchCharacters
  for (const group of groups) {
    const more = group.characters
    const last = batches.at(-1)
    const current = size + more > batchCharacters || last?.length === readsAtOnce ? undefined : last
    if (current === undefined) batches.push([group])
    else current.push(group)
    size = current === undefined ? more : size + more
  }
  return batches
}

/** The entries of groups of one log, as one. */
export const joined = (groups: Array.NonEmptyReadonlyArray<EntryGroup>): Pick<EntryGroup, "drafts" | "millis"> => ({
  drafts: Array.flatMap(groups, ({ drafts }) => drafts),
  millis: Math.max(...groups.map(({ millis }) => millis))
})

import { type Actor, actorName, type UserActor } from "@coffer/domain/Actor"
import type { ActorType, AuditAction, ResourceType } from "@coffer/domain/AuditEntry"
import type { OrgId } from "@coffer/domain/Ids"
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { uuidV7At } from "../base/Uuid.js"
import { RequestInfo } from "../base/RequestInfo.js"
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
 * search by name, and ids of removed rows resolve to nothing. `via` is set if only the right of a superadmin allowed it.
 */
export interface AuditSource {
  readonly actor: { readonly type: ActorType; readonly id: string | null; readonly name: string }
  readonly orgId: OrgId | null
  readonly project?: string
  readonly env?: string
  readonly via?: string
}

/** The source of an event that belongs to no organization. */
export const actorSource = (actor: Actor): AuditSource => ({
  actor: { type: actor.type, id: actor.id, name: actorName(actor) },
  orgId: null
})

/** The source of an event on the whole server, which only a superadmin may cause. */
export const superadminSource = (actor: UserActor): AuditSource => ({ ...actorSource(actor), via: "superadmin" })

/** The entries of one change or one read: all in one log, and appended all or none. */
export interface EntryGroup {
  readonly drafts: Array.NonEmptyReadonlyArray<Draft>
  readonly millis: number
}

const metadataOf = ({ env, project, via }: AuditSource, { metadata = {} }: AuditEvent, client: string | null) => {
  const all: Record<string, unknown> = {}
  if (project !== undefined) all["project"] = project
  if (env !== undefined) all["env"] = env
  Object.assign(all, metadata)
  if (via === "superadmin") all["via"] = via
  if (client !== null) all["client"] = client
  return all
}

/** Makes the entries of events, with the address and the client of the current request. */
export const entryGroup = (
  source: AuditSource,
  events: Array.NonEmptyReadonlyArray<AuditEvent>
): Effect.Effect<EntryGroup> =>
  Effect.flatMap(Clock.currentTimeMillis, (millis) =>
    Effect.map(RequestInfo, ({ client, ip }) => ({
      millis,
      drafts: Array.map(events, (event) => ({
        id: uuidV7At(millis),
        log: source.orgId ?? systemLog,
        org_id: source.orgId,
        actor_type: source.actor.type,
        actor_id: source.actor.id,
        actor_name: source.actor.name,
        action: event.action,
        resource_type: event.resource_type,
        resource_id: event.resource_id,
        ip_address: ip,
        metadata: JSON.stringify(metadataOf(source, event, client))
      }))
    }))
  )

/** How many characters of metadata one batch holds; a larger group is a batch of its own. */
const batchCharacters = 256 * 1024
/** How many reads one batch holds, because a batch is committed in one event-loop tick. */
const readsAtOnce = 50

export const logOf = ({ drafts: [{ log }] }: EntryGroup): string => log

export const countEntries = (groups: ReadonlyArray<EntryGroup>): number =>
  groups.reduce((sum, { drafts }) => sum + drafts.length, 0)

export const charactersOf = ({ drafts }: EntryGroup): number =>
  drafts.reduce((sum, { metadata }) => sum + metadata.length, 0)

/** Splits groups into batches that can be appended without blocking the event loop. */
export const inBatches = (groups: ReadonlyArray<EntryGroup>): ReadonlyArray<ReadonlyArray<EntryGroup>> => {
  const batches: Array<Array<EntryGroup>> = []
  let size = batchCharacters
  for (const group of groups) {
    const more = charactersOf(group)
    const last = batches.at(-1)
    const current = size + more > batchCharacters || last?.length === readsAtOnce ? undefined : last
    if (current === undefined) batches.push([group])
    else current.push(group)
    size = current === undefined ? more : size + more
  }
  return batches
}

export const joinGroups = (groups: Array.NonEmptyReadonlyArray<EntryGroup>): EntryGroup => ({
  drafts: Array.flatMap(groups, ({ drafts }) => drafts),
  millis: Math.max(...groups.map(({ millis }) => millis))
})

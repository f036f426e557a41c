import type { ActorType, AuditAction, ResourceType } from "@coffer/domain/AuditEntry"
import type { OrgId } from "@coffer/domain/Ids"
import { Array, Clock, Effect } from "effect"
import { uuidV7At } from "../database/Uuid.js"
import { RequestInfo } from "../http/RequestInfo.js"
import { systemLog } from "./Append.js"
import type { Draft } from "./Chain.js"

/** What happened, as a feature tells it. Metadata holds names, numbers and keys; never a value, token or code. */
export interface AuditEvent {
  readonly action: AuditAction
  readonly resource_type: ResourceType
  readonly resource_id: string | null
  readonly metadata?: Record<string, unknown>
}

/**
 * Who did it, and where. The names of the project and the environment go into the metadata as they are at that moment: a
 * name is what people look for, and the ids of removed things resolve nowhere. `via` is a superadmin's right, where it
 * alone allowed it.
 */
export interface AuditSource {
  readonly actor: { readonly type: ActorType; readonly id: string | null; readonly name: string }
  readonly orgId: OrgId | null
  readonly project?: string
  readonly env?: string
  readonly via?: string
}

/** The entries of one change or one read: they are in the same log, and are appended together or not at all. */
export interface Told {
  readonly drafts: Array.NonEmptyReadonlyArray<Draft>
  readonly millis: number
}

/** Where it happened, what happened, the right that alone allowed it, and the program that asked. */
const metadataOf = ({ env, project, via }: AuditSource, { metadata = {} }: AuditEvent, client: string | null) => {
  const all: Record<string, unknown> = {}
  if (project !== undefined) all["project"] = project
  if (env !== undefined) all["env"] = env
  Object.assign(all, metadata)
  if (via === "superadmin") all["via"] = via
  if (client !== null) all["client"] = client
  return all
}

/** What is to be written of events, as the request that runs tells them. */
export const tellOf = (source: AuditSource, events: Array.NonEmptyReadonlyArray<AuditEvent>): Effect.Effect<Told> =>
  Effect.zipWith(Clock.currentTimeMillis, RequestInfo, (millis, { client, ip }) => ({
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

/** How many characters of metadata one batch holds; a larger entry is a batch of its own. */
const batchCharacters = 256 * 1024
/** How many reads are committed in one turn of the event loop. */
const readsAtOnce = 100

export const logOf = ({ drafts: [{ log }] }: Told): string => log

export const entriesOf = (told: ReadonlyArray<Told>): number => told.reduce((sum, { drafts }) => sum + drafts.length, 0)

export const charactersOf = ({ drafts }: Told): number => drafts.reduce((sum, { metadata }) => sum + metadata.length, 0)

/** What was queued, in batches that are small enough to be appended at once. */
export const inBatches = (told: ReadonlyArray<Told>): ReadonlyArray<ReadonlyArray<Told>> => {
  const batches: Array<Array<Told>> = []
  let size = batchCharacters
  for (const each of told) {
    const more = charactersOf(each)
    const last = batches.at(-1)
    const current = size + more > batchCharacters || last?.length === readsAtOnce ? undefined : last
    if (current === undefined) batches.push([each])
    else current.push(each)
    size = current === undefined ? more : size + more
  }
  return batches
}

export const joined = (told: Array.NonEmptyReadonlyArray<Told>): Told => ({
  drafts: Array.flatMap(told, ({ drafts }) => drafts),
  millis: Math.max(...told.map(({ millis }) => millis))
})

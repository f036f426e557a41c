import { type Actor, CurrentCaller, type UserActor } from "@coffer/domain/access/Actor"
import type { AuditAction, ResourceType } from "@coffer/domain/audit/AuditEntry"
import type { OrgId } from "@coffer/domain/base/Ids"
import { Access } from "@coffer/server/access/Access"
import { AuditLog } from "@coffer/server/audit/AuditLog"
import { Database } from "@coffer/server/database/Database"
import type { AuditSource } from "@coffer/server/audit/AuditEvent"
import { Activity, type ActivityRequest } from "@coffer/server/edges/trail/Activity"
import { type PageRequest, Trail } from "@coffer/server/edges/trail/Trail"
import type { VerifyRequest } from "@coffer/server/edges/trail/Verification"
import { Organizations } from "@coffer/server/directory/organizations/Organizations"
import { nextTick } from "@coffer/server/base/EventLoop"
import { OrgName } from "@coffer/domain/base/Names"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { orgPath, person, transaction } from "../support/Services.js"

export const by = (actor: Actor) => Effect.provideService(CurrentCaller, { actor })

/** An organization with nothing in it but its first entry, and its owner. */
export const newOrganization = (name: string, owner = "ada@example.com") =>
  Effect.gen(function* () {
    const actor = yield* person(owner)
    const { id } = yield* transaction((yield* Organizations).create(actor, OrgName.make(name)))
    return { actor, id, name }
  })

export type Log = Effect.Effect.Success<ReturnType<typeof newOrganization>>

export const list = ({ actor, name }: Log, request: PageRequest = {}) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).org(orgPath(name), "audit.read").pipe(by(actor))
    return yield* (yield* Trail).list(place, request)
  })

export const activity = ({ actor, name }: Log, request: ActivityRequest = {}) =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).org(orgPath(name), "audit.read").pipe(by(actor))
    return yield* (yield* Activity).ofOrganization(place, request)
  }).pipe(Effect.provide(Activity.Default))

/** In a turn of its own: what is not written by the server itself is seen from the next one on. */
export const verify = ({ actor, name }: Log, request: VerifyRequest = {}) =>
  Effect.gen(function* () {
    yield* nextTick
    const place = yield* (yield* Access).org(orgPath(name), "audit.verify").pipe(by(actor))
    return yield* (yield* Trail).verify(place, request)
  })

/** Someone who asks for every log. */
export const root = Effect.map(person("root@example.com"), (actor): UserActor => ({ ...actor, superadmin: true }))

export const listAll = (request: PageRequest = {}, orgId?: OrgId) =>
  Effect.gen(function* () {
    const serverPlace = yield* (yield* Access).serverPlace("audit.read").pipe(by(yield* root))
    return yield* (yield* Trail).listAll(serverPlace, orgId, request)
  })

export const verifyAll = (request: VerifyRequest = {}, orgId?: OrgId) =>
  Effect.gen(function* () {
    const serverPlace = yield* (yield* Access).serverPlace("audit.verify").pipe(by(yield* root))
    return yield* (yield* Trail).verifyAll(serverPlace, orgId, request)
  })

interface Happening {
  readonly actor?: string
  readonly action?: AuditAction
  readonly resource_type?: ResourceType
  readonly n?: number
  /** Instead of a number. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** That the actor has no id. */
  readonly nameless?: boolean
}

const sourceOf = (orgId: OrgId | null, { actor = "ada", nameless = false }: Happening): AuditSource => ({
  actor: { type: "user", id: nameless ? null : actor, name: `${actor}@example.com` },
  orgId
})

const eventOf = ({ action = "secret.set", metadata, n = 0, resource_type = "secret" }: Happening) => ({
  action,
  resource_type,
  resource_id: `thing-${n}`,
  metadata: metadata ?? { n }
})

/** Appends entries, as a change does. */
export const write = (orgId: OrgId | null, first: Happening = {}, ...rest: ReadonlyArray<Happening>) =>
  Effect.gen(function* () {
    const audit = yield* AuditLog
    // Of no scope: the audit log has none.
    const { transaction } = yield* Database
    yield* transaction(audit.change(sourceOf(orgId, first), ...[first, ...rest].map(eventOf)))
  })

/** Queues an entry, as a read does. */
export const read = (orgId: OrgId | null, happening: Happening = {}) =>
  Effect.flatMap(AuditLog, (audit) =>
    audit.seen(sourceOf(orgId, happening), eventOf({ action: "secret.read", ...happening }))
  )

export const entriesOf = (orgId: OrgId | null) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql<{ seq: number; created_at: string; action: string; metadata: string }>`
      SELECT seq, created_at, action, metadata FROM audit_entries WHERE log = ${orgId ?? "system"} ORDER BY seq`
  )

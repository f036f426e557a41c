import type { Actor, UserActor } from "@coffer/domain/access/Actor"
import { OrgId } from "@coffer/domain/base/Ids"
import type { OrgName } from "@coffer/domain/base/Names"
import type { Organization, PasskeyRecovery, UnusedAccessMail } from "@coffer/domain/directory/Organization"
import * as Effect from "effect/Effect"
import { type Place, sourceOf } from "../../access/Access.js"
import { freedNamesRepo } from "../../access/place/FreedNames.js"
import { notVisible } from "../../access/place/NotFound.js"
import { actorSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { mapInSlices } from "../../base/EventLoop.js"
import { now } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { orTaken } from "../../database/SqlErrors.js"
import { makeRemovals, orgNameTaken } from "../trash/Removals.js"
import { type OrganizationRow, organizationsRepo } from "./Repo.js"
import { method } from "../../base/tracing/Traced.js"

const organizationOf = ({ is_invited, ...row }: OrganizationRow): Organization => ({
  ...row,
  ...(is_invited === 1 && { accepted: false })
})

export interface OrganizationChanges {
  readonly name?: OrgName
  readonly passkey_recovery?: PasskeyRecovery
  readonly unused_access_mail?: UnusedAccessMail
}

export class Organizations extends Effect.Service<Organizations>()("@coffer/server/Organizations", {
  effect: Effect.gen(function* () {
    const repo = yield* organizationsRepo
    const audit = yield* AuditLog
    const names = yield* freedNamesRepo
    const removals = yield* makeRemovals

    /** Creates an organization with the actor as its owner. */
    const create = method("Organizations.create", function* (actor: UserActor, name: OrgName) {
      const id = OrgId.make(yield* uuidV7)
      const memberId = yield* uuidV7
      const created_at = yield* now
      yield* repo.insert({ id, name, now: created_at }).pipe(orTaken(() => orgNameTaken(name)))
      yield* removals.checkName(actor, name)
      yield* repo.insertOwner({ id: memberId, orgId: id, userId: actor.id, now: created_at })
      yield* audit.change(
        { ...actorSource(actor), orgId: id },
        { action: "org.create", resource_type: "org", resource_id: id, metadata: { name } }
      )

      const settings = { passkey_recovery: "login", unused_access_mail: "never" } as const
      const created: Organization = { id, name, role: "owner", ...settings, created_at, updated_at: created_at }
      return created
    })

    /** The actor's organizations; all of them for a superadmin. */
    const list = method("Organizations.list", function* (actor: Actor) {
      if (actor.type === "user") {
        const rows = yield* actor.superadmin ? repo.all(actor.id) : repo.ofMember(actor.id)
        return yield* mapInSlices(rows, organizationOf)
      }
      const own = yield* repo.find({ id: actor.orgId, actorId: actor.id })
      return own === undefined ? [] : [organizationOf(own)]
    })

    const get = method("Organizations.get", function* (place: Place<"org.read">) {
      const found = yield* repo.find({ id: place.org.id, actorId: place.actor.id })
      if (found === undefined) return yield* notVisible(`organization ${place.org.name}`)
      return organizationOf(found)
    })

    /** Renames an organization, or changes its settings. */
    const update = method("Organizations.update", function* (place: Place<"org.update">, changes: OrganizationChanges) {
      const { id, name: before } = place.org
      const updated_at = yield* now
      const found = (yield* repo.find({ id, actorId: place.actor.id })) ?? (yield* notVisible(`organization ${before}`))
      const { name, passkey_recovery, unused_access_mail } = { ...found, ...changes }
      if (name !== before) yield* names.free({ kind: "org", id, name: before })
      const [row] = yield* repo
        .update({ id, name, recovery: passkey_recovery, unusedMail: unused_access_mail, now: updated_at })
        .pipe(orTaken(() => orgNameTaken(name)))
      if (row === undefined) return yield* notVisible(`organization ${before}`)
      if (name !== before) yield* removals.checkName(place.actor, name)
      yield* audit.change(sourceOf(place), {
        action: "org.update",
        resource_type: "org",
        resource_id: id,
        metadata: {
          ...{ name, before },
          ...(changes.passkey_recovery !== undefined && { passkey_recovery }),
          ...(changes.unused_access_mail !== undefined && { unused_access_mail })
        }
      })
      const updated: Organization = {
        ...organizationOf(found),
        ...{ name, passkey_recovery, unused_access_mail, updated_at }
      }
      return updated
    })

    /** Removes an organization. Returns its id. */
    const remove = method("Organizations.remove", function* (place: Place<"org.delete">) {
      const { id, name } = place.org
      const removed_at = yield* now
      yield* names.free({ kind: "org", id, name })
      const [row] = yield* repo.remove({ id, now: removed_at })
      if (row === undefined) return yield* notVisible(`organization ${name}`)
      yield* removals.removed({ kind: "org", id, orgId: id, projectId: null, name }, place.actor)
      yield* audit.change(sourceOf(place), {
        action: "org.delete",
        resource_type: "org",
        resource_id: id,
        metadata: { name }
      })
      return { orgId: id, id }
    })

    return { create, list, get, update, remove } as const
  })
}) {}

import { actorName } from "@coffer/domain/access/Actor"
import type { OrganizationExport } from "@coffer/domain/archive/Export"
import { ApprovalNeeded, Conflict, LimitExceeded } from "@coffer/domain/errors/Errors"
import { ExportId } from "@coffer/domain/base/Ids"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { denied, type Place, sourceOf } from "../../access/Access.js"
import { notFound } from "../../access/place/NotFound.js"
import { makeOwnerNotices } from "../../access/gate/OwnerNotices.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { noticeText } from "../../base/mail/NoticeText.js"
import { now, timestamp } from "../../base/Time.js"
import { method, traced } from "../../base/tracing/Traced.js"
import { uuidV7 } from "../../base/Uuid.js"
import { archiveCounts } from "./Counts.js"
import { type ExportRow, exportsRepo } from "./Repo.js"

const lifetime = 60 * 60 * 1000
const maxExports = 20

type ExportPlace = Place<"org.export">

const isWaiting = ({ approved_by, guarded }: ExportRow): boolean => guarded === 1 && approved_by === null

const exportOf = (row: ExportRow): OrganizationExport => ({
  id: row.id,
  state: isWaiting(row) ? "waiting" : "ready",
  versions: row.versions === 1,
  created_by: row.created_by,
  ...(row.approved_by !== null && { approved_by: row.approved_by }),
  created_at: row.created_at,
  expires_at: timestamp(row.expires_at)
})

const mailOf = ({ org }: ExportPlace, { created_by, id, state, versions }: OrganizationExport): string =>
  noticeText(
    `${created_by} asked to export all of an organization, with the values of its secrets.`,
    { Organization: org.name, Versions: versions ? "earlier ones too" : "current ones", Export: id },
    ...(state === "waiting"
      ? ["An environment is protected: nothing can be read until another owner approves the export."]
      : []),
    "Any owner can end the export at once: the page Move an organization of the documentation says how. You get this mail because you are an owner."
  )

/** Permissions to take an organization out. An environment that is protected lets nothing out without a second owner. */
export class Exports extends Effect.Service<Exports>()("@coffer/server/Exports", {
  effect: Effect.gen(function* () {
    const repo = yield* exportsRepo
    const audit = yield* AuditLog
    const mailOwners = yield* makeOwnerNotices
    const counts = yield* archiveCounts

    const find = Effect.fnUntraced(function* ({ org }: ExportPlace, id: ExportId) {
      return (yield* repo.find({ orgId: org.id, id })) ?? (yield* notFound(`export ${id}`))
    })

    const record = (
      place: ExportPlace,
      action: "org.export" | "org.export_approve" | "org.export_end",
      id: ExportId,
      metadata: Record<string, unknown>
    ) =>
      audit.change(sourceOf(place), {
        action,
        resource_type: "org",
        resource_id: place.org.id,
        metadata: { export: id, ...metadata }
      })

    const create = method("Exports.create", function* (place: ExportPlace, versions: boolean) {
      const { actor, org } = place
      if ((yield* repo.count({ orgId: org.id })).count >= maxExports) {
        return yield* new LimitExceeded({
          message: `an organization has at most ${maxExports} exports at a time: end one of them first`
        })
      }
      const id = ExportId.make(yield* uuidV7)
      yield* repo.insert({
        id,
        orgId: org.id,
        userId: actor.id,
        versions: versions ? 1 : 0,
        createdBy: actorName(actor),
        now: yield* now,
        lifetime
      })
      yield* record(place, "org.export", id, { name: org.name, versions, counts: yield* counts({ orgId: org.id }) })
      const made = exportOf(yield* find(place, id))
      yield* mailOwners(org.id, {
        subject: `${made.created_by} exports the organization ${org.name}`,
        text: mailOf(place, made),
        lifetime: Duration.hours(1)
      })
      return made
    })

    const list = traced("Exports.list")((place: ExportPlace) =>
      Effect.map(repo.all({ orgId: place.org.id }), (rows) => rows.map(exportOf))
    )

    const get = traced("Exports.get")((place: ExportPlace, id: ExportId) => Effect.map(find(place, id), exportOf))

    /** Lets another owner's export be read. */
    const approve = method("Exports.approve", function* (place: ExportPlace, id: ExportId) {
      const { actor } = place
      const by = actorName(actor)
      const row = yield* find(place, id)
      if (row.user_id === actor.id) {
        return yield* denied(audit, place, "another owner has to approve this export: you asked for it")
      }
      if (!isWaiting(row)) return yield* new Conflict({ message: `export ${id} is not waiting for approval` })
      if ((yield* repo.owner({ userId: row.user_id, orgId: place.org.id })) === undefined) {
        return yield* new Conflict({ message: `${row.created_by} is no owner any more: the export cannot be read` })
      }
      const [approved] = yield* repo.approve({ id, by })
      if (approved === undefined) return yield* new Conflict({ message: `export ${id} is not waiting for approval` })
      yield* record(place, "org.export_approve", id, { requester: row.created_by })
      return exportOf({ ...row, approved_by: by })
    })

    const end = method("Exports.end", function* (place: ExportPlace, id: ExportId) {
      const { created_by } = yield* find(place, id)
      yield* repo.remove({ id })
      yield* record(place, "org.export_end", id, { requester: created_by })
    })

    /** An export that the caller may read. Fails with ApprovalNeeded while it waits for another owner. */
    const readable = Effect.fnUntraced(function* (place: ExportPlace, id: ExportId) {
      const row = yield* find(place, id)
      if (row.user_id !== place.actor.id) {
        return yield* denied(audit, place, "only the owner who asked for an export reads it")
      }
      if (isWaiting(row)) {
        return yield* new ApprovalNeeded({
          message: `an environment of organization ${place.org.name} is protected: another owner has to approve export ${id} first`
        })
      }
      return row
    })

    return { create, list, get, approve, end, readable } as const
  })
}) {}

import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { Backup, BackupList, Drill, Restore } from "../server/Backup.js"
import { BackupFailed, BackupsDisabled, Conflict, DecryptionFailed } from "../errors/Errors.js"
import { BackupId } from "../base/Ids.js"
import { body, optional } from "../base/Schemas.js"
import { response } from "./Response.js"
import { Admission, recentLogin, requires } from "./Requirement.js"

export class BackupsApi extends HttpApiGroup.make("backups")
  .add(
    HttpApiEndpoint.post("create", "/api/backups")
      .addSuccess(response(Backup, "The new backup", { trigger: "manual" }), { status: 201 })
      .pipe(requires("superadmin"), recentLogin("always"))
      .addError(BackupsDisabled)
      .addError(BackupFailed)
      .annotate(OpenApi.Summary, "Back up the database now")
      .annotate(
        OpenApi.Description,
        "For superadmins. Takes a snapshot of the database, checks, encrypts and stores it."
      )
  )
  .add(
    HttpApiEndpoint.get("list", "/api/backups")
      .addSuccess(response(BackupList, "The backups, and this server's instance"))
      .pipe(requires("superadmin"))
      .addError(BackupsDisabled)
      .addError(BackupFailed)
      .annotate(OpenApi.Summary, "List backups")
      .annotate(
        OpenApi.Description,
        "For superadmins. Lists the backups of every instance that shares the bucket and prefix."
      )
  )
  .add(
    HttpApiEndpoint.post("restore", "/api/backups/:backup_id/restore")
      .setPath(Schema.Struct({ backup_id: BackupId }))
      .addSuccess(response(Restore, "The restored file"))
      .pipe(requires("superadmin"), recentLogin("always"))
      .addError(Conflict)
      .addError(DecryptionFailed)
      .addError(BackupsDisabled)
      .addError(BackupFailed)
      .annotate(OpenApi.Summary, "Decrypt a backup into a file beside the database")
      .annotate(
        OpenApi.Description,
        "The live database is not changed: stop the server, swap the files, start the server."
      )
  )
  .add(
    HttpApiEndpoint.post("drill", "/api/backups/drill")
      .setPayload(body({ backup_id: optional(BackupId, "the backup; default: the newest one of this server") }))
      .addSuccess(response(Drill, "The result of the drill"))
      .pipe(requires("superadmin"), recentLogin("always"))
      .addError(Conflict)
      .addError(BackupsDisabled)
      .addError(BackupFailed)
      .annotate(OpenApi.Summary, "Restore a backup into a temporary file and check all of it")
      .annotate(
        OpenApi.Description,
        "Checks the newest backup of this server, or the one that `backup_id` names. Verifies each audit log and decrypts every value. A damaged backup is reported as `valid: false`, not as an error."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Backups")
  .annotate(OpenApi.Description, "Encrypted snapshots in an object store or a directory, for superadmins") {}

import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Authentication } from "../Actor.js"
import { Backup, BackupList, Drill, Restore } from "../Backup.js"
import { BackupFailed, BackupsDisabled, Conflict, DecryptionFailed, Forbidden } from "../Errors.js"
import { BackupId } from "../Ids.js"
import { body, optional } from "../Schemas.js"
import { Admission, Requires } from "./Requirement.js"

export class BackupsApi extends HttpApiGroup.make("backups")
  .add(
    HttpApiEndpoint.post("create", "/api/backups")
      .addSuccess(Backup, { status: 201 })
      .addError(Forbidden)
      .addError(BackupsDisabled)
      .addError(BackupFailed)
      .annotate(Requires, "superadmin")
      .annotate(OpenApi.Summary, "Back the database up now")
  )
  .add(
    HttpApiEndpoint.get("list", "/api/backups")
      .addSuccess(BackupList)
      .addError(Forbidden)
      .addError(BackupsDisabled)
      .addError(BackupFailed)
      .annotate(Requires, "superadmin")
      .annotate(OpenApi.Summary, "List backups")
  )
  .add(
    HttpApiEndpoint.post("restore", "/api/backups/:backup_id/restore")
      .setPath(Schema.Struct({ backup_id: BackupId }))
      .addSuccess(Restore)
      .addError(Forbidden)
      .addError(Conflict)
      .addError(DecryptionFailed)
      .addError(BackupsDisabled)
      .addError(BackupFailed)
      .annotate(Requires, "superadmin")
      .annotate(OpenApi.Summary, "Decrypt a backup into a file beside the database")
      .annotate(OpenApi.Description, "The live database is untouched: stop the server, swap the files, start it.")
  )
  .add(
    HttpApiEndpoint.post("drill", "/api/backups/drill")
      .setPayload(body({ backup_id: optional(BackupId) }))
      .addSuccess(Drill)
      .addError(Forbidden)
      .addError(Conflict)
      .addError(BackupsDisabled)
      .addError(BackupFailed)
      .annotate(Requires, "superadmin")
      .annotate(OpenApi.Summary, "Fetch a backup, open it in a scratch file and check all of it")
      .annotate(
        OpenApi.Description,
        "The newest backup of this server, unless `backup_id` names another. Each audit log is verified and every value decrypted. A damaged backup is an answer with `valid: false`, and no error."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Backups")
  .annotate(OpenApi.Description, "Encrypted snapshots in an object store or a directory, for superadmins") {}

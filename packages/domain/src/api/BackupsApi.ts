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
      .annotate(OpenApi.Summary, "Back up the database now")
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
      .annotate(
        OpenApi.Description,
        "The live database is not changed: stop the server, swap the files, start the server."
      )
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

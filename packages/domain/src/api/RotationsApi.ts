import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { RotationName } from "../base/Names.js"
import { body, list } from "../base/Schemas.js"
import { Conflict, LimitExceeded } from "../errors/Errors.js"
import { changedRotation, newRotation, Rotation } from "../secrets/Rotation.js"
import { guarded } from "./AskingHeaders.js"
import { EnvPath, envPath, paths } from "./Paths.js"
import { Admission, RecentLogin, recentLogin, requires } from "./Requirement.js"
import { response } from "./Response.js"

const rotations = `${paths.env}/rotations` as const
const rotation = `${rotations}/:rotation_name` as const
const RotationPath = Schema.Struct({ ...envPath, rotation_name: RotationName })

export class RotationsApi extends HttpApiGroup.make("rotations")
  .add(
    HttpApiEndpoint.get("list", rotations)
      .setPath(EnvPath)
      .addSuccess(response(list(Rotation), "The rotations"))
      .pipe(requires("rotation.list"))
      .annotate(OpenApi.Summary, "List the rotations of an environment")
      .annotate(OpenApi.Description, "By name, for admins and owners, without any password.")
  )
  .add(
    HttpApiEndpoint.post("create", rotations)
      .setPath(EnvPath)
      .setPayload(body(newRotation))
      .addSuccess(response(Rotation, "The new rotation"), { status: 201 })
      .pipe(requires("rotation.create"), recentLogin("always"))
      .pipe(guarded)
      .addError(Conflict)
      .addError(LimitExceeded)
      .annotate(OpenApi.Summary, "Renew credentials in a database on a schedule")
      .annotate(
        OpenApi.Description,
        "For admins and owners. The first turn is after `every`, or by a call of `run`. A text that cannot hold each user and password is VALIDATION_ERROR."
      )
  )
  .add(
    HttpApiEndpoint.get("get", rotation)
      .setPath(RotationPath)
      .addSuccess(response(Rotation, "The rotation"))
      .pipe(requires("rotation.list"))
      .annotate(OpenApi.Summary, "Read a rotation")
      .annotate(OpenApi.Description, "For admins and owners. `problem` says why the last try failed.")
  )
  .add(
    HttpApiEndpoint.patch("update", rotation)
      .setPath(RotationPath)
      .setPayload(body(changedRotation))
      .addSuccess(response(Rotation, "The rotation as it is now"))
      .pipe(requires("rotation.update"), recentLogin("always"))
      .pipe(guarded)
      .addError(LimitExceeded)
      .annotate(OpenApi.Summary, "Change, pause or resume a rotation")
      .annotate(
        OpenApi.Description,
        "Fields that are left out stay as they are. A turn that was begun goes on when the rotation is resumed."
      )
  )
  .add(
    HttpApiEndpoint.del("delete", rotation)
      .setPath(RotationPath)
      .addSuccess(response(HttpApiSchema.NoContent, "The rotation is removed"))
      .pipe(requires("rotation.delete"))
      .pipe(guarded)
      .addError(Conflict)
      .addError(LimitExceeded)
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Remove a rotation")
      .annotate(
        OpenApi.Description,
        "The secrets and the users stay as they are. CONFLICT within a turn of a rotation with one user: the new password would be lost."
      )
  )
  .add(
    HttpApiEndpoint.post("run", `${rotation}/run`)
      .setPath(RotationPath)
      .addSuccess(response(Rotation, "The rotation, whose turn begins now"))
      .pipe(requires("rotation.run"), recentLogin("always"))
      .addError(Conflict)
      .annotate(OpenApi.Summary, "Begin a turn of a rotation now")
      .annotate(
        OpenApi.Description,
        "Outside of its window too. The turn is done by a job within seconds: read the rotation for its end. CONFLICT while it is paused."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Rotations")
  .annotate(OpenApi.Description, "Credentials in databases that the server replaces on a schedule") {}

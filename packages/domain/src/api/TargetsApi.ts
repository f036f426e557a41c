import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { Conflict, DecryptionFailed, LimitExceeded, UpstreamFailed } from "../errors/Errors.js"
import { TargetName } from "../base/Names.js"
import { body, list } from "../base/Schemas.js"
import {
  changedTarget,
  newTarget,
  planRequest,
  pushRequest,
  PushResult,
  Target,
  TargetCheck,
  TargetPlan
} from "../secrets/Target.js"
import { guarded } from "./AskingHeaders.js"
import { response } from "./Response.js"
import { EnvPath, envPath, paths } from "./Paths.js"
import { Admission, RecentLogin, recentLogin, requires } from "./Requirement.js"

const targets = `${paths.env}/targets` as const
const target = `${targets}/:target_name` as const
const TargetPath = Schema.Struct({ ...envPath, target_name: TargetName })

export class TargetsApi extends HttpApiGroup.make("targets")
  .add(
    HttpApiEndpoint.get("list", targets)
      .setPath(EnvPath)
      .addSuccess(response(list(Target), "The targets"))
      .pipe(requires("target.list"))
      .annotate(OpenApi.Summary, "List the targets of an environment")
      .annotate(OpenApi.Description, "By name. For people with `admin`.")
  )
  .add(
    HttpApiEndpoint.post("create", targets)
      .setPath(EnvPath)
      .setPayload(body(newTarget))
      .addSuccess(response(Target, "The new target"), { status: 201 })
      .pipe(requires("target.create"), recentLogin("always"))
      .pipe(guarded)
      .addError(Conflict)
      .addError(LimitExceeded)
      .annotate(OpenApi.Summary, "Add a target on another platform")
      .annotate(
        OpenApi.Description,
        "For people with `admin`, never for service accounts. Whoever reads the platform can read what is pushed there. Nothing is pushed yet."
      )
  )
  .add(
    HttpApiEndpoint.get("get", target)
      .setPath(TargetPath)
      .addSuccess(response(Target, "The target"))
      .pipe(requires("target.list"))
      .annotate(OpenApi.Summary, "Read a target")
      .annotate(OpenApi.Description, "The platform is not asked.")
  )
  .add(
    HttpApiEndpoint.patch("update", target)
      .setPath(TargetPath)
      .setPayload(body(changedTarget))
      .addSuccess(response(Target, "The target as it is now"))
      .pipe(requires("target.update"), recentLogin("always"))
      .pipe(guarded)
      .addError(LimitExceeded)
      .annotate(OpenApi.Summary, "Let the server push to a target by itself, or stop it")
      .annotate(
        OpenApi.Description,
        "Fields that are left out stay as they are. What the server then pushes by itself, it pushes by the rights that the caller has at that time."
      )
  )
  .add(
    HttpApiEndpoint.del("delete", target)
      .setPath(TargetPath)
      .addSuccess(response(HttpApiSchema.NoContent, "The target is deleted"))
      .pipe(requires("target.delete"))
      .pipe(guarded)
      .addError(LimitExceeded)
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Delete a target")
      .annotate(OpenApi.Description, "Nothing more is pushed. What is on the platform stays there.")
  )
  .add(
    HttpApiEndpoint.post("plan", `${target}/plan`)
      .setPath(TargetPath)
      .setPayload(body(planRequest))
      .addSuccess(response(TargetPlan, "What a push would change"))
      .pipe(requires("target.push"))
      .addError(Conflict)
      .addError(DecryptionFailed)
      .addError(UpstreamFailed)
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Plan a push to a target")
      .annotate(OpenApi.Description, "Asks the platform what is there, and changes nothing.")
  )
  .add(
    HttpApiEndpoint.post("check", `${target}/check`)
      .setPath(TargetPath)
      .addSuccess(response(TargetCheck, "What has become of what was pushed"))
      .pipe(requires("target.push"))
      .addError(Conflict)
      .addError(DecryptionFailed)
      .addError(UpstreamFailed)
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Check a target")
      .annotate(
        OpenApi.Description,
        "Asks the platform what is there, and compares it with what was pushed last. The server does it each hour by itself."
      )
  )
  .add(
    HttpApiEndpoint.post("push", `${target}/push`)
      .setPath(TargetPath)
      .setPayload(body(pushRequest))
      .addSuccess(response(PushResult, "What was done"))
      .pipe(requires("target.push"))
      .addError(Conflict)
      .addError(DecryptionFailed)
      .addError(UpstreamFailed)
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Push secrets to a target")
      .annotate(
        OpenApi.Description,
        "Does what the plan says. CONFLICT, and nothing is sent, if the environment or the platform has changed since. The audit log has the keys before the first value leaves."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Targets")
  .annotate(OpenApi.Description, "Places on other platforms that secrets are pushed to") {}

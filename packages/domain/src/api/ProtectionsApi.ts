import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Authentication } from "../access/Actor.js"
import { Conflict, LimitExceeded } from "../errors/Errors.js"
import { Protection, protectionTerms } from "../access/Protection.js"
import { RecordMatch } from "../base/RecordETag.js"
import { body } from "../base/Schemas.js"
import { guarded } from "./AskingHeaders.js"
import { EnvPath, paths } from "./Paths.js"
import { Admission, recentLogin, requires } from "./Requirement.js"
import { response } from "./Response.js"

const protection = `${paths.env}/protection` as const

export class ProtectionsApi extends HttpApiGroup.make("protections")
  .add(
    HttpApiEndpoint.get("get", protection)
      .setPath(EnvPath)
      .addSuccess(response(Protection, "The protection"))
      .pipe(requires("protection.read"))
      .annotate(OpenApi.Summary, "Show how an environment is protected")
      .annotate(OpenApi.Description, "For any member. NOT_FOUND if the environment is not protected.")
  )
  .add(
    HttpApiEndpoint.put("set", protection)
      .setPath(EnvPath)
      .setPayload(body(protectionTerms))
      .setHeaders(RecordMatch)
      .addSuccess(response(Protection, "The protection"))
      .pipe(requires("protection.set"), recentLogin("always"))
      .addError(Conflict)
      .addError(LimitExceeded)
      .pipe(guarded)
      .annotate(OpenApi.Summary, "Protect an environment")
      .annotate(
        OpenApi.Description,
        "For owners. From then on, each change of the environment needs the votes of other people. CONFLICT if fewer people could vote than are needed, or if no owner could end the protection again: what an owner asks for needs votes of others, unless `self` counts the owner's own or `break_glass` names an owner. What makes a protection stricter is done at once; anything else needs its votes: 202 with a request if the caller sent `Prefer: respond-async`, else APPROVAL_REQUIRED."
      )
  )
  .add(
    HttpApiEndpoint.del("remove", protection)
      .setPath(EnvPath)
      .setHeaders(RecordMatch)
      .addSuccess(response(HttpApiSchema.NoContent, "The environment is not protected any more"))
      .pipe(requires("protection.delete"), recentLogin("always"))
      .addError(Conflict)
      .addError(LimitExceeded)
      .pipe(guarded)
      .annotate(OpenApi.Summary, "End the protection of an environment")
      .annotate(
        OpenApi.Description,
        "For owners. Needs the votes of the protection: 202 with a request if the caller sent `Prefer: respond-async`, else APPROVAL_REQUIRED."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Protections")
  .annotate(OpenApi.Description, "The votes that changes of an environment need") {}

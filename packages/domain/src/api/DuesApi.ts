import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { changedDue, DueCursor, DuePage, DueWithin } from "../secrets/Due.js"
import { DecryptionFailed, LimitExceeded } from "../errors/Errors.js"
import { body, LimitParameter, optional } from "../base/Schemas.js"
import { SecretListed } from "../secrets/Secret.js"
import { guarded } from "./AskingHeaders.js"
import { response } from "./Response.js"
import { OrgPath, paths, SecretPath } from "./Paths.js"
import { Admission, Compressible, ForDelegations, RecentLogin, requires, ValueFlow } from "./Requirement.js"

export class DuesApi extends HttpApiGroup.make("dues")
  .add(
    HttpApiEndpoint.patch("update", `${paths.env}/secrets/:key`)
      .setPath(SecretPath)
      .setPayload(body(changedDue))
      .addSuccess(
        response(SecretListed, "The secret, without its value", {
          rotate_every_days: 90,
          owner: "ops@example.com",
          due_at: "2026-05-02T08:30:00.000Z"
        })
      )
      .pipe(requires("secret.write"))
      .pipe(guarded)
      .addError(LimitExceeded)
      .addError(DecryptionFailed)
      .annotate(ForDelegations, "any")
      .annotate(ValueFlow, "none")
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Set when a secret is due, and its owner")
      .annotate(
        OpenApi.Description,
        "Fields that are left out stay as they are; null takes one away. The secret is due at the earlier of `expires_at` and the age `rotate_every_days` of its current version, so a new version moves the due date. Nothing is deleted or refused because a secret is due. Versions, revisions and the ETags of values stay as they are."
      )
  )
  .add(
    HttpApiEndpoint.get("list", `${paths.org}/secrets/due`)
      .setPath(OrgPath)
      .setUrlParams(
        Schema.Struct({
          within: optional(DueWithin),
          limit: optional(LimitParameter),
          after: optional(DueCursor)
        })
      )
      .addSuccess(response(DuePage, "A page of due secrets, the earliest first"))
      .pipe(requires("due.list"))
      .annotate(Compressible, true)
      .annotate(OpenApi.Summary, "List the secrets of an organization that are due, without returning values")
      .annotate(
        OpenApi.Description,
        "Those that are overdue or due within `within` (default: 14d), in all environments whose keys the caller may list. Send `next_cursor` as `after` to get the next page."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Due dates")
  .annotate(OpenApi.Description, "When secrets expire or are to be replaced, and their owners") {}

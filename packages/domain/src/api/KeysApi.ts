import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { FoundKeyPage, KeyCursor, KeyQuery } from "../secrets/FoundKey.js"
import { LimitParameter, optional } from "../base/Schemas.js"
import { OrgPath, paths } from "./Paths.js"
import { Admission, Compressible, requires } from "./Requirement.js"
import { response } from "./Response.js"

export class KeysApi extends HttpApiGroup.make("keys")
  .add(
    HttpApiEndpoint.get("find", `${paths.org}/keys`)
      .setPath(OrgPath)
      .setUrlParams(Schema.Struct({ query: KeyQuery, limit: optional(LimitParameter), after: optional(KeyCursor) }))
      .addSuccess(response(FoundKeyPage, "A page of found keys"))
      .pipe(requires("key.find"))
      .annotate(Compressible, true)
      .annotate(OpenApi.Summary, "Find keys by a part of their name, without returning values")
      .annotate(
        OpenApi.Description,
        "Searches all environments whose keys the caller may list; nothing of other environments is counted or shown. Keys that begin with the query come first, then those that contain it. A request looks at a limited number of keys, so that a page may be short or empty before the end: send `next_cursor` as `after` until it is null."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Keys")
  .annotate(OpenApi.Description, "Where a key is, over all projects of an organization") {}

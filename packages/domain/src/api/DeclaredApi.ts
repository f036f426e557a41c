import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { DeclaredKey, KeyCheck, newDeclaration } from "../secrets/DeclaredKey.js"
import { DecryptionFailed, LimitExceeded } from "../errors/Errors.js"
import { SecretKey } from "../base/Names.js"
import { body, list } from "../base/Schemas.js"
import { response } from "./Response.js"
import { EnvPath, paths, ProjectPath, projectPath } from "./Paths.js"
import { Admission, Compressible, ForDelegations, LargeResponse, RecentLogin, requires } from "./Requirement.js"

const declared = `${paths.project}/declared` as const
const KeyPath = Schema.Struct({ ...projectPath, key: SecretKey })

export class DeclaredApi extends HttpApiGroup.make("declared")
  .add(
    HttpApiEndpoint.get("list", declared)
      .setPath(ProjectPath)
      .addSuccess(response(list(DeclaredKey), "The declared keys"))
      .pipe(requires("declared.list"))
      .annotate(Compressible, true)
      .annotate(LargeResponse, 4 * 1024 * 1024)
      .annotate(OpenApi.Summary, "List the keys that a project declares")
      .annotate(
        OpenApi.Description,
        "In byte order of the keys. For any member; the list is empty for callers without `read` on an environment of the project."
      )
  )
  .add(
    HttpApiEndpoint.get("get", `${declared}/:key`)
      .setPath(KeyPath)
      .addSuccess(response(DeclaredKey, "The declared key"))
      .pipe(requires("declared.list"))
      .annotate(OpenApi.Summary, "Show what a project declares of a key")
      .annotate(OpenApi.Description, "For callers with `read` on an environment of the project.")
  )
  .add(
    HttpApiEndpoint.put("set", `${declared}/:key`)
      .setPath(KeyPath)
      .setPayload(body(newDeclaration))
      .addSuccess(response(DeclaredKey, "The declared key as it is now"))
      .pipe(requires("declared.set"))
      .addError(LimitExceeded)
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Declare a key, or replace what is declared of it")
      .annotate(
        OpenApi.Description,
        "For people with the role admin, never for service accounts. Fields that are left out are no longer declared. Names of environments are kept as names: they need not exist. A `pattern` is an RE2 expression for the whole value; the `example` has to match it."
      )
  )
  .add(
    HttpApiEndpoint.del("delete", `${declared}/:key`)
      .setPath(KeyPath)
      .addSuccess(response(HttpApiSchema.NoContent, "The key is no longer declared"))
      .pipe(requires("declared.delete"))
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Declare a key no longer")
      .annotate(OpenApi.Description, "Secrets under the key stay as they are.")
  )
  .add(
    HttpApiEndpoint.get("check", `${paths.env}/check`)
      .setPath(EnvPath)
      .addSuccess(response(KeyCheck, "The keys that are missing, undeclared or break their pattern"))
      .pipe(requires("secret.compare"))
      .addError(LimitExceeded)
      .addError(DecryptionFailed)
      .annotate(Compressible, true)
      .annotate(ForDelegations, "whole")
      .annotate(OpenApi.Summary, "Compare an environment with what its project declares, without returning values")
      .annotate(
        OpenApi.Description,
        "`breaks` is null for service accounts with `reveal: false`, which never learn anything about a value. Values are decrypted only to match them, and one audit entry is made for that. LIMIT_EXCEEDED if matching takes longer than two seconds."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Declared keys")
  .annotate(
    OpenApi.Description,
    "Which keys a project expects, where they are required, and what their values look like"
  ) {}

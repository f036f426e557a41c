import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Authentication } from "../Actor.js"
import { Environment } from "../Environment.js"
import { Conflict, DecryptionFailed, Forbidden, LimitExceeded } from "../Errors.js"
import { withMessage } from "../Message.js"
import { EnvName, SecretKey } from "../Names.js"
import { body, Count, LimitParameter, list, optional, VersionParameter } from "../Schemas.js"
import { Bundle, BundleWritten, Diff, Revision } from "../Secret.js"
import { maxKeys, SecretKeys, SecretValues } from "../SecretValues.js"
import { EnvPath, ProjectPath, paths } from "./Paths.js"
import { Admission, BodyLimit, LargeAnswer, Requires } from "./Requirement.js"

/** The maximum number of keys in a bundle write, and of secrets in an environment. */
export const maxBundleKeys = maxKeys

const key = "[A-Za-z_][A-Za-z0-9_.-]{0,99}"
const keysMessage = "must be secret keys, separated by commas"

/** Secret keys in a query string, separated by commas. */
const Keys = Schema.transform(
  Schema.String.annotations(withMessage(keysMessage)),
  Schema.Array(Schema.typeSchema(SecretKey).annotations(withMessage(keysMessage))),
  { strict: false, decode: (text: string) => text.split(","), encode: (keys: ReadonlyArray<string>) => keys.join(",") }
).annotations({
  ...withMessage(keysMessage),
  jsonSchema: { type: "string", pattern: `^${key}(,${key})*$` },
  description: keysMessage
})

/** The maximum number of changed keys in a page of revisions. */
export const maxRevisionChanges = 2 * maxBundleKeys

export class EnvironmentsApi extends HttpApiGroup.make("environments")
  .add(
    HttpApiEndpoint.post("create", paths.envs)
      .setPath(ProjectPath)
      .setPayload(body({ name: EnvName }))
      .addSuccess(Environment, { status: 201 })
      .addError(Forbidden)
      .addError(Conflict)
      .addError(LimitExceeded)
      .annotate(Requires, "env.create")
      .annotate(OpenApi.Summary, "Create an environment")
  )
  .add(
    HttpApiEndpoint.get("list", paths.envs)
      .setPath(ProjectPath)
      .addSuccess(list(Environment))
      .addError(Forbidden)
      .annotate(Requires, "env.list")
      .annotate(OpenApi.Summary, "List environments")
  )
  .add(
    HttpApiEndpoint.del("delete", paths.env)
      .setPath(EnvPath)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Forbidden)
      .annotate(Requires, "env.delete")
      .annotate(OpenApi.Summary, "Remove an environment")
  )
  .add(
    HttpApiEndpoint.get("bundle", `${paths.env}/bundle`)
      .setPath(EnvPath)
      .setUrlParams(Schema.Struct({ keys: optional(Keys) }))
      .setHeaders(Schema.Struct({ "if-none-match": optional(Schema.String) }))
      .addSuccess(Bundle)
      .addSuccess(HttpApiSchema.Empty(304))
      .addError(Forbidden)
      .addError(DecryptionFailed)
      .annotate(Requires, "secret.read")
      .annotate(LargeAnswer, 8 * 1024 * 1024)
      .annotate(OpenApi.Summary, "Read every secret of an environment")
      .annotate(
        OpenApi.Description,
        "A read makes one audit entry. Send the `ETag` of a response as `If-None-Match` to get 304 while nothing has changed."
      )
  )
  .add(
    HttpApiEndpoint.patch("writeBundle", `${paths.env}/bundle`)
      .setPath(EnvPath)
      .setHeaders(Schema.Struct({ "if-match": optional(Schema.String) }))
      .setPayload(
        body({
          set: optional(SecretValues),
          delete: optional(SecretKeys),
          dry_run: optional(Schema.Boolean)
        })
      )
      .addSuccess(BundleWritten)
      .addError(Forbidden)
      .addError(Conflict)
      .addError(LimitExceeded)
      .addError(DecryptionFailed)
      .annotate(Requires, "secret.write")
      .annotate(BodyLimit, 16 * 1024 * 1024)
      .annotate(OpenApi.Summary, "Write and delete secrets of an environment, all or nothing")
      .annotate(
        OpenApi.Description,
        "At most 2,000 keys. An unchanged value gets no new version. With `If-Match`, nothing is written if the environment has changed since that ETag."
      )
  )
  .add(
    HttpApiEndpoint.post("copy", `${paths.env}/copy`)
      .setPath(EnvPath)
      .setHeaders(Schema.Struct({ "if-match": optional(Schema.String) }))
      .setPayload(
        body({
          from: EnvName,
          keys: optional(SecretKeys),
          dry_run: optional(Schema.Boolean)
        })
      )
      .addSuccess(BundleWritten)
      .addError(Forbidden)
      .addError(Conflict)
      .addError(LimitExceeded)
      .addError(DecryptionFailed)
      .annotate(Requires, "secret.write")
      .annotate(OpenApi.Summary, "Copy secrets from another environment, without returning values")
  )
  .add(
    HttpApiEndpoint.get("diff", `${paths.env}/diff`)
      .setPath(EnvPath)
      .setUrlParams(Schema.Struct({ with: EnvName }))
      .addSuccess(Diff)
      .addError(Forbidden)
      .addError(DecryptionFailed)
      .annotate(Requires, "secret.compare")
      .annotate(OpenApi.Summary, "Compare the keys of two environments, without returning values")
  )
  .add(
    HttpApiEndpoint.get("revisions", `${paths.env}/revisions`)
      .setPath(EnvPath)
      .setUrlParams(
        Schema.Struct({
          limit: optional(LimitParameter),
          before: optional(VersionParameter)
        })
      )
      .addSuccess(list(Revision))
      .addError(Forbidden)
      .annotate(Requires, "secret.list")
      .annotate(OpenApi.Summary, "List the changes of an environment, newest first, without values")
      .annotate(
        OpenApi.Description,
        "A page has at most `limit` revisions and 4,000 changes, so a page may be short: only an empty page is the end. `before` is the last revision of the previous page."
      )
  )
  .add(
    HttpApiEndpoint.post("revert", `${paths.env}/revert`)
      .setPath(EnvPath)
      .setHeaders(Schema.Struct({ "if-match": optional(Schema.String) }))
      .setPayload(body({ to: Count, dry_run: optional(Schema.Boolean) }))
      .addSuccess(BundleWritten)
      .addError(Forbidden)
      .addError(Conflict)
      .addError(LimitExceeded)
      .addError(DecryptionFailed)
      .annotate(Requires, "secret.write")
      .annotate(OpenApi.Summary, "Revert an environment to a revision, without returning values")
      .annotate(
        OpenApi.Description,
        "Makes one new revision, all or nothing; 0 empties the environment. An unchanged value gets no new version. CONFLICT if the revision needs a destroyed version."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Environments")
  .annotate(
    OpenApi.Description,
    "Stages of a project. Read, write, copy and compare all secrets of an environment at once"
  ) {}

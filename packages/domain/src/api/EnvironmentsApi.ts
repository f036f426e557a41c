import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { RevisionNote } from "../requests/ApprovalRequest.js"
import { Expiry } from "../secrets/Due.js"
import { Environment, maxEnvironmentDays } from "../directory/Environment.js"
import {
  BundleFormatParameter,
  dryRun,
  EnvsParameter,
  force,
  ForceEnvParameter,
  IfMatch,
  IfNoneMatch,
  KeysParameter,
  MatrixFormatParameter,
  OtherEnv,
  ResolvedParameter
} from "../secrets/EnvironmentParameters.js"
import {
  Conflict,
  DecryptionFailed,
  LimitExceeded,
  PatternBroken,
  RateLimited,
  ReferenceRefused,
  UseWidens
} from "../errors/Errors.js"
import { CompactMatrix } from "../secrets/CompactMatrix.js"
import { Matrix, maxMatrixEnvironments } from "../secrets/Matrix.js"
import { EnvName, SecretKey } from "../base/Names.js"
import { BeforeParameter, body, Count, field, LimitParameter, list, optional } from "../base/Schemas.js"
import { Bundle, BundleObject, BundleWritten } from "../secrets/Bundle.js"
import { Diff } from "../secrets/Diff.js"
import { Revision } from "../secrets/Revision.js"
import { RawParameter } from "../secrets/Secret.js"
import { maxKeys, SecretKeys, SecretValues } from "../secrets/SecretValues.js"
import { guarded } from "./AskingHeaders.js"
import { response, SendsETag } from "./Response.js"
import { EnvPath, ProjectPath, paths } from "./Paths.js"
import {
  Admission,
  BodyLimit,
  Compressible,
  ForDelegations,
  RecentLogin,
  recentLogin,
  requires,
  ValueFlow
} from "./Requirement.js"

/** The maximum number of keys in a bundle write, and of secrets in an environment. */
export const maxBundleKeys = maxKeys

/** The maximum number of changed keys in a page of revisions. */
export const maxRevisionChanges = 2 * maxBundleKeys

const end = `when it ends, at most ${maxEnvironmentDays.toLocaleString("en")} days ahead: a date, or a date and time in UTC`

const written = "The change of each key, made or (with `dry_run`) planned"

export class EnvironmentsApi extends HttpApiGroup.make("environments")
  .add(
    HttpApiEndpoint.post("create", paths.envs)
      .setPath(ProjectPath)
      .setPayload(
        body({
          name: EnvName,
          from: optional(
            EnvName,
            "the environment of the same project whose secrets it starts with; absent: it starts empty",
            EnvName.make("preview")
          ),
          keys: optional(SecretKeys, "the keys to copy, with `from`; default: all", [
            SecretKey.make("API_KEY"),
            SecretKey.make("DATABASE_URL")
          ]),
          expires_at: optional(Expiry, `${end}; absent: it lasts`, "2027-01-31T08:00:00Z")
        })
      )
      .addSuccess(response(Environment, "The new environment"), { status: 201 })
      .pipe(requires("env.create"))
      .addError(Conflict)
      .addError(ReferenceRefused)
      .addError(UseWidens)
      .addError(PatternBroken)
      .pipe(guarded)
      .addError(LimitExceeded)
      .addError(DecryptionFailed)
      .annotate(ValueFlow, "moved")
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Create an environment, empty or as a copy of another")
      .annotate(
        OpenApi.Description,
        "Access rules whose patterns match its name apply at once. The copy is made in one transaction and returns no values; the caller needs `read` on `from`. References stay references, and use rules are not copied. From `expires_at` on, the environment is gone as if it had been removed. For admins; if the project allows previews, also for those who have `write` on the name. The name that a protected environment had needs its votes for 30 days."
      )
  )
  .add(
    HttpApiEndpoint.get("list", paths.envs)
      .setPath(ProjectPath)
      .addSuccess(response(list(Environment), "The environments"))
      .pipe(requires("env.list"))
      .annotate(Compressible, true)
      .annotate(OpenApi.Summary, "List environments")
      .annotate(
        OpenApi.Description,
        "For any member. In the project's own order; those without a `position` follow, by stage (dev, test, qa, staging, preview, prod) and name."
      )
  )
  .add(
    HttpApiEndpoint.patch("extend", paths.env)
      .setPath(EnvPath)
      .setPayload(
        body({
          expires_at: field(
            Schema.NullOr(Expiry).annotations({ jsonSchema: { anyOf: [{ type: "string" }, { type: "null" }] } }),
            `${end}; null: it lasts`,
            "2027-01-31T08:00:00Z"
          )
        })
      )
      .addSuccess(response(Environment, "The environment with its new end"))
      .pipe(requires("env.extend"), recentLogin("handler"))
      .pipe(guarded)
      .addError(LimitExceeded)
      .annotate(ValueFlow, "none")
      .annotate(OpenApi.Summary, "Set when an environment ends")
      .annotate(
        OpenApi.Description,
        "For admins; if the environment is one of the project's previews, also for those who have `write` on it, but never with null. Anything but a later end needs a login from the last 15 minutes, as the removal of an environment does."
      )
  )
  .add(
    HttpApiEndpoint.del("delete", paths.env)
      .setPath(EnvPath)
      .setUrlParams(Schema.Struct({ force: optional(ForceEnvParameter) }))
      .addSuccess(response(HttpApiSchema.NoContent, "The environment is removed"))
      .pipe(requires("env.delete"), recentLogin("always"))
      .pipe(guarded)
      .addError(LimitExceeded)
      .addError(Conflict)
      .annotate(OpenApi.Summary, "Remove an environment")
      .annotate(
        OpenApi.Description,
        "Its secrets become inaccessible at once. It can be restored for the days of the server's `SERVICE_TRASH_DAYS`, but not after its own end. The name can be used again; that of a protected environment only with its votes for 30 days. If secrets of other environments refer to its secrets, it is a conflict that names them, unless `force` is set. For admins; if the environment is one of the project's previews, also for those who have `write` on it."
      )
  )
  .add(
    HttpApiEndpoint.get("matrix", paths.matrix)
      .setPath(ProjectPath)
      .setUrlParams(Schema.Struct({ envs: optional(EnvsParameter), format: optional(MatrixFormatParameter) }))
      .setHeaders(Schema.Struct({ "if-none-match": optional(IfNoneMatch) }))
      .addSuccess(response(Matrix, "The matrix, keys in byte order"))
      .addSuccess(response(CompactMatrix, "With `format=compact`: the same with each key, writer and time once"))
      .addSuccess(response(HttpApiSchema.Empty(304), "Nothing has changed since the response with this ETag"))
      .pipe(requires("env.list"))
      .addError(RateLimited)
      .annotate(Compressible, true)
      .annotate(SendsETag, true)
      .annotate(OpenApi.Summary, "Compare the keys of all environments of a project, without returning values")
      .annotate(
        OpenApi.Description,
        `For any member. The cells of an environment are null without \`read\` on it. Without \`envs\`, the matrix has the first ${maxMatrixEnvironments} environments by name, and \`others\` names the rest. Values are decrypted only to compare them; only a comparison by an account with \`reveal: false\` makes an audit entry, and it may make 60 an hour. Send the \`ETag\` of a response as \`If-None-Match\` to get 304 while nothing has changed. With \`format=compact\`, the response says the same in about a sixth of the bytes, for those who read it often.`
      )
  )
  .add(
    HttpApiEndpoint.get("bundle", `${paths.env}/bundle`)
      .setPath(EnvPath)
      .setUrlParams(
        Schema.Struct({
          keys: optional(KeysParameter),
          format: optional(BundleFormatParameter),
          raw: optional(RawParameter)
        })
      )
      .setHeaders(Schema.Struct({ "if-none-match": optional(IfNoneMatch) }))
      .addSuccess(response(Bundle, "The secrets with their values, keys in byte order"))
      .addSuccess(response(BundleObject, "With `format=object`: the values by their keys"))
      .addSuccess(response(HttpApiSchema.Empty(304), "Nothing has changed since the response with this ETag"))
      .pipe(requires("secret.read"))
      .addError(ReferenceRefused)
      .addError(DecryptionFailed)
      .annotate(ForDelegations, "any")
      .annotate(SendsETag, true)
      .annotate(OpenApi.Summary, "Read every secret of an environment")
      .annotate(
        OpenApi.Description,
        "A read makes one audit entry. Send the `ETag` of a response as `If-None-Match` to get 304 while nothing has changed. With `format=object`, the answer is one flat JSON object, with an `ETag` of its own: for programs that read JSON and know nothing of Coffer. If one value cannot be read, the whole read fails. References are returned as the values that they lead to; `errors` names the keys where that fails, and the others are returned. The `ETag` covers every environment that they pass."
      )
  )
  .add(
    HttpApiEndpoint.patch("writeBundle", `${paths.env}/bundle`)
      .setPath(EnvPath)
      .setHeaders(Schema.Struct({ "if-match": optional(IfMatch) }))
      .setPayload(
        body({
          set: optional(SecretValues, "values by key"),
          references: optional(
            SecretValues,
            'texts of references by key, written as `kind: "reference"` is',
            new Map()
          ),
          delete: optional(SecretKeys, "keys to remove; missing keys are reported as unchanged", [
            SecretKey.make("OLD_TOKEN")
          ]),
          force,
          note: optional(RevisionNote, "what the history says of the revision", "imported from doppler:webshop/prd"),
          dry_run: dryRun(false)
        })
      )
      .addSuccess(response(BundleWritten, written))
      .pipe(requires("secret.write"))
      .pipe(guarded)
      .addError(Conflict)
      .addError(ReferenceRefused)
      .addError(UseWidens)
      .addError(PatternBroken)
      .addError(LimitExceeded)
      .addError(DecryptionFailed)
      .annotate(ForDelegations, "any")
      .annotate(ValueFlow, "given")
      .annotate(RecentLogin, "never")
      .annotate(BodyLimit, 16 * 1024 * 1024)
      .annotate(SendsETag, true)
      .annotate(OpenApi.Summary, "Write and delete secrets of an environment, all or nothing")
      .annotate(
        OpenApi.Description,
        "At most 2,000 keys. An unchanged value gets no new version. To an account with `reveal: false`, `dry_run` reports each existing key in `set` or `references` as updated, whatever its value. With `If-Match`, nothing is written if the environment has changed since that ETag. CONFLICT if other secrets refer to a key in `delete`. `warnings` names changes against what the project declares."
      )
  )
  .add(
    HttpApiEndpoint.post("copy", `${paths.env}/copy`)
      .setPath(EnvPath)
      .setHeaders(Schema.Struct({ "if-match": optional(IfMatch) }))
      .setPayload(
        body({
          from: field(EnvName, "the environment of the same project to copy from", EnvName.make("staging")),
          keys: optional(SecretKeys, "the keys to copy; default: all", [
            SecretKey.make("API_KEY"),
            SecretKey.make("DATABASE_URL")
          ]),
          dry_run: dryRun(true)
        })
      )
      .addSuccess(
        response(BundleWritten, written, {
          data: [
            { key: "API_KEY", version: 1, change: "created" },
            { key: "DATABASE_URL", version: 4, change: "updated" }
          ]
        })
      )
      .pipe(requires("secret.write"))
      .pipe(guarded)
      .addError(Conflict)
      .addError(ReferenceRefused)
      .addError(UseWidens)
      .addError(PatternBroken)
      .addError(LimitExceeded)
      .addError(DecryptionFailed)
      .annotate(ValueFlow, "moved")
      .annotate(RecentLogin, "never")
      .annotate(SendsETag, true)
      .annotate(OpenApi.Summary, "Copy secrets from another environment, without returning values")
      .annotate(
        OpenApi.Description,
        "Copies all keys, or those in `keys`. The caller needs `read` on the source and `write` on the target. The `ETag` of the response covers both environments: send it as `If-Match` to write only if neither has changed since. To an account with `reveal: false`, `dry_run` reports each existing key as updated, whatever its value."
      )
  )
  .add(
    HttpApiEndpoint.get("diff", `${paths.env}/diff`)
      .setPath(EnvPath)
      .setUrlParams(Schema.Struct({ with: OtherEnv, resolved: optional(ResolvedParameter) }))
      .addSuccess(response(Diff, "The keys of both environments"))
      .pipe(requires("secret.compare"))
      .addError(RateLimited)
      .addError(ReferenceRefused)
      .addError(DecryptionFailed)
      .annotate(Compressible, true)
      .annotate(OpenApi.Summary, "Compare the keys of two environments, without returning values")
      .annotate(
        OpenApi.Description,
        "`with` names the other environment of the same project. The caller needs `read` on both. References are compared by their text, or with `resolved=1` by the values that they lead to. For these, the caller needs `read` on every environment that they pass, and must not be an account with `reveal: false`. Such an account compares at most 60 times an hour, each with an audit entry."
      )
  )
  .add(
    HttpApiEndpoint.get("revisions", `${paths.env}/revisions`)
      .setPath(EnvPath)
      .setUrlParams(
        Schema.Struct({
          limit: optional(LimitParameter),
          before: optional(BeforeParameter)
        })
      )
      .addSuccess(response(list(Revision), "The revisions"))
      .pipe(requires("secret.list"))
      .annotate(Compressible, true)
      .annotate(ForDelegations, "whole")
      .annotate(OpenApi.Summary, "List the changes of an environment, newest first, without values")
      .annotate(
        OpenApi.Description,
        "A page has at most `limit` revisions and 4,000 changes, so a page may be short: only an empty page is the end. `before` is the last revision of the previous page."
      )
  )
  .add(
    HttpApiEndpoint.post("revert", `${paths.env}/revert`)
      .setPath(EnvPath)
      .setHeaders(Schema.Struct({ "if-match": optional(IfMatch) }))
      .setPayload(
        body({
          to: field(Count, "the revision to revert to; 0: the empty environment", 41),
          force,
          dry_run: dryRun(false)
        })
      )
      .addSuccess(
        response(BundleWritten, written, {
          data: [
            { key: "API_KEY", version: 2, change: "deleted" },
            { key: "DATABASE_URL", version: 4, change: "updated" },
            { key: "OLD_TOKEN", version: 1, change: "created" }
          ]
        })
      )
      .pipe(requires("secret.write"))
      .pipe(guarded)
      .addError(Conflict)
      .addError(ReferenceRefused)
      .addError(UseWidens)
      .addError(LimitExceeded)
      .addError(DecryptionFailed)
      .annotate(ForDelegations, "whole")
      .annotate(ValueFlow, "moved")
      .annotate(RecentLogin, "never")
      .annotate(SendsETag, true)
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

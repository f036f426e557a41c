import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { DueWithin } from "../secrets/Due.js"
import {
  Conflict,
  DecryptionFailed,
  LimitExceeded,
  PatternBroken,
  RateLimited,
  ReferenceRefused,
  UseWidens
} from "../errors/Errors.js"
import { withMessage } from "../base/Message.js"
import { SecretKey } from "../base/Names.js"
import {
  BeforeParameter,
  body,
  Count,
  ExpectedVersionParameter,
  field,
  LimitParameter,
  list,
  optional
} from "../base/Schemas.js"
import {
  CompareParameter,
  expectedVersion,
  ForceParameter,
  RawParameter,
  ReadVersionParameter,
  RemovedCursor,
  RemovedParameter,
  SecretDestroyed,
  SecretList,
  SecretRead,
  SecretReferences,
  SecretVersion,
  SecretWritten,
  VersionNumbers,
  WrittenKind
} from "../secrets/Secret.js"
import { RedactedSecretValue } from "../secrets/SecretValues.js"
import { guarded } from "./AskingHeaders.js"
import { response } from "./Response.js"
import { EnvPath, SecretPath, paths } from "./Paths.js"
import {
  Admission,
  Compressible,
  ForDelegations,
  RecentLogin,
  recentLogin,
  requires,
  ValueFlow
} from "./Requirement.js"

const secrets = `${paths.env}/secrets` as const
const secret = `${secrets}/:key` as const

interface ListParameters {
  readonly due_within?: unknown
  readonly removed?: unknown
  readonly key?: unknown
  readonly limit?: unknown
  readonly after?: unknown
}

const onlyRemoved = withMessage("is only for removed secrets: add removed=1")
const neverDue = withMessage("must be left out with removed=1: removed secrets are never due")

/** Live secrets are listed whole, and removed ones in pages. */
const asksForOneList = ({ due_within, removed, ...page }: ListParameters): true | Schema.FilterIssue => {
  const needsRemoved = Object.keys(page)[0]
  if (removed === undefined && needsRemoved !== undefined) {
    return { path: [needsRemoved], message: onlyRemoved.message().message }
  }
  if (removed !== undefined && due_within !== undefined) {
    return { path: ["due_within"], message: neverDue.message().message }
  }
  return true
}

const destroyedExample = {
  version: 2,
  created_at: "2026-01-31T12:00:00.000Z",
  created_by: "deploy pipeline",
  current: false,
  destroyed: true
}

export class SecretsApi extends HttpApiGroup.make("secrets")
  .add(
    HttpApiEndpoint.put("set", secret)
      .setPath(SecretPath)
      .setPayload(
        body({
          value: field(RedactedSecretValue, "the value, exactly as stored"),
          kind: optional(WrittenKind),
          expected_version: expectedVersion
        })
      )
      .addSuccess(response(SecretWritten, "The secret's new version, without the value"))
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
      .annotate(OpenApi.Summary, "Write a new version of a secret")
      .annotate(
        OpenApi.Description,
        'With `expected_version`, writes only if the key is at that version; 0 means that it must not exist. With `kind: "reference"`, the value may name other secrets of the project, which the caller must be allowed to read; it leads to their values whenever it is read. `warnings` says whether the value breaks the pattern that the project declares for the key.'
      )
  )
  .add(
    HttpApiEndpoint.get("get", secret)
      .setPath(SecretPath)
      .setUrlParams(Schema.Struct({ version: optional(ReadVersionParameter), raw: optional(RawParameter) }))
      .addSuccess(response(SecretRead, "The secret with its value"))
      .pipe(requires("secret.read"))
      .addError(ReferenceRefused)
      .addError(DecryptionFailed)
      .annotate(ForDelegations, "any")
      .annotate(OpenApi.Summary, "Read the current or an earlier version of a secret")
      .annotate(
        OpenApi.Description,
        "With `version`, returns that version. A reference is returned as the value that it leads to: the caller needs `read` on every environment that it passes, and REFERENCE_REFUSED names what is missing. Every read is recorded in the audit log."
      )
  )
  .add(
    HttpApiEndpoint.get("list", secrets)
      .setPath(EnvPath)
      .setUrlParams(
        Schema.Struct({
          due_within: optional(DueWithin),
          removed: optional(RemovedParameter),
          key: optional(SecretKey, "only this key; only with `removed`"),
          limit: optional(LimitParameter),
          after: optional(RemovedCursor)
        }).pipe(Schema.filter(asksForOneList))
      )
      .addSuccess(response(SecretList, "The keys"))
      .pipe(requires("secret.list"))
      .addError(DecryptionFailed)
      .annotate(Compressible, true)
      .annotate(ForDelegations, "any")
      .annotate(OpenApi.Summary, "List keys, without returning values")
      .annotate(
        OpenApi.Description,
        "Sorted by key, in byte order. With `due_within`, only those that are overdue or due within that time. With `removed`, the secrets that were removed instead, and can be restored because their versions are kept and no new secret has the key: a page of at most `limit`; send `next_cursor` as `after` to get the next page."
      )
  )
  .add(
    HttpApiEndpoint.del("delete", secret)
      .setPath(SecretPath)
      .setUrlParams(
        Schema.Struct({
          expected_version: optional(ExpectedVersionParameter),
          force: optional(ForceParameter)
        })
      )
      .addSuccess(response(HttpApiSchema.NoContent, "The secret is removed"))
      .pipe(requires("secret.write"))
      .pipe(guarded)
      .addError(LimitExceeded)
      .addError(Conflict)
      .addError(DecryptionFailed)
      .annotate(ForDelegations, "any")
      .annotate(ValueFlow, "none")
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Remove a secret")
      .annotate(
        OpenApi.Description,
        "Its versions are kept: `undelete` restores it, unless a new secret has the key. CONFLICT if other secrets refer to it."
      )
  )
  .add(
    HttpApiEndpoint.get("references", `${secret}/references`)
      .setPath(SecretPath)
      .addSuccess(response(SecretReferences, "What it refers to, and what refers to it"))
      .pipe(requires("secret.list"))
      .addError(DecryptionFailed)
      .annotate(Compressible, true)
      .annotate(ForDelegations, "whole")
      .annotate(OpenApi.Summary, "List what a secret refers to and what refers to it, without values")
      .annotate(
        OpenApi.Description,
        "References that stand in environments which the caller may not read are counted in `hidden`."
      )
  )
  .add(
    HttpApiEndpoint.get("versions", `${secret}/versions`)
      .setPath(SecretPath)
      .setUrlParams(
        Schema.Struct({
          limit: optional(LimitParameter),
          before: optional(BeforeParameter),
          compare: optional(CompareParameter)
        })
      )
      .addSuccess(response(list(SecretVersion), "The versions"))
      .pipe(requires("secret.list"))
      .addError(RateLimited)
      .addError(DecryptionFailed)
      .annotate(Compressible, true)
      .annotate(ForDelegations, "any")
      .annotate(OpenApi.Summary, "List a secret's versions, newest first, without values")
      .annotate(
        OpenApi.Description,
        "One page at a time: `before` is the last version of the previous page. With `compare`, values are decrypted to compare them, and are not returned; an account with `reveal: false` compares at most 60 times an hour, each with an audit entry."
      )
  )
  .add(
    HttpApiEndpoint.post("rollback", `${secret}/rollback`)
      .setPath(SecretPath)
      .setPayload(
        body({ version: field(Count, "the number of the version, from 1", 1), expected_version: expectedVersion })
      )
      .addSuccess(response(SecretWritten, "The secret's new version"))
      .pipe(requires("secret.write"))
      .pipe(guarded)
      .addError(Conflict)
      .addError(ReferenceRefused)
      .addError(UseWidens)
      .addError(LimitExceeded)
      .addError(DecryptionFailed)
      .annotate(ForDelegations, "any")
      .annotate(ValueFlow, "moved")
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Restore an earlier value as a new version, without returning it")
      .annotate(OpenApi.Description, "The earlier value becomes a new version; it is not returned.")
  )
  .add(
    HttpApiEndpoint.post("undelete", `${secret}/undelete`)
      .setPath(SecretPath)
      .addSuccess(response(SecretWritten, "The restored secret, without the value"))
      .pipe(requires("secret.write"))
      .pipe(guarded)
      .addError(Conflict)
      .addError(ReferenceRefused)
      .addError(UseWidens)
      .addError(LimitExceeded)
      .addError(DecryptionFailed)
      .annotate(ForDelegations, "any")
      .annotate(ValueFlow, "moved")
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Restore a removed secret with its versions")
      .annotate(
        OpenApi.Description,
        "Restores the secret that was removed last under this key. Older removed secrets of the key are not restored."
      )
  )
  .add(
    HttpApiEndpoint.post("destroy", `${secret}/destroy`)
      .setPath(SecretPath)
      .setPayload(body({ versions: field(VersionNumbers, "the versions to erase", [2]) }))
      .addSuccess(response(SecretDestroyed, "The requested versions", { data: [destroyedExample] }))
      .pipe(requires("secret.destroy"), recentLogin("always"))
      .pipe(guarded)
      .addError(LimitExceeded)
      .addError(Conflict)
      .addError(DecryptionFailed)
      .annotate(ValueFlow, "none")
      .annotate(OpenApi.Summary, "Erase earlier versions permanently")
      .annotate(
        OpenApi.Description,
        "The record that they existed stays. The current version cannot be erased. `erased` is `pending` while another connection, such as a backup, reads an older snapshot: the server then finishes later. Existing backups still contain the values."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Secrets")
  .annotate(OpenApi.Description, "One secret at a time, with its versions") {}

import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Authentication } from "../Actor.js"
import { Conflict, DecryptionFailed, Forbidden, LimitExceeded } from "../Errors.js"
import {
  body,
  boundedArray,
  Count,
  ExpectedVersionParameter,
  LimitParameter,
  list,
  optional,
  VersionParameter
} from "../Schemas.js"
import { SecretDestroyed, SecretListed, SecretRead, SecretVersion, SecretWritten } from "../Secret.js"
import { RedactedSecretValue } from "../SecretValues.js"
import { EnvPath, SecretPath, paths } from "./Paths.js"
import { Admission, Requires } from "./Requirement.js"

const secrets = `${paths.env}/secrets` as const
const secret = `${secrets}/:key` as const

/** Numbers of versions, for a request. */
export const VersionNumbers = boundedArray(Count, {
  items: { $ref: "#/components/schemas/Count" },
  max: 1_000,
  text: "at most 1,000 versions at once",
  empty: "name at least one version"
})

const expectedVersion = "the expected current version, or 0 if the key must not exist; CONFLICT if it differs"

export class SecretsApi extends HttpApiGroup.make("secrets")
  .add(
    HttpApiEndpoint.put("set", secret)
      .setPath(SecretPath)
      .setPayload(
        body({
          value: RedactedSecretValue,
          expected_version: optional(Count.annotations({ description: expectedVersion }))
        })
      )
      .addSuccess(SecretWritten)
      .addError(Forbidden)
      .addError(Conflict)
      .addError(LimitExceeded)
      .addError(DecryptionFailed)
      .annotate(Requires, "secret.write")
      .annotate(OpenApi.Summary, "Write a new version of a secret")
  )
  .add(
    HttpApiEndpoint.get("get", secret)
      .setPath(SecretPath)
      .setUrlParams(Schema.Struct({ version: optional(VersionParameter) }))
      .addSuccess(SecretRead)
      .addError(Forbidden)
      .addError(DecryptionFailed)
      .annotate(Requires, "secret.read")
      .annotate(OpenApi.Summary, "Read the current or an earlier version of a secret")
  )
  .add(
    HttpApiEndpoint.get("list", secrets)
      .setPath(EnvPath)
      .addSuccess(list(SecretListed))
      .addError(Forbidden)
      .addError(DecryptionFailed)
      .annotate(Requires, "secret.list")
      .annotate(OpenApi.Summary, "List keys, without returning values")
  )
  .add(
    HttpApiEndpoint.del("delete", secret)
      .setPath(SecretPath)
      .setUrlParams(
        Schema.Struct({
          expected_version: optional(ExpectedVersionParameter.annotations({ description: expectedVersion }))
        })
      )
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Forbidden)
      .addError(Conflict)
      .addError(DecryptionFailed)
      .annotate(Requires, "secret.write")
      .annotate(OpenApi.Summary, "Remove a secret")
  )
  .add(
    HttpApiEndpoint.get("versions", `${secret}/versions`)
      .setPath(SecretPath)
      .setUrlParams(
        Schema.Struct({
          limit: optional(LimitParameter),
          before: optional(VersionParameter)
        })
      )
      .addSuccess(list(SecretVersion))
      .addError(Forbidden)
      .addError(DecryptionFailed)
      .annotate(Requires, "secret.list")
      .annotate(OpenApi.Summary, "List a secret's versions, newest first, without values")
  )
  .add(
    HttpApiEndpoint.post("rollback", `${secret}/rollback`)
      .setPath(SecretPath)
      .setPayload(body({ version: Count, expected_version: optional(Count) }))
      .addSuccess(SecretWritten)
      .addError(Forbidden)
      .addError(Conflict)
      .addError(LimitExceeded)
      .addError(DecryptionFailed)
      .annotate(Requires, "secret.write")
      .annotate(OpenApi.Summary, "Restore an earlier value as a new version, without returning it")
  )
  .add(
    HttpApiEndpoint.post("undelete", `${secret}/undelete`)
      .setPath(SecretPath)
      .addSuccess(SecretWritten)
      .addError(Forbidden)
      .addError(Conflict)
      .addError(LimitExceeded)
      .addError(DecryptionFailed)
      .annotate(Requires, "secret.write")
      .annotate(OpenApi.Summary, "Restore a removed secret with its versions")
  )
  .add(
    HttpApiEndpoint.post("destroy", `${secret}/destroy`)
      .setPath(SecretPath)
      .setPayload(body({ versions: VersionNumbers }))
      .addSuccess(SecretDestroyed)
      .addError(Forbidden)
      .addError(Conflict)
      .addError(DecryptionFailed)
      .annotate(Requires, "secret.destroy")
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

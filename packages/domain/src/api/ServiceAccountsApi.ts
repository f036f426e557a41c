import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { Conflict, LimitExceeded } from "../errors/Errors.js"
import { ServiceAccountId } from "../base/Ids.js"
import { NewServiceAccountName, ProjectName } from "../base/Names.js"
import { RecordMatch } from "../base/RecordETag.js"
import { body, list, optional } from "../base/Schemas.js"
import {
  AllowedNetworks,
  ChangedNetworks,
  Days,
  Grace,
  NewServiceAccount,
  ServiceAccount,
  ServiceAccountWithKey
} from "../directory/ServiceAccount.js"
import { response } from "./Response.js"
import { orgPath, OrgPath, paths } from "./Paths.js"
import { Admission, Compressible, recentLogin, requires } from "./Requirement.js"

const AccountPath = Schema.Struct({ ...orgPath, sa_id: ServiceAccountId })
const networksExample = ["10.20.0.0/16", "2001:db8:7::/48"]
const accounts = `${paths.org}/service-accounts` as const

export class ServiceAccountsApi extends HttpApiGroup.make("serviceAccounts")
  .add(
    HttpApiEndpoint.post("create", accounts)
      .setPath(OrgPath)
      .setPayload(
        body({
          name: NewServiceAccountName,
          project: optional(ProjectName, "the project that it is bound to; default: the whole organization"),
          reveal: optional(Schema.Boolean, "whether it may read secret values; default: true"),
          key: optional(
            Schema.Boolean,
            "whether it gets a key; default: true. Without one, it signs in by its federations alone"
          ),
          allowed_networks: optional(
            AllowedNetworks,
            "the networks that it may call from, at most 20; default: any. The server needs SERVICE_TRUSTED_PROXIES for it",
            networksExample
          ),
          expires_in_days: optional(Days)
        })
      )
      .addSuccess(response(NewServiceAccount, "The new account, with its key if it has one"), { status: 201 })
      .pipe(requires("service_account.create"), recentLogin("always"))
      .addError(Conflict)
      .addError(LimitExceeded)
      .annotate(OpenApi.Summary, "Create a service account")
      .annotate(
        OpenApi.Description,
        "The key is returned only once, in this response. With `project`, the account is bound to that project. With `reveal: false`, no endpoint returns secret values to it. With `key: false`, nothing has to be stored: add a federation next. With `allowed_networks`, its key and its tokens are unknown to callers from elsewhere, which the audit log records."
      )
  )
  .add(
    HttpApiEndpoint.get("list", accounts)
      .setPath(OrgPath)
      .addSuccess(response(list(ServiceAccount), "The accounts"))
      .pipe(requires("service_account.list"))
      .annotate(Compressible, true)
      .annotate(OpenApi.Summary, "List service accounts")
      .annotate(OpenApi.Description, "Keys are not returned.")
  )
  .add(
    HttpApiEndpoint.patch("update", `${accounts}/:sa_id`)
      .setPath(AccountPath)
      .setHeaders(RecordMatch)
      .setPayload(
        body({
          allowed_networks: optional(
            Schema.NullOr(ChangedNetworks),
            "the networks that it may call from, at most 20; null: any. The server needs SERVICE_TRUSTED_PROXIES for a list",
            networksExample
          )
        })
      )
      .addSuccess(response(ServiceAccount, "The account as it is now"))
      .pipe(requires("service_account.update"), recentLogin("always"))
      .addError(Conflict)
      .annotate(OpenApi.Summary, "Change the networks that a service account may call from")
      .annotate(
        OpenApi.Description,
        "Fields that are left out stay as they are. Takes effect for every request that starts after the response: the account's key, and the tokens that it has by then, are unknown to callers from elsewhere."
      )
  )
  .add(
    HttpApiEndpoint.post("rotate", `${accounts}/:sa_id/rotate`)
      .setPath(AccountPath)
      .setPayload(body({ grace_seconds: optional(Grace) }))
      .addSuccess(response(ServiceAccountWithKey, "The account, with its new key"))
      .pipe(requires("service_account.rotate"), recentLogin("always"))
      .addError(LimitExceeded)
      .annotate(OpenApi.Summary, "Give a service account a new key, or its first one")
      .annotate(
        OpenApi.Description,
        "The old key stays valid for `grace_seconds` (default 0, at most 7 days). At most 200 keys of an account are valid at a time: LIMIT_EXCEEDED beyond, unless `grace_seconds` is 0."
      )
  )
  .add(
    HttpApiEndpoint.del("revoke", `${accounts}/:sa_id`)
      .setPath(AccountPath)
      .addSuccess(response(HttpApiSchema.NoContent, "The account is revoked"))
      .pipe(requires("service_account.revoke"), recentLogin("always"))
      .annotate(OpenApi.Summary, "Revoke a service account and its access rules")
      .annotate(OpenApi.Description, "Takes effect for every request that starts after the response.")
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Service accounts")
  .annotate(OpenApi.Description, "Machines and agents, each with its own key") {}

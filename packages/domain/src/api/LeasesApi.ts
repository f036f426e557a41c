import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { LeaseId } from "../base/Ids.js"
import { LeaseRoleName } from "../base/Names.js"
import { body, list } from "../base/Schemas.js"
import { Conflict, DecryptionFailed, LimitExceeded, Overloaded, UpstreamFailed } from "../errors/Errors.js"
import { IdempotencyKey, IssuedLease, Lease, newLease, renewedLease } from "../secrets/Lease.js"
import { EnvPath, envPath, paths } from "./Paths.js"
import { Admission, ForDelegations, RecentLogin, requires } from "./Requirement.js"
import { response } from "./Response.js"

const leases = `${paths.env}/leases` as const
const lease = `${leases}/:lease_id` as const
const RolePath = Schema.Struct({ ...envPath, role_name: LeaseRoleName })
const LeasePath = Schema.Struct({ ...envPath, lease_id: LeaseId })

export class LeasesApi extends HttpApiGroup.make("leases")
  .add(
    HttpApiEndpoint.get("list", leases)
      .setPath(EnvPath)
      .addSuccess(response(list(Lease), "The leases"))
      .pipe(requires("lease.list"))
      .annotate(ForDelegations, "whole")
      .annotate(OpenApi.Summary, "List the leases of an environment")
      .annotate(
        OpenApi.Description,
        "The caller's own, and all of them for admins and owners. Newest first, without any password."
      )
  )
  .add(
    HttpApiEndpoint.post("create", `${paths.env}/roles/:role_name/leases`)
      .setPath(RolePath)
      .setPayload(body(newLease))
      .setHeaders(IdempotencyKey)
      .addSuccess(response(IssuedLease, "The lease, with its credential"), { status: 201 })
      .pipe(requires("lease.create"))
      .addError(Conflict)
      .addError(LimitExceeded)
      .addError(DecryptionFailed)
      .addError(UpstreamFailed)
      .addError(Overloaded)
      .annotate(ForDelegations, "whole")
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Lease a user of a database")
      .annotate(
        OpenApi.Description,
        "For everyone who may read values in the environment. The user exists when the response is sent. It ends at `expires_at`, when the lease is revoked, and within seconds when its caller loses the right or the credential."
      )
  )
  .add(
    HttpApiEndpoint.post("renew", `${lease}/renew`)
      .setPath(LeasePath)
      .setPayload(body(renewedLease))
      .addSuccess(response(Lease, "The lease, with its new end"))
      .pipe(requires("lease.renew"))
      .addError(Conflict)
      .addError(DecryptionFailed)
      .addError(UpstreamFailed)
      .addError(Overloaded)
      .annotate(ForDelegations, "whole")
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Renew a lease")
      .annotate(
        OpenApi.Description,
        "By its holder. It never lasts beyond `renewable_until`. CONFLICT if it ends already."
      )
  )
  .add(
    HttpApiEndpoint.del("revoke", lease)
      .setPath(LeasePath)
      .addSuccess(response(HttpApiSchema.NoContent, "The lease ends"))
      .pipe(requires("lease.revoke"))
      .annotate(ForDelegations, "whole")
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "End a lease")
      .annotate(
        OpenApi.Description,
        "By its holder, or an admin or owner. Its user is removed within seconds: the list has the lease until the database confirms it."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Leases")
  .annotate(OpenApi.Description, "Users of databases that are made for one caller, and end") {}

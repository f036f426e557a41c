import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { LimitExceeded } from "../errors/Errors.js"
import { UseRuleId } from "../base/Ids.js"
import { body, list } from "../base/Schemas.js"
import { changedUseRule, newUseRule, UseRule } from "../secrets/UseRule.js"
import { guarded } from "./AskingHeaders.js"
import { response } from "./Response.js"
import { paths, SecretPath, secretPath } from "./Paths.js"
import { Admission, Compressible, RecentLogin, recentLogin, requires } from "./Requirement.js"

const rules = `${paths.env}/secrets/:key/use-rules` as const
const RulePath = Schema.Struct({ ...secretPath, use_rule_id: UseRuleId })

export class UseRulesApi extends HttpApiGroup.make("useRules")
  .add(
    HttpApiEndpoint.get("list", rules)
      .setPath(SecretPath)
      .addSuccess(response(list(UseRule), "The rules"))
      .pipe(requires("use_rule.list"))
      .annotate(Compressible, true)
      .annotate(OpenApi.Summary, "List the use rules of a secret")
      .annotate(OpenApi.Description, "Oldest first. For people with `admin`.")
  )
  .add(
    HttpApiEndpoint.post("create", rules)
      .setPath(SecretPath)
      .setPayload(body(newUseRule))
      .addSuccess(response(UseRule, "The new rule"), { status: 201 })
      .pipe(requires("use_rule.create"), recentLogin("always"))
      .pipe(guarded)
      .addError(LimitExceeded)
      .annotate(OpenApi.Summary, "Let accounts use a secret without seeing it")
      .annotate(
        OpenApi.Description,
        "For people with `admin`, never for service accounts. The rule belongs to the secret, and ends with it: a new secret with the same key has no rule."
      )
  )
  .add(
    HttpApiEndpoint.patch("update", `${rules}/:use_rule_id`)
      .setPath(RulePath)
      .setPayload(body(changedUseRule))
      .addSuccess(response(UseRule, "The rule as it is now"))
      .pipe(requires("use_rule.update"), recentLogin("always"))
      .pipe(guarded)
      .addError(LimitExceeded)
      .annotate(OpenApi.Summary, "Change a use rule")
      .annotate(OpenApi.Description, "Fields that are left out stay as they are. Approvals under the old rule end.")
  )
  .add(
    HttpApiEndpoint.del("delete", `${rules}/:use_rule_id`)
      .setPath(RulePath)
      .addSuccess(response(HttpApiSchema.NoContent, "The rule is removed"))
      .pipe(requires("use_rule.delete"))
      .pipe(guarded)
      .addError(LimitExceeded)
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Remove a use rule")
      .annotate(OpenApi.Description, "Takes effect for every request that starts after the response.")
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Use rules")
  .annotate(
    OpenApi.Description,
    "Which requests the server makes with a secret, for whom, and where it puts the value"
  ) {}

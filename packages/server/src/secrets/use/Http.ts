import { Api } from "@coffer/domain/Api"
import { Use, UseRule } from "@coffer/domain/secrets/UseRule"
import { Approval } from "@coffer/domain/requests/Approval"
import type { OrgPath } from "@coffer/domain/api/Paths"
import type { ApprovalId } from "@coffer/domain/base/Ids"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { GatedHandlers } from "../../directory/requests/GatedHandlers.js"
import { longList } from "../../http/LongList.js"
import { Approvals } from "./Approvals.js"
import { Uses } from "./Uses.js"
import { UseRules } from "../use-rules/UseRules.js"

const rules = longList(UseRule)
const uses = longList(Use)
const approvals = longList(Approval)

export const UseRulesHttp = HttpApiBuilder.group(Api, "useRules", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const service = yield* UseRules
    const { gated } = yield* GatedHandlers
    return handlers
      .handle("list", ({ path }) =>
        Effect.flatMap(
          Effect.flatMap(access.env(path, "use_rule.list"), (place) => service.list(place, path.key)),
          (data) => rules({ data })
        )
      )
      .handle(
        "create",
        gated("useRules.create", ({ path, payload }) =>
          access.change(access.guarded(path, "use_rule.create"), (place) => service.create(place, path.key, payload))
        )
      )
      .handle(
        "update",
        gated("useRules.update", ({ path, payload }) =>
          access.change(access.guarded(path, "use_rule.update"), (place) =>
            service.update(place, path.key, path.use_rule_id, payload)
          )
        )
      )
      .handle(
        "delete",
        gated("useRules.delete", ({ path }) =>
          access.change(access.guarded(path, "use_rule.delete"), (place) =>
            service.remove(place, path.key, path.use_rule_id)
          )
        )
      )
  })
).pipe(Layer.provide([UseRules.Default, GatedHandlers.Default]))

export const UseHttp = HttpApiBuilder.group(Api, "use", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const service = yield* Uses
    return handlers
      .handle("uses", ({ path }) =>
        Effect.flatMap(Effect.flatMap(access.env(path, "secret.uses", "some"), service.uses), (data) => uses({ data }))
      )
      .handle("use", ({ path, payload }) =>
        payload.stream === true ? service.stream(path, payload) : service.use(path, payload)
      )
  })
).pipe(Layer.provide(Uses.Default))

export const ApprovalsHttp = HttpApiBuilder.group(Api, "approvals", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const service = yield* Approvals

    const decide = (path: OrgPath & { readonly approval_id: ApprovalId }, decision: "approve" | "refuse") =>
      access.change(
        Effect.gen(function* () {
          const place = yield* access.org(path, "approval.list")
          const { env, project } = yield* service.whereIs(place, path.approval_id)
          return yield* access.env({ org_name: path.org_name, project_name: project, env_name: env }, "approval.decide")
        }),
        (place) => service.decide(place, path.approval_id, decision)
      )

    return handlers
      .handle("list", ({ path }) =>
        Effect.flatMap(Effect.flatMap(access.org(path, "approval.list"), service.list), (data) => approvals({ data }))
      )
      .handle("approve", ({ path }) => decide(path, "approve"))
      .handle("refuse", ({ path }) => decide(path, "refuse"))
  })
).pipe(Layer.provide(Approvals.Default))

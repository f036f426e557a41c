import type { ApprovalRequest } from "@coffer/domain/requests/ApprovalRequest"
import type { RequestId } from "@coffer/domain/base/Ids"
import type { OrgName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { allowedIn } from "../../client/Allowed.js"
import { call } from "../../client/Calls.js"
import { makeRevealed } from "../../kit/Revealed.js"

/** The values that a request sets, by key. */
interface Shown {
  readonly id: RequestId
  readonly values: ReadonlyMap<string, string>
}

export const { hide, show, shown } = makeRevealed<Shown>()

class MayNotRead {
  readonly _tag = "MayNotRead"
  constructor(readonly message: string) {}
}

/** Reads the values that a request sets. Without the right, nothing is tried: it would be refused, and recorded as such. */
export const readValues = (org: OrgName, { env, id, project }: ApprovalRequest) =>
  allowedIn(org, project, env).pipe(
    Effect.filterOrFail(
      (allowed) => allowed.includes("read"),
      () => new MayNotRead(`to reveal the values, you need a rule with the permission read for ${project}/${env}`)
    ),
    Effect.flatMap(() => call("requests", (api) => api.values({ path: { org_name: org, request_id: id } }))),
    Effect.map(({ data }): Shown => ({
      id,
      values: new Map(data.map(({ key, value }) => [key, Redacted.value(value)]))
    }))
  )

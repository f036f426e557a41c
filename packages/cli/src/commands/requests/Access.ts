import { Permission } from "@coffer/domain/access/AclRule"
import { type ApprovalRequest, Reason } from "@coffer/domain/requests/ApprovalRequest"
import { RequestSpan } from "@coffer/domain/access/Protection"
import { spanSeconds } from "@coffer/domain/base/Span"
import * as Effect from "effect/Effect"
import { atEnv, group } from "../../grammar/Command.js"
import { requiredOption } from "../../grammar/Fields.js"
import { doneView } from "../../terminal/View.js"
import { readRequests } from "./Requests.js"
import { askedFor, placeOf } from "./RequestText.js"

/** More requests are not searched for an equal one. */
const mostRead = 200

const request = atEnv("request", {
  description: "Ask for a permission in an environment for a while; people vote on it",
  examples: ["coffer access request --env prod --permission read --for 1h --reason INC-12"],
  options: {
    permission: requiredOption(
      "permission",
      Permission,
      "use values without seeing them, read them, write them, or admin"
    ),
    for: requiredOption("for", RequestSpan, "How long, from the approval on, such as 30m, 1h or 7d"),
    why: requiredOption("reason", Reason, "Why, for the people who vote")
  },
  run: ({ call, options: { for: span, permission, why }, path: { env_name, org_name, project_name } }) =>
    Effect.gen(function* () {
      const waiting = yield* readRequests(call, { org_name }, { state: "pending", kind: "access" }, mostRead).pipe(
        // Whoever may not list requests may still ask.
        Effect.orElseSucceed((): { readonly data: ReadonlyArray<ApprovalRequest> } => ({ data: [] }))
      )
      const same = waiting.data.find(
        (each) =>
          each.is_own && each.project === project_name && each.env === env_name && each.permission === permission
      )
      if (same !== undefined) {
        return doneView(
          `request ${same.id} asks for ${askedFor(same)} in ${placeOf(same)} already, and waits for approval until ${same.expires_at}; see it with: coffer request show ${same.id}; for another one, first run: coffer request withdraw ${same.id}`,
          same
        )
      }
      const made = yield* call("requests", (api) =>
        api.create({
          path: { org_name },
          payload: {
            kind: "access",
            project: project_name,
            env: env_name,
            permission,
            expires_in: spanSeconds(span),
            reason: why
          }
        })
      )
      return doneView(
        `request ${made.id} asks for ${askedFor(made)} in ${placeOf(made)}, and waits for approval; see it with: coffer request show ${made.id}`,
        made
      )
    })
})

export const accessCommand = group("access", "Access to an environment for a while", [request])

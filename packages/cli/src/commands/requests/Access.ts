import { Permission } from "@coffer/domain/AclRule"
import { Reason } from "@coffer/domain/ApprovalRequest"
import { RequestSpan, spanSeconds } from "@coffer/domain/Protection"
import * as Effect from "effect/Effect"
import { atEnv, group } from "../../grammar/Command.js"
import { requiredOption } from "../../grammar/Fields.js"
import { doneView } from "../../terminal/View.js"
import { askedFor, placeOf } from "./RequestText.js"

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
    Effect.map(
      call("requests", (api) =>
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
      ),
      (made) =>
        doneView(
          `request ${made.id} asks for ${askedFor(made)} in ${placeOf(made)}, and waits for approval; see it with: coffer request show ${made.id}`,
          made
        )
    )
})

export const accessCommand = group("access", "Access to an environment for a while", [request])

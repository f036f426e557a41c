import { AclExplanation, AclReason, Permission } from "@coffer/domain/access/AclRule"
import { RequestId } from "@coffer/domain/base/Ids"
import { withMessage } from "@coffer/domain/base/Message"
import { LimitParameter, optional } from "@coffer/domain/base/Schemas"
import { OwnDelegation } from "@coffer/domain/directory/Delegation"
import type { Identity } from "@coffer/domain/directory/User"
import { AccessSeconds, ApprovalRequest, Reason, requestStates } from "@coffer/domain/requests/ApprovalRequest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { adds, reads } from "../Hints.js"
import { parameters, tool } from "../Tool.js"

const when = { extra: true } as const

const subjectOf = (identity: Identity) =>
  identity.type === "user"
    ? ({ subject_type: "user", email: identity.email } as const)
    : ({ subject_type: "service_account", subject_id: identity.id } as const)

export const accessShow = tool({
  name: "access_show",
  title: "Show what you may do",
  description:
    "Returns who you act as, what you may do in an environment (use, read, write, admin) and why, " +
    "and of a delegation its environments, keys and end. Use it before you plan changes, or after FORBIDDEN; access_request asks for more.",
  hints: reads,
  when,
  parameters: parameters({}),
  at: "env",
  output: Schema.Struct({
    as: Schema.String,
    delegation: optional(OwnDelegation),
    allowed: AclExplanation.fields.allowed,
    allowed_for_some: AclExplanation.fields.allowed_for_some,
    because: Schema.Array(
      AclReason.pick("permission", "by", "role", "group", "key_pattern", "denies", "expires_at", "limited_by")
    )
  }),
  run: (call, { env_name, org_name, project_name }) =>
    Effect.gen(function* () {
      const identity = yield* call("auth", (api) => api.me())
      const { allowed, allowed_for_some, because } = yield* call("acl", (api) =>
        api.explain({
          path: { org_name },
          urlParams: { ...subjectOf(identity), project: project_name, env: env_name }
        })
      )
      const delegation = identity.type === "user" ? identity.delegation : undefined
      return {
        as: identity.type === "user" ? identity.email : identity.name,
        ...(delegation !== undefined && { delegation }),
        allowed,
        ...(allowed_for_some !== undefined && { allowed_for_some }),
        because
      }
    })
})

const Asked = ApprovalRequest.pick("id", "state", "permission", "expires_in", "needed", "expires_at")

/** A request without what only people who vote need. */
const Listed = ApprovalRequest.pick("id", "kind", "state", "project", "env", "permission", "call", "votes", "outdated")

const secondsOfAccess = 3_600

export const accessRequest = tool({
  name: "access_request",
  title: "Ask for access",
  description:
    "Asks people for a permission in an environment for a while, and returns the request, which waits for their votes. " +
    "Use it when the task needs a permission that access_show does not list, and tell the user; requests shows when it is decided.",
  hints: adds,
  when,
  parameters: parameters({
    permission: Permission,
    expires_in: optional(
      AccessSeconds.annotations({
        description: `how long the access lasts after its approval, in seconds; default ${secondsOfAccess}`
      })
    ),
    reason: Reason
  }),
  at: "env",
  output: Asked,
  run: (call, { env_name, org_name, project_name }, { expires_in = secondsOfAccess, permission, reason }) =>
    call("requests", (api) =>
      api.create({
        path: { org_name },
        payload: { kind: "access", project: project_name, env: env_name, permission, expires_in, reason }
      })
    )
})

const requestsOfPage = 20

export const requestList = tool({
  name: "requests",
  title: "List your requests",
  description:
    "Returns the requests for access and for changes that you made, newest first, without values: their state, votes and comments. " +
    "Use it to see whether a request was approved (done), refused, or still waits (pending).",
  hints: reads,
  when,
  parameters: parameters({
    state: optional(
      Schema.Literal(...requestStates).annotations({
        ...withMessage(`must be one of ${requestStates.join(", ")}`),
        description: "only requests in this state"
      })
    ),
    limit: optional(
      Schema.typeSchema(LimitParameter).annotations({ description: `at most this many; default ${requestsOfPage}` })
    ),
    after: optional(
      Schema.typeSchema(RequestId).annotations({ description: "next_cursor of the previous page, which may be empty" })
    )
  }),
  at: "org",
  // They are of every place: with SERVICE_MCP_PIN, there is only one.
  about: () => ({ project: "*", env: "*" }),
  output: Schema.Struct({ data: Schema.Array(Listed), next_cursor: Schema.NullOr(Schema.String) }),
  run: (call, path, { after, limit = requestsOfPage, state }) =>
    call("requests", (api) =>
      api.list({
        path,
        urlParams: { limit, ...(state !== undefined && { state }), ...(after !== undefined && { after }) }
      })
    ).pipe(
      Effect.map(({ data, pagination }) => ({
        data: data.filter(({ is_own }) => is_own),
        next_cursor: pagination.next_cursor
      }))
    )
})

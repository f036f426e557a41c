import type { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { me } from "../state/Session.js"
import { call } from "./Calls.js"

/** The permissions of the caller in an environment, for all keys or for some. To ask is no attempt: nothing is refused and recorded as such. */
export const allowedIn = (org: OrgName, project: ProjectName, env: EnvName, isWhole = false) => {
  const person = me.peek()
  return person === null
    ? Effect.succeed([])
    : Effect.map(
        call("acl", (api) =>
          api.explain({
            path: { org_name: org },
            urlParams: { subject_type: "user", email: person.email, project, env }
          })
        ),
        ({ allowed, allowed_for_some: some = [] }) => (isWhole ? allowed : [...allowed, ...some])
      )
}

import type { EnvName } from "@coffer/domain/Names"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import type { ProjectPlace } from "../../staging/Writes.js"
import { me } from "../../state/Session.js"

const allowedIn = ({ org, project }: ProjectPlace, env: EnvName) => {
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
        ({ allowed }) => allowed
      )
}

/** The right that the caller lacks to compare and copy, in words; null if none is missing. */
export const missingRight = (place: ProjectPlace, from: EnvName, to: EnvName) =>
  Effect.map(Effect.all([allowedIn(place, from), allowedIn(place, to)], { concurrency: 2 }), ([source, target]) =>
    !source.includes("read")
      ? `needs a rule with the permission read for ${from}`
      : !target.includes("read") || !target.includes("write")
        ? `needs the role developer, and a rule with the permission write for ${to}`
        : null
  )

import type { OrgName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { call } from "../client/Calls.js"
import { useLoad } from "./Load.js"

/** At most this many people are named. */
const maxNamed = 5

const readGranters = (org: OrgName) =>
  Effect.map(
    call("members", (api) => api.list({ path: { org_name: org } })),
    ({ data }) => data.flatMap(({ email, role }) => (role === "owner" || role === "admin" ? [email] : []))
  )

/** The people who can grant what the reader lacks. Every member may list them. */
export const WhomToAsk = ({ org }: { readonly org: OrgName }) => {
  const people = useLoad(org, () => readGranters(org)).loaded.value.value ?? []
  const more = people.length - maxNamed
  return (
    <p>
      Ask an admin or owner{people.length === 0 ? "" : ": "}
      {people.slice(0, maxNamed).map((email, index) => (
        <span key={email}>
          {index === 0 ? "" : ", "}
          <a href={`mailto:${email}`}>{email}</a>
        </span>
      ))}
      {more > 0 && ` and ${more} more`}.
    </p>
  )
}

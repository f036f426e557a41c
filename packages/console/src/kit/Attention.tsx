import { dueStateAt } from "@coffer/domain/secrets/DueState"
import type { DueSecret } from "@coffer/domain/secrets/Due"
import type { OrgName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { call } from "../client/Calls.js"
import { Link } from "../routing/Link.js"
import { requestsAddress, secretAddress, webhooksAddress } from "../routing/Places.js"
import { countWaiting, waiting } from "../client/Waiting.js"
import { useLoad } from "./Load.js"
import { Person } from "./Person.js"
import { Reading } from "./Reading.js"
import { Table } from "./Table.js"
import { When } from "./When.js"
import { wallMillis } from "../state/ServerTime.js"

const shownOfOrg = 5

interface Due {
  readonly org: OrgName
  readonly secrets: ReadonlyArray<DueSecret>
  readonly hasMore: boolean
}

/** Reads the due secrets of an organization, and counts its waiting requests. A failure of either hides nothing else. */
const read = (org: OrgName) =>
  Effect.all(
    [
      call("dues", (api) => api.list({ path: { org_name: org }, urlParams: { limit: shownOfOrg } })).pipe(
        Effect.map(({ data, pagination }): Due => ({ org, secrets: data, hasMore: pagination.has_next })),
        Effect.orElseSucceed((): Due => ({ org, secrets: [], hasMore: false }))
      ),
      countWaiting(org)
    ],
    { concurrency: 2 }
  ).pipe(Effect.map(([due]) => due))

const Dues = ({ dues, isOne }: { readonly dues: ReadonlyArray<Due>; readonly isOne: boolean }) => (
  <>
    <h2>Due</h2>
    <Table label="Due secrets" heads={["Key", "Where", "Due", "Owner"]}>
      {dues.flatMap(({ org, secrets }) =>
        secrets.map(({ due_at, env, key, owner, project }) => (
          <tr key={`${org}/${project}/${env}/${key}`}>
            <th scope="row">
              <Link to={secretAddress(org, project, env, key)} class="key">
                {key}
              </Link>
            </th>
            <td>
              {!isOne && `${org}/`}
              {project}/{env}
            </td>
            <td>
              {dueStateAt(due_at, wallMillis()) === "overdue" ? (
                <>
                  <span class="badge warn">overdue</span> <When time={due_at} />
                </>
              ) : (
                due_at.slice(0, 10)
              )}
            </td>
            <td>{owner !== undefined && <Person address={owner} />}</td>
          </tr>
        ))
      )}
    </Table>
    {dues.some(({ hasMore }) => hasMore) && (
      <p class="quiet">
        More are due: <code>coffer secret due</code> lists them.
      </p>
    )}
  </>
)

interface AttentionProps {
  readonly orgs: ReadonlyArray<OrgName>
  /** How many webhooks of an organization fail, where the person may see them and the page has read it. */
  readonly failing: ReadonlyMap<OrgName, number>
}

/** The due secrets of organizations, the requests that wait there for the person, and the webhooks that fail. */
export const Attention = ({ failing, orgs }: AttentionProps) => {
  const found = useLoad(orgs.join(" "), () => Effect.forEach(orgs, read, { concurrency: 4 }))
  const asking = orgs.flatMap((org) => {
    const count = waiting.value.get(org) ?? 0
    return count === 0 ? [] : [{ org, count }]
  })
  return (
    <Reading of={found}>
      {(dues) => (
        <section class="attention" aria-label="For you">
          {asking.map(({ count, org }) => (
            <p key={org}>
              <span class="badge warn">{count}</span>{" "}
              <Link to={requestsAddress(org)}>
                {count === 1 ? "request waits" : "requests wait"} for you in {org}
              </Link>
            </p>
          ))}
          {orgs.map((org) => {
            const count = failing.get(org) ?? 0
            return count === 0 ? null : (
              <p key={org}>
                <span class="badge warn">{count}</span>{" "}
                <Link to={webhooksAddress(org)}>
                  {count === 1 ? "webhook fails" : "webhooks fail"} in {org}
                </Link>
              </p>
            )
          })}
          {dues.some(({ secrets }) => secrets.length > 0) ? (
            <Dues dues={dues} isOne={orgs.length === 1} />
          ) : (
            <p class="quiet">No secret that you may see is overdue, or due within 14 days.</p>
          )}
        </section>
      )}
    </Reading>
  )
}

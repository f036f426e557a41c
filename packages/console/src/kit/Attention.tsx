import { dueStateAt } from "@coffer/domain/secrets/DueState"
import type { OrgName } from "@coffer/domain/base/Names"
import type { Overview } from "@coffer/domain/secrets/Overview"
import { Link } from "../routing/Link.js"
import { requestsAddress, secretAddress, webhooksAddress } from "../routing/Places.js"
import { waiting } from "../client/Waiting.js"
import { Person } from "./Person.js"
import { Table } from "./Table.js"
import { When } from "./When.js"
import { wallMillis } from "../state/ServerTime.js"

type Overviews = ReadonlyMap<OrgName, Overview>

const Dues = ({ found, isOne }: { readonly found: Overviews; readonly isOne: boolean }) => (
  <>
    <h2>Due</h2>
    <Table label="Due secrets" heads={["Key", "Where", "Due", "Owner"]}>
      {[...found].flatMap(([org, { due = [] }]) =>
        due.map(({ due_at, env, key, owner, project, turn_at }) => (
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
              {due_at === turn_at && ", by its rotation"}
            </td>
            <td>{owner !== undefined && <Person address={owner} />}</td>
          </tr>
        ))
      )}
    </Table>
    {[...found.values()].some(({ more_due }) => more_due === true) && (
      <p class="quiet">
        More are due: <code>coffer secret due</code> lists them.
      </p>
    )}
  </>
)

interface AttentionProps {
  /** The overviews that the page has read. */
  readonly found: Overviews
}

/** The due secrets of organizations, the requests that wait there for the person, and the webhooks that fail. */
export const Attention = ({ found }: AttentionProps) => {
  const line = (org: OrgName, count: number, to: string, one: string, many: string) =>
    count > 0 && (
      <p key={to}>
        <span class="badge warn">{count}</span>{" "}
        <Link to={to}>
          {count === 1 ? one : many} in {org}
        </Link>
      </p>
    )
  const orgs = [...found]
  return (
    <section class="attention" aria-label="For you">
      {orgs.map(([org]) =>
        line(org, waiting.value.get(org) ?? 0, requestsAddress(org), "request waits for you", "requests wait for you")
      )}
      {orgs.map(([org, { failing_webhooks = 0 }]) =>
        line(org, failing_webhooks, webhooksAddress(org), "webhook fails", "webhooks fail")
      )}
      {orgs.some(([, { due = [] }]) => due.length > 0) ? (
        <Dues found={found} isOne={found.size === 1} />
      ) : (
        <p class="quiet">No secret that you may see is overdue, or due within 14 days.</p>
      )}
    </section>
  )
}

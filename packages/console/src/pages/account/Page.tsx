import type { Session } from "@coffer/domain/Session"
import { sessionName } from "@coffer/domain/SessionName"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { When } from "../../kit/When.js"
import { query } from "../../routing/Router.js"
import { Delegations } from "./Delegations.js"
import { Passkeys } from "./Passkeys.js"
import { ProveSession } from "./ProveSession.js"
import { organizations } from "../../state/Organizations.js"
import { me } from "../../state/Session.js"
import { Table } from "../../kit/Table.js"

const read = Effect.map(
  Effect.suspend(() => call("auth", (api) => api.sessions())),
  ({ data }) => data
)

const Row = ({ changed, session }: { readonly session: Session; readonly changed: () => void }) => {
  const act = useAct()
  const { created_at, current, id, ip_address, last_used_at, user_agent } = session
  const name = sessionName(session)
  return (
    <tr aria-current={current ? "true" : undefined}>
      <th scope="row" title={user_agent}>
        {name} {current && <span class="badge good">this browser</span>}
      </th>
      <td class="quiet">{ip_address ?? "unknown"}</td>
      <td class="quiet">
        <When time={created_at} />
      </td>
      <td class="quiet">
        <When time={last_used_at} />
      </td>
      <td class="actions">
        {!current && (
          <button
            type="button"
            disabled={act.isBusy.value}
            onClick={() => {
              act.run(
                call("auth", (api) => api.endSession({ path: { session_id: id } })),
                changed
              )
            }}
          >
            End<span class="hidden"> the session of {name}</span>
          </button>
        )}
        <Problem failure={act.failure.value} />
      </td>
    </tr>
  )
}

/** The person's own account, and its sessions. */
export const Page = () => {
  const sessions = useLoad("sessions", () => read)
  const act = useAct()
  const person = me.value
  if (person === null) return null
  const asking = query.value.get("session")
  return (
    <section class="wide-page">
      <h1>My account</h1>
      <dl class="facts">
        <dt>E-mail</dt>
        <dd>{person.email}</dd>
        <dt>Name</dt>
        <dd>{person.name}</dd>
        <dt>Id</dt>
        <dd>
          <code>{person.id}</code>
        </dd>
        <dt>Organizations</dt>
        <dd>
          {organizations.value.length === 0
            ? "none"
            : organizations.value.map(({ name, role }) => `${name} (${role ?? "superadmin"})`).join(", ")}
        </dd>
        {person.is_superadmin && (
          <>
            <dt>Server</dt>
            <dd>superadmin: no role and no rule limits you</dd>
          </>
        )}
      </dl>
      {asking !== null && (
        <Reading of={sessions}>
          {(found) => <ProveSession key={asking} session={found.find(({ id }) => id === asking)} />}
        </Reading>
      )}
      <Passkeys />
      <Delegations />
      <h2>Sessions</h2>
      <p>Browsers and programs in which you are logged in. End those that you do not know.</p>
      <Reading of={sessions}>
        {(found) => (
          <Table label="Sessions" heads={["Program", "Last address", "Since", "Last used", ""]}>
            {found.map((session) => (
              <Row key={session.id} session={session} changed={sessions.reload} />
            ))}
          </Table>
        )}
      </Reading>
      <p class="row">
        <button
          type="button"
          disabled={act.isBusy.value}
          onClick={() => {
            act.run(
              call("auth", (api) => api.endSessions({ urlParams: { others: true } })),
              sessions.reload
            )
          }}
        >
          End all others
        </button>
        <button
          type="button"
          class="danger"
          disabled={act.isBusy.value}
          onClick={() => {
            act.run(
              call("auth", (api) => api.endSessions({ urlParams: {} })),
              () => {
                location.assign("/login")
              }
            )
          }}
        >
          End all sessions, this one too
        </button>
      </p>
      <Problem failure={act.failure.value} />
    </section>
  )
}

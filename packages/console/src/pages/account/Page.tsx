import type { Session } from "@coffer/domain/directory/Session"
import { sessionName } from "@coffer/domain/directory/SessionName"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { Confirm, ConfirmButton } from "../../kit/Confirm.js"
import { Copyable } from "../../kit/CopyText.js"
import { PageHead } from "../../kit/ListPage.js"
import { useLoad } from "../../kit/Load.js"
import { Menu, MenuItem } from "../../kit/Menu.js"
import { Person } from "../../kit/Person.js"
import { Reading } from "../../kit/Reading.js"
import { When } from "../../kit/When.js"
import { query } from "../../routing/Router.js"
import { Delegations } from "./Delegations.js"
import { Passkeys } from "./Passkeys.js"
import { ProveSession } from "./ProveSession.js"
import { organizations } from "../../client/Organizations.js"
import { me } from "../../state/Session.js"
import { release, unsent } from "../../routing/Unsent.js"
import { Table } from "../../kit/Table.js"
import { Visible } from "../../kit/Visible.js"

const read = Effect.map(
  Effect.suspend(() => call("auth", (api) => api.sessions())),
  ({ data }) => data
)

const Row = ({ changed, session }: { readonly session: Session; readonly changed: () => void }) => {
  const isEnding = useSignal(false)
  const { created_at, current, id, ip_address, last_used_at, passkey_at, user_agent } = session
  const name = sessionName(session)
  return (
    <tr aria-current={current ? "true" : undefined}>
      <th scope="row" title={user_agent}>
        <Visible text={name} /> {current && <span class="badge good">this browser</span>}
        {passkey_at !== undefined && (
          <div class="quiet">
            verified with a passkey <When time={passkey_at} />
          </div>
        )}
      </th>
      <td class="quiet">{ip_address === null ? "unknown" : <code>{ip_address}</code>}</td>
      <td class="quiet">
        <When time={created_at} />
      </td>
      <td class="quiet">
        <When time={last_used_at} />
      </td>
      <td class="actions">
        {!current && (
          <Menu label={`Actions for the session of ${name}`}>
            <MenuItem run={() => (isEnding.value = true)}>
              End<span class="hidden"> the session of {name}</span>
            </MenuItem>
          </Menu>
        )}
        {isEnding.value && (
          <Confirm
            title="End a session"
            verb="End it"
            effect={call("auth", (api) => api.endSession({ path: { session_id: id } }))}
            close={() => (isEnding.value = false)}
            done={changed}
          >
            <p>{name} is logged out at once, and has to log in again.</p>
          </Confirm>
        )}
      </td>
    </tr>
  )
}

/** The person's own account, and its sessions. */
export const Page = () => {
  const sessions = useLoad("sessions", () => read)
  const person = me.value
  if (person === null) return null
  const asking = query.value.get("session")
  return (
    <section class="wide-page">
      <PageHead title="My account" />
      <dl class="facts">
        <dt>E-mail</dt>
        <dd>
          <Person address={person.email} />
        </dd>
        <dt>Name</dt>
        <dd>
          <Visible text={person.name} />
        </dd>
        <dt>Id</dt>
        <dd>
          <Copyable text={person.id} />
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
      <PageHead
        isSection
        title="Sessions"
        about="Browsers and programs in which you are logged in. End those that you do not know."
      />
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
        <ConfirmButton
          label="End all others"
          title="End all other sessions"
          verb="End them"
          effect={call("auth", (api) => api.endSessions({ urlParams: { others: true } }))}
          done={sessions.reload}
        >
          <p>Every other browser and program of yours is logged out at once. This browser stays logged in.</p>
        </ConfirmButton>
        <ConfirmButton
          label="End all sessions, this one too"
          title="End all sessions"
          verb="End them all"
          effect={call("auth", (api) => api.endSessions({ urlParams: {} }))}
          done={() => {
            release()
            location.assign("/login")
          }}
        >
          <p>Every browser and program of yours is logged out at once, this one too.</p>
          {unsent("console").map(({ what }) => (
            <p key={what} class="warning">
              {what}
            </p>
          ))}
        </ConfirmButton>
      </p>
    </section>
  )
}

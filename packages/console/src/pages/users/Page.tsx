import type { CreatedAccount, UserRecord } from "@coffer/domain/directory/UserRecord"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import { EmailPrefix } from "@coffer/domain/directory/UserRecord"
import { useSignal } from "@preact/signals"
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { call, type Failure } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { ConfirmButton } from "../../kit/Confirm.js"
import { ConfirmByName } from "../../kit/ConfirmByName.js"
import { Dialog } from "../../kit/Dialog.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { When } from "../../kit/When.js"
import { Table } from "../../kit/Table.js"

const decode = Schema.decodeUnknownOption(EmailPrefix)

const readPage = (prefix: string) => {
  const email = Option.getOrUndefined(decode(prefix))
  return call("users", (api) => api.list({ urlParams: { limit: maxPageSize, ...(email !== undefined && { email }) } }))
}

interface AccountsProps {
  readonly of: string
  readonly accounts: ReadonlyArray<CreatedAccount>
  readonly close: () => void
}

/** The service accounts that a disabled person made, whose keys the person may know. */
const Accounts = ({ accounts, close, of }: AccountsProps) => (
  <Dialog title={`Service accounts of ${of}`} close={close}>
    <p>{of} is disabled and may still know the keys of these accounts, which stay valid. Rotate or delete them.</p>
    <Table label="Service accounts" heads={["Account", "Place", "Last use"]}>
      {accounts.map(({ id, last_used_at, name, org, project }) => (
        <tr key={id}>
          <th scope="row">{name}</th>
          <td>{project === null ? org : `${org}/${project}`}</td>
          <td class="quiet">{last_used_at === null ? "never" : <When time={last_used_at} />}</td>
        </tr>
      ))}
    </Table>
  </Dialog>
)

const Row = ({ changed, user }: { readonly user: UserRecord; readonly changed: () => void }) => {
  const { disabled_at, email, id, is_superadmin, last_seen_at, organizations, sessions } = user
  const isOpen = useSignal(false)
  const left = useSignal<ReadonlyArray<CreatedAccount>>([])
  const act = useAct()
  const done = () => {
    isOpen.value = false
    changed()
  }
  const run = <A, E extends Failure>(effect: Effect.Effect<A, E>) => {
    act.run(effect, done)
  }
  return (
    <tr>
      <th scope="row">
        {email} {is_superadmin && <span class="badge">superadmin</span>}{" "}
        {disabled_at !== null && <span class="badge bad">disabled</span>}
      </th>
      <td class="quiet">{last_seen_at === null ? "never" : <When time={last_seen_at} />}</td>
      <td>{organizations}</td>
      <td>{sessions}</td>
      <td class="actions">
        <ConfirmButton
          label={
            <>
              Log out<span class="hidden"> {email}</span>
            </>
          }
          isDisabled={sessions === 0}
          title="Log a person out"
          verb="Log out"
          effect={call("users", (api) => api.endSessions({ path: { user_id: id } }))}
          done={changed}
        >
          <p>All sessions of {email} end at once, in browsers and programs. The person can log in again.</p>
        </ConfirmButton>
        {disabled_at === null ? (
          <button type="button" onClick={() => (isOpen.value = true)}>
            Disable<span class="hidden"> {email}</span>
          </button>
        ) : (
          <button
            type="button"
            disabled={act.isBusy.value}
            onClick={() => {
              run(call("users", (api) => api.enable({ path: { user_id: id } })))
            }}
          >
            Enable<span class="hidden"> {email}</span>
          </button>
        )}
        {!isOpen.value && <Problem failure={act.failure.value} />}
        {isOpen.value && (
          <ConfirmByName
            title="Disable a person"
            name={email}
            verb="Disable"
            busy={act.isBusy}
            close={() => (isOpen.value = false)}
            confirm={() => {
              act.run(
                call("users", (api) => api.disable({ path: { user_id: id } })),
                ({ service_accounts }) => {
                  left.value = service_accounts
                  done()
                }
              )
            }}
          >
            <p>
              {email} is logged out everywhere and cannot log in. Memberships stay, and service accounts that the person
              made stay valid.
            </p>
            <Problem failure={act.failure.value} />
          </ConfirmByName>
        )}
        {left.value.length > 0 && <Accounts of={email} accounts={left.value} close={() => (left.value = [])} />}
      </td>
    </tr>
  )
}

/** The people of the server for superadmins. */
export const Page = () => {
  const prefix = useSignal("")
  const users = useLoad(prefix.value, () => readPage(prefix.value))
  return (
    <section class="wide-page">
      <h1>People of this server</h1>
      <input
        type="search"
        class="wide"
        aria-label="Beginning of the e-mail address"
        placeholder="Beginning of the e-mail address"
        value={prefix.value}
        onChange={({ currentTarget }) => (prefix.value = currentTarget.value.trim())}
      />
      <Reading of={users}>
        {({ data, pagination }) => (
          <>
            <Table label="People" heads={["Person", "Last seen", "Organizations", "Sessions", ""]}>
              {data.map((user) => (
                <Row key={user.id} user={user} changed={users.reload} />
              ))}
            </Table>
            {pagination.has_next && (
              <p class="quiet">The first {maxPageSize}: type the beginning of an address for others.</p>
            )}
          </>
        )}
      </Reading>
    </section>
  )
}

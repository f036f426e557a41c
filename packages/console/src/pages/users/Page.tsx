import type { CreatedAccount, UserRecord } from "@coffer/domain/directory/UserRecord"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import { EmailPrefix } from "@coffer/domain/directory/UserRecord"
import { useSignal } from "@preact/signals"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Search } from "lucide"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Confirm } from "../../kit/Confirm.js"
import { ConfirmByName } from "../../kit/ConfirmByName.js"
import { Dialog } from "../../kit/Dialog.js"
import { Icon } from "../../kit/Icon.js"
import { PageHead } from "../../kit/ListPage.js"
import { useLoad } from "../../kit/Load.js"
import { Menu, MenuItem } from "../../kit/Menu.js"
import { Person } from "../../kit/Person.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { When } from "../../kit/When.js"
import { Table } from "../../kit/Table.js"
import { query, setQuery } from "../../routing/Router.js"

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
  const open = useSignal<"disable" | "log-out" | null>(null)
  const left = useSignal<ReadonlyArray<CreatedAccount>>([])
  const act = useAct()
  const close = () => {
    open.value = null
  }
  return (
    <tr>
      <th scope="row">
        <Person address={email} /> {is_superadmin && <span class="badge">superadmin</span>}{" "}
        {disabled_at !== null && <span class="badge warn">disabled</span>}
      </th>
      <td class="quiet">{last_seen_at === null ? "never" : <When time={last_seen_at} />}</td>
      <td>{organizations}</td>
      <td>{sessions}</td>
      <td class="actions">
        <Menu label={`Actions for ${email}`}>
          <MenuItem run={() => (open.value = "log-out")} why={sessions === 0 ? "not logged in" : null}>
            Log out<span class="hidden"> {email}</span>
          </MenuItem>
          {disabled_at === null ? (
            <MenuItem run={() => (open.value = "disable")}>
              Disable<span class="hidden"> {email}</span>
            </MenuItem>
          ) : (
            <MenuItem
              run={() => {
                act.run(
                  call("users", (api) => api.enable({ path: { user_id: id } })),
                  changed
                )
              }}
            >
              Enable<span class="hidden"> {email}</span>
            </MenuItem>
          )}
        </Menu>
        {open.value === "log-out" && (
          <Confirm
            title="Log a person out"
            verb="Log out"
            effect={call("users", (api) => api.endSessions({ path: { user_id: id } }))}
            close={close}
            done={changed}
          >
            <p>All sessions of {email} end at once, in browsers and programs. The person can log in again.</p>
          </Confirm>
        )}
        {open.value === null && <Problem failure={act.failure.value} />}
        {open.value === "disable" && (
          <ConfirmByName
            title="Disable a person"
            name={email}
            verb="Disable"
            busy={act.isBusy}
            close={close}
            confirm={() => {
              act.run(
                call("users", (api) => api.disable({ path: { user_id: id } })),
                ({ service_accounts }) => {
                  left.value = service_accounts
                  close()
                  changed()
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
  const prefix = query.value.get("q") ?? ""
  const users = useLoad(prefix, () => readPage(prefix))
  return (
    <section class="wide-page">
      <PageHead title="People of this server" />
      <div class="list-tools">
        <label class="search">
          <Icon of={Search} />
          <span class="hidden">Beginning of the e-mail address</span>
          <input
            type="search"
            placeholder="Beginning of the address"
            value={prefix}
            onChange={({ currentTarget }) => setQuery("q", currentTarget.value.trim())}
          />
        </label>
      </div>
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

import type { Environment } from "@coffer/domain/directory/Environment"
import type { EnvName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Clock } from "../../kit/Clock.js"
import { DeleteDialog } from "../../kit/Delete.js"
import { noteEnvironment } from "../../kit/Deleted.js"
import { ends } from "../../client/Ending.js"
import { NewButton, PageHead } from "../../kit/ListPage.js"
import { Menu, MenuItem } from "../../kit/Menu.js"
import { useOpened } from "../../kit/Opened.js"
import { Problem } from "../../kit/Problem.js"
import { Shield } from "../../kit/Shield.js"
import { Table } from "../../kit/Table.js"
import { Ahead } from "../../kit/When.js"
import { Link } from "../../routing/Link.js"
import { envAddress } from "../../routing/Places.js"
import { noteDone } from "../../state/Done.js"
import { missingInOrg } from "../../client/Organizations.js"
import { wayBack } from "../../state/Server.js"
import type { PlaceAt } from "../PageProps.js"
import { ExtendDialog } from "./Extend.js"
import { newEnvironment, NewEnvironment } from "./NewEnvironment.js"
import { type Direction, moveId, type Order, useOrder } from "./EnvironmentOrder.js"
import "./Page.css"
import { ProtectionDialog, StuckNote } from "./Protection.js"
import type { Settings } from "./Settings.js"

interface MoveProps {
  readonly order: Order
  readonly name: EnvName
  readonly direction: Direction
}

const Move = ({ direction, name, order }: MoveProps) => {
  const end = direction === "up" ? order.names[0] : order.names.at(-1)
  return (
    <button
      id={moveId(name, direction)}
      type="button"
      class="plain"
      disabled={end === name}
      aria-label={`Move ${name} ${direction}`}
      onClick={() => {
        order.step(name, direction)
      }}
    >
      {direction === "up" ? "↑" : "↓"}
    </button>
  )
}

interface RowProps {
  readonly place: PlaceAt<"project">
  readonly environment: Environment
  /** Whether it is a preview that the person may extend and remove. */
  readonly isOwn: boolean
  readonly index: number
  /** Null if the person may not order them. */
  readonly order: Order | null
  readonly reload: () => void
}

const Row = ({ environment, index, isOwn, order, place: { org, project }, reload }: RowProps) => {
  const { expires_at, name } = environment
  const isProtected = environment.protected === true
  const path = { org_name: org, project_name: project, env_name: name }
  const isAdmin = missingInOrg(org, "env.extend") === null
  const whyNotProtect = missingInOrg(org, "protection.set")
  const open = useSignal<"delete" | "extend" | "protection" | null>(null)
  const close = () => {
    open.value = null
  }
  return (
    <tr
      class={order?.dragged.value === name ? "environment dragged" : "environment"}
      draggable={order !== null}
      onDragStart={(event) => {
        if (order === null) return
        order.dragged.value = name
        event.dataTransfer?.setData("text/plain", name)
      }}
      onDragOver={(event) => {
        const from = order?.dragged.value ?? null
        if (order === null || from === null) return
        event.preventDefault()
        if (from !== name) order.move(from, index)
      }}
      onDragEnd={() => {
        if (order !== null) order.dragged.value = null
      }}
    >
      <th scope="row">
        {order !== null && (
          <span class="environment-handle" aria-hidden="true">
            ⠿
          </span>
        )}
        <Link to={envAddress(org, project, name)}>{name}</Link> {isProtected && <Shield />}
        {expires_at !== undefined && (
          <span class="environment-end">
            <Clock /> ends <Ahead time={expires_at} />
          </span>
        )}
        {isProtected && whyNotProtect === null && <StuckNote path={path} />}
      </th>
      <td class="whole">
        {order !== null && (
          <>
            <Move order={order} name={name} direction="up" />
            <Move order={order} name={name} direction="down" />
          </>
        )}
      </td>
      <td class="actions">
        <Menu label={`Actions for ${name}`}>
          {expires_at !== undefined && (isAdmin || isOwn) && (
            <MenuItem run={() => (open.value = "extend")}>
              Extend…<span class="hidden">{` the environment ${name}`}</span>
            </MenuItem>
          )}
          {(whyNotProtect === null || isProtected) && (
            <MenuItem run={() => (open.value = "protection")}>
              {isProtected ? "Protection" : "Protect"}
              <span class="hidden">{` of the environment ${name}`}</span>
            </MenuItem>
          )}
          <MenuItem run={() => (open.value = "delete")} why={isOwn ? null : missingInOrg(org, "env.delete")}>
            Delete<span class="hidden">{` the environment ${name}`}</span>
          </MenuItem>
        </Menu>
        {open.value === "extend" && expires_at !== undefined && (
          <ExtendDialog path={path} end={expires_at} mayLast={isAdmin} changed={reload} close={close} />
        )}
        {open.value === "protection" && (
          <ProtectionDialog
            path={path}
            isProtected={isProtected}
            why={whyNotProtect}
            close={close}
            changed={() => {
              close()
              reload()
            }}
          />
        )}
        {open.value === "delete" && (
          <DeleteDialog
            what="environment"
            name={name}
            remove={call("environments", (api) => api.delete({ path, urlParams: {} }))}
            done={() => {
              noteEnvironment(org, project, name, reload)
              reload()
            }}
            close={close}
          >
            <p>
              All secrets of {name} in {project} are deleted at once, with their versions and use rules. Programs that
              use them can no longer read them. {wayBack("on this page")}
            </p>
          </DeleteDialog>
        )}
      </td>
    </tr>
  )
}

interface ListProps {
  readonly place: PlaceAt<"project">
  readonly settings: Settings
  readonly reload: () => void
}

const List = ({ place, reload, settings: { environments, own } }: ListProps) => {
  const { org, project } = place
  const lasting = environments.filter((one) => !ends(one))
  const order = useOrder(lasting.map(({ name }) => name))
  const act = useAct()
  const isAllowed = missingInOrg(org, "project.update") === null
  const hasOwn = environments.some(({ position }) => position !== undefined)
  const saved = hasOwn ? lasting.map(({ name }) => name) : []
  const set = (names: ReadonlyArray<EnvName>) =>
    call("projects", (api) => api.rename({ path: { org_name: org, project_name: project }, payload: { order: names } }))
  const save = (names: ReadonlyArray<EnvName>) => {
    act.run(set(names), () => {
      order.reset()
      const what =
        names.length === 0 ? "The environments have their usual order." : "The order of the environments was saved."
      noteDone(what, { effect: set(saved), done: reload })
      reload()
    })
  }
  return (
    <>
      <Table label="Environments" heads={["Environment", "Order", ""]}>
        {[
          ...order.names.flatMap((name) => lasting.filter((one) => one.name === name)),
          ...environments.filter(ends)
        ].map((one, index) => (
          <Row
            key={one.name}
            place={place}
            environment={one}
            isOwn={own.has(one.name)}
            index={index}
            order={isAllowed && lasting.length > 1 && !ends(one) ? order : null}
            reload={reload}
          />
        ))}
      </Table>
      <p class="hidden" role="status">
        {order.said.value}
      </p>
      {isAllowed && lasting.length > 1 && (
        <>
          <p class="row">
            <button
              type="button"
              class={order.isChanged ? "primary" : undefined}
              disabled={!order.isChanged || act.isBusy.value}
              onClick={() => {
                save(order.names)
              }}
            >
              Save the order
            </button>
            {order.isChanged && (
              <button type="button" onClick={order.reset}>
                Cancel
              </button>
            )}
            {hasOwn && !order.isChanged && (
              <button
                type="button"
                disabled={act.isBusy.value}
                onClick={() => {
                  save([])
                }}
              >
                Usual order
              </button>
            )}
          </p>
          <p class="hint">
            The matrix and all lists have this order.
            {!hasOwn && " By default, it is dev, test, qa, staging, preview, prod; other names come after them."}
          </p>
        </>
      )}
      <Problem failure={act.failure.value} />
    </>
  )
}

/** The environments of a project: their order, new ones, and their end. */
export const EnvironmentSettings = (props: ListProps) => {
  const isNew = useOpened("new")
  const { limits, why } = newEnvironment(props.place.org, props.settings)
  return (
    <>
      <PageHead
        isSection
        title="Environments"
        {...(why !== null && { about: why })}
        create={limits !== undefined && <NewButton open={isNew.open}>New environment</NewButton>}
      />
      <List {...props} />
      {isNew.value !== null && limits !== undefined && (
        <NewEnvironment {...props} limits={limits} close={isNew.close} />
      )}
    </>
  )
}

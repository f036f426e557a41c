import type { Environment } from "@coffer/domain/Environment"
import { envNameForm } from "@coffer/domain/NameForms"
import type { EnvName } from "@coffer/domain/Names"
import { call } from "../../client/Calls.js"
import { environmentsOf } from "../../client/Environments.js"
import { useAct } from "../../kit/Act.js"
import { CreateForm } from "../../kit/CreateForm.js"
import { Delete } from "../../kit/Delete.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { Shield } from "../../kit/Shield.js"
import { Table } from "../../kit/Table.js"
import { Link } from "../../routing/Link.js"
import { envAddress } from "../../routing/Places.js"
import { missingInOrg } from "../../state/Organizations.js"
import type { PlaceAt } from "../PageProps.js"
import { type Direction, moveId, type Order, useOrder } from "./Order.js"
import "./Page.css"
import { ProtectionButton } from "./Protection.js"

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
  readonly name: EnvName
  readonly isProtected: boolean
  readonly index: number
  /** Null if the person may not order them. */
  readonly order: Order | null
  readonly reload: () => void
}

const Row = ({ index, isProtected, name, order, place: { org, project }, reload }: RowProps) => (
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
    </th>
    <td class="actions">
      {order !== null && (
        <>
          <Move order={order} name={name} direction="up" />
          <Move order={order} name={name} direction="down" />
        </>
      )}
      <ProtectionButton
        path={{ org_name: org, project_name: project, env_name: name }}
        isProtected={isProtected}
        changed={reload}
      />
      <Delete
        what="environment"
        name={name}
        why={missingInOrg(org, "env.delete")}
        remove={call("environments", (api) =>
          api.delete({ path: { org_name: org, project_name: project, env_name: name }, urlParams: {} })
        )}
        done={reload}
      >
        <p>
          All secrets of {name} in {project} are deleted at once, with their versions and use rules. Programs that use
          them can no longer read them. Only a backup still has them.
        </p>
      </Delete>
    </td>
  </tr>
)

interface ListProps {
  readonly place: PlaceAt<"project">
  readonly environments: ReadonlyArray<Environment>
  readonly reload: () => void
}

const List = ({ environments, place, reload }: ListProps) => {
  const { org, project } = place
  const order = useOrder(environments.map(({ name }) => name))
  const act = useAct()
  const isAllowed = missingInOrg(org, "project.update") === null
  const save = (names: ReadonlyArray<EnvName>) => {
    const path = { org_name: org, project_name: project }
    act.run(
      call("projects", (api) => api.rename({ path, payload: { order: names } })),
      () => {
        order.reset()
        reload()
      }
    )
  }
  const isOwn = environments.some(({ position }) => position !== undefined)
  return (
    <>
      <Table label="Environments" heads={["Environment", ""]}>
        {order.names.map((name, index) => (
          <Row
            key={name}
            place={place}
            name={name}
            isProtected={environments.some((one) => one.name === name && one.protected === true)}
            index={index}
            order={isAllowed && environments.length > 1 ? order : null}
            reload={reload}
          />
        ))}
      </Table>
      <p class="hidden" role="status">
        {order.said.value}
      </p>
      {isAllowed && environments.length > 1 && (
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
            {isOwn && !order.isChanged && (
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
            {!isOwn && " By default, it is dev, test, qa, staging, preview, prod; other names come before them."}
          </p>
        </>
      )}
      <Problem failure={act.failure.value} />
    </>
  )
}

/** The environments of a project: their order, new ones, and their end. */
export const Environments = ({ place }: { readonly place: PlaceAt<"project"> }) => {
  const { org, project } = place
  const path = { org_name: org, project_name: project }
  const found = useLoad(`${org}/${project}`, () => environmentsOf(org, project))
  const whyNot = missingInOrg(org, "env.create")
  return (
    <>
      <Reading of={found}>
        {(environments) => <List place={place} environments={environments} reload={found.reload} />}
      </Reading>
      {whyNot === null ? (
        <CreateForm
          what="environment"
          example="preview"
          form={envNameForm}
          create={(name) => call("environments", (api) => api.create({ path, payload: { name } }))}
          done={found.reload}
        />
      ) : (
        <p class="quiet">To create environments, one {whyNot}.</p>
      )}
    </>
  )
}

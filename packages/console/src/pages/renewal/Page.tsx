import * as Effect from "effect/Effect"
import type { ComponentChildren } from "preact"
import { useEnvChoice } from "../../kit/EnvChoice.js"
import { NewButton, PageHead } from "../../kit/ListPage.js"
import { useLoad } from "../../kit/Load.js"
import { useOpened } from "../../kit/Opened.js"
import { usePoll } from "../../kit/Poll.js"
import { Reading } from "../../kit/Reading.js"
import { Table } from "../../kit/Table.js"
import type { PageProps } from "../PageProps.js"
import { ConnectionRow } from "./Connections.js"
import { EditRotation } from "./EditRotation.js"
import { LeaseRow } from "./Leases.js"
import { NewConnection } from "./NewConnection.js"
import { NewRole } from "./NewRole.js"
import { NewRotation } from "./NewRotation.js"
import { readRenewal } from "./RenewalRead.js"
import { RoleRow } from "./LeaseRoles.js"
import { RotationRow } from "./Rotations.js"

/** How often the states are read: turns and leases end by themselves. */
const pollMillis = 15_000

interface SectionProps<A> {
  readonly title: string
  readonly about: string
  /** The button that makes one, or the command. */
  readonly create?: ComponentChildren
  readonly make?: string
  readonly heads: ReadonlyArray<string>
  readonly rows: ReadonlyArray<A>
  readonly row: (one: A) => ComponentChildren
}

const Section = <A,>({ about, create, heads, make, row, rows, title }: SectionProps<A>) => (
  <>
    <PageHead
      isSection
      title={title}
      about={about}
      count={rows.length === 0 ? undefined : rows.length}
      create={create}
    />
    {rows.length === 0 ? (
      <p class="quiet">
        There are none{make === undefined ? " yet." : ": "}
        {make !== undefined && (
          <>
            <code>{make}</code> makes one.
          </>
        )}
      </p>
    ) : (
      <Table label={title} heads={heads}>
        {rows.map(row)}
      </Table>
    )}
  </>
)

/** The credentials of an environment that the server renews: in place, or for each caller. */
export const Page = ({ place: { org, project } }: PageProps<"project">) => {
  const { choice, env } = useEnvChoice(org, project)
  const path = env === undefined ? null : { org_name: org, project_name: project, env_name: env }
  const found = useLoad(env ?? "", () => (path === null ? Effect.succeed(null) : readRenewal(path)))
  const isNew = useOpened("new")
  const edited = useOpened("edit")
  const forms = path === null ? null : { path, done: found.reload }
  const newButton = (what: string) => <NewButton open={() => isNew.open(what)}>{`New ${what}`}</NewButton>
  usePoll(found, found.loaded.value.value === null ? null : pollMillis)
  return (
    <section class="wide-page">
      <PageHead title="Renewal" about="Credentials in databases that the server replaces, or makes for each caller." />
      {choice}
      <Reading of={found}>
        {(all) =>
          all !== null &&
          forms !== null &&
          path !== null && (
            <>
              {all.isAdmin && (
                <Section
                  title="Rotations"
                  about="Passwords that are replaced on a schedule."
                  create={newButton("rotation")}
                  heads={["Name", "Writes", "State", "Last turn", "Next turn", ""]}
                  rows={all.rotations}
                  row={(one) => (
                    <RotationRow
                      key={one.name}
                      path={path}
                      rotation={one}
                      changed={found.reload}
                      edit={() => edited.open(one.name)}
                    />
                  )}
                />
              )}
              {all.mayLease ? (
                <Section
                  title="Leases"
                  about="Users in databases, each made for one caller."
                  make="coffer lease create"
                  heads={["User", "Role", "Holder", "State", "Since", "Ends", ""]}
                  rows={all.leases}
                  row={(one) => <LeaseRow key={one.id} path={path} lease={one} changed={found.reload} />}
                />
              ) : (
                <p>{`You may not read ${path.env_name}, and so have no leases there.`}</p>
              )}
              {all.isAdmin && (
                <>
                  <Section
                    title="Roles"
                    about="How leased users are made and removed."
                    create={newButton("role")}
                    heads={["Name", "Connection", "Lasts", "Created", ""]}
                    rows={all.roles}
                    row={(one) => <RoleRow key={one.name} path={path} role={one} changed={found.reload} />}
                  />
                  <Section
                    title="Connections"
                    about="The databases that the server logs in to."
                    create={newButton("connection")}
                    heads={["Name", "Database", "Password", "Created", ""]}
                    rows={all.connections}
                    row={(one) => <ConnectionRow key={one.name} path={path} connection={one} changed={found.reload} />}
                  />
                </>
              )}
              {all.isAdmin && isNew.value === "rotation" && (
                <NewRotation {...forms} connections={all.connections} close={isNew.close} />
              )}
              {all.isAdmin && isNew.value === "role" && (
                <NewRole {...forms} connections={all.connections} close={isNew.close} />
              )}
              {all.isAdmin && isNew.value === "connection" && <NewConnection {...forms} close={isNew.close} />}
              {all.rotations.map(
                (one) =>
                  one.name === edited.value && (
                    <EditRotation key={one.name} {...forms} rotation={one} close={edited.close} />
                  )
              )}
            </>
          )
        }
      </Reading>
    </section>
  )
}

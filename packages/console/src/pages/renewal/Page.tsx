import type { Connection } from "@coffer/domain/secrets/Connection"
import * as Effect from "effect/Effect"
import type { ComponentChildren } from "preact"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { useEnvChoice } from "../../kit/EnvChoice.js"
import { PageHead } from "../../kit/ListPage.js"
import { useLoad } from "../../kit/Load.js"
import { By } from "../../kit/Person.js"
import { usePoll } from "../../kit/Poll.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { Table } from "../../kit/Table.js"
import { noteDone } from "../../state/Done.js"
import type { PageProps } from "../PageProps.js"
import { LeaseRow } from "./Leases.js"
import { type EnvPath, readRenewal } from "./RenewalRead.js"
import { RotationRow } from "./Rotations.js"

/** How often the states are read: turns and leases end by themselves. */
const pollMillis = 15_000

interface SectionProps<A> {
  readonly title: string
  readonly about: string
  /** The command that makes one. */
  readonly make: string
  readonly heads: ReadonlyArray<string>
  readonly rows: ReadonlyArray<A>
  readonly row: (one: A) => ComponentChildren
}

const Section = <A,>({ about, heads, make, row, rows, title }: SectionProps<A>) => (
  <>
    <PageHead isSection title={title} about={about} count={rows.length === 0 ? undefined : rows.length} />
    {rows.length === 0 ? (
      <p>
        There are none: <code>{make}</code> makes one.
      </p>
    ) : (
      <Table label={title} heads={heads}>
        {rows.map(row)}
      </Table>
    )}
  </>
)

const ConnectionRow = ({ connection, path }: { readonly connection: Connection; readonly path: EnvPath }) => {
  const act = useAct()
  const { created_at, created_by, database, host, kind, name, password_key, port, tls, user } = connection
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>
        {kind}{" "}
        <span class="key">
          {user}@{host}:{port}/{database}
        </span>{" "}
        <span class="quiet">{tls}</span>
      </td>
      <td>
        <code>{password_key}</code>
      </td>
      <td>
        <By time={created_at} who={created_by} />
      </td>
      <td class="actions">
        <button
          type="button"
          disabled={act.isBusy.value}
          onClick={() => {
            act.run(
              call("connections", (api) => api.test({ path: { ...path, connection_name: name } })),
              ({ may_change, may_create, ok, problem, version }) =>
                noteDone(
                  ok
                    ? `${name}: logged in to ${version ?? kind}. The user ${may_create ? "may" : "may not"} create users, and ${may_change ? "may" : "may not"} change passwords.`
                    : `${name}: ${problem ?? "the login failed"}.`
                )
            )
          }}
        >
          Test<span class="hidden"> {name}</span>
        </button>
        <Problem failure={act.failure.value} />
      </td>
    </tr>
  )
}

/** The credentials of an environment that the server renews: in place, or for each caller. */
export const Page = ({ place: { org, project } }: PageProps<"project">) => {
  const { choice, env } = useEnvChoice(org, project)
  const path = env === undefined ? null : { org_name: org, project_name: project, env_name: env }
  const found = useLoad(env ?? "", () => (path === null ? Effect.succeed(null) : readRenewal(path)))
  usePoll(found, found.loaded.value.value === null ? null : pollMillis)
  return (
    <section class="wide-page">
      <PageHead title="Renewal" about="Credentials in databases that the server replaces, or makes for each caller." />
      {choice}
      <Reading of={found}>
        {(all) =>
          all !== null &&
          path !== null && (
            <>
              {all.isAdmin && (
                <Section
                  title="Rotations"
                  about="Passwords that are replaced on a schedule."
                  make="coffer rotation create"
                  heads={["Name", "Writes", "State", "Last turn", "Next turn", ""]}
                  rows={all.rotations}
                  row={(one) => <RotationRow key={one.name} path={path} rotation={one} changed={found.reload} />}
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
                    make="coffer role create"
                    heads={["Name", "Connection", "Lasts", "Created"]}
                    rows={all.roles}
                    row={({ connection, created_at, created_by, default_ttl, max_ttl, name }) => (
                      <tr key={name}>
                        <th scope="row">{name}</th>
                        <td>{connection}</td>
                        <td>
                          {default_ttl}, at most {max_ttl}
                        </td>
                        <td>
                          <By time={created_at} who={created_by} />
                        </td>
                      </tr>
                    )}
                  />
                  <Section
                    title="Connections"
                    about="The databases that the server logs in to."
                    make="coffer connection create"
                    heads={["Name", "Database", "Password", "Created", ""]}
                    rows={all.connections}
                    row={(one) => <ConnectionRow key={one.name} path={path} connection={one} />}
                  />
                </>
              )}
            </>
          )
        }
      </Reading>
    </section>
  )
}

import type { AccessHolder } from "@coffer/domain/access/AccessHolder"
import { type Permission, permissions } from "@coffer/domain/access/AclRule"
import { holderCsv, holderCsvHead } from "@coffer/domain/access/HolderCsv"
import { useComputed, useSignal } from "@preact/signals"
import { Bot, Users } from "lucide"
import { missingInOrg } from "../../client/Organizations.js"
import { Choose } from "../../kit/Choose.js"
import { Empty, ListPage } from "../../kit/ListPage.js"
import { useLoad } from "../../kit/Load.js"
import { By, Named, Person } from "../../kit/Person.js"
import { UsageBadge } from "../../kit/UsageBadge.js"
import { saveFile } from "../../kit/SaveFile.js"
import type { PageProps } from "../PageProps.js"
import { type Found, maxColumns, readHolders, type Row } from "./Holders.js"
import { Review } from "./Review.js"
import { Why } from "./Why.js"
import "./Page.css"

interface Asked {
  readonly place: string
  readonly holder: AccessHolder
}

interface CellProps extends Asked {
  readonly ask: (asked: Asked) => void
}

const Cell = ({ ask, holder, place }: CellProps) => (
  <>
    <button type="button" class="plain who-may" onClick={() => ask({ holder, place })}>
      {holder.permission}
      {holder.for_some === true && " of some keys"}
      <span class="hidden"> in {place}: why</span>
    </button>
    {holder.because.expires_at !== undefined && <span class="badge">ends</span>}
    <UsageBadge usage={holder.usage} />
    {(holder.delegations?.length ?? 0) > 0 && <span class="badge">delegated</span>}
  </>
)

const Who = ({ kind, name }: Pick<Row, "kind" | "name">) =>
  kind === "service_account" ? (
    <>
      <Named icon={Bot} name={name} /> <span class="badge">machine</span>
    </>
  ) : kind === "group" ? (
    <>
      <Named icon={Users} name={name} /> <span class="badge">group</span>
    </>
  ) : (
    <Person address={name} />
  )

/** The words that are true of what was found, below the list. */
const Notes = ({ found: { columns, environments } }: { readonly found: Found }) => {
  const superadmins = columns[0]?.superadmins ?? 0
  const cut = columns.filter(({ isCut }) => isCut)
  return (
    <>
      <h2>Last reviews</h2>
      <ul>
        {columns.map(({ env, reviewed }) => (
          <li key={env}>
            {env}:{" "}
            {reviewed === undefined ? <span class="quiet">none</span> : <By time={reviewed.at} who={reviewed.by} />}
          </li>
        ))}
      </ul>
      {superadmins > 0 && (
        <p class="quiet">
          {superadmins === 1
            ? "One superadmin of the server, who is no member, may do everything too."
            : `${superadmins} superadmins of the server, who are no members, may do everything too.`}
        </p>
      )}
      {environments > maxColumns && (
        <p class="quiet">
          The first {maxColumns} of {environments} environments.
        </p>
      )}
      {cut.length > 0 && (
        <p class="quiet">
          {cut.map(({ env }) => env).join(", ")}: only a part is shown. <code>coffer acl who</code> lists all.
        </p>
      )}
    </>
  )
}

const saveAs = (form: "csv" | "json", project: string, { columns }: Found) => {
  const name = `access-${project}.${form}`
  if (form === "csv") {
    saveFile(name, "text/csv", [holderCsvHead, ...columns.map(holderCsv)])
    return
  }
  const data = columns.map(({ env, holders, reviewed, superadmins }) => ({
    ...{ project, env, superadmins, holders },
    ...(reviewed !== undefined && { reviewed })
  }))
  saveFile(name, "application/json", [JSON.stringify({ data }, null, 2), "\n"])
}

/** Those who have a permission in the environments of a project: people down, environments across. */
export const Page = ({ place: { org, project } }: PageProps<"project">) => {
  const permission = useSignal<Permission>("read")
  const asked = useSignal<Asked | null>(null)
  const isReviewing = useSignal(false)
  const wanted = permission.value
  const found = useLoad(`${org} ${project} ${wanted}`, () => readHolders(org, project, wanted))
  const rows = useComputed(() => ({ ...found.loaded.value, value: found.loaded.value.value?.rows ?? null }))
  const shown = found.loaded.value.value
  const columns = shown?.columns ?? []
  const why = missingInOrg(org, "access.list")
  return (
    <>
      <ListPage
        title="Who can"
        about={
          why === null
            ? "Everybody who has at least the permission, with the highest one in each environment. Press one to see why."
            : `To see who can, one ${why}.`
        }
        create={
          shown !== null && (
            <button type="button" class="primary" onClick={() => (isReviewing.value = true)}>
              Record a review
            </button>
          )
        }
        tools={
          shown !== null && (
            <>
              <Choose
                label="At least"
                value={wanted}
                words={permissions}
                choose={(word) => {
                  permission.value = word
                }}
              />
              <button type="button" onClick={() => saveAs("csv", project, shown)}>
                Save as CSV
              </button>
              <button type="button" onClick={() => saveAs("json", project, shown)}>
                Save as JSON
              </button>
            </>
          )
        }
        of={{ loaded: rows, reload: found.reload }}
        heads={["Who", ...columns.map(({ env }) => env)]}
        textOf={({ kind, name }) => `${name} ${kind}`}
        empty={<Empty title="Nobody has this permission" />}
        row={({ cells, id, kind, name }) => (
          <tr key={id}>
            <th scope="row">
              <Who kind={kind} name={name} />
              {cells.some((holder) => holder?.invited === true) && (
                <>
                  {" "}
                  <span class="badge warn">invited</span>
                </>
              )}
            </th>
            {cells.map((holder, index) => (
              <td key={columns[index]?.env}>
                {holder === undefined ? (
                  <span class="quiet">
                    –<span class="hidden"> no</span>
                  </span>
                ) : (
                  <Cell
                    holder={holder}
                    place={`${project}/${columns[index]?.env ?? ""}`}
                    ask={(next) => (asked.value = next)}
                  />
                )}
              </td>
            ))}
          </tr>
        )}
      >
        {shown !== null && <Notes found={shown} />}
      </ListPage>
      {asked.value !== null && <Why org={org} {...asked.value} close={() => (asked.value = null)} />}
      {isReviewing.value && (
        <Review
          org={org}
          project={project}
          envs={columns.map(({ env }) => env)}
          permission={wanted}
          close={() => (isReviewing.value = false)}
          done={found.reload}
        />
      )}
    </>
  )
}

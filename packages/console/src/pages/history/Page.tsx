import type { ProjectRevision } from "@coffer/domain/secrets/ProjectRevision"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { useLoad } from "../../kit/Load.js"
import { MoreButton, useMore } from "../../kit/More.js"
import { Reading } from "../../kit/Reading.js"
import { Table } from "../../kit/Table.js"
import { When } from "../../kit/When.js"
import { Link } from "../../routing/Link.js"
import { envAddress } from "../../routing/Places.js"
import { SentBar } from "../../staging/SentBar.js"
import type { ProjectPlace, Sent } from "../../staging/Writes.js"
import type { PageProps } from "../PageProps.js"
import { Changes } from "./Changes.js"
import { RevertDialog } from "./RevertDialog.js"
import "./Page.css"
import { Visible } from "../../kit/Visible.js"

const pageSize = 50

const read = ({ org, project }: ProjectPlace, after?: string) =>
  call("history", (api) =>
    api.list({
      path: { org_name: org, project_name: project },
      urlParams: { limit: pageSize, ...(after !== undefined && { after }) }
    })
  )

interface RowsProps {
  readonly place: ProjectPlace
  readonly revisions: ReadonlyArray<ProjectRevision>
  readonly revert: (to: ProjectRevision) => void
}

const Rows = ({ place, revert, revisions }: RowsProps) => {
  const latest = new Map([...revisions].reverse().map(({ env, revision }) => [env, revision]))
  return (
    <Table label="Changes" heads={["When", "Environment", "By", "Changes", ""]}>
      {revisions.map((one) => (
        <tr key={`${one.env} ${one.revision}`}>
          <td>
            <When time={one.created_at} />
          </td>
          <td>
            <Link to={envAddress(place.org, place.project, one.env)}>{one.env}</Link>{" "}
            <span class="quiet">revision {one.revision}</span>
          </td>
          <td>
            {one.created_by ?? <span class="quiet">not recorded</span>}
            {one.approved_by !== undefined && <div class="quiet">approved by {one.approved_by.join(", ")}</div>}
            {one.note !== undefined && (
              <div class="quiet">
                <Visible text={one.note} />
              </div>
            )}
          </td>
          <td>
            <Changes place={place} of={one} />
          </td>
          <td class="actions">
            {latest.get(one.env) === one.revision ? (
              <span class="badge good">current</span>
            ) : (
              <button
                type="button"
                onClick={() => {
                  revert(one)
                }}
              >
                Revert to here
                <span class="hidden">{` (${one.env}, revision ${one.revision})`}</span>
              </button>
            )}
          </td>
        </tr>
      ))}
    </Table>
  )
}

/** The changes of all environments of a project, newest first, without values. */
export const Page = ({ place }: PageProps<"project">) => {
  const name = `${place.org}/${place.project}`
  const first = useLoad(name, () => read(place))
  const older = useMore<ProjectRevision>(name)
  const chosen = useSignal<ProjectRevision | null>(null)
  const sent = useSignal<ReadonlyArray<Sent>>([])
  const reload = () => {
    older.restart()
    first.reload()
  }
  return (
    <section class="wide-page history">
      <h1>History of {place.project}</h1>
      <p>What changed in the environments that you may read, without values.</p>
      <Reading of={first}>
        {(page) =>
          page.data.length === 0 ? (
            <p class="quiet">Nothing has changed yet that you may see.</p>
          ) : (
            <>
              <Rows
                place={place}
                revisions={[...page.data, ...older.rows.value]}
                revert={(to) => (chosen.value = to)}
              />
              <MoreButton first={page} more={older} read={(after) => read(place, after)}>
                Older changes
              </MoreButton>
            </>
          )
        }
      </Reading>
      <SentBar place={place} sent={sent} reload={reload} />
      {chosen.value !== null && (
        <RevertDialog
          place={place}
          to={chosen.value}
          close={() => (chosen.value = null)}
          done={(write) => {
            chosen.value = null
            sent.value = [write]
            reload()
          }}
        />
      )}
    </section>
  )
}

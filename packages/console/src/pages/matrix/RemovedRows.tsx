import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import type { SecretListed } from "@coffer/domain/secrets/Secret"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { Table } from "../../kit/Table.js"
import { When } from "../../kit/When.js"
import { type Column, filterRows } from "./Grid.js"
import type { Model } from "./Model.js"

/** A deleted key: what each environment had of it. */
interface RemovedRow {
  readonly key: SecretKey
  readonly cells: ReadonlyMap<EnvName, SecretListed>
}

interface Removed {
  readonly rows: ReadonlyArray<RemovedRow>
  /** Environments with more deleted keys than a page. */
  readonly cut: ReadonlyArray<EnvName>
}

const readableIn = ({ grid }: Model) => grid.value.columns.filter(({ canRead }) => canRead)

/** The keys that were deleted, of the environments that the caller may read; at most a page of each. */
const read = (model: Model) => {
  const { org, project } = model.place
  return Effect.map(
    Effect.forEach(
      readableIn(model),
      ({ name }) =>
        Effect.map(
          call("secrets", (api) =>
            api.list({
              path: { org_name: org, project_name: project, env_name: name },
              urlParams: { removed: true, limit: maxPageSize }
            })
          ),
          ({ data }) => ({ name, data })
        ),
      { concurrency: 4 }
    ),
    (found): Removed => {
      const keys = [...new Set(found.flatMap(({ data }) => data.map(({ key }) => key)))].sort()
      const cellsOf = (wanted: SecretKey) =>
        new Map(
          found.flatMap(({ data, name }) =>
            data.flatMap((secret) => (secret.key === wanted ? [[name, secret] as const] : []))
          )
        )
      return {
        rows: keys.map((key) => ({ key, cells: cellsOf(key) })),
        cut: found.flatMap(({ data, name }) => (data.length >= maxPageSize ? [name] : []))
      }
    }
  )
}

interface CellProps {
  readonly secret: SecretListed
  readonly column: Column
  readonly isBusy: boolean
  readonly undelete: () => void
}

const Cell = ({ column, isBusy, secret, undelete }: CellProps) => (
  <>
    <span class="quiet">
      v{secret.version}, {secret.removed_at !== undefined && <When time={secret.removed_at} />}
      {typeof secret.removed_by === "string" && ` by ${secret.removed_by}`}
    </span>{" "}
    <button
      type="button"
      disabled={!column.canWrite || isBusy}
      title={column.canWrite ? undefined : "needs a rule with the permission write, and the role developer"}
      onClick={undelete}
    >
      Undelete<span class="hidden">{` ${secret.key} in ${column.name}`}</span>
    </button>
  </>
)

/** The deleted keys as rows of the matrix. They can come back with their versions. */
export const RemovedRows = ({ model, reload }: { readonly model: Model; readonly reload: () => void }) => {
  const columns = readableIn(model)
  const removed = useLoad(columns.map(({ name }) => name).join(" "), () => read(model))
  const said = useSignal("")
  const act = useAct()
  const { org, project } = model.place
  const undelete = (env: EnvName, key: SecretKey) => {
    act.run(
      call("secrets", (api) => api.undelete({ path: { org_name: org, project_name: project, env_name: env, key } })),
      ({ version }) => {
        said.value = `${key} is back in ${env}, as version ${version}.`
        removed.reload()
        reload()
      }
    )
  }
  return (
    <div class="matrix-removed">
      <p role="status">{said.value}</p>
      <Problem failure={act.failure.value} />
      <Reading of={removed}>
        {({ cut, rows }) => {
          const fits = new Set(
            filterRows(
              rows.map(({ key }) => ({ key, cells: [], marks: new Set() })),
              { text: model.filter.value.text, only: null }
            ).map(({ key }) => key)
          )
          const shown = rows.filter(({ key }) => fits.has(key))
          return (
            <>
              {shown.length === 0 ? (
                <p>No key that you may read was deleted{rows.length > 0 && " whose name fits the filter"}.</p>
              ) : (
                <Table label="Deleted keys" heads={["Key", ...columns.map(({ name }) => name)]}>
                  {shown.map(({ cells, key }) => (
                    <tr key={key}>
                      <th scope="row" class="key">
                        {key}
                      </th>
                      {columns.map((column) => {
                        const secret = cells.get(column.name)
                        return (
                          <td key={column.name}>
                            {secret !== undefined && (
                              <Cell
                                secret={secret}
                                column={column}
                                isBusy={act.isBusy.value}
                                undelete={() => {
                                  undelete(column.name, key)
                                }}
                              />
                            )}
                          </td>
                        )
                      })}
                    </tr>
                  ))}
                </Table>
              )}
              {cut.length > 0 && (
                <p class="hint">
                  Only {maxPageSize} deleted keys of {cut.join(", ")} are shown:{" "}
                  <code>coffer secret list --removed</code> lists all.
                </p>
              )}
            </>
          )
        }}
      </Reading>
    </div>
  )
}

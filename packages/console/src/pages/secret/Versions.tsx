import type { SecretPath } from "@coffer/domain/api/Paths"
import type { MatrixCell, MatrixEnvironment } from "@coffer/domain/Matrix"
import type { SecretVersion } from "@coffer/domain/Secret"
import { maxPageSize } from "@coffer/domain/Schemas"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { ConfirmByName } from "../../kit/ConfirmByName.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { When } from "../../kit/When.js"
import { Table } from "../../kit/Table.js"

interface VersionsProps {
  readonly path: SecretPath
  readonly env: MatrixEnvironment
  readonly cell: MatrixCell | null
  readonly changed: () => void
}

/** A key without a secret: one that was removed may come back. */
const Removed = ({ canWrite, changed, path }: { path: SecretPath; canWrite: boolean; changed: () => void }) => {
  const act = useAct()
  const removed = useLoad(`${path.env_name}/${path.key}`, () =>
    Effect.map(
      call("secrets", (api) => api.list({ path, urlParams: { removed: true, key: path.key } })),
      ({ data }) => data
    )
  )
  return (
    <Reading of={removed}>
      {([found]) =>
        found === undefined ? (
          <p>There never was a secret of this name in {path.env_name}.</p>
        ) : (
          <>
            <p>
              Deleted from {path.env_name}
              {typeof found.removed_by === "string" && ` by ${found.removed_by}`}{" "}
              {found.removed_at !== undefined && <When time={found.removed_at} />}. Undelete restores it, with its
              versions up to v{found.version}.
            </p>
            <Problem failure={act.failure.value} />
            <button
              type="button"
              disabled={!canWrite || act.isBusy.value}
              onClick={() => {
                act.run(
                  call("secrets", (api) => api.undelete({ path })),
                  changed
                )
              }}
            >
              Undelete
            </button>
          </>
        )
      }
    </Reading>
  )
}

const badgeOf = ({ current, destroyed }: SecretVersion) =>
  current ? <span class="badge good">current</span> : destroyed ? <span class="badge bad">destroyed</span> : null

/** The versions of a secret in one environment, newest first. */
export const Versions = ({ cell, changed, env, path }: VersionsProps) => {
  const name = `${path.env_name}/${path.key}/${String(cell?.version)}`
  const versions = useLoad(name, () =>
    cell === null
      ? Effect.succeed<ReadonlyArray<SecretVersion>>([])
      : Effect.map(
          call("secrets", (api) => api.versions({ path, urlParams: { limit: maxPageSize } })),
          ({ data }) => data
        )
  )
  const act = useAct()
  const doomed = useSignal<number | null>(null)
  const canWrite = env.allowed.includes("write")
  const canDestroy = env.allowed.includes("admin")
  const done = () => {
    doomed.value = null
    versions.reload()
    changed()
  }
  if (cell === null) return <Removed path={path} canWrite={canWrite} changed={changed} />
  return (
    <Reading of={versions}>
      {(found) => (
        <>
          <Problem failure={act.failure.value} />
          <Table label="Versions" heads={["Version", "Written", "By", ""]}>
            {found.map((one) => (
              <tr key={one.version}>
                <td>
                  v{one.version} {badgeOf(one)} {one.kind === "reference" && <span class="badge">reference</span>}
                </td>
                <td>
                  <When time={one.created_at} />
                </td>
                <td>{one.created_by}</td>
                <td class="secret-actions">
                  {!one.current && !one.destroyed && (
                    <>
                      <button
                        type="button"
                        disabled={!canWrite || act.isBusy.value}
                        title={canWrite ? undefined : "needs a rule with the permission write"}
                        onClick={() => {
                          act.run(
                            call("secrets", (api) =>
                              api.rollback({
                                path,
                                payload: { version: one.version, expected_version: cell.version }
                              })
                            ),
                            done
                          )
                        }}
                      >
                        Roll back to it
                      </button>
                      <button
                        type="button"
                        disabled={!canDestroy || act.isBusy.value}
                        title={canDestroy ? undefined : "needs a rule with the permission admin"}
                        onClick={() => {
                          doomed.value = one.version
                        }}
                      >
                        Destroy
                      </button>
                    </>
                  )}
                </td>
              </tr>
            ))}
          </Table>
          {doomed.value !== null && (
            <ConfirmByName
              title={`Destroy version ${doomed.value}`}
              name={path.key}
              verb="Destroy"
              isBusy={act.isBusy.value}
              close={() => {
                doomed.value = null
              }}
              confirm={() => {
                const version = doomed.peek()
                if (version === null) return
                act.run(
                  call("secrets", (api) => api.destroy({ path, payload: { versions: [version] } })),
                  done
                )
              }}
            >
              <p>
                The value of version {doomed.value} in {path.env_name} is erased for ever. That it existed stays
                recorded. Backups made before still hold it.
              </p>
              <Problem failure={act.failure.value} />
            </ConfirmByName>
          )}
        </>
      )}
    </Reading>
  )
}

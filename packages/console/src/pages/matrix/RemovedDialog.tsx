import type { EnvName, SecretKey } from "@coffer/domain/Names"
import type { SecretListed } from "@coffer/domain/Secret"
import { maxPageSize } from "@coffer/domain/Schemas"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { Table } from "../../kit/Table.js"
import { When } from "../../kit/When.js"
import type { Model } from "./Model.js"

interface RemovedSecret extends SecretListed {
  readonly env: EnvName
}

/** The keys of a project that were removed, of the environments that the caller may read; at most a page of each. */
const read = ({ grid, place: { org, project } }: Model) =>
  Effect.map(
    Effect.forEach(
      grid.peek().columns.filter(({ canRead }) => canRead),
      ({ name }) =>
        Effect.map(
          call("secrets", (api) =>
            api.list({
              path: { org_name: org, project_name: project, env_name: name },
              urlParams: { removed: true, limit: maxPageSize }
            })
          ),
          ({ data }) => data.map((secret): RemovedSecret => ({ ...secret, env: name }))
        ),
      { concurrency: 4 }
    ),
    (found) => found.flat().sort((a, b) => ((a.removed_at ?? "") > (b.removed_at ?? "") ? -1 : 1))
  )

/** What was removed from the project, and can come back with its versions. */
export const RemovedDialog = ({
  close,
  model,
  reload
}: {
  readonly model: Model
  readonly reload: () => void
  readonly close: () => void
}) => {
  const removed = useLoad("removed", () => read(model))
  const act = useAct()
  const { org, project } = model.place
  const canWrite = (env: EnvName) => model.grid.value.columns.some((one) => one.name === env && one.canWrite)
  const undelete = (env: EnvName, key: SecretKey) => {
    act.run(
      call("secrets", (api) => api.undelete({ path: { org_name: org, project_name: project, env_name: env, key } })),
      () => {
        removed.reload()
        reload()
      }
    )
  }
  return (
    <Dialog title="Deleted keys" close={close}>
      <Problem failure={act.failure.value} />
      <Reading of={removed}>
        {(found) =>
          found.length === 0 ? (
            <p>No key that you may read was deleted.</p>
          ) : (
            <Table label="Deleted keys" heads={["Key", "Environment", "Deleted", "By", ""]}>
              {found.map(({ env, key, removed_at, removed_by, version }) => (
                <tr key={`${env} ${key}`}>
                  <td class="key">
                    {key} <span class="quiet">v{version}</span>
                  </td>
                  <td>{env}</td>
                  <td>{removed_at !== undefined && <When time={removed_at} />}</td>
                  <td>{removed_by}</td>
                  <td>
                    <button
                      type="button"
                      disabled={!canWrite(env) || act.isBusy.value}
                      title={canWrite(env) ? undefined : "needs a rule with the permission write"}
                      onClick={() => {
                        undelete(env, key)
                      }}
                    >
                      Undelete
                    </button>
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Reading>
    </Dialog>
  )
}

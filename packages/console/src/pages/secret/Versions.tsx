import type { SecretPath } from "@coffer/domain/api/Paths"
import type { MatrixCell, MatrixEnvironment } from "@coffer/domain/secrets/Matrix"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import type { SecretVersion } from "@coffer/domain/secrets/Secret"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { useEffect } from "preact/hooks"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { ConfirmByName } from "../../kit/ConfirmByName.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { useStillOpen } from "../../kit/StillOpen.js"
import { StoredText } from "../../kit/StoredText.js"
import { Table } from "../../kit/Table.js"
import { When } from "../../kit/When.js"
import { hide, readValue, show, shown } from "../matrix/GridValues.js"
import { Difference } from "./Difference.js"

interface VersionsProps {
  readonly path: SecretPath
  readonly env: MatrixEnvironment
  readonly cell: MatrixCell
  readonly changed: () => void
}

/** How many versions are shown at first. */
const firstPage = 20

const badgeOf = ({ current, destroyed }: SecretVersion) =>
  current ? <span class="badge good">current</span> : destroyed ? <span class="badge bad">destroyed</span> : null

/** The facts about a value that are shown without the value. */
const Compared = ({ bytes_up_to, same, version }: SecretVersion) => (
  <>
    {same === true && <span class="badge">same value as v{version - 1}</span>}
    {same === false && <span class="badge warn">differs from v{version - 1}</span>}{" "}
    {bytes_up_to !== undefined && (
      <span class="quiet secret-length">
        {bytes_up_to === 0 ? "empty" : `at most ${bytes_up_to.toLocaleString("en")} bytes`}
      </span>
    )}
  </>
)

interface RowProps extends VersionsProps {
  readonly one: SecretVersion
  /** The version before, if both have a value. */
  readonly before: number | null
  readonly destroy: () => void
}

const needsWrite = "needs a rule with the permission write"

const Row = ({ before, cell, changed, destroy, env, one, path }: RowProps) => {
  const act = useAct()
  const isOpen = useStillOpen()
  const place = { org: path.org_name, project: path.project_name }
  const found = shown.value
  const isShown = found?.version === one.version && found.env === path.env_name && found.key === path.key
  const isRevealed = isShown && found.before === undefined
  const isCompared = isShown && found.before !== undefined
  const canWrite = env.allowed.includes("write")
  const canDestroy = env.allowed.includes("admin")
  const read = (version: number) =>
    Effect.map(readValue(place, path.env_name, path.key, true, version), (value) => Redacted.value(value))
  const reveal = (earlier: number | null) => {
    act.run(
      Effect.all([read(one.version), earlier === null ? Effect.succeed(undefined) : read(earlier)], { concurrency: 2 }),
      ([value, old]) => {
        // The values may arrive after another environment was chosen.
        if (!isOpen()) return
        const base = { env: path.env_name, key: path.key, version: one.version, value }
        show(old === undefined ? base : { ...base, before: old })
      }
    )
  }
  const of = <span class="hidden"> version {one.version}</span>
  return (
    <>
      <tr>
        <td>
          v{one.version} {badgeOf(one)} {one.kind === "reference" && <span class="badge">reference</span>}
        </td>
        <td>
          <When time={one.created_at} /> by {one.created_by}
        </td>
        <td>
          <Compared {...one} />
        </td>
        <td class="secret-actions">
          {!one.destroyed && (
            <button
              type="button"
              disabled={!env.reveals}
              onClick={() => {
                if (isRevealed) hide()
                else reveal(null)
              }}
            >
              {isRevealed ? "Hide" : "Reveal"}
              {of}
            </button>
          )}
          {before !== null && (
            <button
              type="button"
              disabled={!env.reveals}
              onClick={() => {
                if (isCompared) hide()
                else reveal(before)
              }}
            >
              {isCompared ? "Hide" : "Compare"}
              <span class="hidden">
                {" "}
                version {one.version} with {before}
              </span>
            </button>
          )}
          {!one.current && !one.destroyed && (
            <>
              <button
                type="button"
                disabled={!canWrite}
                title={canWrite ? undefined : needsWrite}
                onClick={() => {
                  act.run(
                    call("secrets", (api) =>
                      api.rollback({ path, payload: { version: one.version, expected_version: cell.version } })
                    ),
                    changed
                  )
                }}
              >
                Roll back to it
              </button>
              <button
                type="button"
                disabled={!canDestroy}
                title={canDestroy ? undefined : "needs a rule with the permission admin"}
                onClick={destroy}
              >
                Destroy
              </button>
            </>
          )}
        </td>
      </tr>
      {(isShown || act.failure.value !== null) && (
        <tr role="row">
          <td role="cell" class="whole" colSpan={4}>
            <Problem failure={act.failure.value} />
            {isRevealed && (
              <output class="matrix-value">
                <StoredText text={found.value} />
              </output>
            )}
            {isCompared && <Difference before={found.before ?? ""} after={found.value} />}
          </td>
        </tr>
      )}
    </>
  )
}

/** The versions of a secret in one environment, newest first, each compared with the one before. */
export const Versions = (props: VersionsProps) => {
  const { cell, changed, path } = props
  const limit = useSignal(firstPage)
  const versions = useLoad(`${path.env_name}/${path.key}/${cell.version} ${limit.value}`, () =>
    Effect.map(
      call("secrets", (api) => api.versions({ path, urlParams: { limit: limit.peek(), compare: true } })),
      ({ data }) => data
    )
  )
  const act = useAct()
  const doomed = useSignal<number | null>(null)
  useEffect(() => hide, [])
  const done = () => {
    doomed.value = null
    versions.reload()
    changed()
  }
  return (
    <section aria-labelledby="secret-versions">
      <h2 id="secret-versions">Versions</h2>
      <Reading of={versions}>
        {(found) => (
          <>
            <Table label="Versions" class="secret-versions" heads={["Version", "Written", "Value", ""]}>
              {found.map((one, index) => {
                const before = found[index + 1]
                return (
                  <Row
                    key={one.version}
                    {...props}
                    changed={done}
                    one={one}
                    before={before === undefined || before.destroyed || one.destroyed ? null : before.version}
                    destroy={() => (doomed.value = one.version)}
                  />
                )
              })}
            </Table>
            {found.length === limit.value && found.at(-1)?.version !== 1 && limit.value < maxPageSize && (
              <button type="button" onClick={() => (limit.value = maxPageSize)}>
                Older versions
              </button>
            )}
          </>
        )}
      </Reading>
      {doomed.value !== null && (
        <ConfirmByName
          title={`Destroy version ${doomed.value}`}
          name={path.key}
          verb="Destroy"
          busy={act.isBusy}
          close={() => (doomed.value = null)}
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
            The value of version {doomed.value} in {path.env_name} is erased permanently. The version stays in the list,
            without its value. Earlier backups still hold the value.
          </p>
          <Problem failure={act.failure.value} />
        </ConfirmByName>
      )}
    </section>
  )
}

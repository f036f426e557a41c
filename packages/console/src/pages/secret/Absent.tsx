import type { SecretPath } from "@coffer/domain/api/Paths"
import { editDistance, nearestBy } from "@coffer/domain/base/Nearest"
import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import type { SecretListed } from "@coffer/domain/secrets/Secret"
import * as Effect from "effect/Effect"
import type { ComponentChildren } from "preact"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { When } from "../../kit/When.js"
import { Link } from "../../routing/Link.js"
import { secretAddress } from "../../routing/Places.js"
import type { Model } from "../matrix/Model.js"

interface AbsentProps {
  readonly model: Model
  readonly path: SecretPath
  /** The environments that the caller may read. */
  readonly readable: ReadonlyArray<EnvName>
  readonly isStoredElsewhere: boolean
  readonly canWrite: boolean
  readonly changed: () => void
  /** The way to create it, except where it can be restored: a new secret would take its key. */
  readonly children: ComponentChildren
}

interface Removed extends SecretListed {
  readonly env: EnvName
}

const removedFrom = (path: SecretPath, env: EnvName) =>
  Effect.map(
    call("secrets", (api) =>
      api.list({ path: { ...path, env_name: env }, urlParams: { removed: true, key: path.key } })
    ),
    ({ data }) => data.map((one): Removed => ({ ...one, env }))
  )

/** The key that a person may have meant. */
const meantBy = ({ grid }: Model, key: string): SecretKey | undefined => {
  const { rows } = grid.value
  const most = Math.max(1, key.length / 4)
  const nearest = nearestBy(
    rows.map((row) => row.key),
    (other) => {
      if (other === key || Math.abs(other.length - key.length) > most) return Infinity
      const distance = editDistance(other.toLowerCase(), key.toLowerCase())
      return distance <= most ? distance : Infinity
    }
  )
  return rows.find((row) => row.key === nearest)?.key
}

const Deleted = ({
  canWrite,
  changed,
  path,
  removed
}: Omit<AbsentProps, "children"> & { readonly removed: Removed }) => {
  const act = useAct()
  return (
    <>
      <p>
        Deleted from {path.env_name}
        {typeof removed.removed_by === "string" && ` by ${removed.removed_by}`}{" "}
        {removed.removed_at !== undefined && <When time={removed.removed_at} />}. Undelete restores it, with its
        versions up to v{removed.version}.
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

/** The end of the sentence that it never was here. */
const Elsewhere = ({
  found,
  isStoredElsewhere,
  model,
  path
}: AbsentProps & { readonly found: ReadonlyArray<Removed> }) => {
  const { env_name, key, org_name, project_name } = path
  if (isStoredElsewhere) return <>.</>
  if (found.length > 0) {
    return (
      <>
        . It can be restored where it was deleted:{" "}
        {found.map(({ env }) => (
          <Link key={env} to={secretAddress(org_name, project_name, env, key)} class="button">
            {env}
          </Link>
        ))}
      </>
    )
  }
  const meant = meantBy(model, key)
  return (
    <>
      , nor in any other environment that you may read.
      {meant !== undefined && (
        <>
          {" "}
          Did you mean <Link to={secretAddress(org_name, project_name, env_name, meant)}>{meant}</Link>?
        </>
      )}
    </>
  )
}

/** A key without a secret: one that was removed may come back, and one that never was may be mistyped. */
export const Absent = (props: AbsentProps) => {
  const { children, isStoredElsewhere, path, readable } = props
  const { env_name, key } = path
  const asked = isStoredElsewhere ? [env_name] : readable
  const removed = useLoad(`${asked.join()}/${key}`, () =>
    Effect.map(
      Effect.forEach(asked, (env) => removedFrom(path, env), { concurrency: 4 }),
      (found) => found.flat()
    )
  )
  return (
    <Reading of={removed}>
      {(found) => {
        const here = found.find(({ env }) => env === env_name)
        if (here !== undefined) return <Deleted {...props} removed={here} />
        return (
          <>
            <p>
              There never was a secret of this name in {env_name}
              <Elsewhere {...props} found={found} />
            </p>
            {children}
          </>
        )
      }}
    </Reading>
  )
}

import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import { listOf } from "@coffer/domain/secrets/Bundle"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { useEffect } from "preact/hooks"
import { call } from "../../client/Calls.js"
import type { Action } from "../../kit/Act.js"
import { Problem } from "../../kit/Problem.js"
import { makeRevealed } from "../../kit/Revealed.js"
import type { ProjectPlace } from "../../staging/Writes.js"
import type { Column, Grid } from "./Grid.js"

/** The values of a column, as of a revision of its environment. */
interface ColumnValues {
  readonly env: EnvName
  readonly revision: number | null
  readonly values: ReadonlyMap<SecretKey, string>
  /** How many references lead to no value. */
  readonly unreadable: number
}

const shownMillis = 60_000

const { hide, show, shown } = makeRevealed<ColumnValues>(shownMillis)

export const showColumn = show

/** Reads the values of an environment by one call, which the audit log records. */
export const readColumn = ({ org, project }: ProjectPlace, { name, revision }: Column) =>
  Effect.map(
    call("environments", (api) =>
      api.bundle({ path: { org_name: org, project_name: project, env_name: name }, urlParams: {}, headers: {} })
    ),
    (bundle): ColumnValues => {
      const { data, errors = [] } = listOf(bundle) ?? { data: [] }
      const values = new Map(data.map(({ key, value }) => [key, Redacted.value(value)] as const))
      return { env: name, revision, values, unreadable: errors.length }
    }
  )

/** The values that are shown, by the index of their column. None after the environment has changed. */
export const valuesIn = ({ columns }: Grid): { readonly index: number; readonly of: ColumnValues } | null => {
  const of = shown.value
  if (of === null) return null
  const index = columns.findIndex(({ name, revision }) => name === of.env && revision === of.revision)
  return index === -1 ? null : { index, of }
}

interface BarProps {
  readonly act: Action
  readonly values: ColumnValues | null
}

/** Says whose values are shown, and hides them. They are hidden when the page is left. */
export const ValuesBar = ({ act, values }: BarProps) => {
  useEffect(() => hide, [])
  return (
    <div role="status" class={values === null ? undefined : "matrix-values"}>
      {values !== null && (
        <>
          <span>
            The values of <strong>{values.env}</strong> are shown for a minute. The audit log has recorded the read.
            {values.unreadable > 0 && ` ${values.unreadable.toLocaleString("en")} references lead to no value.`}
          </span>
          <button type="button" onClick={hide}>
            Hide
          </button>
        </>
      )}
      <Problem failure={act.failure.value} />
    </div>
  )
}

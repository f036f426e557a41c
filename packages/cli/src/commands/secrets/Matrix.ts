import type { ProjectPath } from "@coffer/domain/api/Paths"
import { matrixOf } from "@coffer/domain/secrets/MatrixOf"
import type { MatrixCell } from "@coffer/domain/secrets/Matrix"
import { inStageOrder } from "@coffer/domain/directory/EnvironmentOrder"
import type { EnvName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import type { Call } from "../../grammar/Command.js"
import { note, printList } from "../../terminal/Print.js"
import type { View } from "../../terminal/View.js"

/** A letter for a value: equal letters in a row are equal values, in the order of the columns. */
const letterOf = (present: ReadonlyArray<MatrixCell>, { same }: MatrixCell): string => {
  if (same === null) return "damaged"
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
  const distinct = new Set(present.flatMap((cell) => cell.same ?? []))
  const index = [...distinct].indexOf(same)
  return (letters[index % 26] ?? "") + (index < 26 ? "" : String(Math.floor(index / 26)))
}

const statusOf = (present: ReadonlyArray<MatrixCell>, missing: ReadonlyArray<EnvName>): string => {
  const parts = [
    ...(new Set(present.map(({ same }) => same)).size > 1 ? ["different"] : []),
    ...(missing.length > 0 ? [`missing in ${missing.join(", ")}`] : [])
  ]
  return parts.length === 0 ? "same" : parts.join("; ")
}

/** The keys of all environments of a project: where each is missing, and where its value differs. No value is read. */
export const matrix = Effect.fnUntraced(function* (call: Call, path: ProjectPath) {
  const response = matrixOf(yield* call("environments", (api) => api.matrix({ path, urlParams: {}, headers: {} })))
  // Without If-None-Match there is always a matrix.
  const { data, environments, others } = response ?? { data: [], environments: [], others: [] }
  const ordered = inStageOrder(environments)
  const columns = ordered.flatMap((one) =>
    one.allowed.length > 0 ? [{ env: one.name, index: environments.indexOf(one) }] : []
  )
  const hidden = ordered.flatMap(({ allowed, name }) => (allowed.length > 0 ? [] : [name]))
  const rows = data.map(({ cells, key }) => {
    const found = columns.map(({ env, index }) => ({ env, cell: cells[index] ?? null }))
    const missing = found.flatMap(({ cell, env }) => (cell === null ? [env] : []))
    const present = found.flatMap(({ cell }) => cell ?? [])
    return {
      key,
      found: found.map(({ cell, env }) => ({ env, cell, letter: cell === null ? null : letterOf(present, cell) })),
      status: statusOf(present, missing)
    }
  })
  const table = printList(
    ["key", ...columns.map(({ env }) => env), "status"],
    rows.map(({ found, key, status }) => [key, ...found.map(({ letter }) => letter ?? "missing"), status])
  )
  const legend = note(`${columns.map(({ env }) => env).join(", ")}: equal letters in a row are equal values`)
  const left = hidden.length === 0 ? Effect.void : note(`left out, because you may not list them: ${hidden.join(", ")}`)
  const more =
    others.length === 0
      ? Effect.void
      : note(`left out, because a matrix has at most ${environments.length} environments: ${others.join(", ")}`)
  const partly = ordered.flatMap(({ left_out = 0, name }) => (left_out === 0 ? [] : [`${left_out} in ${name}`]))
  const rest =
    partly.length === 0 ? Effect.void : note(`keys left out, because your rules are for others: ${partly.join(", ")}`)
  const notes = Effect.zipRight(Effect.zipRight(left, rest), more)
  const view: View = {
    json: {
      environments: columns.map(({ env }) => env),
      left_out: [...hidden, ...others],
      data: rows.map(({ found, key, status }) => ({
        key,
        status,
        environments: Object.fromEntries(
          found.map(({ cell, env, letter }) => [
            env,
            cell === null ? null : { version: cell.version, updated_at: cell.updated_at, value: letter }
          ])
        )
      }))
    },
    text:
      rows.length === 0
        ? Effect.zipRight(note(`there are no secrets in ${path.project_name}`), notes)
        : Effect.zipRight(Effect.zipRight(table, legend), notes)
  }
  return view
})

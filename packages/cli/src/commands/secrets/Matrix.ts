import type { ProjectPath } from "@coffer/domain/api/Paths"
import type { EnvName, SecretKey } from "@coffer/domain/Names"
import type { SecretListed } from "@coffer/domain/Secret"
import { Effect } from "effect"
import type { Call } from "../../grammar/Command.js"
import { note, printTable } from "../../terminal/Print.js"
import type { View } from "../../terminal/View.js"

/** A secret in one environment. */
interface Cell {
  readonly version: number
  readonly updated_at: string
  /** A letter: equal letters in a row are equal values. */
  value: string
}

interface Column {
  readonly env: EnvName
  readonly cells: ReadonlyMap<SecretKey, Cell>
}

/** Environments whose secrets the caller may list, and the names of the others. */
const readColumns = Effect.fnUntraced(function* (call: Call, path: ProjectPath) {
  const { data } = yield* call("environments", (api) => api.list({ path }))
  const columns: Array<Column> = []
  const hidden: Array<EnvName> = []
  for (const { name } of data) {
    const listed = yield* call("secrets", (api) => api.list({ path: { ...path, env_name: name } })).pipe(
      Effect.map(({ data }): ReadonlyArray<SecretListed> | undefined => data),
      Effect.catchTags({ Forbidden: () => Effect.succeed(undefined), NotFound: () => Effect.succeed(undefined) })
    )
    if (listed === undefined) hidden.push(name)
    else columns.push({ env: name, cells: new Map(listed.map(({ key, ...rest }) => [key, { ...rest, value: "" }])) })
  }
  return { columns, hidden }
})

/** The keys whose values are equal in two environments. */
const equalKeys = (call: Call, path: ProjectPath, here: EnvName, there: EnvName) =>
  Effect.map(
    call("environments", (api) => api.diff({ path: { ...path, env_name: here }, urlParams: { with: there } })),
    ({ data }) => new Set(data.flatMap(({ key, status }) => (status === "same" ? [key] : [])))
  )

const letterOf = (index: number) => {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
  return (letters[index % 26] ?? "") + (index < 26 ? "" : String(Math.floor(index / 26)))
}

/** Gives equal values of a row equal letters. Environments are compared until each value has found an equal one. */
const compare = Effect.fnUntraced(function* (call: Call, path: ProjectPath, columns: ReadonlyArray<Column>) {
  const used = new Map<SecretKey, number>()
  for (const [index, { cells, env }] of columns.entries()) {
    const open = new Map(cells)
    for (const earlier of columns.slice(0, index)) {
      const shared = [...open].filter(([key]) => earlier.cells.has(key))
      if (shared.length === 0) continue
      const equal = yield* equalKeys(call, path, earlier.env, env)
      for (const [key, cell] of shared.filter(([key]) => equal.has(key))) {
        cell.value = earlier.cells.get(key)?.value ?? ""
        open.delete(key)
      }
    }
    for (const [key, cell] of open) {
      const letter = used.get(key) ?? 0
      cell.value = letterOf(letter)
      used.set(key, letter + 1)
    }
  }
})

const statusOf = (present: ReadonlyArray<Cell>, missing: ReadonlyArray<EnvName>): string => {
  const parts = [
    ...(new Set(present.map(({ value }) => value)).size > 1 ? ["different"] : []),
    ...(missing.length > 0 ? [`missing in ${missing.join(", ")}`] : [])
  ]
  return parts.length === 0 ? "same" : parts.join("; ")
}

/** The keys of all environments of a project: where each is missing, and where its value differs. No value is read. */
export const matrix = Effect.fnUntraced(function* (call: Call, path: ProjectPath) {
  const { columns, hidden } = yield* readColumns(call, path)
  yield* compare(call, path, columns)
  const keys = [...new Set(columns.flatMap(({ cells }) => [...cells.keys()]))].sort((a, b) => (a < b ? -1 : 1))
  const rows = keys.map((key) => {
    const missing = columns.flatMap(({ cells, env }) => (cells.has(key) ? [] : [env]))
    const present = columns.flatMap(({ cells }) => cells.get(key) ?? [])
    return { key, status: statusOf(present, missing) }
  })
  const table = printTable(
    ["key", ...columns.map(({ env }) => env), "status"],
    rows.map(({ key, status }) => [key, ...columns.map(({ cells }) => cells.get(key)?.value ?? "missing"), status])
  )
  const legend = note(`${columns.map(({ env }) => env).join(", ")}: equal letters in a row are equal values`)
  const left = hidden.length === 0 ? Effect.void : note(`left out, because you may not list them: ${hidden.join(", ")}`)
  const view: View = {
    json: {
      environments: columns.map(({ env }) => env),
      left_out: hidden,
      data: rows.map(({ key, status }) => ({
        key,
        status,
        environments: Object.fromEntries(columns.map(({ cells, env }) => [env, cells.get(key) ?? null]))
      }))
    },
    text:
      rows.length === 0
        ? Effect.zipRight(note(`there are no secrets in ${path.project_name}`), left)
        : Effect.zipRight(Effect.zipRight(table, legend), left)
  }
  return view
})

import type { ChangeRequested } from "@coffer/domain/requests/ApprovalRequest"
import type { PlannedKey } from "@coffer/domain/formats/tools/KeyPlan"
import * as Effect from "effect/Effect"
import { note, printTable } from "../../terminal/Print.js"
import { type Compared, type KeyChange, placeName } from "./Compare.js"

/** At most this many details are shown. */
const maxDetails = 20

const isWritten = ({ state }: PlannedKey) => state === "value" || state === "reference"

/** Returns a short label for the outcome of a key. */
const wordOf = ({ changes }: Compared, planned: PlannedKey): string => {
  if (planned.state === "left") return "left"
  if (planned.state === "unsupported") return "not storable"
  const change = changes.get(planned.key) ?? "unknown"
  return planned.state === "reference" ? `${change}, reference` : change
}

const count = (compared: Compared, change: KeyChange) =>
  compared.planned.keys.filter((key) => isWritten(key) && compared.changes.get(key.key) === change).length

const unsupportedIn = ({ planned }: Compared) => planned.keys.filter(({ state }) => state === "unsupported")

/** How many keys of a plan cannot be stored. */
export const countUnsupported = (all: ReadonlyArray<Compared>): number =>
  all.reduce((sum, each) => sum + unsupportedIn(each).length, 0)

const sumOf = (compared: Compared): string => {
  const { planned } = compared
  const unknown = count(compared, "unknown") + count(compared, "same import")
  const unsupported = unsupportedIn(compared).length
  const left = planned.keys.filter(({ state }) => state === "left").length
  const parts = [
    `${count(compared, "new")} new`,
    `${count(compared, "different")} different`,
    `${count(compared, "same")} the same`,
    ...(unknown > 0 ? [`${unknown} not compared yet`] : []),
    ...(unsupported > 0 ? [`${unsupported} not storable`] : []),
    ...(left > 0 ? [`${left} left`] : [])
  ]
  return `${planned.source} -> ${placeName(planned)}: ${parts.join(", ")}`
}

/** The references of a key that are not translated. */
const referencesLeft = ({ references, stored }: PlannedKey): ReadonlyArray<string> => {
  if (references.length === 0) return []
  const left = references.slice(0, 5).join(", ")
  return stored === "resolved"
    ? [`${left} leads elsewhere, so its value of now is stored`]
    : [`${left} is no reference here, and is stored as text`]
}

/** Returns the details of each key for a person: why it is not written, how its value was read, which references stay. */
const detailsOf = ({ planned }: Compared): ReadonlyArray<string> =>
  planned.keys.flatMap((each) => {
    const { key, line, notes, path, state, why } = each
    const named = `${placeName(planned)}, ${path === key ? key : `${key} (${path})`}, line ${line}`
    const found = why === undefined ? [...notes, ...referencesLeft(each)] : state === "unsupported" ? [why] : []
    return found.map((detail) => `${named}: ${detail}`)
  })

const existence: Readonly<Record<Compared["exists"], (place: string) => ReadonlyArray<string>>> = {
  all: () => [],
  project: (place) => [`the environment ${place} does not exist: --apply creates it`],
  none: (place) => [`${place} does not exist, nor does its project: --apply creates both`]
}

/** Prints a plan for people: keys in rows and environments in columns, then what they should know. */
export const printPlan = Effect.fnUntraced(function* (all: ReadonlyArray<Compared>) {
  const oneProject = new Set(all.map(({ planned }) => planned.project)).size === 1
  const columns = all.map((each) => ({
    title: oneProject ? each.planned.env : placeName(each.planned),
    words: new Map(each.planned.keys.map((key) => [key.key, wordOf(each, key)]))
  }))
  const keys = [...new Set(all.flatMap(({ planned }) => planned.keys.map(({ key }) => key)))]
  if (keys.length > 0) {
    yield* printTable(
      ["key", ...columns.map(({ title }) => title)],
      keys.map((key) => [key, ...columns.map(({ words }) => words.get(key) ?? "-")])
    )
  }
  const details = all.flatMap(detailsOf)
  yield* Effect.forEach(details.slice(0, maxDetails), note, { discard: true })
  if (details.length > maxDetails) yield* note(`and ${details.length - maxDetails} more; --json has all`)
  for (const each of all) {
    yield* Effect.forEach(existence[each.exists](placeName(each.planned)), note, { discard: true })
    yield* note(each.problem === undefined ? sumOf(each) : `${placeName(each.planned)}: ${each.problem}`)
  }
})

/** The outcome of the import of an environment. */
export interface Outcome {
  readonly revision?: number
  /** The request that waits for votes. */
  readonly request?: string
}

/** A plan for machines. */
export const recordOf = (
  all: ReadonlyArray<Compared>,
  problems: ReadonlyArray<string>,
  outcomes?: ReadonlyMap<Compared, Outcome>,
  waiting: ReadonlyArray<ChangeRequested> = []
) => ({
  applied: outcomes !== undefined,
  ...(waiting.length > 0 && { requests: waiting.map(({ request }) => request) }),
  problems: [
    ...problems,
    ...all.flatMap(({ planned, problem }) => (problem === undefined ? [] : [`${placeName(planned)}: ${problem}`]))
  ],
  data: all.map((each) => ({
    source: each.planned.source,
    project: each.planned.project,
    env: each.planned.env,
    exists: each.exists === "all",
    ...outcomes?.get(each),
    keys: each.planned.keys.map(({ key, line, notes, path, references, state, stored, why }) => ({
      key,
      path,
      line,
      state,
      ...(state === "value" || state === "reference" ? { change: each.changes.get(key) ?? "unknown" } : {}),
      ...(why === undefined ? {} : { why }),
      ...(notes.length === 0 ? {} : { notes }),
      ...(references.length === 0 ? {} : { references_left: references, stored })
    }))
  }))
})

import * as Predicate from "effect/Predicate"
import type { AffectedKey } from "../../access/gate/GateDecision.js"

/** Fields that hold values, that the keys of a request tell already, or that ask for nothing. */
const redactedFields: ReadonlySet<string> = new Set([
  "value",
  "set",
  "references",
  "delete",
  "kind",
  "expected_version",
  "dry_run"
])

/** How many details a request has, and how long one is. */
const maxDetails = 40
const maxLength = 300

const textOf = (value: unknown): string => {
  if (typeof value === "string") return value
  if (Array.isArray(value) && value.every(Predicate.isString)) return value.join(", ")
  return JSON.stringify(value)
}

const shortened = (text: string): string => (text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`)

const fieldsOf = (part: unknown): ReadonlyArray<string> =>
  typeof part === "object" && part !== null
    ? Object.entries(part).flatMap(([name, value]) =>
        redactedFields.has(name) || value === undefined ? [] : [shortened(`${name}: ${textOf(value)}`)]
      )
    : []

/** The keys that become references: what those lead to may change without votes. */
const referring = (affected: ReadonlyArray<AffectedKey>): ReadonlyArray<string> => {
  const keys = affected.flatMap(({ key, refers }) => (refers === true ? [key] : []))
  return keys.length === 0 ? [] : [shortened(`become references: ${keys.join(", ")}`)]
}

/** The place of a call, where it is not that of the votes: of a name that a protected place had. */
const placeOf = (path: unknown, project: string): ReadonlyArray<string> =>
  Predicate.hasProperty(path, "project_name") && path.project_name !== project
    ? [shortened(`project: ${textOf(path.project_name)}`)]
    : []

/**
 * Returns the fields of a call besides its values and keys, a line for each: people vote on nothing that they cannot see.
 */
export const detailsOf = (
  call: unknown,
  affected: ReadonlyArray<AffectedKey>,
  project: string
): ReadonlyArray<string> => {
  const part = (name: string): unknown => (Predicate.hasProperty(call, name) ? call[name] : undefined)
  const all = [
    ...placeOf(part("path"), project),
    ...referring(affected),
    ...fieldsOf(part("urlParams")),
    ...fieldsOf(part("payload"))
  ]
  return all.length <= maxDetails ? all : [...all.slice(0, maxDetails), `and ${all.length - maxDetails} more`]
}

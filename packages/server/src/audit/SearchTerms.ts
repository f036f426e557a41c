import * as Array from "effect/Array"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { createHash } from "node:crypto"

/**
 * A term of the search index (`audit_places`): a project and environment, these with a set of keys, or the name of an actor
 * without an id. Absent parts are ''. Without any part, it stands for the whole log; without a log too, for all logs.
 */
export interface SearchTerm {
  readonly log: string
  readonly project: string
  readonly env: string
  /** The key, or the digest of several keys. */
  readonly keys: string
  readonly actor_name: string
}

/** A place of an entry with its keys, and the actors that have the entry there. */
export interface KeyedTerm extends SearchTerm {
  readonly members: ReadonlyArray<string>
  /** '' is an actor without an id; in the whole log and in all logs, it is every actor. */
  readonly actors: ReadonlyArray<string>
}

const whole = { project: "", env: "", keys: "", actor_name: "", members: [] } as const

const parse = Option.liftThrowable((text: string): unknown => JSON.parse(text))

/** The fields of metadata; none if it is not an object. Each entry is parsed, so by a plain function. */
const fieldsOf = (metadata: string): Readonly<Record<string, unknown>> =>
  Option.getOrElse(Option.filter(parse(metadata), Predicate.isRecord), () => ({}))

const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

const keysOf = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.map((each) => (Predicate.hasProperty(each, "key") ? textOf(each.key) : "")) : []

const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const digest = (keys: ReadonlyArray<string>): string => {
  const [first = "", ...rest] = keys
  return rest.length === 0 ? first : `#${createHash("sha256").update(keys.join("\n")).digest("base64url")}`
}

/** The places of an entry. They follow from fields that the chain authenticates, so verification can check the index. */
export const termsOf = (entry: {
  readonly log: string
  readonly actor_id: string | null
  readonly actor_name: string
  readonly metadata: string
}): ReadonlyArray<KeyedTerm> => {
  const metadata = fieldsOf(entry.metadata)
  const [project, env] = [textOf(metadata["project"]), textOf(metadata["env"])]
  const found = [textOf(metadata["key"]), ...keysOf(metadata["keys"])].filter((key) => key !== "")
  // `Array.dedupe` is quadratic, and an entry can hold 2,000 keys.
  const members = [...new Set(found)].sort(inOrder)
  const { actor_id, actor_name, log } = entry
  const [actors, all] = actor_id === null ? [[""], [""]] : [[actor_id], ["", actor_id]]
  const places: Array<KeyedTerm> = [
    { ...whole, log: "", actors: all },
    { ...whole, log, actors: all }
  ]
  if (project !== "" || env !== "") places.push({ ...whole, log, project, env, actors })
  if (members.length > 0) places.push({ ...whole, log, project, env, keys: digest(members), members, actors })
  if (actor_id === null && actor_name !== "") places.push({ ...whole, log, actor_name, actors })
  return places
}

/** Identifies a place. */
export const termKey = ({ actor_name, env, keys, log, project }: SearchTerm): string =>
  JSON.stringify([log, project, env, keys, actor_name])

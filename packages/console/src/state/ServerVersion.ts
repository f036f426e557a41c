import * as Predicate from "effect/Predicate"

/** The version of the server, which says it with the list of the console's files. */
export const serverVersion = async (): Promise<string> => {
  const response = await fetch("/console.json").catch(() => null)
  const found: unknown = response?.ok === true ? await response.json() : null
  return Predicate.hasProperty(found, "version") ? String(found.version) : "unknown"
}

import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { plain } from "./Plain.js"

/**
 * A record from the server without invisible characters, in field names too. Redacted values stay unchanged: a secret's
 * value reaches the agent to the byte, or not at all.
 */
export const cleaned = (record: unknown): unknown => {
  if (typeof record === "string") return plain(record, Infinity)
  if (Array.isArray(record)) return record.map(cleaned)
  if (!Predicate.isRecord(record) || Redacted.isRedacted(record)) return record
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [plain(name, Infinity), cleaned(value)]))
}

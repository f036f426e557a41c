import { Schema } from "effect"
import { withMessage } from "./Message.js"

/** What a cursor counts: the entries of all logs (`g`), or those of one log (`s`). */
type Counted = "all" | "one"

const letters = { all: "g", one: "s" } as const
const form = /^([gs])([1-9][0-9]{0,14})$/
const text = "must be the next_cursor of an earlier page of the same list"

/** Where a page of any audit log ended. Opaque to clients, which hand it back as `after`. */
export const AuditCursor = Schema.String.pipe(Schema.pattern(form, withMessage(text)))

/** Where a page of one log ended. */
export const LogCursor = AuditCursor.pipe(Schema.pattern(/^s/, withMessage(text)))

/** Accepts a query whose cursor counts what the query asks for: the entries of one log with `org_id`, else those of all. */
export const continuesItsList = (query: {
  readonly after?: string
  readonly org_id?: string
}): true | Schema.FilterIssue =>
  query.after === undefined ||
  query.after.startsWith(letters[query.org_id === undefined ? "all" : "one"]) ||
  ({ path: ["after"], message: text } satisfies Schema.FilterIssue)

/** The cursor behind which the entries below a number come. */
export const cursorOf = (counted: Counted, number: number): string => `${letters[counted]}${number}`

/** The number that a cursor stands for. */
export const numberOf = (cursor: string): number => Number(form.exec(cursor)?.[2] ?? 0)

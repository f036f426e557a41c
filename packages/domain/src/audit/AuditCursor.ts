import * as Schema from "effect/Schema"
import { withMessage } from "../base/Message.js"

/** The list that a cursor belongs to: the entries of all logs (`g`), or those of one log (`s`). */
type Counted = "all" | "one"

const letters = { all: "g", one: "s" } as const
const form = /^([gs])([1-9][0-9]{0,14})$/
const described = { description: "the `next_cursor` of the previous page", examples: ["s128"] } as const
const text = "must be the next_cursor of an earlier page of the same list"

/** The end of a page of audit entries. Opaque: clients send it back as `after`. */
export const AuditCursor = Schema.String.pipe(Schema.pattern(form, { ...withMessage(text), ...described }))

/** The end of a page of one log. */
export const LogCursor = AuditCursor.pipe(Schema.pattern(/^s/, { ...withMessage(text), ...described }))

/** Checks that the cursor belongs to the requested list: one log if `org_id` is given, else all logs. */
export const continuesItsList = (query: {
  readonly after?: string
  readonly org_id?: string
}): true | Schema.FilterIssue =>
  query.after === undefined ||
  query.after.startsWith(letters[query.org_id === undefined ? "all" : "one"]) ||
  ({ path: ["after"], message: text } satisfies Schema.FilterIssue)

/** Returns the cursor of the page that starts below this number. */
export const cursorOf = (counted: Counted, number: number): string => `${letters[counted]}${number}`

/** Returns the number that a cursor encodes; the inverse of `cursorOf`. */
export const numberOf = (cursor: string): number => Number(form.exec(cursor)?.[2] ?? 0)

import { Schema } from "effect"
import { rule } from "./Rule.js"

const form = /^p([1-9][0-9]{0,14})$/

/** Where a page of an audit log ended. Opaque to clients, which hand it back as `after`. */
export const AuditCursor = Schema.String.pipe(Schema.pattern(form, rule("must be the next_cursor of an earlier page")))

/** The cursor behind which the entries below a number come. */
export const cursorOf = (number: number): string => `p${number}`

/** The number that a cursor stands for. */
export const numberOf = (cursor: string): number => Number(form.exec(cursor)?.[1] ?? 0)

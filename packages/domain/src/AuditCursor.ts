import { Schema } from "effect"
import { rule } from "./Rule.js"

const place = /^v1:([1-9][0-9]{0,14})$/

const encode = (text: string): string => btoa(text).replace(/=+$/, "")

const decode = (cursor: string): string => (/^[A-Za-z0-9+/]{1,40}$/.test(cursor) ? atob(cursor) : "")

const cursorRule = rule("must be the next_cursor of an earlier page")

/** Where a page of an audit log ended. Opaque to clients, which hand it back as `after`. */
export const AuditCursor = Schema.String.pipe(Schema.filter((text) => place.test(decode(text)), cursorRule))

/** The cursor behind which the entries below a number come. */
export const cursorOf = (number: number): string => encode(`v1:${number}`)

/** The number that a cursor stands for. */
export const numberOf = (cursor: string): number => Number(place.exec(decode(cursor))?.[1] ?? 0)

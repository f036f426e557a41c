import { Schema } from "effect"
import { UserId } from "./Ids.js"
import { withMessage } from "./Message.js"

const form = /^u([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

/** The end of a page of users. Opaque: clients send it back as `after`. */
export const UserCursor = Schema.String.pipe(
  Schema.pattern(form, withMessage("must be the next_cursor of an earlier page"))
)

/** Returns the cursor of the page that starts after this user. */
export const userCursorOf = (id: UserId): string => `u${id}`

/** Returns the user that a cursor encodes; the inverse of `userCursorOf`. */
export const userOf = (cursor: string): UserId => UserId.make(form.exec(cursor)?.[1] ?? "")

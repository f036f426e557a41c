import { Schema } from "effect"
import { UserId } from "./Ids.js"
import { withMessage } from "./Message.js"

const form = /^u([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

/** Where a page of users ended. Opaque to clients, which hand it back as `after`. */
export const UserCursor = Schema.String.pipe(
  Schema.pattern(form, withMessage("must be the next_cursor of an earlier page"))
)

/** The cursor behind which the users after one come. */
export const userCursorOf = (id: UserId): string => `u${id}`

/** The user that a cursor stands for. */
export const userOf = (cursor: string): UserId => UserId.make(form.exec(cursor)?.[1] ?? "")

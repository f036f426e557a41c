import * as Schema from "effect/Schema"
import { UserId } from "../base/Ids.js"
import { withMessage } from "../base/Message.js"

const form = /^u([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

/** The end of a page of users. Opaque: clients send it back as `after`. */
export const UserCursor = Schema.String.pipe(
  Schema.pattern(form, {
    ...withMessage("must be the next_cursor of an earlier page"),
    description: "the `next_cursor` of the previous page",
    examples: ["uc3a1f2b4-8d5e-4f60-a7b8-9c0d1e2f3a4b"]
  })
)

/** Returns the cursor of the page that starts after this user. */
export const userCursorOf = (id: UserId): string => `u${id}`

/** Returns the user that a cursor encodes; the inverse of `userCursorOf`. */
export const userOf = (cursor: string): UserId => UserId.make(form.exec(cursor)?.[1] ?? "")

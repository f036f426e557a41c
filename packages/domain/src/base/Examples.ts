/** People of the examples. Ada, the example of `Email` and `UserId`, makes the requests. */
import { UserId } from "./Ids.js"
import { Email } from "./Names.js"

export const grace = Email.to.make("grace@example.com")
export const graceId = UserId.make("c3a1f2b4-8d5e-4f60-a7b8-9c0d1e2f3a4b")

import * as Schema from "effect/Schema"
import { withMessage } from "../base/Message.js"

const accountMessage = withMessage("must be ORGANIZATION/ACCOUNT, such as acme/deploy")

/** A service account by its names. */
export const AccountReference = Schema.String.pipe(
  Schema.pattern(/^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]\/[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/, {
    ...accountMessage,
    identifier: "AccountReference",
    description: "a service account: the organization's name, a slash and the account's name",
    examples: ["acme/deploy pipeline"]
  })
)

import * as Schema from "effect/Schema"
import { withMessage } from "../base/Message.js"
import { field, optional } from "../base/Schemas.js"
import { AskingProgram } from "./AskingProgram.js"
import { DelegablePermission } from "./Delegation.js"

/** The scopes of OAuth that a program may ask for: the highest permission, and whether it may see values. */
export const oauthScopes = ["use", "read", "write", "reveal"] as const

const queryMessage = withMessage(
  "must be the query of the address that the program opened, of at most 4,096 characters"
)

/** The parameters of an authorization request (RFC 6749, section 4.1.1), as the program put them into the address. */
export const AuthorizationQuery = Schema.String.annotations(queryMessage).pipe(
  Schema.maxLength(4_096, {
    ...queryMessage,
    description: "the query of the address that the program opened",
    examples: ["response_type=code&client_id=https%3A%2F%2Fagents.example.com%2Fclient.json"]
  })
)

/** The request of a program, before the person decides. */
export const AuthorizationRequest = Schema.Struct({
  program: field(AskingProgram, "the program that asks"),
  answer_to: field(
    Schema.String,
    "where the browser takes the answer: the scheme and the host of the redirect address",
    "https://agents.example.com"
  ),
  is_local: field(Schema.Boolean, "whether the answer stays on the computer of the browser", false),
  permission: field(DelegablePermission, "the highest permission that it asks for", "read"),
  reveal: field(Schema.Boolean, "whether it asks for values", false),
  problem: optional(Schema.String, "why the request cannot be granted; absent: it can", "code_challenge: is missing"),
  refuse_to: field(
    Schema.String,
    "the address to open when the person refuses, or to report the problem",
    "https://agents.example.com/callback?error=access_denied&iss=https%3A%2F%2Fcoffer.example.com"
  )
}).annotations({
  identifier: "AuthorizationRequest",
  description: "the request of a program for a part of the person's rights"
})
export type AuthorizationRequest = typeof AuthorizationRequest.Type

export const Consent = Schema.Struct({
  continue_to: field(
    Schema.Redacted(
      Schema.String.annotations({ examples: ["https://agents.example.com/callback?code=…&iss=…&state=…"] })
    ),
    "the address to open: it takes a code to the program, which is valid for one minute, once"
  )
}).annotations({ identifier: "Consent", description: "the way back to the program, with a code" })
export type Consent = typeof Consent.Type

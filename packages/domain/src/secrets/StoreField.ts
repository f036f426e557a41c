import * as Schema from "effect/Schema"
import { withMessage } from "../base/Message.js"
import { SecretKey } from "../base/Names.js"
import { field } from "../base/Schemas.js"

const pointerMessage = withMessage("must be a JSON pointer of at most 500 characters, such as /key/secret")

/** A field of the answer that is kept, and never shown. */
export const StoreField = Schema.Struct({
  pointer: field(
    Schema.String.pipe(
      Schema.filter((text) => text.length <= 500 && /^(?:\/(?:[^~/]|~[01])*)+$/.test(text), {
        ...pointerMessage,
        jsonSchema: { type: "string", maxLength: 500 }
      })
    ),
    "where the text stands in the JSON of the answer (RFC 6901)",
    "/key/secret"
  ),
  key: field(SecretKey, "the secret of this environment that gets it as a new version", SecretKey.make("STRIPE_KEY"))
}).annotations({
  identifier: "StoreField",
  description: "a field of the answer that becomes a new version of a secret"
})
export type StoreField = typeof StoreField.Type

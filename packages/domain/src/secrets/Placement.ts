import * as Schema from "effect/Schema"
import { withMessage } from "../base/Message.js"
import { withJsonSchema } from "../base/Schemas.js"

const headerMessage = "must be a header's name that a rule may fill: not one of the connection, the host or the body"
const isPlaceable = (name: string): boolean =>
  /^[a-z0-9][a-z0-9_-]{0,99}$/.test(name) &&
  !/^(?:host|connection|te|trailer|upgrade|expect|keep-alive|transfer-encoding|content-.*|proxy-.*|x-forwarded-.*)$/.test(
    name
  )

/** A header's name, in lowercase. */
const HeaderName = Schema.String.pipe(Schema.filter(isPlaceable, withMessage(headerMessage)))

const formatMessage = "must be visible ASCII characters and spaces, at most 200, with {} once for the value"
const Format = Schema.String.pipe(
  Schema.filter(
    (text) => text.length <= 200 && /^[ -~]*$/.test(text) && text.trim() === text && text.split("{}").length === 2,
    withMessage(formatMessage)
  )
)

const word = (pattern: RegExp, message: string) => Schema.String.pipe(Schema.pattern(pattern, withMessage(message)))

const Placements = Schema.Union(
  Schema.Struct({ in: Schema.Literal("header"), name: HeaderName, format: Format }),
  Schema.Struct({
    in: Schema.Literal("query"),
    name: word(/^[A-Za-z0-9_.~-]{1,100}$/, "must be a parameter's name: letters, digits and _ . ~ -")
  }),
  Schema.Struct({
    in: Schema.Literal("basic"),
    user: word(/^[!-9;-~]{0,200}$/, "must be visible ASCII characters without a colon, at most 200")
  }),
  Schema.Struct({ in: Schema.Literal("hmac-sha256"), header: HeaderName, format: Format }),
  Schema.Struct({
    in: Schema.Literal("aws-sigv4"),
    service: word(/^[a-z0-9-]{1,50}$/, "must be the service in lowercase, such as s3"),
    region: word(/^[a-z0-9-]{1,50}$/, "must be the region, such as eu-central-1"),
    access_key_id: word(/^[A-Za-z0-9]{1,128}$/, "must be the id of the access key whose secret key the value is")
  })
)

const text = (description: string) => ({ type: "string", description })
const variant = (name: string, fields: Readonly<Record<string, object>>) => ({
  type: "object",
  required: ["in", ...Object.keys(fields)],
  properties: { in: { ...text("where the server puts the value"), enum: [name] }, ...fields }
})

/** Where the server puts the value of the secret. */
export const Placement = Placements.annotations({
  ...withMessage(
    "must be {in:header,name,format}, {in:query,name}, {in:basic,user}, {in:hmac-sha256,header,format} or {in:aws-sigv4,service,region,access_key_id}, with {} once in a format and header names in lowercase"
  ),
  ...withJsonSchema("where the server puts the value", {
    oneOf: [
      variant("header", {
        name: text("the header's name in lowercase"),
        format: text("the header's text, with {} for the value")
      }),
      variant("query", { name: text("the parameter's name") }),
      variant("basic", { user: text("the user of Basic authentication; the value is the password") }),
      variant("hmac-sha256", {
        header: text("the header's name in lowercase"),
        format: text("the header's text, with {} for the HMAC of the body in hex")
      }),
      variant("aws-sigv4", {
        service: text("the service, such as s3"),
        region: text("the region"),
        access_key_id: text("the id of the access key whose secret key the value is")
      })
    ]
  }),
  identifier: "Placement",
  examples: [{ in: "header", name: "authorization", format: "Bearer {}" }]
})
export type Placement = typeof Placement.Type

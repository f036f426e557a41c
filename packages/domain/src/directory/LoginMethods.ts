import * as Schema from "effect/Schema"
import { field } from "../base/Schemas.js"

const Provider = Schema.Struct({
  name: field(Schema.String, "its name, for people", "Keycloak"),
  issuer: field(Schema.String, "its issuer (OpenID Connect)", "https://id.example.com/realms/acme")
})

/** How people can log in to this server. */
export const LoginMethods = Schema.Struct({
  email: field(Schema.Boolean, "whether the server mails login codes", true),
  provider: field(Schema.NullOr(Provider), "the provider of single sign-on; null: none"),
  public_url: field(
    Schema.NullOr(Schema.String),
    "the address at which browsers reach the server; null: not configured",
    "https://coffer.example.com"
  )
}).annotations({ identifier: "LoginMethods", description: "the ways to log in to the server" })
export type LoginMethods = typeof LoginMethods.Type

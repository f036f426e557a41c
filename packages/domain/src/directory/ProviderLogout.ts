import * as Schema from "effect/Schema"
import { field } from "../base/Schemas.js"

/** Where a person who has logged in by the provider can log out there too. */
export const ProviderLogout = Schema.Struct({
  provider_logout_url: field(
    Schema.String,
    "the provider's own logout page",
    "https://id.example.com/logout?client_id=coffer"
  )
}).annotations({ identifier: "ProviderLogout", description: "the logout at the provider of single sign-on" })

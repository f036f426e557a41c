import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { ServerConfig } from "../../base/Config.js"
import { securityTextPath } from "../../http/Routes.js"

const dayMillis = 24 * 60 * 60_000
/** RFC 9116 wants less than a year. The text is made for each request, so it never expires while the server runs. */
const validDays = 180

/** The text of RFC 9116, section 2.5. Its end is that of a day, so that it changes once a day. */
export const securityText = (contacts: ReadonlyArray<string>, publicUrl: string | null, millis: number): string => {
  const expires = new Date((Math.floor(millis / dayMillis) + validDays) * dayMillis).toISOString()
  return [
    ...contacts.map((contact) => `Contact: ${contact}`),
    `Expires: ${expires}`,
    ...(publicUrl === null ? [] : [`Canonical: ${publicUrl}${securityTextPath}`]),
    ""
  ].join("\n")
}

/** Whom to tell of a security problem, if the operator has said so. Otherwise there is no such page. */
export const SecurityTextLive = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function* () {
    const { publicUrl, securityContacts } = yield* ServerConfig
    if (securityContacts.length === 0) return
    yield* router.get(
      securityTextPath,
      Effect.map(Clock.currentTimeMillis, (millis) =>
        HttpServerResponse.text(securityText(securityContacts, publicUrl, millis), {
          contentType: "text/plain; charset=utf-8",
          headers: { "cache-control": "public, max-age=3600" }
        })
      )
    )
  })
)

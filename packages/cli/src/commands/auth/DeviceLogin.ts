import { NotAuthenticated } from "@coffer/client/internal/Credentials"
import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import { clientWith } from "../../grammar/Command.js"
import { note } from "../../terminal/Print.js"
import { endLogin } from "./LoginEnd.js"
import { machineName } from "./Machine.js"

type Client = Effect.Effect.Success<ReturnType<typeof clientWith>>

const maxInterval = 60

const refused = new NotAuthenticated({ message: "this login was refused in the browser; run coffer login again" })

/** Polls until the person has decided, as the server allows (RFC 8628, section 3.5). */
const pollForToken = (client: Client, deviceCode: Redacted.Redacted, seconds: number) => {
  const once = client.call("auth", (api) => api.token({ payload: { device_code: deviceCode } }))
  const poll = (
    interval: number
  ): Effect.Effect<Redacted.Redacted, Effect.Effect.Error<typeof once> | NotAuthenticated> => {
    const later = () => poll(Math.min(2 * interval, maxInterval))
    return Effect.delay(once, Duration.seconds(interval)).pipe(
      Effect.map(({ token }) => token),
      Effect.catchTags({
        AuthorizationPending: () => poll(interval),
        SlowDown: () => poll(interval + 5),
        Forbidden: () => refused,
        ServerUnreachable: later,
        Overloaded: later,
        DatabaseUnavailable: later
      })
    )
  }
  return poll(seconds)
}

/** Logs in with a code that the person enters in a browser anywhere (RFC 8628). */
export const loginByDevice = Effect.fnUntraced(function* (server: ServerUrl, json: boolean) {
  const client = yield* clientWith(server, Option.none())
  const login = yield* client.call("auth", (api) => api.device({ payload: machineName() }))
  yield* note(`open ${login.verification_uri} in a browser, on any machine, and enter the code ${login.user_code}`)
  yield* note(`or open ${login.verification_uri_complete}`)
  const minutes = Math.ceil(login.expires_in / 60)
  const token = yield* pollForToken(client, login.device_code, login.interval).pipe(
    Effect.timeoutFail({
      duration: Duration.seconds(login.expires_in),
      onTimeout: () =>
        new NotAuthenticated({ message: `nobody entered the code within ${minutes} minutes; run coffer login again` })
    })
  )
  yield* endLogin(server, token, json)
})

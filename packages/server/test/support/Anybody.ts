import { type Actor, Authentication } from "@coffer/domain/access/Actor"
import { SessionId, UserId } from "@coffer/domain/base/Ids"
import { Effect, Redacted } from "effect"
import { email } from "./Services.js"

const ada: Actor = {
  type: "user",
  id: UserId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"),
  email: email("ada@example.com"),
  name: "ada",
  superadmin: false,
  sessionId: SessionId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"),
  sessionKind: "token",
  loginIsRecent: true,
  mayRecover: true,
  hasPasskey: false,
  passkeyIsRecent: false,
  delegation: null
}
const bob: Actor = { ...ada, id: UserId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2f"), email: email("bob@example.com") }

const callerOf = (credential: Redacted.Redacted) =>
  Effect.succeed({ actor: Redacted.value(credential) === "bob" ? bob : ada })

/** Takes the credential `bob` for that of bob, and any other for that of ada. */
export const anybody = Authentication.of({ session: callerOf, apiKey: callerOf, cookie: callerOf })

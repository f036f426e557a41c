import { Unauthorized } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import { call } from "./Calls.js"
import { readOrganizations } from "./Organizations.js"
import { facts } from "../state/Server.js"
import { noteMe } from "../state/Session.js"

/** Reads the logged-in user and the organizations for every page. Without a session, the browser goes to the login. */
export const begin = Effect.gen(function* () {
  const [identity, found] = yield* Effect.all(
    [call("auth", (api) => api.me()), call("server", (api) => api.show()), readOrganizations],
    { concurrency: 3 }
  )
  // The cookie of a browser is never a service account's.
  if (identity.type !== "user") return yield* new Unauthorized({ message: "this is not a person's session" })
  facts.value = found
  noteMe(identity)
  return identity
})

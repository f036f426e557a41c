import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ServerConfig } from "../../base/Config.js"
import { Database } from "../../database/Database.js"
import { serverScope } from "../../database/Scopes.js"
import { now } from "../../base/Time.js"
import { authRepo } from "../../access/caller/credentials/Repo.js"
import { Users } from "./Users.js"

/** At startup, makes exactly the configured addresses superadmins, and creates their users if needed. */
export const SuperadminsLive = Layer.effectDiscard(
  Effect.gen(function* () {
    const { superadmins } = yield* ServerConfig
    const users = yield* Users
    const { change } = yield* Database
    const repo = yield* authRepo
    yield* change(
      [serverScope],
      Effect.gen(function* () {
        // In one order, as an import makes users.
        yield* Effect.forEach([...superadmins].sort(), (email) => users.ensure(email), { discard: true })
        yield* repo.setSuperadmins(superadmins, yield* now)
      })
    )
  })
).pipe(Layer.provide(Users.Default))

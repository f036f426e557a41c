import * as Effect from "effect/Effect"
import { kindOf } from "../../keys/Envelope.js"
import { secretsRepo } from "../stored/Repo.js"
import { type EnvironmentPlace, Versions } from "../stored/Versions.js"
import { ConnectionFailed } from "./Kind.js"
import type { ConnectionRow } from "./Repo.js"

/** Reads the password of a connection, with the version of the secret that it is: at each use, from its environment. */
export const makePasswords = Effect.gen(function* () {
  const secrets = yield* secretsRepo
  const versions = yield* Versions

  return Effect.fnUntraced(function* (place: EnvironmentPlace, { password_key: key }: ConnectionRow) {
    const row = yield* secrets.find({ envId: place.env.id, key })
    if (row === undefined || kindOf(row) !== "text") return yield* new ConnectionFailed({ reason: "no password" })
    yield* versions.checkNewest(place, row)
    return { password: yield* versions.open(place, row, row), version: row.version }
  })
})

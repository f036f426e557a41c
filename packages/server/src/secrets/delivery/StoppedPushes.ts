import * as Effect from "effect/Effect"
import { targetsRepo } from "./Repo.js"

/**
 * Stops the pushes that a server makes by itself, in a restored or copied database: the one that it was copied from may go on with
 * newer values. Call in the transaction that makes the copy the live database.
 */
export const stopPushes = Effect.flatMap(targetsRepo, ({ stopAll }) =>
  stopAll({ reason: "the database is a copy: resume it once no other server pushes there" })
)

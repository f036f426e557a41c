import * as Effect from "effect/Effect"
import { turnDues } from "../dues/TurnDues.js"
import { rotationsRepo } from "./Repo.js"

/**
 * Pauses all rotations of a restored database: the server that it was backed up from may have changed the passwords since, and may
 * still do so. Call in the transaction that makes the copy the live database.
 */
export const pauseRotations = Effect.gen(function* () {
  const { pauseAll, running } = yield* rotationsRepo
  const noteTurn = yield* turnDues
  yield* Effect.forEach(yield* running({}), (row) => noteTurn({ ...row, keys: [] }, null), { discard: true })
  yield* pauseAll({ reason: "restored from a backup: resume it once no other server renews these credentials" })
})

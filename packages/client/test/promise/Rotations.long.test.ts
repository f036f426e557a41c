import { connect } from "../../src/promise.js"
import { ask, openPool, rotations } from "../support/Rotations.js"

rotations("promises", async ({ apiKey, place, server, warn }) => {
  const coffer = await connect({ server, place, credential: { apiKey }, every: 200, onWarning: warn })
  const pool = await coffer.reload(
    ["DATABASE_URL"],
    ({ DATABASE_URL }) => openPool(DATABASE_URL),
    (pool) => pool.end()
  )
  return { request: () => pool.use(ask), close: coffer.close }
})

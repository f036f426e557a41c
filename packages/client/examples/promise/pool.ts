import { connect } from "@coffer/client/promise"
import { Pool } from "pg"

export const coffer = await connect({
  server: process.env["SERVICE_SERVER_URL"] ?? "http://localhost:7100",
  place: process.env["COFFER_PLACE"] ?? "acme/webshop/dev"
})

export const pool = await coffer.reload(
  ["DATABASE_URL"],
  async ({ DATABASE_URL }) => {
    const pool = new Pool({ connectionString: DATABASE_URL })
    try {
      // A pool connects late: without a query, a wrong password would be found by the next request.
      await pool.query("SELECT 1")
      return pool
    } catch (error) {
      await pool.end()
      throw error
    }
  },
  (pool) => pool.end()
)

export const now = () => pool.use((pool) => pool.query<{ name: string }>("SELECT current_user AS name"))

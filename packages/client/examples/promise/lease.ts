import { connect } from "@coffer/client/promise"
import { Pool } from "pg"

const coffer = await connect({
  server: process.env["SERVICE_SERVER_URL"] ?? "http://localhost:7100",
  place: process.env["COFFER_PLACE"] ?? "acme/webshop/dev"
})

export const lease = await coffer.lease("app-role")

export const pool = await lease.reload(
  async ({ url }) => {
    const pool = new Pool({ connectionString: url })
    try {
      // A pool connects late: without a query, a user that cannot log in would be found by the next request.
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

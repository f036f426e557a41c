import { connect } from "@coffer/client/promise"
import { Pool } from "pg"

export const coffer = await connect({
  server: process.env["SERVICE_SERVER_URL"] ?? "http://localhost:7100",
  place: process.env["COFFER_PLACE"] ?? "acme/webshop/dev"
})

/** Its host, user and database are those of PGHOST, PGUSER and PGDATABASE. */
export const pool = new Pool({ password: () => coffer.get("DB_PASSWORD") })

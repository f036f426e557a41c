import { connect } from "@coffer/client/promise"

const coffer = await connect({
  server: process.env["SERVICE_SERVER_URL"] ?? "http://localhost:7100",
  place: process.env["COFFER_PLACE"] ?? "acme/webshop/dev",
  name: "shop 1.4.0"
})

console.log(`${coffer.get("DATABASE_URL").length} characters`)

coffer.onChange(({ keys }) => console.log(`changed: ${keys.join(", ")}`))

await coffer.close()

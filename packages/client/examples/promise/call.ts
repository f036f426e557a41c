import { CallError, connect } from "@coffer/client/promise"

export const coffer = await connect({
  server: process.env["SERVICE_SERVER_URL"] ?? "http://localhost:7100",
  place: process.env["COFFER_PLACE"] ?? "acme/webshop/dev"
})

const path = { org_name: "acme", project_name: "webshop", env_name: "prod" }

/** Lists the keys of prod. Undefined if the account may not read it. */
export const keys = () =>
  coffer
    .call("secrets", (api) => api.list({ path }))
    .then(
      ({ data }) => data.map(({ key }) => key),
      (error: unknown) => {
        if (error instanceof CallError && error.reason === "Forbidden") return undefined
        throw error
      }
    )

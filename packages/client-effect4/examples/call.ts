import { Coffer } from "@coffer/client-effect4"
import { Effect } from "effect"

const path = { org_name: "acme", project_name: "webshop", env_name: "prod" }

export const keys = Effect.gen(function* () {
  const coffer = yield* Coffer
  const { data } = yield* coffer.call("secrets", (api) => api.list({ path }))
  return data.map(({ key }) => key)
})

import { Coffer } from "@coffer/client"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { Effect } from "effect"

const path = {
  org_name: OrgName.make("acme"),
  project_name: ProjectName.make("webshop"),
  env_name: EnvName.make("prod")
}

export const keys = Effect.gen(function* () {
  const coffer = yield* Coffer
  const { data } = yield* coffer.call("secrets", (api) => api.list({ path, urlParams: {} }))
  return data.map(({ key }) => key)
})

import { BadSetting, variable } from "@coffer/client/internal/Variables"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Live } from "./Live.js"
import { openApi } from "./ToolApi.js"

const Workspace = Schema.Struct({
  workspace: Schema.Struct({
    name: Schema.String,
    environments: Schema.Array(Schema.Struct({ slug: Schema.String }))
  })
})

/** The environments of a project of Infisical, or one of them. */
export const readInfisical: Live = (from) =>
  Effect.gen(function* () {
    const { decode, env, get } = yield* openApi({
      tool: "Infisical",
      addresses: ["INFISICAL_API_URL", "INFISICAL_DOMAIN"],
      usualAddress: "https://app.infisical.com",
      tokens: ["INFISICAL_TOKEN"],
      headers: (token) => ({ authorization: `Bearer ${token}` })
    })
    const [project = variable(env, "INFISICAL_PROJECT_ID"), only] = from?.split("/") ?? []
    if (project === undefined) {
      return yield* new BadSetting({
        message: "to read from Infisical, name the project by its id: --from PROJECT_ID, or INFISICAL_PROJECT_ID"
      })
    }
    // The variable may end with the path of the API.
    const api = /\/api\/?$/.test(variable(env, "INFISICAL_API_URL") ?? variable(env, "INFISICAL_DOMAIN") ?? "")
      ? ""
      : "/api"
    const { workspace } = yield* decode(Workspace, yield* get(`${api}/v1/workspace/${encodeURIComponent(project)}`))
    const slugs = only === undefined ? workspace.environments.map(({ slug }) => slug) : [only]
    return yield* Effect.forEach(
      slugs,
      (environment) =>
        Effect.map(
          get(`${api}/v3/secrets/raw`, {
            workspaceId: project,
            environment,
            secretPath: "/",
            recursive: "true",
            include_imports: "true",
            expandSecretReferences: "false"
          }),
          (text) => ({
            name: `Infisical's response for ${environment}`,
            text,
            place: { project: workspace.name, env: environment }
          })
        ),
      { concurrency: 4 }
    )
  })

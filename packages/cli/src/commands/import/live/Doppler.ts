import { variable } from "@coffer/client/internal/Variables"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Live } from "./Live.js"
import { openApi } from "./ToolApi.js"

const Projects = Schema.Struct({ projects: Schema.Array(Schema.Struct({ slug: Schema.String })) })
const Configs = Schema.Struct({ configs: Schema.Array(Schema.Struct({ name: Schema.String })) })

const pageSize = 100

/** The configs of Doppler that the token and `--from` name: one, those of a project, or all. */
export const readDoppler: Live = (from) =>
  Effect.gen(function* () {
    const { decode, env, get } = yield* openApi({
      tool: "Doppler",
      addresses: ["DOPPLER_API_HOST"],
      usualAddress: "https://api.doppler.com",
      tokens: ["DOPPLER_TOKEN"],
      headers: (token) => ({ authorization: `Bearer ${token}` })
    })
    const [
      project = variable(env, "DOPPLER_PROJECT"),
      config = from === undefined ? variable(env, "DOPPLER_CONFIG") : undefined
    ] = from?.split("/") ?? []
    const read = (place: { readonly project?: string; readonly config?: string }) =>
      Effect.map(get("/v3/configs/config/secrets", place), (text) => ({
        name: `Doppler's response for ${place.project === undefined ? "the token's config" : `${place.project}/${place.config}`}`,
        text,
        place: { project: place.project, env: place.config }
      }))
    /** Reads all pages of a list. */
    const all = <A, I, N>(
      path: string,
      query: Readonly<Record<string, string>>,
      schema: Schema.Schema<A, I>,
      names: (page: A) => ReadonlyArray<N>
    ) => {
      const pages = (page: number): Effect.Effect<ReadonlyArray<N>, Effect.Effect.Error<ReturnType<typeof get>>> =>
        Effect.gen(function* () {
          const body = yield* get(path, { ...query, page: String(page), per_page: String(pageSize) })
          const found = names(yield* decode(schema, body))
          return found.length < pageSize ? found : [...found, ...(yield* pages(page + 1))]
        })
      return pages(1)
    }
    // A service token is for one config.
    if (/^dp\.st\./.test(variable(env, "DOPPLER_TOKEN") ?? "")) return [yield* read({})]
    if (project !== undefined && config !== undefined) return [yield* read({ project, config })]
    const projects =
      project === undefined
        ? yield* all("/v3/projects", {}, Projects, ({ projects }) => projects.map(({ slug }) => slug))
        : [project]
    const found = yield* Effect.forEach(projects, (name) =>
      Effect.map(
        all("/v3/configs", { project: name }, Configs, ({ configs }) => configs.map((each) => each.name)),
        (configs) => configs.map((config) => ({ project: name, config }))
      )
    )
    return yield* Effect.forEach(found.flat(), read, { concurrency: 4 })
  })

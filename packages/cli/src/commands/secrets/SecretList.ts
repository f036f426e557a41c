import type { EnvPath } from "@coffer/domain/api/Paths"
import { defined } from "@coffer/domain/base/Defined"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import type { SecretList, SecretListed } from "@coffer/domain/secrets/Secret"
import * as Effect from "effect/Effect"
import { momentCell } from "../../base/Moments.js"
import { WrongUsage } from "../../base/Failures.js"
import { atEnvs, type Call, wide } from "../../grammar/Command.js"
import { inPlace } from "../../grammar/PlaceForm.js"
import { listKeys, listSpecs } from "../../secrets/List.js"
import { note } from "../../terminal/Print.js"
import { listView, type View } from "../../terminal/View.js"
import { matrix } from "./Matrix.js"

const removedColumns = {
  key: (secret: SecretListed) => secret.key,
  version: (secret: SecretListed) => secret.version,
  deleted: (secret: SecretListed) => momentCell(secret.removed_at),
  by: (secret: SecretListed) => secret.removed_by
}

/** The deleted keys of an environment, from every page. */
const removedIn = Effect.fnUntraced(function* (call: Call, path: EnvPath) {
  const data: Array<SecretListed> = []
  for (let after: string | null | undefined = undefined; after !== null;) {
    const urlParams = { removed: true, limit: maxPageSize, ...defined({ after }) } as const
    const page: typeof SecretList.Type = yield* call("secrets", (api) => api.list({ path, urlParams }))
    data.push(...page.data)
    after = page.pagination?.next_cursor ?? null
  }
  const place = `${path.project_name}/${path.env_name}`
  const { json, text } = listView({ data }, removedColumns, `no deleted key of ${place} can be brought back`)
  const hint = data.length === 0 ? Effect.void : note("bring one back with: coffer secret undelete KEY")
  return { json, text: Effect.zipRight(text, hint) } satisfies View
})

const removedNowhere = new WrongUsage({ message: "--removed needs one environment: leave out --all-envs" })

const bothPlaces = new WrongUsage({ message: "--env names one environment, and --all-envs all: give one of them" })

export const list = atEnvs("list", {
  description: "List the keys, without values",
  examples: [
    "coffer secret list",
    "coffer secret list webshop/prod --json",
    "coffer secret list --all-envs",
    "coffer secret list --removed"
  ],
  options: { place: listSpecs.place, removed: listSpecs.removed, wide },
  place: inPlace,
  run: ({ call, exchange, given, options, path: { env_name, ...project } }) =>
    Effect.gen(function* () {
      if (env_name !== undefined && options.removed) return yield* removedIn(call, { ...project, env_name })
      if (options.removed) return yield* removedNowhere
      if (env_name !== undefined) return yield* listKeys(exchange, { ...project, env_name })
      if (given.env !== undefined) return yield* bothPlaces
      return yield* matrix(call, project)
    })
})

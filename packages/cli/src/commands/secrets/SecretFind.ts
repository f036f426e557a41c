import { type FoundKey, type FoundKeyPage, KeyQuery } from "@coffer/domain/secrets/FoundKey"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import * as Effect from "effect/Effect"
import { defined } from "@coffer/domain/base/Defined"
import { momentCell } from "../../base/Moments.js"
import { atOrg, wide } from "../../grammar/Command.js"
import { argument } from "../../grammar/Fields.js"
import { listView } from "../../terminal/View.js"

const columns = {
  env: ({ env, project }: FoundKey) => `${project}/${env}`,
  key: ({ key }: FoundKey) => key,
  version: ({ version }: FoundKey) => version,
  updated: ({ updated_at }: FoundKey) => momentCell(updated_at)
}

export const find = atOrg("find", {
  description: "Find keys by a part of their name, in all projects and environments whose keys you may list",
  examples: ["coffer secret find STRIPE", "coffer secret find _url --org acme --json"],
  options: { query: argument("QUERY", KeyQuery, "A part of the keys, in upper or lower case"), wide },
  run: ({ call, options: { query }, path }) =>
    Effect.gen(function* () {
      const data: Array<FoundKey> = []
      for (let after: string | null | undefined = undefined; after !== null;) {
        const urlParams = { query, limit: maxPageSize, ...defined({ after }) }
        const page: FoundKeyPage = yield* call("keys", (api) => api.find({ path, urlParams }))
        data.push(...page.data)
        after = page.pagination.next_cursor
      }
      return listView({ data }, columns, `no key that you may list contains ${query}`)
    })
})

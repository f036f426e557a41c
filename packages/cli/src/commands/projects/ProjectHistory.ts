import type { ProjectRevision, ProjectRevisions } from "@coffer/domain/secrets/ProjectRevision"
import { maxPageSize, VersionParameter } from "@coffer/domain/base/Schemas"
import * as Effect from "effect/Effect"
import { defined } from "@coffer/domain/base/Defined"
import { atProject, wide } from "../../grammar/Command.js"
import { option } from "../../grammar/Fields.js"
import { inProject, optionalProject } from "../../grammar/PlaceArguments.js"
import { toTerminal } from "../../terminal/Print.js"
import { listView } from "../../terminal/View.js"
import { columnsFor } from "../environments/Revisions.js"

const defaultLimit = 20

export const history = atProject("history", {
  description: "List the changes of all environments of the project, newest first, without values",
  examples: ["coffer project history", "coffer project history webshop --limit 5 --json"],
  options: {
    project: optionalProject,
    limit: option("limit", VersionParameter, `How many revisions to show; ${defaultLimit} when left out`),
    wide
  },
  place: inProject,
  run: ({ call, options: { limit = defaultLimit }, path }) =>
    Effect.gen(function* () {
      const data: Array<ProjectRevision> = []
      for (let after: string | null | undefined = undefined; after !== null && data.length < limit;) {
        const urlParams = { limit: Math.min(maxPageSize, limit - data.length), ...defined({ after }) }
        const page: ProjectRevisions = yield* call("history", (api) => api.list({ path, urlParams }))
        data.push(...page.data)
        after = page.pagination.next_cursor
      }
      const columns = { env: ({ env }: ProjectRevision) => env, ...columnsFor(yield* toTerminal, data) }
      return listView({ data }, columns, "there are no changes that you may see", [
        "env",
        "revision",
        "created",
        "keys"
      ])
    })
})

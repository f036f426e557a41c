import type { EnvPath } from "@coffer/domain/api/Paths"
import { BeforeParameter, Count, maxPageSize, VersionParameter } from "@coffer/domain/base/Schemas"
import type { Revision } from "@coffer/domain/secrets/Revision"
import * as Effect from "effect/Effect"
import { momentCell } from "../../base/Moments.js"
import { changeMany, dryRun, yes } from "../../changes/BulkChange.js"
import { asking, atEnv, type Call, wide } from "../../grammar/Command.js"
import { option, requiredOption } from "../../grammar/Fields.js"
import { inPlace, optionalPlace } from "../../grammar/PlaceForm.js"
import { flag } from "../../grammar/Specs.js"
import { toTerminal } from "../../terminal/Print.js"
import { listView } from "../../terminal/View.js"

/** At most this many keys of a revision are shown at a terminal. */
const maxShown = 5

const keysOf = ({ keys }: Revision, most: number): string => {
  const shown = keys.slice(0, most)
  const more = keys.length - shown.length
  return [...shown.map(({ change, key }) => `${key} ${change}`), ...(more > 0 ? [`and ${more} more`] : [])].join(", ")
}

export const columnsFor = (isTerminal: boolean, found: ReadonlyArray<Revision>) => ({
  revision: (revision: Revision) => revision.revision,
  created: (revision: Revision) => momentCell(revision.created_at),
  by: ({ approved_by, created_by }: Revision) =>
    approved_by === undefined ? created_by : `${created_by ?? ""}, approved by ${approved_by.join(", ")}`,
  keys: (revision: Revision) => keysOf(revision, isTerminal ? maxShown : Infinity),
  ...(found.some(({ note }) => note !== undefined) && { note: ({ note }: Revision) => note ?? "" })
})

/** Reads revisions, newest first. A short page is not always the last. */
const revisionsOf = Effect.fnUntraced(function* (call: Call, path: EnvPath, limit: number, before: number | undefined) {
  const data: Array<Revision> = []
  while (data.length < limit) {
    const oldest = data.at(-1)?.revision ?? before
    const urlParams = {
      limit: Math.min(maxPageSize, limit - data.length),
      ...(oldest === undefined ? {} : { before: oldest })
    }
    const page = yield* call("environments", (api) => api.revisions({ path, urlParams }))
    if (page.data.length === 0) break
    data.push(...page.data)
    if (page.data.at(-1)?.revision === 1) break
  }
  return { data }
})

export const revisions = atEnv("revisions", {
  description: "List the changes of an environment, newest first, without values",
  examples: ["coffer env revisions", "coffer env revisions webshop/prod --limit 5"],
  options: {
    place: optionalPlace,
    limit: option("limit", VersionParameter, "How many revisions to show; 20 when left out"),
    before: option("before", BeforeParameter),
    wide
  },
  place: inPlace,
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const response = yield* revisionsOf(call, path, options.limit ?? 20, options.before)
      return listView(response, columnsFor(yield* toTerminal, response.data), "there are no revisions", [
        "revision",
        "created",
        "keys"
      ])
    })
})

const to = requiredOption(
  "to",
  Count,
  "The revision to go back to, as coffer env revisions shows it; 0 empties the environment"
)

const force = flag("force", "Also if other secrets refer to a key that goes, and then cannot be read")

export const revert = atEnv("revert", {
  description: "Make an environment as it was at a revision, without showing a value",
  examples: ["coffer env revert prod --to 1 --dry-run"],
  options: { place: optionalPlace, to, force, dryRun, yes, ...asking },
  place: inPlace,
  run: (context) => {
    const { call, options, path } = context
    return changeMany(context, path, ({ dryRun, headers }) =>
      call("environments", (api) =>
        api.revert({
          path,
          headers,
          payload: { to: options.to, dry_run: dryRun, ...(options.force && { force: true }) },
          withResponse: true
        })
      )
    )
  }
})

import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import type { CofferClient } from "@coffer/domain/client/CofferClient"
import type { EnvPath } from "@coffer/domain/api/Paths"
import { Count, VersionParameter } from "@coffer/domain/Schemas"
import type { Revision } from "@coffer/domain/Secret"
import { Effect, Option } from "effect"
import { printList, toTerminal } from "../Output.js"
import { changeMany, dryRun, yes } from "./BulkChange.js"
import { wholeNumber } from "./Checked.js"
import { atEnv, connect, settingsOf } from "./Shared.js"

/** At most this many keys of a revision are shown at a terminal. */
const maxShown = 5

const keysOf = ({ keys }: Revision): string => {
  const shown = toTerminal() ? keys.slice(0, maxShown) : keys
  const more = keys.length - shown.length
  return [...shown.map(({ change, key }) => `${key} ${change}`), ...(more > 0 ? [`and ${more} more`] : [])].join(", ")
}

const columns = {
  revision: (revision: Revision) => revision.revision,
  created: (revision: Revision) => revision.created_at,
  by: (revision: Revision) => revision.created_by,
  keys: keysOf
}

const pageSize = 100

/** Reads revisions, newest first. A short page is not always the last. */
const revisionsOf = Effect.fnUntraced(function* (
  client: CofferClient,
  path: EnvPath,
  limit: number,
  before: number | undefined
) {
  const data: Array<Revision> = []
  while (data.length < limit) {
    const oldest = data.at(-1)?.revision ?? before
    const urlParams = {
      limit: Math.min(pageSize, limit - data.length),
      ...(oldest === undefined ? {} : { before: oldest })
    }
    const page = yield* client.call("environments", (api) => api.revisions({ path, urlParams }))
    if (page.data.length === 0) break
    data.push(...page.data)
    if (page.data.at(-1)?.revision === 1) break
  }
  return { data }
})

const limit = wholeNumber("limit", VersionParameter).pipe(
  Options.withDescription("How many revisions to show"),
  Options.withDefault(20)
)

const before = wholeNumber("before", VersionParameter).pipe(
  Options.withDescription("Only revisions below this one"),
  Options.optional
)

export const revisionsCommand = Command.make("revisions", { ...atEnv, limit, before }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = yield* settings.envPath
    const client = yield* connect(yield* settings.server)
    const revisions = yield* revisionsOf(client, path, options.limit, Option.getOrUndefined(options.before))
    yield* printList(revisions, options.json, columns, "there are no revisions")
  })
).pipe(
  Command.withDescription(
    "List the changes of an environment, newest first, without values. Example: coffer env revisions --env prod --limit 5"
  )
)

const to = wholeNumber("to", Count).pipe(
  Options.withDescription("The revision to go back to, as coffer env revisions shows it; 0 empties the environment")
)

export const revertCommand = Command.make("revert", { ...atEnv, to, dryRun, yes }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(options)
    const path = yield* settings.envPath
    const client = yield* connect(yield* settings.server)
    yield* changeMany(options, path, ({ dryRun, headers }) =>
      client.call("environments", (api) =>
        api.revert({
          path,
          headers,
          payload: { to: options.to, dry_run: dryRun },
          withResponse: true
        })
      )
    )
  })
).pipe(
  Command.withDescription(
    "Make an environment as it was at a revision, without showing a value. Example: coffer env revert --env prod --to 41 --dry-run"
  )
)

import type { EnvPath } from "@coffer/domain/api/Paths"
import type { BundleWritten } from "@coffer/domain/secrets/Bundle"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import type { CommandLineSettings } from "@coffer/client/internal/Settings"
import * as Effect from "effect/Effect"
import { defined } from "@coffer/domain/base/Defined"
import { WrongUsage } from "../base/Failures.js"
import { flag } from "../grammar/Specs.js"
import { note, showTable, toTerminal } from "../terminal/Print.js"
import { canAsk, confirm } from "../terminal/Prompts.js"
import { printChanges } from "./Changes.js"

export const dryRun = flag("dry-run", "Show what would be created, updated, deleted and left, and write nothing")
export const yes = flag(
  "yes",
  "Do not ask before values are written; without a terminal, needed to overwrite or delete any"
)

/** Whether a call is a dry run, and the ETag that it requires. */
export interface Guard {
  readonly dryRun: boolean
  readonly headers: { readonly "if-match"?: string }
}

/** The ETag of a response. */
export const etagOf = ({ headers }: HttpClientResponse): string | undefined => headers["etag"]

type BundleResponse = readonly [BundleWritten, HttpClientResponse]

/** At most this many keys are named in a sentence. */
const maxNamed = 10

const isChange = ({ change }: BundleWritten["data"][number]) => change !== "unchanged"
const isLoss = ({ change }: BundleWritten["data"][number]) => change === "updated" || change === "deleted"

const named = (keys: ReadonlyArray<string>) =>
  keys.length <= maxNamed ? keys.join(", ") : `${keys.slice(0, maxNamed).join(", ")} and ${keys.length - maxNamed} more`

/** Shows the changes and asks for confirmation. Without a terminal, fails if a value would be overwritten or deleted. */
const approve = Effect.fnUntraced(function* (shown: BundleWritten, place: string) {
  const changes = shown.data.filter(isChange)
  if (yield* canAsk) {
    yield* showTable(
      ["key", "change", "version"],
      changes.map(({ change, key, version }) => [key, change, version])
    )
    return yield* confirm(`Change ${changes.length} of the secrets of ${place}?`, false)
  }
  const lost = shown.data.filter(isLoss).map(({ key }) => key)
  if (lost.length === 0) return
  return yield* new WrongUsage({
    message: `${place}: this would overwrite or delete ${lost.length === 1 ? "1 secret" : `${lost.length} secrets`} (${named(lost)}), and nobody can be asked here: look at it with --dry-run, then add --yes`
  })
})

/** Says how to take a change back. */
export const noteUndo = (written: BundleWritten, path: EnvPath, given: CommandLineSettings) => {
  const option = (name: string, value: string | undefined) => (value === undefined ? [] : [`--${name}`, value])
  const place = [
    ...(given.org === undefined ? [] : [path.org_name]),
    ...(given.org === undefined && given.project === undefined ? [] : [path.project_name]),
    path.env_name
  ].join("/")
  const words = [place, "--to", String(written.revision - 1), ...option("server-url", given.serverUrl)]
  return note(`undo: coffer env revert ${words.join(" ")}`)
}

interface ChangeContext {
  readonly options: { readonly dryRun: boolean; readonly yes: boolean }
  readonly given: CommandLineSettings
  readonly json: boolean
}

/**
 * Changes many secrets of an environment, after showing the changes and asking. The call requires the ETag of the dry run,
 * so that it writes what was shown, or nothing.
 */
export const changeMany = Effect.fnUntraced(function* <E, R>(
  { given, json, options }: ChangeContext,
  path: EnvPath,
  call: (guard: Guard) => Effect.Effect<BundleResponse, E, R>
) {
  const { dryRun } = options
  const place = `${path.project_name}/${path.env_name}`
  const print = (written: BundleWritten, rows = true) => printChanges(written, { json, dryRun, place, rows })
  if (!options.yes) {
    const [shown, response] = yield* call({ dryRun: true, headers: {} })
    if (dryRun || !shown.data.some(isChange)) return yield* print(shown)
    yield* approve(shown, place)
    const [written] = yield* call({ dryRun: false, headers: defined({ "if-match": etagOf(response) }) })
    yield* print(written, !(yield* canAsk) || !(yield* toTerminal))
    return yield* noteUndo(written, path, given)
  }
  const [written] = yield* call({ dryRun, headers: {} })
  yield* print(written)
  if (!dryRun && written.data.some(isChange)) yield* noteUndo(written, path, given)
})

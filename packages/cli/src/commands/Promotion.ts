import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { EnvName } from "@coffer/domain/Names"
import { SecretKeys } from "@coffer/domain/SecretValues"
import { Effect, Option } from "effect"
import { CannotDo } from "../Failures.js"
import { note, printJson, renderTable, toTerminal, write } from "../Output.js"
import { changeMany, dryRun, yes } from "./BulkChange.js"
import { commaList } from "./Checked.js"
import { argument, atProject, connect, settingsOf } from "./Shared.js"

const only = commaList("only", SecretKeys, (key) => key, "secret keys").pipe(
  Options.withDescription("Only these keys, separated by commas"),
  Options.optional
)

const from = argument("FROM", EnvName, "The environment that the values come from")
const to = argument("TO", EnvName, "The environment that they are written to")

export const copyCommand = Command.make("copy", { ...atProject, from, to, only, dryRun, yes }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf({ ...options, env: Option.some(options.to) })
    const path = yield* settings.envPath
    const client = yield* connect(yield* settings.server)
    yield* changeMany(options, path, ({ dryRun, headers }) => {
      const keys = Option.match(options.only, { onNone: () => ({}), onSome: (named) => ({ keys: named }) })
      const payload = { from: options.from, dry_run: dryRun, ...keys }
      return client.call("environments", (api) => api.copy({ path, headers, payload, withResponse: true }))
    })
  })
).pipe(
  Command.withDescription(
    "Write one environment's values to another, without showing them. Example: coffer environment copy staging prod --only API_KEY --dry-run"
  )
)

const here = argument("A", EnvName, "An environment")
const there = argument("B", EnvName, "The environment to compare it with")

const exitCode = Options.boolean("exit-code").pipe(Options.withDescription("Exit with 1 when they differ"))

const words: Readonly<Record<string, (a: string, b: string) => string>> = {
  only_here: (a) => `only in ${a}`,
  only_there: (_, b) => `only in ${b}`,
  different: () => "different"
}

export const diffCommand = Command.make("diff", { ...atProject, here, there, exitCode }, (options) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf({ ...options, env: Option.some(options.here) })
    const path = yield* settings.envPath
    const client = yield* connect(yield* settings.server)
    const diff = yield* client.call("environments", (api) => api.diff({ path, urlParams: { with: options.there } }))
    const different = diff.data.filter(({ status }) => status !== "same")
    if (options.json) yield* printJson(diff)
    else {
      const rows = different.map(({ key, status }) => [key, words[status]?.(options.here, options.there) ?? status])
      if (rows.length > 0) yield* write(renderTable(["key", "status"], rows, toTerminal()))
    }
    const same = diff.data.length - different.length
    const sum = `${options.here} and ${options.there}: ${different.length} different, ${same} the same`
    if (options.exitCode && different.length > 0) return yield* new CannotDo({ message: sum })
    if (!options.json) yield* note(sum)
  })
).pipe(
  Command.withDescription(
    "Which keys differ between two environments, without values. Example: coffer environment diff staging prod --exit-code"
  )
)

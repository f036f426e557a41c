import { EnvName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { changeMany, dryRun, yes } from "../../changes/BulkChange.js"
import { defined } from "@coffer/domain/base/Defined"
import { CannotDo } from "../../base/Failures.js"
import { asking, atProject } from "../../grammar/Command.js"
import { argument } from "../../grammar/Fields.js"
import { completedBy, flag } from "../../grammar/Specs.js"
import { note, printJson, printTable } from "../../terminal/Print.js"
import { keysOption } from "../secrets/KeyArguments.js"

const only = keysOption("only", "Only these keys, separated by commas")

const from = completedBy("env", argument("FROM", EnvName, "The environment that the values come from"))
const to = completedBy("env", argument("TO", EnvName, "The environment that they are written to"))

export const copy = atProject("copy", {
  description: "Write one environment's values to another, without showing them",
  examples: [
    "coffer environment copy staging prod --dry-run",
    "coffer environment copy staging prod --only API_KEY,DATABASE_URL"
  ],
  options: { from, to, only, dryRun, yes, ...asking },
  run: (context) => {
    const { call, options } = context
    const path = { ...context.path, env_name: options.to }
    return changeMany(context, path, ({ dryRun, headers }) => {
      const payload = { from: options.from, dry_run: dryRun, ...defined({ keys: options.only }) }
      return call("environments", (api) => api.copy({ path, headers, payload, withResponse: true }))
    })
  }
})

const here = completedBy("env", argument("A", EnvName, "An environment"))
const there = completedBy("env", argument("B", EnvName, "The environment to compare it with"))

const exitCode = flag("exit-code", "Exit with 1 when they differ")

const resolved = flag("resolved", "Compare the values that references lead to, not their texts")

const words: Readonly<Record<string, (a: string, b: string) => string>> = {
  only_here: (a) => `only in ${a}`,
  only_there: (_, b) => `only in ${b}`,
  different: () => "different"
}

export const diff = atProject("diff", {
  description: "Which keys differ between two environments, without values",
  examples: ["coffer environment diff staging prod", "coffer environment diff staging prod --exit-code"],
  options: { here, there, resolved, exitCode },
  run: ({ call, json, options: { exitCode, here, resolved, there }, path }) =>
    Effect.gen(function* () {
      const response = yield* call("environments", (api) =>
        api.diff({
          path: { ...path, env_name: here },
          urlParams: { with: there, ...(resolved && { resolved: true as const }) }
        })
      )
      const different = response.data.filter(({ status }) => status !== "same")
      const rows = different.map(({ key, status }) => [key, words[status]?.(here, there) ?? status])
      if (json) yield* printJson(response)
      else if (rows.length > 0) yield* printTable(["key", "status"], rows)
      const same = response.data.length - different.length
      const sum = `${here} and ${there}: ${different.length} different, ${same} the same`
      if (exitCode && different.length > 0) return yield* new CannotDo({ message: sum })
      if (!json) yield* note(sum)
    })
})

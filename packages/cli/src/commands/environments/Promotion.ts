import * as Effect from "effect/Effect"
import { changeMany, dryRun, yes } from "../../changes/BulkChange.js"
import { defined } from "@coffer/domain/base/Defined"
import { CannotDo } from "../../base/Failures.js"
import { asking, atProject } from "../../grammar/Command.js"
import { aboveBoth, apart, existingEnv } from "../../grammar/PlaceArguments.js"
import { flag } from "../../grammar/Specs.js"
import { note, printJson, printTable } from "../../terminal/Print.js"
import { keysOption } from "../secrets/KeyArguments.js"

const only = keysOption("only", "Only these keys, separated by commas")

const from = existingEnv("The environment that the values come from", "FROM")
const to = existingEnv("The environment that they are written to", "TO")

export const copy = atProject("copy", {
  description: "Write one environment's values to another, without showing them",
  examples: [
    "coffer environment copy staging prod --dry-run",
    "coffer environment copy webshop/staging prod --only API_KEY,DATABASE_URL"
  ],
  options: { from, to, only, dryRun, yes, ...asking },
  check: apart,
  place: aboveBoth,
  run: (context) => {
    const { call, options } = context
    const path = { ...context.path, env_name: options.to.name }
    return changeMany(context, path, ({ dryRun, headers }) => {
      const payload = { from: options.from.name, dry_run: dryRun, ...defined({ keys: options.only }) }
      return call("environments", (api) => api.copy({ path, headers, payload, withResponse: true }))
    })
  }
})

const here = existingEnv("An environment", "A")
const there = existingEnv("The environment to compare it with", "B")

const exitCode = flag("exit-code", "Exit with 1 when they differ")

const resolved = flag("resolved", "Compare the values that references lead to, not their texts")

const words: Readonly<Record<string, (a: string, b: string) => string>> = {
  only_here: (a) => `only in ${a}`,
  only_there: (_, b) => `only in ${b}`,
  different: () => "different"
}

export const diff = atProject("diff", {
  description: "Which keys differ between two environments, without values",
  examples: ["coffer environment diff staging prod", "coffer environment diff webshop/staging prod --exit-code"],
  options: { here, there, resolved, exitCode },
  check: ({ here, there }) => apart({ from: here, to: there }),
  place: ({ here, there }) => aboveBoth({ from: here, to: there }),
  run: ({ call, json, options, path }) =>
    Effect.gen(function* () {
      const { exitCode, resolved } = options
      const [here, there] = [options.here.name, options.there.name]
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
      const leftOut = response.left_out ?? 0
      const sum = `${here} and ${there}: ${different.length} different, ${same} the same${leftOut === 0 ? "" : `, ${leftOut} left out, because you may not read them in both`}`
      if (exitCode && different.length > 0) return yield* new CannotDo({ message: sum })
      if (!json) yield* note(sum)
    })
})

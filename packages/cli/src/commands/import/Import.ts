import type { ImportTarget } from "@coffer/domain/formats/tools/ImportTarget"
import { defined } from "@coffer/domain/base/Defined"
import { planImport } from "@coffer/domain/formats/tools/ImportPlan"
import * as Effect from "effect/Effect"
import { describe } from "../../base/Describe.js"
import { CannotDo, Waits, WrongUsage } from "../../base/Failures.js"
import { atOrgAndBelow } from "../../grammar/Command.js"
import { note, printJson } from "../../terminal/Print.js"
import { canAsk, confirm } from "../../terminal/Prompts.js"
import { withProgress } from "../../terminal/Progress.js"
import { apply } from "./Apply.js"
import { compare, isChanged, placeName } from "./Compare.js"
import { orFile } from "./FileImport.js"
import { options } from "./ImportOptions.js"
import { countUnsupported, printPlan, recordOf } from "./PlanView.js"
import { readSource } from "./ImportSource.js"

const fromTool = atOrgAndBelow("import", {
  description:
    "Write the secrets of a file, all or none; or move secrets here from another tool: show the plan, and write it with --apply",
  examples: [
    "coffer import doppler secrets.json --map prd=prod",
    "coffer import dotenvx .env --env staging --apply",
    "coffer import vault --from secret/webshop --apply"
  ],
  options,
  check: ({ apply, base64, file, from, plan, split, tool }) => {
    if (apply && plan) return "give either --plan or --apply"
    if (from !== undefined && file !== undefined) return "--from is for a live import: leave FILE out"
    if (split && tool !== "aws-sm" && tool !== "vault") return "--split is for aws-sm and vault"
    return base64 && tool !== "aws-sm" && tool !== "kubernetes" ? "--base64 is for aws-sm and kubernetes" : undefined
  },
  run: ({ call, json, options, path }) =>
    Effect.gen(function* () {
      const { base64, file, from, separator, skipUnsupported, split, tool } = options
      const document = yield* readSource({ tool, file, from }, { base64, split, ...defined({ separator }) })
      const target: ImportTarget = {
        project: path.project_name,
        env: path.env_name,
        envs: new Map(options.map),
        projects: new Map(options.projectMap),
        keys: new Map(options.mapKey)
      }
      const plan = planImport(document, target)
      const all = yield* withProgress((progress) => progress.during("comparing", compare(call, path.org_name, plan)))
      if (!options.apply && json) yield* printJson(recordOf(all, plan.problems))
      if (!json) yield* printPlan(all)
      yield* Effect.forEach(plan.problems, note, { discard: true })
      const refused = all.filter(({ problem }) => problem !== undefined).length + plan.problems.length
      if (refused > 0)
        return yield* new CannotDo({ message: "nothing was written: see above what has to change first" })
      const unsupported = countUnsupported(all)
      if (unsupported > 0 && !skipUnsupported) {
        const keys = unsupported === 1 ? "1 key" : `${unsupported} keys`
        const message = `nothing was written: ${keys} cannot be stored; correct or rename them, or leave them out with --skip-unsupported`
        return yield* new CannotDo({ message })
      }
      if (!options.apply) return json ? undefined : yield* note("nothing was written; --apply writes it")
      const lost = all.filter(({ changes }) => [...changes.values()].includes("different"))
      if (lost.length > 0 && !options.yes) {
        const places = lost.map(({ planned }) => placeName(planned)).join(", ")
        if (!(yield* canAsk)) {
          const message = `this would overwrite secrets of ${places}, and nobody can be asked here: add --yes`
          return yield* new WrongUsage({ message })
        }
        yield* confirm(`Overwrite the secrets of ${places} that are different?`, false)
      }
      const { outcomes, waiting } = yield* withProgress((progress) => apply(call, path.org_name, all, progress))
      if (json) yield* printJson(recordOf(all, plan.problems, outcomes, waiting))
      if (!all.some(isChanged)) yield* note("nothing to write: all keys are the same")
      const last = waiting.at(-1)
      // Not the request as it is: it would be printed too, and machines read one document.
      if (last !== undefined) return yield* json ? new Waits({ message: describe(last).sentence }) : last
    })
})

export const importCommand = orFile(fromTool, ["coffer import .env", "coffer import secrets.json --dry-run"])

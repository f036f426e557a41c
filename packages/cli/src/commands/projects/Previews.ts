import { defined } from "@coffer/domain/base/Defined"
import { EnvName } from "@coffer/domain/base/Names"
import { Pattern } from "@coffer/domain/base/Pattern"
import { type Previews, previewTerms } from "@coffer/domain/access/Previews"
import * as Effect from "effect/Effect"
import { atProject, yes } from "../../grammar/Command.js"
import { option, requiredOption } from "../../grammar/Fields.js"
import { completedBy } from "../../grammar/Specs.js"
import { confirm } from "../../terminal/Prompts.js"
import { printFields } from "../../terminal/Print.js"
import { doneView } from "../../terminal/View.js"

const fieldsOf = ({ from, longest, max, pattern, updated_at, updated_by }: Previews) => ({
  from,
  pattern,
  max,
  longest,
  "set by": updated_by,
  "set at": updated_at
})

export const previews = atProject("previews", {
  description: "Show what previews the project allows: environments that end, and that those who write may create",
  examples: ["coffer project previews", "coffer project previews --json"],
  options: {},
  run: ({ call, path }) =>
    Effect.map(
      call("previews", (api) => api.get({ path })),
      (found) => ({ json: found, text: printFields(fieldsOf(found)) })
    )
})

export const allowPreviews = atProject("allow-previews", {
  description: "Let those who may write in an environment of a name create it themselves, as a copy that ends",
  examples: [
    "coffer project allow-previews --from preview --pattern 'pr-*'",
    "coffer project allow-previews --from preview --pattern 'pr-*' --max 10 --longest 7d"
  ],
  options: {
    from: completedBy("env", requiredOption("from", EnvName, "The environment that they are copied from")),
    pattern: requiredOption("pattern", Pattern, "Their names, such as pr-*"),
    max: option("max", previewTerms.max.from, "How many there may be at once: 1 to 50; default: 20"),
    longest: option("longest", previewTerms.longest.from, "How far ahead they may end, such as 72h or 7d; default: 30d")
  },
  run: ({ call, options: { from, longest, max, pattern }, path }) =>
    Effect.map(
      call("previews", (api) => api.set({ path, payload: { from, pattern, ...defined({ max, longest }) } })),
      (set) =>
        doneView(
          `project ${path.project_name} allows ${set.max} previews of ${set.from}, named ${set.pattern}, which end within ${set.longest}`,
          set
        )
    )
})

export const forbidPreviews = atProject("forbid-previews", {
  description: "Allow no previews any more; existing ones stay until their end",
  examples: ["coffer project forbid-previews"],
  options: { yes },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      yield* confirm(`Allow no previews in project ${path.project_name} any more?`, options.yes)
      yield* call("previews", (api) => api.remove({ path }))
      return doneView(`project ${path.project_name} allows no previews any more`)
    })
})

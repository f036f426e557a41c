import { defined } from "@coffer/domain/base/Defined"
import { Pattern } from "@coffer/domain/base/Pattern"
import { type Previews, previewTerms } from "@coffer/domain/access/Previews"
import * as Effect from "effect/Effect"
import { momentCell } from "../../base/Moments.js"
import { atProject, yes } from "../../grammar/Command.js"
import { option, requiredOption } from "../../grammar/Fields.js"
import { inProject, optionalProject, requiredEnv } from "../../grammar/PlaceArguments.js"
import { old, oneOf } from "../../grammar/Specs.js"
import { confirm } from "../../terminal/Prompts.js"
import { printFields } from "../../terminal/Print.js"
import { doneView } from "../../terminal/View.js"

const fieldsOf = ({ from, longest, max, pattern, updated_at, updated_by }: Previews) => ({
  from,
  pattern,
  max,
  longest,
  "set by": updated_by,
  "set at": momentCell(updated_at)
})

export const previews = atProject("previews", {
  description: "Show what previews the project allows: environments that end, and that those who write may create",
  examples: ["coffer project previews", "coffer project previews webshop --json"],
  options: { project: optionalProject },
  place: inProject,
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
    "coffer project allow-previews --from preview --pattern 'pr-*' --max 10 --for 7d"
  ],
  options: {
    from: requiredEnv("from", "The environment that they are copied from"),
    pattern: requiredOption("pattern", Pattern, "Their names, such as pr-*"),
    max: option("max", previewTerms.max.from, "How many there may be at once: 1 to 50; default: 20"),
    longest: oneOf(
      option("for", previewTerms.longest.from, "How long each may last, such as 72h or 7d; default: 30d"),
      old(option("longest", previewTerms.longest.from, "Old form of --for"))
    )
  },
  place: ({ from }) => from.above,
  run: ({ call, options: { from, longest, max, pattern }, path }) =>
    Effect.map(
      call("previews", (api) => api.set({ path, payload: { from: from.name, pattern, ...defined({ max, longest }) } })),
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
  options: { project: optionalProject, yes },
  place: inProject,
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      yield* confirm(`Allow no previews in project ${path.project_name} any more?`, options.yes)
      yield* call("previews", (api) => api.remove({ path }))
      return doneView(`project ${path.project_name} allows no previews any more`)
    })
})

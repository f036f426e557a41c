import { type ActivityKind, SpansParameter, spanText } from "@coffer/domain/audit/AuditActivity"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { defined } from "@coffer/domain/base/Defined"
import { momentText } from "../../base/Moments.js"
import { atOrg, wide } from "../../grammar/Command.js"
import { option } from "../../grammar/Fields.js"
import { pastMoment } from "../../grammar/Times.js"
import { note } from "../../terminal/Print.js"
import { listView } from "../../terminal/View.js"
import { filters, namesOf, place } from "./LogFilters.js"

const By = Schema.Literal("action", "actor").annotations({
  description: "count by action or by actor; default: action"
})

const bars = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

/** A line of bars, as high as the counts; a space stands for none. */
export const barsOf = (counts: ReadonlyArray<number>): string => {
  const most = Math.max(1, ...counts)
  return counts.map((count) => (count === 0 ? " " : (bars[Math.ceil((count / most) * bars.length) - 1] ?? ""))).join("")
}

const columns = {
  name: ({ name }: ActivityKind) => name,
  entries: ({ entries }: ActivityKind) => entries,
  activity: ({ counts }: ActivityKind) => barsOf(counts)
}

export const activity = atOrg("activity", {
  description: "Show how much happened when, by action or by actor",
  examples: [
    "coffer audit activity --since yesterday",
    "coffer audit activity webshop/prod --action secret.read --by actor",
    "coffer audit activity --by actor --spans 24"
  ],
  options: {
    about: place,
    by: option("by", By),
    ...filters,
    spans: option("spans", SpansParameter),
    wide
  },
  place: ({ about }) => defined({ org: about?.org }),
  run: ({ call, options: { about, action, actor, by, key, resourceType, since, spans, until }, path, settings }) =>
    Effect.map(
      Effect.gen(function* () {
        const range = yield* Effect.all({ since: pastMoment(since), until: pastMoment(until) })
        const { env, project } = yield* namesOf(settings, about)
        const urlParams = defined({ action, actor, env, key, project, resource_type: resourceType, spans, ...range })
        return yield* call("audit", (api) => api.activity({ path, urlParams }))
      }),
      (found) => {
        const data = by === "actor" ? found.actors : found.actions
        const { text } = listView({ data }, columns, "nothing happened in this time")
        const left = found.complete ? "" : "; earlier entries are left out"
        const legend = `each bar is ${spanText(found.seconds)}, the first from ${momentText(found.since)}${left}`
        return { json: found, text: data.length === 0 ? text : Effect.zipLeft(text, note(legend)) }
      }
    )
})

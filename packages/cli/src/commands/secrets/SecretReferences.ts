import type { SecretReferences } from "@coffer/domain/secrets/Secret"
import * as Effect from "effect/Effect"
import { atEnv } from "../../grammar/Command.js"
import { note, printTable } from "../../terminal/Print.js"
import type { View } from "../../terminal/View.js"
import { key } from "./KeyArguments.js"

const rowsOf = ({ referred_by, refers_to }: SecretReferences) => [
  ...refers_to.map(({ env, key }) => ["refers to", env, key]),
  ...referred_by.map(({ env, key }) => ["referred to by", env, key])
]

export const references = atEnv("references", {
  description: "Show what a secret refers to and what refers to it, without values",
  examples: ["coffer secret references DATABASE_URL", "coffer secret references DB_PASSWORD --json"],
  options: { key },
  run: ({ call, options, path }) =>
    Effect.map(
      call("secrets", (api) => api.references({ path: { ...path, key: options.key } })),
      (found): View => {
        const rows = rowsOf(found)
        const table =
          rows.length === 0
            ? note(`${options.key} refers to no other secret, and no secret that you may see refers to it`)
            : printTable(["", "env", "key"], rows)
        const hidden =
          found.hidden === 0
            ? Effect.void
            : note(`${found.hidden} more refer to it from environments that you may not read`)
        return { json: found, text: Effect.zipRight(table, hidden) }
      }
    )
})

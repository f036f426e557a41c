import { Api } from "@coffer/domain/Api"
import { NotReady } from "@coffer/domain/Errors"
import { HttpApiBuilder } from "@effect/platform"
import { Effect, Schema } from "effect"
import { Reader } from "../database/Reader.js"
import { docs, llms, llmsFull, openApi } from "./Documents.js"

const OneRow = Schema.Struct({ one: Schema.Number })
const ok = { status: "ok" } as const

export const SystemHttp = HttpApiBuilder.group(Api, "system", (handlers) =>
  Effect.gen(function* () {
    const reader = yield* Reader
    const ask = reader.rows(OneRow)
    return handlers
      .handle("health", () => Effect.succeed(ok))
      .handle("ready", () =>
        ask("SELECT 1 AS one", []).pipe(
          Effect.as(ok),
          Effect.catchAllCause(() => new NotReady({ message: "the database does not answer" }))
        )
      )
      .handle("openApi", () => openApi)
      .handle("docs", () => docs)
      .handle("llms", () => llms)
      .handle("llmsFull", () => llmsFull)
  })
)

import { Api } from "@coffer/domain/Api"
import { NotReady } from "@coffer/domain/Errors"
import { HttpApiBuilder, OpenApi } from "@effect/platform"
import { Effect, Schema } from "effect"
import { Reader } from "../database/Reader.js"
import { notYet } from "../http/NotYet.js"

const OneRow = Schema.Struct({ one: Schema.Number })
const ok = { status: "ok" } as const

export const SystemHttp = HttpApiBuilder.group(Api, "system", (handlers) =>
  Effect.gen(function* () {
    const reader = yield* Reader
    const ask = reader.rows(OneRow)
    const contract = OpenApi.fromApi(Api)
    return handlers
      .handle("health", () => Effect.succeed(ok))
      .handle("ready", () =>
        ask("SELECT 1 AS one", []).pipe(
          Effect.as(ok),
          Effect.catchAllCause(() => new NotReady({ message: "the database does not answer" }))
        )
      )
      .handle("openApi", () => Effect.succeed(contract))
      .handle("docs", () => notYet)
      .handle("llms", () => notYet)
      .handle("llmsFull", () => notYet)
  })
)

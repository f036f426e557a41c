import { Api } from "@coffer/domain/Api"
import { NotReady } from "@coffer/domain/Errors"
import { HttpApiBuilder, OpenApi } from "@effect/platform"
import { Effect, identity, Schema } from "effect"
import { AuditLog } from "../audit/AuditLog.js"
import { Reader } from "../database/Reader.js"
import { notYet } from "../http/NotYet.js"

const CountRow = Schema.Struct({ count: Schema.Number })
const ok = { status: "ok" } as const

export const SystemHttp = HttpApiBuilder.group(Api, "system", (handlers) =>
  Effect.gen(function* () {
    const reader = yield* Reader
    const audit = yield* AuditLog
    const ask = reader.rows(CountRow)
    const contract = OpenApi.fromApi(Api)
    return handlers
      .handle("health", () => Effect.succeed(ok))
      .handle("ready", () =>
        ask("SELECT count(*) AS count FROM instance", []).pipe(
          Effect.catchAllCause(() => new NotReady({ message: "the database does not answer" })),
          Effect.zipRight(audit.working),
          Effect.filterOrFail(identity, () => new NotReady({ message: "the audit trail cannot be written" })),
          Effect.as(ok)
        )
      )
      .handle("openApi", () => Effect.succeed(contract))
      .handle("docs", () => notYet)
      .handle("llms", () => notYet)
      .handle("llmsFull", () => notYet)
  })
)

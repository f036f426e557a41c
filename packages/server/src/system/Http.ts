import { Api } from "@coffer/domain/Api"
import { NotReady } from "@coffer/domain/Errors"
import { HttpApiBuilder } from "@effect/platform"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, identity, Layer, Schema } from "effect"
import { AuditLog } from "../audit/AuditLog.js"
import { Database } from "../database/Database.js"
import { query } from "../database/Query.js"
import { documents } from "./Documents.js"

const CountRow = Schema.Struct({ count: Schema.Number })
const ok = { status: "ok" } as const

export const SystemHttp = HttpApiBuilder.group(Api, "system", (handlers) =>
  Effect.gen(function* () {
    const { one } = yield* query
    const audit = yield* AuditLog
    const { isWritable } = yield* Database
    const probe = one(CountRow)`SELECT count(*) AS count FROM instance`
    const { docs, llms, llmsFull, openApi } = yield* documents
    return handlers
      .handle("health", () => Effect.succeed(ok))
      .handle("ready", () =>
        probe({}).pipe(
          Effect.catchAllCause(() => new NotReady({ message: "the database does not answer" })),
          Effect.zipRight(isWritable),
          Effect.filterOrFail(identity, () => new NotReady({ message: "another program has locked the database" })),
          Effect.zipRight(audit.ready),
          Effect.as(ok)
        )
      )
      .handle("openApi", () => openApi)
      .handle("docs", () => docs)
      .handle("llms", () => llms)
      .handle("llmsFull", () => llmsFull)
  })
).pipe(Layer.provide(NodeFileSystem.layer))

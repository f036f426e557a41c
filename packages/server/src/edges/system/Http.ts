import { Api } from "@coffer/domain/Api"
import { NotReady } from "@coffer/domain/Errors"
import { HttpApiBuilder } from "@effect/platform"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Layer } from "effect"
import { AuditLog } from "../../audit/AuditLog.js"
import { Database } from "../../database/Database.js"
import { documents } from "./Documents.js"

const ok = { status: "ok" } as const

export const SystemHttp = HttpApiBuilder.group(Api, "system", (handlers) =>
  Effect.gen(function* () {
    const audit = yield* AuditLog
    const { unready } = yield* Database
    const { docs, llms, llmsFull, openApi } = yield* documents
    return handlers
      .handle("health", () => Effect.succeed(ok))
      .handle("ready", () =>
        unready.pipe(
          Effect.flatMap((reason) => (reason === null ? Effect.void : new NotReady({ message: reason }))),
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

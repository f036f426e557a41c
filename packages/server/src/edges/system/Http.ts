import { Api } from "@coffer/domain/Api"
import { NotReady } from "@coffer/domain/errors/Errors"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
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

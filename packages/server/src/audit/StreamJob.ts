import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ServerConfig } from "../base/Config.js"
import { onOneServer } from "../database/jobs/OnOneServer.js"
import { AuditStreamLive } from "./AuditStream.js"
import { streamTarget } from "./StreamTarget.js"

/** The audit stream, on one server of the database at a time. Every server checks at its start that it could write. */
export const AuditStreamJob = Layer.unwrapEffect(
  Effect.map(ServerConfig, ({ auditStream }) =>
    auditStream === null
      ? Layer.empty
      : onOneServer({ name: "stream", lease: "30 seconds" }, AuditStreamLive, streamTarget(auditStream))
  )
)

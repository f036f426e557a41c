import { Api } from "@coffer/domain/Api"
import { HttpApiBuilder } from "@effect/platform"
import { notYet } from "../http/NotYet.js"

export const AuditHttp = HttpApiBuilder.group(Api, "audit", (handlers) =>
  handlers
    .handle("list", () => notYet)
    .handle("verify", () => notYet)
    .handle("listAll", () => notYet)
    .handle("verifyAll", () => notYet)
)

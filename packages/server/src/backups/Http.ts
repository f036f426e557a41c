import { Api } from "@coffer/domain/Api"
import { HttpApiBuilder } from "@effect/platform"
import { notYet } from "../http/NotYet.js"

export const BackupsHttp = HttpApiBuilder.group(Api, "backups", (handlers) =>
  handlers
    .handle("create", () => notYet)
    .handle("list", () => notYet)
    .handle("restore", () => notYet)
)

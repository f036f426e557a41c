import { Api } from "@coffer/domain/Api"
import { HttpApiBuilder } from "@effect/platform"
import { notYet } from "../http/NotYet.js"

export const ServiceAccountsHttp = HttpApiBuilder.group(Api, "serviceAccounts", (handlers) =>
  handlers
    .handle("create", () => notYet)
    .handle("list", () => notYet)
    .handle("rotate", () => notYet)
    .handle("revoke", () => notYet)
)

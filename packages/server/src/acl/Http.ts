import { Api } from "@coffer/domain/Api"
import { HttpApiBuilder } from "@effect/platform"
import { notYet } from "../http/NotYet.js"

export const AclHttp = HttpApiBuilder.group(Api, "acl", (handlers) =>
  handlers
    .handle("grant", () => notYet)
    .handle("list", () => notYet)
    .handle("explain", () => notYet)
    .handle("revoke", () => notYet)
)

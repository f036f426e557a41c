import { Api } from "@coffer/domain/Api"
import { HttpApiBuilder } from "@effect/platform"
import { notYet } from "../http/NotYet.js"

export const MembersHttp = HttpApiBuilder.group(Api, "members", (handlers) =>
  handlers
    .handle("invite", () => notYet)
    .handle("list", () => notYet)
    .handle("setRole", () => notYet)
    .handle("remove", () => notYet)
)

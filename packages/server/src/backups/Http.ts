import { Api } from "@coffer/domain/Api"
import { HttpApiBuilder } from "@effect/platform"
import { Effect, Layer } from "effect"
import { Access } from "../access/Access.js"
import { Backups } from "./Backups.js"

export const BackupsHttp = HttpApiBuilder.group(Api, "backups", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const backups = yield* Backups
    return handlers
      .handle("create", () => Effect.flatMap(access.everywhere("backup.create"), backups.create))
      .handle("list", () => Effect.flatMap(access.everywhere("backup.list"), backups.list))
      .handle("restore", ({ path }) =>
        Effect.flatMap(access.everywhere("backup.restore"), (everywhere) => backups.restore(everywhere, path.backup_id))
      )
      .handle("drill", ({ payload }) =>
        Effect.flatMap(access.everywhere("backup.drill"), (everywhere) => backups.drill(everywhere, payload.backup_id))
      )
  })
).pipe(Layer.provide(Backups.Default))

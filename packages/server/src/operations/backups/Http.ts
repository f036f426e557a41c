import { Api } from "@coffer/domain/Api"
import { CurrentCaller } from "@coffer/domain/access/Actor"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import type { ServerPlace } from "../../access/ServerPlace.js"
import { Backups, type Recording } from "./Backups.js"

export const BackupsHttp = HttpApiBuilder.group(Api, "backups", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const backups = yield* Backups
    /** Authorizes the caller again, who may have lost the right during a long operation. */
    const recordingBy =
      ({ action, actor }: ServerPlace): Recording =>
      (record) =>
        Effect.provideService(
          access.change(access.serverPlace(action), () => record),
          CurrentCaller,
          { actor }
        )
    return handlers
      .handle("create", () =>
        Effect.flatMap(access.serverPlace("backup.create"), (serverPlace) =>
          backups.create(serverPlace, recordingBy(serverPlace))
        )
      )
      .handle("list", () => Effect.flatMap(access.serverPlace("backup.list"), backups.list))
      .handle("restore", ({ path }) =>
        Effect.flatMap(access.serverPlace("backup.restore"), (serverPlace) =>
          backups.restore(serverPlace, path.backup_id, recordingBy(serverPlace))
        )
      )
      .handle("drill", ({ payload }) =>
        Effect.flatMap(access.serverPlace("backup.drill"), (serverPlace) =>
          backups.drill(serverPlace, payload.backup_id, recordingBy(serverPlace))
        )
      )
  })
).pipe(Layer.provide(Backups.Default))

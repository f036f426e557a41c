import { Api } from "@coffer/domain/Api"
import { CurrentCaller } from "@coffer/domain/access/Actor"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import type { Everywhere } from "../../access/Everywhere.js"
import { Backups, type Recording } from "./Backups.js"

export const BackupsHttp = HttpApiBuilder.group(Api, "backups", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const backups = yield* Backups
    /** Authorizes the caller again, who may have lost the right during a long operation. */
    const recordingBy =
      ({ action, actor }: Everywhere): Recording =>
      (record) =>
        Effect.provideService(
          access.change(access.everywhere(action), () => record),
          CurrentCaller,
          { actor }
        )
    return handlers
      .handle("create", () =>
        Effect.flatMap(access.everywhere("backup.create"), (everywhere) =>
          backups.create(everywhere, recordingBy(everywhere))
        )
      )
      .handle("list", () => Effect.flatMap(access.everywhere("backup.list"), backups.list))
      .handle("restore", ({ path }) =>
        Effect.flatMap(access.everywhere("backup.restore"), (everywhere) =>
          backups.restore(everywhere, path.backup_id, recordingBy(everywhere))
        )
      )
      .handle("drill", ({ payload }) =>
        Effect.flatMap(access.everywhere("backup.drill"), (everywhere) =>
          backups.drill(everywhere, payload.backup_id, recordingBy(everywhere))
        )
      )
  })
).pipe(Layer.provide(Backups.Default))

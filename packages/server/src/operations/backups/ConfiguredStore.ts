import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { BackupSettings } from "../../base/config/BackupSettings.js"
import type { StartupError } from "../../base/StartupError.js"
import { makeDirectoryStore } from "./DirectoryStore.js"
import type { ObjectStore } from "./ObjectStore.js"
import { makeS3Store } from "./S3Store.js"

export const makeObjectStore = ({ store }: BackupSettings): Effect.Effect<ObjectStore, StartupError, Scope.Scope> =>
  store._tag === "S3" ? makeS3Store(store) : makeDirectoryStore(store)

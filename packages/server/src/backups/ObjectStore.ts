import { Data, type Effect, type Scope, type Stream } from "effect"
import type { BackupSettings } from "../Config.js"
import type { StartupError } from "../StartupError.js"
import { makeDirectoryStore } from "./DirectoryStore.js"
import { makeS3Store } from "./S3Store.js"

/** The store refused, or did not answer: `doing` in the operator's words, `reason` as its own code or the system's. */
export class StoreFailure extends Data.TaggedError("StoreFailure")<{
  readonly store: "object store" | "backup directory"
  readonly doing: string
  readonly reason: string
}> {
  override get message() {
    return `the ${this.store} did not ${this.doing}: ${this.reason}`
  }
}

export interface StoredObject {
  /** Without the configured prefix. */
  readonly name: string
  readonly size: number
}

/** Where backups are: objects by name. Each method fails with `StoreFailure`. */
export interface ObjectStore {
  /** Stores `size` bytes under a name: all of them, or nothing. */
  readonly put: (
    name: string,
    size: number,
    content: () => AsyncIterable<Uint8Array>
  ) => Effect.Effect<void, StoreFailure>
  readonly list: Effect.Effect<ReadonlyArray<StoredObject>, StoreFailure>
  /** Streams the bytes of an object. */
  readonly read: (name: string) => Stream.Stream<Uint8Array, StoreFailure>
  /** Removes an object; one that is not there is no failure. */
  readonly remove: (name: string) => Effect.Effect<void, StoreFailure>
  /** Removes what a killed process left of its uploads below a path. No list shows it, and it takes room. */
  readonly abandonUploads: (path: string) => Effect.Effect<void, StoreFailure>
}

/** The store that the settings name. Fails when it is a directory that cannot be used. */
export const makeObjectStore = ({ store }: BackupSettings): Effect.Effect<ObjectStore, StartupError, Scope.Scope> =>
  store._tag === "S3" ? makeS3Store(store) : makeDirectoryStore(store)

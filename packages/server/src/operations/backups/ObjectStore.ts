import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"

/** The store failed or did not respond. `doing` completes "the store did not …"; `reason` is an error code of the store or system. */
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

/** A store of objects by name. */
export interface ObjectStore {
  /** Stores all `size` bytes, or nothing. */
  readonly put: (
    name: string,
    size: number,
    content: () => AsyncIterable<Uint8Array>
  ) => Effect.Effect<void, StoreFailure>
  readonly list: Effect.Effect<ReadonlyArray<StoredObject>, StoreFailure>
  readonly read: (name: string) => Stream.Stream<Uint8Array, StoreFailure>
  /** Removes an object, if it exists. */
  readonly remove: (name: string) => Effect.Effect<void, StoreFailure>
  /** Removes unfinished uploads of a killed process below a path. They take space, but are not in `list`. */
  readonly abandonUploads: (path: string) => Effect.Effect<void, StoreFailure>
}

import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { LocalFailure } from "../base/files/LocalFailure.js"

/** Identifies a backup inside its snapshot, so that swapped objects are detected. */
export interface Mark {
  readonly id: string
  /** The object's name without the prefix. */
  readonly name: string
}

/** Takes snapshots of the database, as SQLite files whatever the engine. */
export class Snapshots extends Context.Tag("@coffer/server/Snapshots")<
  Snapshots,
  {
    /**
     * Writes a consistent, marked copy of the database into an empty file, in a thread and without blocking writers. Returns what
     * is wrong with the copy: integrity, references, counts, and the ends of the audit logs.
     */
    readonly write: (path: string, mark: Mark) => Effect.Effect<ReadonlyArray<string>, LocalFailure>
  }
>() {}

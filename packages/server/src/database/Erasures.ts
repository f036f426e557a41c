import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Transaction } from "./Database.js"

/**
 * Whether destroyed data is erased from the files of the database. It is `pending` while another connection, such as a
 * backup's, reads a snapshot from before the destruction.
 */
export type Erased = "now" | "pending"

/** Erases destroyed data keys from the database's files: the write-ahead log, free pages and gaps in pages. */
export class Erasures extends Context.Tag("@coffer/server/Erasures")<
  Erasures,
  {
    /** Records a due erasure. Call in the transaction that destroys the rows, and call `erase` after its commit. */
    readonly note: Effect.Effect<void, never, Transaction>
    /**
     * Erases wrapped data keys after the commit of their destruction and its `note`. Waits a few seconds. An erasure
     * that is pending then is completed later by this server, or by the next one that opens the database.
     */
    readonly erase: (needles: ReadonlyArray<Uint8Array>) => Effect.Effect<Erased>
    /** Runs all due erasures after the current one, and schedules a retry for those that cannot be done yet. */
    readonly finish: Effect.Effect<void>
    /** `now` if no erasure is due. */
    readonly state: Effect.Effect<Erased>
  }
>() {}

import { Context, type Effect } from "effect"
import type { Transaction } from "./Database.js"

/**
 * Whether what was destroyed is gone from the storage of the database: `pending` when a connection still reads what was there
 * before, such as a backup's.
 */
export type Erased = "now" | "pending"

/** Erases destroyed data keys from everything that the database has ever written: its log, its pages and their gaps. */
export class Erasures extends Context.Tag("@coffer/server/Erasures")<
  Erasures,
  {
    /** Notes an erasure. Belongs in the transaction that destroys; call `erase` once that is committed. */
    readonly note: Effect.Effect<void, never, Transaction>
    /**
     * Erases wrapped data keys whose destruction is committed, and whose note with it. Waits for it a moment; what is pending
     * then is done by this server, or by the next one on the database.
     */
    readonly erase: (needles: ReadonlyArray<Uint8Array>) => Effect.Effect<Erased>
    /** Erases whatever waits for it, once what is under way is done. What cannot be erased yet is tried again. */
    readonly finish: Effect.Effect<void>
    /** Whether everything that was ever destroyed is erased. */
    readonly state: Effect.Effect<Erased>
  }
>() {}

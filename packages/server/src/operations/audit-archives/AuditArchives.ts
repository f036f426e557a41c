import { randomUUID } from "node:crypto"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { type ArchivedEntry, archiveFormat } from "@coffer/domain/audit/AuditArchive"
import { archiveRepo, type ArchiveRow } from "../../audit/ArchiveRepo.js"
import { systemSource } from "../../audit/AuditEvent.js"
import { AuditIndex } from "../../audit/AuditIndex.js"
import { AuditLog } from "../../audit/AuditLog.js"
import type { Start } from "../../audit/Chain.js"
import { EntryReader } from "../../audit/EntryReader.js"
import { indexRepo } from "../../audit/IndexRepo.js"
import { streamReached } from "../../audit/StreamReached.js"
import { nextTick, pacing } from "../../base/EventLoop.js"
import { now } from "../../base/Time.js"
import type { Fenced } from "../../database/jobs/Lease.js"
import { query } from "../../database/Query.js"
import { Instance } from "../../keys/Instance.js"
import type { ObjectStore, StoreFailure } from "../backups/ObjectStore.js"
import { openArchive, sealArchive, sha256Of } from "./ArchiveFile.js"

/** How many entries one transaction removes: others wait for it. */
const removedAtOnce = 200
/** An archive ends after this many entries, or characters of metadata: it is made in memory, and hashed in one event-loop tick. */
const maxEntries = 5_000
const maxCharacters = 4 * 1024 * 1024

/** A log that cannot be archived. Nothing was removed. */
export class NotArchived extends Data.TaggedError("NotArchived")<{ readonly message: string }> {}

const WebhookRow = Schema.Struct({ seq: Schema.NullOr(Schema.Number) })

/** The entries of a log that may leave: those up to `to`, and the reader that holds back the ones after it. */
export interface Plan {
  readonly log: string
  /** The last entry that left before. */
  readonly after: number
  readonly to: number
  readonly heldBy: "audit stream" | "webhooks" | null
}

const source = systemSource("audit archives")

const objectName = (instance: string, log: string, { first_seq, id, last_seq }: Omit<Range, "log">) => {
  const padded = (seq: number) => String(seq).padStart(12, "0")
  return `${instance}/audit_${log}_${padded(first_seq)}-${padded(last_seq)}_${id}.jsonl.gz`
}

interface Range {
  readonly id: string
  readonly first_seq: number
  readonly last_seq: number
}

/**
 * Moves the oldest entries of audit logs to files in the store of the backups. Each step can be repeated after a kill: an archive is
 * put, read back and verified; its row and its entry in the log of the server are committed together; only then do its entries leave
 * the database, some at a time, each time with the start of the log. A file without a row is a copy that nobody needs.
 */
export class AuditArchives extends Effect.Service<AuditArchives>()("@coffer/server/AuditArchives", {
  effect: Effect.gen(function* () {
    const repo = yield* archiveRepo
    const reader = yield* EntryReader
    const index = yield* AuditIndex
    const indexed = yield* indexRepo
    const audit = yield* AuditLog
    const reached = yield* streamReached
    const instance = yield* Instance
    const { one } = yield* query
    const webhooks = one(WebhookRow)`
      SELECT min(seq) AS seq FROM webhooks WHERE org_id = ${"log"} AND enabled = 1 AND removed_at IS NULL`

    const startOf = (log: string) =>
      Effect.flatMap(repo.start(log), (start) =>
        start === null
          ? new NotArchived({ message: `the start of the audit log ${log} was changed: verify the log` })
          : Effect.succeed(start)
      )

    /** The entries of a log before a time that may leave. The newest entry stays, whatever its time. */
    const plan = Effect.fnUntraced(function* (log: string, head: number, before: string) {
      const start = yield* startOf(log)
      const range = yield* reader.rangeOf(log, { since: null, until: before }, null)
      const wanted = Math.min((range.below ?? 1) - 1, head - 1)
      const places = yield* reached
      const streamed = places === null ? wanted : (places.get(log) ?? 0)
      const { seq: sent } = yield* webhooks({ log })
      const to = Math.min(wanted, streamed, sent ?? wanted)
      const plan: Plan = {
        log,
        after: start.seq,
        to: Math.max(start.seq, to),
        heldBy: to === wanted ? null : to === streamed ? "audit stream" : "webhooks"
      }
      return plan
    })

    /** Reads the entries of a range until an archive is full. */
    const read = Effect.fnUntraced(function* (log: string, after: number, to: number) {
      const pace = pacing()
      const entries: Array<ArchivedEntry> = []
      let characters = 0
      let last = after
      while (last < to && entries.length < maxEntries && characters < maxCharacters) {
        const { rows } = yield* reader.following(log, last, Math.min(to, after + maxEntries))
        for (const { log: _log, position: _position, ...entry } of rows) {
          entries.push(entry)
          characters += entry.metadata.length
          last = entry.seq
          if (characters >= maxCharacters) break
          yield* pace
        }
        if (rows.length === 0) break
      }
      return entries
    })

    /** Puts an archive of the next entries into the store, reads it back, verifies it and records it. */
    const keep = Effect.fnUntraced(function* (store: ObjectStore, fenced: Fenced, start: Start, to: number) {
      const { log, seq: after } = start
      const entries = yield* read(log, after, to)
      const last = entries.at(-1)
      if (last === undefined)
        return yield* new NotArchived({ message: `the audit log ${log} lacks entry ${after + 1}` })
      const range: Range = { id: randomUUID(), first_seq: after + 1, last_seq: last.seq }
      const name = objectName(instance.id, log, range)
      const header = { format: archiveFormat, ...range, log, previous: start.chain } as const
      const content = yield* sealArchive(instance.auditKey, { header, entries })
      // Also verifies the entries: what does not fit the chain never leaves the database.
      yield* verified(content, `the audit log ${log}, as an archive,`)
      yield* store.put(name, content.length, async function* () {
        yield await Promise.resolve(content)
      })
      const copy = yield* contentOf(store, name)
      const sha256 = sha256Of(content)
      if (sha256Of(copy) !== sha256) {
        return yield* new NotArchived({ message: `the archive ${name} is not what was put into the store` })
      }
      yield* verified(copy, `the archive ${name}`)
      const row: ArchiveRow = {
        ...{ ...range, log, chain: last.chain, name, sha256 },
        size_bytes: content.length,
        archived_at: yield* now
      }
      yield* fenced(
        Effect.zipRight(
          repo.insert([row]),
          audit.change(source, {
            action: "audit.archive",
            resource_type: "server",
            resource_id: null,
            metadata: { log, first_seq: row.first_seq, last_seq: row.last_seq, name, sha256 }
          })
        )
      )
      return row
    })

    const verified = (content: Uint8Array, what: string) =>
      Effect.catchTag(openArchive(instance.auditKey, content), "ArchiveDamaged", ({ message }) =>
        Effect.fail(new NotArchived({ message: `${what} ${message}` }))
      )

    const contentOf = (store: ObjectStore, name: string): Effect.Effect<Buffer, StoreFailure> =>
      Effect.map(Stream.runCollect(store.read(name)), (pieces) => Buffer.concat([...pieces]))

    /** Removes some entries that an archive holds, with the log's start behind them. */
    const removeSome = (log: string, to: number) =>
      Effect.gen(function* () {
        const reachedByIndex = yield* indexed.lockReached(log)
        const start = yield* startOf(log)
        const last = Math.min(to, reachedByIndex)
        const batch = yield* indexed.read(log, start.seq, last, removedAtOnce)
        if (batch.to === start.seq) return false
        const chain = (yield* reader.link({ log, seq: batch.to }))?.chain
        if (chain === undefined) return false
        yield* indexed.unpost(batch)
        yield* repo.leave({ log, after: start.seq, to: batch.to })
        yield* repo.setStart({ log, seq: batch.to, chain })
        return batch.to < to
      })

    /** Removes the entries that the archives of a log hold, and an earlier run did not. */
    const removeArchived = Effect.fnUntraced(function* (fenced: Fenced, log: string) {
      const newest = yield* repo.newest({ log })
      if (newest === undefined || newest.last_seq <= (yield* startOf(log)).seq) return
      yield* index.catchUp(log)
      yield* Effect.repeat(Effect.zipLeft(fenced(removeSome(log, newest.last_seq)), nextTick), {
        while: (isMore) => isMore
      })
      if ((yield* startOf(log)).seq < newest.last_seq) {
        return yield* new NotArchived({
          message: `entries of the audit log ${log} that an archive holds are left to the next run`
        })
      }
    })

    const checkRow = (store: ObjectStore, row: ArchiveRow) =>
      contentOf(store, row.name).pipe(
        Effect.flatMap((content) => verified(content, `the archive ${row.name}`)),
        Effect.map(({ entries, header }) =>
          header.log === row.log && header.first_seq === row.first_seq && entries.at(-1)?.chain === row.chain
            ? null
            : `the archive ${row.name} holds other entries than the database says`
        ),
        Effect.catchAll(({ message }) => Effect.succeed(message))
      )

    /** Archives the entries of one log up to a number. */
    const archiveLog = Effect.fnUntraced(function* (store: ObjectStore, fenced: Fenced, log: string, to: number) {
      const made: Array<ArchiveRow> = []
      for (let start = yield* startOf(log); start.seq < to; start = yield* startOf(log)) {
        made.push(yield* keep(store, fenced, start, to))
        yield* removeArchived(fenced, log)
      }
      return made
    })

    return {
      /** The plans of all logs that have entries from before a time. */
      plans: (before: string) =>
        Effect.map(
          Effect.flatMap(reader.heads, (heads) => Effect.forEach(heads, ({ log, seq }) => plan(log, seq, before))),
          (plans) => plans.filter(({ after, heldBy, to }) => to > after || heldBy !== null)
        ),

      /**
       * Moves the entries of all logs from before a time to archives. Returns the archives, and why a log was left as it is: what does
       * not verify stays in the database.
       */
      archive: Effect.fnUntraced(function* (store: ObjectStore, before: string, fenced: Fenced) {
        const made: Array<ArchiveRow> = []
        const problems: Array<string> = []
        for (const { log, seq } of yield* reader.heads) {
          yield* removeArchived(fenced, log).pipe(
            Effect.zipRight(plan(log, seq, before)),
            Effect.flatMap(({ to }) => archiveLog(store, fenced, log, to)),
            Effect.map((rows) => made.push(...rows)),
            // A log whose entries another server moves meanwhile looks damaged: the fence tells.
            Effect.catchTag("NotArchived", ({ message }) =>
              Effect.map(fenced(Effect.void), () => problems.push(message))
            )
          )
        }
        return { archives: made, problems } as const
      }),

      /** Reads every archive from the store, and returns how many there are, and the problems. */
      check: Effect.fnUntraced(function* (store: ObjectStore) {
        const rows = yield* repo.every({})
        const found = yield* Effect.forEach(rows, (row) => checkRow(store, row))
        return { archives: rows.length, problems: found.filter((problem) => problem !== null) } as const
      })
    } as const
  }),
  dependencies: [EntryReader.Default, AuditIndex.Default]
}) {}

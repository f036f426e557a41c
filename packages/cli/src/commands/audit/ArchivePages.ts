import { type ArchivedEntry, EntryLine, HeaderLine, recordOf, TrailerLine } from "@coffer/domain/audit/AuditArchive"
import type { AuditEntry, AuditPage } from "@coffer/domain/audit/AuditEntry"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { readFile } from "node:fs/promises"
import { promisify } from "node:util"
import { gunzip } from "node:zlib"
import { CannotDo } from "../../base/Failures.js"

const defaultLimit = 20
/** More than an archive holds: a small file can decompress to any size. */
const maxBytes = 64 * 1024 * 1024

interface Wanted {
  readonly action?: string | undefined
  readonly actor?: string | undefined
  readonly project?: string | undefined
  readonly env?: string | undefined
  readonly key?: string | undefined
  readonly resourceType?: string | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
}

const isIn = (wanted: string | undefined, found: unknown): boolean => wanted === undefined || wanted === found

const keysOf = ({ key, keys }: AuditEntry["metadata"]): ReadonlyArray<unknown> => [
  key,
  ...(Array.isArray(keys) ? keys.map((each: unknown) => (Schema.is(Keyed)(each) ? each.key : undefined)) : [])
]

const Keyed = Schema.Struct({ key: Schema.String })

/** The filters of a server's list, on an entry of an archive. */
const matches = (
  { action, actor, env, key, project, resourceType, since, until }: Wanted,
  entry: AuditEntry
): boolean => {
  const moment = Date.parse(entry.created_at)
  const name = actor?.includes("@") === true ? actor.trim().toLowerCase() : actor
  return (
    isIn(action, entry.action) &&
    isIn(resourceType, entry.resource_type) &&
    (name === undefined || entry.actor_id === name || entry.actor_name === name) &&
    isIn(project, entry.metadata["project"]) &&
    isIn(env, entry.metadata["env"]) &&
    (key === undefined || keysOf(entry.metadata).includes(key)) &&
    (since === undefined || moment >= Date.parse(since)) &&
    (until === undefined || moment < Date.parse(until))
  )
}

const decodeHeader = Schema.decodeUnknown(HeaderLine)
const decodeEntry = Schema.decodeUnknown(EntryLine)
const decodeTrailer = Schema.decodeUnknown(TrailerLine)

/**
 * Reads an archive, and returns its pages as a server's, newest first. The signature is not verified: only the server has the key
 * for it.
 */
export const archivePages = (path: string, wanted: Wanted) =>
  Effect.gen(function* () {
    const text = yield* Effect.tryPromise({
      try: async () => (await promisify(gunzip)(await readFile(path), { maxOutputLength: maxBytes })).toString("utf8"),
      catch: () => new CannotDo({ message: `cannot read ${path}: it does not exist, or is no archive of an audit log` })
    })
    const lines = text.trimEnd().split("\n")
    const parsed = Effect.gen(function* () {
      const { first_seq } = yield* decodeHeader(lines[0])
      const { entries } = yield* decodeTrailer(lines.at(-1))
      const records: Array<AuditEntry> = []
      for (const line of lines.slice(1, -1)) {
        const entry: ArchivedEntry = yield* decodeEntry(line)
        records.push(yield* recordOf(entry))
      }
      return records.length === entries && records[0]?.seq === first_seq ? records.reverse() : []
    }).pipe(
      Effect.filterOrFail(
        ({ length }) => length > 0,
        () => "incomplete"
      ),
      Effect.mapError(() => new CannotDo({ message: `${path} is no archive of an audit log, or was changed` }))
    )
    const found = (yield* parsed).filter((entry) => matches(wanted, entry))
    return (limit: number | undefined = defaultLimit, after: string | undefined) => {
      const below = after === undefined ? Infinity : Number(after.slice(1))
      const rest = found.filter(({ seq }) => seq < below)
      const data = rest.slice(0, limit)
      const last = data.at(-1)
      const has_next = rest.length > data.length
      const page: AuditPage = {
        data,
        pagination: {
          total: found.length,
          limit,
          has_next,
          next_cursor: has_next && last !== undefined ? `s${last.seq}` : null
        }
      }
      return Effect.succeed(page)
    }
  })

import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { readFile, rename, writeFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { EntryReader } from "./EntryReader.js"
import { StreamFailure } from "./StreamTarget.js"

/** The number of the last streamed entry of each log. */
export type Places = ReadonlyMap<string, number>

/** An entry that was streamed. A database that does not have it is another one. */
const Entry = Schema.Struct({ log: Schema.String, seq: Schema.Number, id: Schema.String })
export type StreamedEntry = typeof Entry.Type

/** `last` is the entry that was streamed last. */
const State = Schema.Struct({
  target: Schema.String,
  last: Entry,
  logs: Schema.Record({ key: Schema.String, value: Schema.Number })
})

/** The form of versions that followed all logs by one position, of the entry with this id. */
const EarlierState = Schema.Struct({ target: Schema.String, position: Schema.Number, id: Schema.String })

const StateText = Schema.parseJson(State)
const decode = Schema.decodeUnknown(Schema.parseJson(Schema.Union(State, EarlierState)))
const encode = Schema.encode(StateText)

/** Keeps the places of the stream to a target in the file `{db_path}.audit-stream`. */
export const streamPlaces = (dbPath: string, target: string) =>
  Effect.map(EntryReader, (repo) => {
    const path = `${dbPath}.audit-stream`
    const temporary = join(dirname(dbPath), `.${basename(dbPath)}.audit-stream`)

    /** The places that an earlier version reached; null if the database is another one. */
    const convert = Effect.fnUntraced(function* ({ id, position }: typeof EarlierState.Type) {
      if ((yield* repo.entryAt({ position }))?.id !== id) return null
      const places = new Map<string, number>()
      for (const { log } of yield* repo.heads) {
        const last = yield* repo.lastUntil({ log, position })
        if (last !== undefined) places.set(log, last.seq)
      }
      return places
    })

    return {
      /** Empty if nothing was streamed to the target; null if what was streamed came from another database. */
      load: Effect.gen(function* () {
        const found = yield* Effect.tryPromise(() => readFile(path, "utf8")).pipe(
          Effect.flatMap((text) => decode(text)),
          Effect.option
        )
        if (Option.isNone(found) || found.value.target !== target) return new Map<string, number>()
        if ("position" in found.value) return yield* convert(found.value)
        const { last, logs } = found.value
        const streamed = (yield* repo.idOf({ log: last.log, seq: last.seq }))?.id
        const isSame = streamed === last.id || (streamed === undefined && last.seq <= (yield* repo.archived(last.log)))
        return isSame ? new Map(Object.entries(logs)) : null
      }),

      save: (places: Places, last: StreamedEntry) =>
        Effect.flatMap(encode({ target, last, logs: Object.fromEntries(places) }), (text) =>
          Effect.tryPromise(async () => {
            await writeFile(temporary, text, { mode: 0o600 })
            await rename(temporary, path)
          })
        ).pipe(Effect.mapError(() => new StreamFailure({ reason: `${path} cannot be written` })))
    } as const
  })

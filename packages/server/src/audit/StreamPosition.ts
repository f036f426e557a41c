import { Effect, type Option, Schema } from "effect"
import { readFile, rename, writeFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"

/** The last entry that went out, and where to. */
const Position = Schema.Struct({ target: Schema.String, position: Schema.Number, id: Schema.String })
type Position = typeof Position.Type

const PositionText = Schema.parseJson(Position)
const decode = Schema.decodeUnknown(PositionText)
const encode = Schema.encode(PositionText)

/** What was streamed last, kept in `{db_path}.audit-stream`. */
export const streamPosition = (dbPath: string) => {
  const path = `${dbPath}.audit-stream`
  const temporary = join(dirname(dbPath), `.${basename(dbPath)}.audit-stream`)
  return {
    /** None when nothing was streamed yet, or nobody can tell. */
    load: Effect.tryPromise(() => readFile(path, "utf8")).pipe(
      Effect.flatMap((text) => decode(text)),
      Effect.option
    ) satisfies Effect.Effect<Option.Option<Position>>,

    save: (position: Position) =>
      Effect.flatMap(encode(position), (text) =>
        Effect.tryPromise(async () => {
          await writeFile(temporary, text, { mode: 0o600 })
          await rename(temporary, path)
        })
      )
  } as const
}

import { Effect, type Option, Schema } from "effect"
import { readFile, rename, writeFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"

/** The last entry that was streamed, and its target. */
const Position = Schema.Struct({ target: Schema.String, position: Schema.Number, id: Schema.String })
type Position = typeof Position.Type

const PositionText = Schema.parseJson(Position)
const decode = Schema.decodeUnknown(PositionText)
const encode = Schema.encode(PositionText)

/** Loads and saves the position in `{db_path}.audit-stream`. */
export const streamPosition = (dbPath: string) => {
  const path = `${dbPath}.audit-stream`
  const temporary = join(dirname(dbPath), `.${basename(dbPath)}.audit-stream`)
  return {
    /** None if nothing was streamed yet or the file cannot be read. */
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

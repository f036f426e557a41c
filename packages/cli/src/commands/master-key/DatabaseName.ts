import { readProblem } from "@coffer/client/internal/FileError"
import { BadSetting, variable, Variables } from "@coffer/client/internal/Variables"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { WrongUsage } from "../../base/Failures.js"

const inFile = (name: string, path: string) =>
  Effect.try({
    try: () => readFileSync(path, "utf8").replace(/\r?\n$/, ""),
    catch: (cause) => new BadSetting({ message: `${name} must name a file that can be read: ${readProblem(cause)}` })
  })

/** The database's file or URL: the option's, that of the variable that the option names, or the setting's. */
export const databaseOf = Effect.fnUntraced(function* (db: string | undefined) {
  const env = yield* Variables
  if (db !== undefined && !db.startsWith("env:")) return db
  const name = db?.slice("env:".length) ?? "SERVICE_DATABASE_URL"
  const url = variable(env, name)
  const file = variable(env, `${name}_FILE`)
  if (url !== undefined) return url
  if (file !== undefined) return yield* inFile(`${name}_FILE`, file)
  return yield* new WrongUsage({
    message:
      db === undefined
        ? "no database is named: add --db with the server's database file, or set SERVICE_DATABASE_URL"
        : `--db names the variable ${name}, which is not set`
  })
})

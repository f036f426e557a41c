import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { clientOf } from "@coffer/server/database/sqlite/Connection"
import { migrate as migrateSqlite } from "@coffer/server/database/sqlite/Migrations"
import { migrate as migratePostgres } from "@coffer/server/database/postgres/Migrations"
import * as Reactivity from "@effect/experimental/Reactivity"
import { SqlClient } from "@effect/sql"
import Sqlite from "better-sqlite3"
import { Effect } from "effect"
import { freshFolder, type Variables } from "../support/Program.js"
import { create, drop, invariantsOnServer, onServer, reached, serverUrl } from "../support/postgres/Databases.js"
import { invariants } from "../support/Services.js"
import type { Engine } from "./Release.js"

export type Row = Readonly<Record<string, unknown>>

/** A database of a test, of either engine, with the folder of its servers. */
export interface TestDatabase {
  readonly folder: string
  /** The settings of a server on it. */
  readonly settings: Variables
  readonly all: (statement: string) => Promise<ReadonlyArray<Row>>
  readonly execute: (statements: string) => Promise<void>
  /** Migrates it in this process, so that no job of a server changes it afterwards. */
  readonly migrate: () => Promise<void>
  /** Everything that holds of each database of today's program, under a master key. */
  readonly invariants: (key: string) => Promise<void>
  /** The file without free pages, or the statements that make the database. */
  readonly dump: () => Promise<Buffer>
  readonly drop: () => Promise<void>
}

const backups = (folder: string): string => {
  mkdirSync(join(folder, "backups"), { mode: 0o700 })
  return "backups"
}

const onFile = (content: Buffer | null): TestDatabase => {
  const folder = freshFolder()
  const path = join(folder, "service.db")
  if (content !== null) writeFileSync(path, content, { mode: 0o600 })
  const open = <A>(use: (db: Sqlite.Database) => A): Promise<A> => {
    const db = new Sqlite(path)
    try {
      return Promise.resolve(use(db))
    } finally {
      db.close()
    }
  }
  return {
    folder,
    settings: { SERVICE_DB_PATH: path, BACKUP_DIR: backups(folder) },
    all: (statement) => open((db) => db.prepare<[], Row>(statement).all()),
    execute: (statements) => open((db) => void db.exec(statements)),
    migrate: () =>
      Effect.runPromise(
        Effect.flatMap(clientOf(path), (client) =>
          Effect.provideService(migrateSqlite(path), SqlClient.SqlClient, client)
        ).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
      ),
    invariants: (key) => Effect.runPromise(invariants(path, key)),
    dump: async () => {
      const small = join(folder, "small")
      await open((db) => db.exec(`VACUUM INTO '${small}'`))
      return readFileSync(small)
    },
    drop: () => Promise.resolve()
  }
}

/** The statements of a dump alone: comments name the machine's programs, and other lines are for psql. */
const statementsOf = (dump: string): string => dump.replaceAll(/^(?:--|\\).*\n/gm, "").replaceAll(/\n{2,}/g, "\n")

const onPostgres = async (content: Buffer | null): Promise<TestDatabase> => {
  const folder = freshFolder()
  const name = await Effect.runPromise(create("template0"))
  const url = `${serverUrl()}/${name}`
  const execute = (statements: string) =>
    Effect.runPromise(Effect.asVoid(onServer(name, (client) => client.query(statements))))
  if (content !== null) await execute(content.toString())
  return {
    folder,
    settings: { SERVICE_DATABASE_URL: url, BACKUP_DIR: backups(folder) },
    all: (statement) => Effect.runPromise(onServer(name, async (client) => (await client.query<Row>(statement)).rows)),
    execute,
    migrate: () => Effect.runPromise(Effect.asVoid(Effect.flatMap(reached(url), (at) => migratePostgres(at)))),
    invariants: (key) => Effect.runPromise(invariantsOnServer(name, key)),
    dump: () => {
      const options = ["--inserts", "--rows-per-insert=100", "--no-owner", "--no-privileges", "--no-comments"]
      const text = execFileSync("pg_dump", [...options, url], { encoding: "utf8" })
      return Promise.resolve(Buffer.from(statementsOf(text)))
    },
    drop: () => Effect.runPromise(Effect.asVoid(drop(name)))
  }
}

/** Makes a database of an engine: empty, or with the content of a fixture. */
export const databaseOf = async (engine: Engine, content: Buffer | null): Promise<TestDatabase> =>
  engine === "sqlite" ? onFile(content) : onPostgres(content)

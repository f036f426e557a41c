import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import type { Json, Program } from "../support/Program.js"

/** The databases of earlier releases, and what their own servers said of them. */
const fixtures = join(import.meta.dirname, "../fixtures")

/** Only of the fixtures. */
export const testMasterKey = "feed".padEnd(64, "0")

/** The settings of each server on a fixture. */
export const serverSettings = {
  SERVICE_MASTER_KEY: testMasterKey,
  SUPERADMIN_EMAIL_0: "root@example.com",
  SERVICE_PUBLIC_URL: "https://coffer.example.com"
}

export type Engine = "sqlite" | "postgres"

/** Whether a version is another one or comes after it. */
export const isSince = (version: string, other: string): boolean =>
  version.localeCompare(other, "en", { numeric: true }) >= 0

/** Ends before this time are moved along with a fixture, so that they have not passed when a later release is tested. */
export const farAway = "2090-01-01T00:00:00.000Z"

export const acme = "/api/orgs/acme"
export const webshop = `${acme}/projects/webshop`
export const secretsOf = (env: string, project = webshop) => `${project}/envs/${env}/secrets`

/** How the tests call as somebody of a fixture: a session or an API key of a database that exists in the tests alone. */
export type Credentials = Readonly<Record<string, string>>

/** The contents of a release's database, as its own server reported them. */
export interface Content {
  readonly version: string
  readonly engine: Engine
  /** Only of these tests: no other database was ever under this key. */
  readonly testMasterKey: string
  readonly testCredentials: Readonly<Record<string, Credentials>>
  /** Each value of each version that is readable. */
  readonly values: ReadonlyArray<{ readonly path: string; readonly value: string }>
  /** Secrets that can be restored, and the values that they then have. */
  readonly removed: ReadonlyArray<{ readonly path: string; readonly value: string }>
  /** Versions whose values were destroyed. */
  readonly destroyed: ReadonlyArray<string>
  /** The permissions of the callers: their names, by the call and the status that they got. */
  readonly rights: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** The response that a caller got from each path. */
  readonly views: ReadonlyArray<{ readonly caller: string; readonly path: string; readonly body: unknown }>
  readonly logs: ReadonlyArray<{ readonly path: string; readonly seq: number; readonly chain: string }>
  /** How many entries each action has, in all logs. */
  readonly actions: Readonly<Record<string, number>>
  /** How many rows each table has. */
  readonly rows: Readonly<Record<string, number>>
}

export interface Release {
  readonly content: Content
  /** The file of SQLite, or the statements of a dump. */
  readonly database: Buffer
}

const fileOf = (version: string, engine: Engine, end: string) => join(fixtures, version, `${engine}.${end}`)

const databaseOf = (version: string, engine: Engine) =>
  fileOf(version, engine, engine === "sqlite" ? "db.gz" : "sql.gz")

/** The releases that have a fixture for an engine, oldest first. */
export const releases = (engine: Engine): ReadonlyArray<string> =>
  readdirSync(fixtures)
    .filter((version) => readdirSync(join(fixtures, version)).includes(`${engine}.json`))
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))

export const release = (version: string, engine: Engine): Release => ({
  content: JSON.parse(readFileSync(fileOf(version, engine, "json"), "utf8")),
  database: gunzipSync(readFileSync(databaseOf(version, engine)))
})

export const keep = ({ content, database }: Release): void => {
  const { engine, version } = content
  mkdirSync(join(fixtures, version), { recursive: true })
  writeFileSync(fileOf(version, engine, "json"), `${JSON.stringify(content, null, 1)}\n`)
  writeFileSync(databaseOf(version, engine), gzipSync(database, { level: 9 }))
}

export type Ask = (method: string, path: string, body?: unknown) => Promise<Json>

/** A call that must succeed; returns its body. */
export const asking =
  (program: Program, credentials: Credentials): Ask =>
  async (method, path, body) => {
    const answer = await program.call(method, path, { headers: credentials, body })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.body
  }

/** Does something with each item, ten at a time: a fixture has hundreds of calls, and a server takes several at once. */
export const each = async <A, B>(items: ReadonlyArray<A>, use: (item: A) => Promise<B>): Promise<ReadonlyArray<B>> => {
  const results: Array<B> = []
  for (let index = 0; index < items.length; index += 10)
    results.push(...(await Promise.all(items.slice(index, index + 10).map(use))))
  return results
}

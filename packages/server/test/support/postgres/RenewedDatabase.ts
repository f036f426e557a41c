import { execFileSync } from "node:child_process"
import { copyFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { Client } from "pg"
import { certificateFolder, makeCertificate } from "../Certificates.js"
import { Cluster, fast } from "./Cluster.js"

/** How the users of the application log in: by a password, over TLS. The tests' own user needs neither. */
const rules = `host all coffer 127.0.0.1/32 trust
hostssl all all 127.0.0.1/32 scram-sha-256
hostnossl all all 127.0.0.1/32 reject
`

export const renewerPassword = "canary-renewer-1"

/** A database whose credentials Coffer renews: PostgreSQL with TLS and passwords. */
export class RenewedDatabase {
  readonly kind = "postgres"
  readonly name = "postgres"

  constructor(
    readonly cluster: Cluster,
    readonly ca: string
  ) {}

  get port(): number {
    return this.cluster.port
  }

  /** Runs statements as its operator. */
  async query(text: string): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> {
    const client = new Client({ connectionString: `${this.cluster.url}/postgres` })
    await client.connect()
    try {
      const { rows } = await client.query<Record<string, unknown>>(text)
      return rows
    } finally {
      await client.end()
    }
  }

  /** Whether a user may log in with a password. */
  async admits(user: string, password: string): Promise<boolean> {
    const client = new Client({
      host: "127.0.0.1",
      port: this.port,
      database: "postgres",
      user,
      password,
      ssl: { ca: this.ca, servername: "localhost" }
    })
    client.on("error", () => undefined)
    try {
      await client.connect()
      return true
    } catch {
      return false
    } finally {
      await client.end().catch(() => undefined)
    }
  }
}

const install = (cluster: Cluster, folder: string): string => {
  const data = join(cluster.folder, "data")
  const made = makeCertificate(folder, "database")
  copyFileSync(made.certFile, join(data, "server.crt"))
  copyFileSync(made.keyFile, join(data, "server.key"))
  writeFileSync(join(data, "pg_hba.conf"), rules)
  if (process.getuid?.() === 0) {
    execFileSync("chown", [
      "65534:65534",
      ...["server.crt", "server.key", "pg_hba.conf"].map((name) => join(data, name))
    ])
  }
  return made.pem
}

/** Such a database, with a user that may change others, and two users of an application. It goes with the scope. */
export const renewedDatabase = Effect.gen(function* () {
  const cluster = yield* Effect.acquireRelease(
    Effect.promise(() => Cluster.start({ ...fast, log_statement: "all" })),
    (started) => Effect.promise(() => started.remove())
  )
  const ca = install(cluster, yield* certificateFolder)
  const database = new RenewedDatabase(cluster, ca)
  yield* Effect.promise(async () => {
    await database.query("ALTER SYSTEM SET ssl = on")
    await database.query("SELECT pg_reload_conf()")
    await database.query(`CREATE ROLE renewer LOGIN CREATEROLE PASSWORD '${renewerPassword}'`)
    await database.query("CREATE ROLE app_a LOGIN PASSWORD 'first-a'")
    await database.query("CREATE ROLE app_b LOGIN PASSWORD 'first-b'")
  })
  return database
})

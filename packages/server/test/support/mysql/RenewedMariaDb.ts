import { execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { Effect } from "effect"
import { createConnection, type Connection } from "mysql2/promise"
import { certificateFolder, makeCertificate } from "../Certificates.js"
import { freePort } from "../Port.js"
import { renewerPassword } from "../postgres/RenewedDatabase.js"

/** Debian has the server's program where only root looks. */
const env = { ...process.env, PATH: `${process.env["PATH"] ?? ""}:/usr/sbin` }

const has = (program: string): boolean => spawnSync(program, ["--version"], { stdio: "ignore", env }).status === 0

export const hasMariaDb = has("mariadbd") && has("mariadb-install-db")

const asRoot = process.getuid?.() === 0 ? ["--user=root"] : []

/** Runs a server until standard input ends, also by the death of the tests. */
const supervised = '"$@" & server=$!; cat > /dev/null; kill -KILL $server; wait $server'

const isUp = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port })
    socket.on("data", () => {
      socket.destroy()
      resolve(true)
    })
    socket.on("error", () => resolve(false))
  })

const startServer = async (folder: string, tls: ReadonlyArray<string>) => {
  const port = await freePort()
  const data = join(folder, "data")
  const small = ["--innodb-log-file-size=4M", "--innodb-buffer-pool-size=16M"]
  const install = ["--no-defaults", `--datadir=${data}`, "--auth-root-authentication-method=normal", "--skip-test-db"]
  execFileSync("mariadb-install-db", [...install, ...asRoot, ...small], { stdio: "ignore", env })
  const server = spawn(
    "/bin/sh",
    [
      ...["-c", supervised, "sh", "mariadbd", "--no-defaults", `--datadir=${data}`, ...asRoot, ...small, ...tls],
      ...[`--port=${port}`, "--bind-address=127.0.0.1", `--socket=${join(folder, "socket")}`, "--skip-name-resolve"],
      ...[`--pid-file=${join(folder, "pid")}`, "--innodb-flush-log-at-trx-commit=0", "--max-connections=200"],
      ...["--general-log=1", `--general-log-file=${join(folder, "statements.log")}`]
    ],
    { stdio: ["pipe", "ignore", "ignore"], env }
  )
  while (!(await isUp(port))) {
    if (server.exitCode !== null) throw new Error(`MariaDB ended with code ${server.exitCode}`)
    await setTimeout(50)
  }
  return { port, server }
}

/** A database whose credentials Coffer renews: MariaDB with TLS and passwords. */
export class RenewedMariaDb {
  readonly kind = "mysql"
  readonly name = "shop_db"

  constructor(
    readonly port: number,
    readonly ca: string,
    readonly folder: string,
    private readonly root: Connection
  ) {}

  /** Runs a statement as its operator. */
  async query(text: string): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> {
    const [rows] = await this.root.query(text)
    return Array.isArray(rows) ? (rows as ReadonlyArray<Readonly<Record<string, unknown>>>) : []
  }

  /** A connection of a user, over TLS. */
  open(user: string, password: string): Promise<Connection> {
    return createConnection({
      ...{ host: "127.0.0.1", port: this.port, database: this.name, user, password },
      ssl: { ca: this.ca, verifyIdentity: true }
    })
  }

  /** Whether a user may log in with a password. */
  async admits(user: string, password: string): Promise<boolean> {
    try {
      await (await this.open(user, password)).end()
      return true
    } catch {
      return false
    }
  }

  /** All statements that it was sent, as its own log has them. */
  get log(): string {
    return readFileSync(join(this.folder, "statements.log"), "latin1")
  }
}

/** Such a database, with a user that may change others, and two users of an application. It goes with the scope. */
export const renewedMariaDb = Effect.gen(function* () {
  const certificates = yield* certificateFolder
  const { certFile, keyFile, pem } = makeCertificate(certificates, "mariadb")
  const { database } = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = mkdtempSync(join(tmpdir(), "coffer-mariadb-"))
      const { port, server } = await startServer(folder, [`--ssl-cert=${certFile}`, `--ssl-key=${keyFile}`])
      const root = await createConnection({ host: "127.0.0.1", port, user: "root" })
      return { database: new RenewedMariaDb(port, pem, folder, root), server, root }
    }),
    ({ database, root, server }) =>
      Effect.promise(async () => {
        root.destroy()
        const ended = once(server, "exit")
        server.stdin.end()
        await ended
        rmSync(database.folder, { recursive: true })
      })
  )
  yield* Effect.promise(async () => {
    for (const statement of [
      "CREATE DATABASE shop_db",
      "CREATE TABLE shop_db.things (id INT AUTO_INCREMENT PRIMARY KEY, name TEXT)",
      `CREATE USER renewer@'%' IDENTIFIED BY '${renewerPassword}' REQUIRE SSL`,
      "GRANT CREATE USER, PROCESS, CONNECTION ADMIN ON *.* TO renewer@'%'",
      "GRANT SELECT ON mysql.user TO renewer@'%'",
      "GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE, CREATE TEMPORARY TABLES ON shop_db.* TO renewer@'%' WITH GRANT OPTION",
      "CREATE USER app_a@'%' IDENTIFIED BY 'first-a' REQUIRE SSL",
      "CREATE USER app_b@'%' IDENTIFIED BY 'first-b' REQUIRE SSL",
      "GRANT SELECT ON shop_db.* TO app_a@'%', app_b@'%'"
    ]) {
      await database.query(statement)
    }
  })
  return database
})

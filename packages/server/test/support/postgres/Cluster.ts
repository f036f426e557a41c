import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { appendFileSync, chownSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { Client } from "pg"
import { freePort } from "../Port.js"
import { programs } from "./Programs.js"

/** The user `nobody`: PostgreSQL refuses to run as root. */
const nobody = 65_534

type Settings = Readonly<Record<string, string>>

const common: Settings = {
  shared_buffers: "64MB",
  max_connections: "400",
  max_wal_size: "1GB",
  unix_socket_directories: "",
  listen_addresses: "127.0.0.1"
}

/** Settings for tests that never kill the server: no change has to survive. */
export const fast: Settings = {
  ...common,
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  autovacuum: "off",
  wal_level: "minimal",
  max_wal_senders: "0"
}

/** Settings for tests that kill the server, or have a standby of it. */
export const durable: Settings = { ...common, wal_level: "replica", max_wal_senders: "4" }

/** Runs a server until standard input ends, also by the death of the tests. */
const supervised = '"$@" & server=$!; cat > /dev/null; kill -QUIT $server; wait $server'

const isAnswering = async (url: string): Promise<boolean> => {
  const client = new Client({ connectionString: `${url}/postgres`, connectionTimeoutMillis: 2_000 })
  client.on("error", () => undefined)
  try {
    await client.connect()
    await client.end()
    return true
  } catch {
    return false
  }
}

const own = (path: string): void => {
  if (process.getuid?.() !== 0) return
  chownSync(path, nobody, nobody)
  for (const entry of readdirSync(path, { recursive: true, encoding: "utf8" }))
    chownSync(join(path, entry), nobody, nobody)
}

/** A PostgreSQL server with a data folder of its own, on a free port of the loopback interface. */
export class Cluster {
  #server: ChildProcess | null = null
  #ended: Promise<unknown> = Promise.resolve()

  private constructor(
    readonly folder: string,
    readonly bin: string,
    readonly port: number,
    readonly settings: Settings
  ) {}

  /** The URL of the server, without a database. */
  get url(): string {
    return `postgres://coffer@127.0.0.1:${this.port}`
  }

  get #options() {
    const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}
    return { ...user, cwd: this.folder, env: { LC_ALL: "C", TZ: "UTC", PATH: "/usr/bin:/bin" } }
  }

  /** Starts a server with a new data folder. */
  static async start(settings: Settings = fast): Promise<Cluster> {
    const folder = mkdtempSync(join(tmpdir(), "coffer-postgres-"))
    try {
      mkdirSync(join(folder, "data"))
      const bin = programs(folder)
      own(folder)
      const cluster = new Cluster(folder, bin, await freePort(), settings)
      execFileSync(
        join(cluster.bin, "initdb"),
        ["-D", join(folder, "data"), "-U", "coffer", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
        { ...cluster.#options, stdio: ["ignore", "ignore", "pipe"] }
      )
      await cluster.run()
      return cluster
    } catch (error) {
      rmSync(folder, { recursive: true, force: true })
      throw error
    }
  }

  /** Starts a standby of this server, which confirms every commit. The server is restarted. */
  async standby(): Promise<Cluster> {
    await this.stop()
    const folder = mkdtempSync(join(tmpdir(), "coffer-standby-"))
    cpSync(join(this.folder, "data"), join(folder, "data"), { recursive: true })
    writeFileSync(join(folder, "data/standby.signal"), "")
    const source = `host=127.0.0.1 port=${this.port} user=coffer application_name=standby`
    appendFileSync(join(folder, "data/postgresql.auto.conf"), `primary_conninfo = '${source}'\n`)
    appendFileSync(join(this.folder, "data/postgresql.auto.conf"), "synchronous_standby_names = 'standby'\n")
    own(folder)
    const cluster = new Cluster(folder, this.bin, await freePort(), this.settings)
    const primary = this.run()
    await setTimeout(500)
    await cluster.run()
    await primary
    return cluster
  }

  /** Runs the server on its data folder. */
  async run(): Promise<void> {
    const command = Object.entries(this.settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
    for (let starts = 0; ; starts++) {
      const server = spawn(
        "/bin/sh",
        [
          "-c",
          supervised,
          "sh",
          join(this.bin, "postgres"),
          "-D",
          join(this.folder, "data"),
          "-p",
          `${this.port}`,
          ...command
        ],
        { ...this.#options, stdio: ["pipe", "ignore", "pipe"] }
      )
      const said: Array<string> = []
      server.stderr.setEncoding("utf8").on("data", (text: string) => {
        said.push(text)
        if (said.length > 200) said.shift()
      })
      server.stdin.on("error", () => undefined)
      this.#server = server
      this.#ended = once(server, "exit")
      for (let tries = 0; !(await isAnswering(this.url)); tries++) {
        if (/FATAL: {2}(lock|pre-existing|could)/.test(said.join("")) || tries >= 300) break
        await setTimeout(100)
      }
      if (await isAnswering(this.url)) return
      await this.stop()
      // The processes of a server that was killed may still hold its memory.
      if (starts >= 20) throw new Error(`the PostgreSQL of the tests did not start:\n${said.join("")}`)
      await setTimeout(250)
    }
  }

  /** Ends all sessions and the server at once. */
  async stop(): Promise<void> {
    this.#server?.stdin?.end()
    await this.#ended
    this.#server = null
  }

  /** Ends the server's main process without a warning, as a crash does. */
  kill(): void {
    const [pid] = execFileSync("head", ["-n", "1", join(this.folder, "data/postmaster.pid")], {
      encoding: "utf8"
    }).split("\n")
    process.kill(Number(pid), "SIGKILL")
  }

  async remove(): Promise<void> {
    await this.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

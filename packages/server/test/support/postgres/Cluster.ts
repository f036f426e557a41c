import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { Client } from "pg"
import { freePort } from "../Port.js"
import { programs } from "./Programs.js"

/** The user `nobody`: PostgreSQL refuses to run as root. */
const nobody = 65_534

/** Settings for tests that never kill the server: no change has to survive. */
const fast = {
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  autovacuum: "off",
  shared_buffers: "64MB",
  max_connections: "400",
  max_wal_size: "1GB",
  wal_level: "minimal",
  max_wal_senders: "0",
  unix_socket_directories: "",
  listen_addresses: "127.0.0.1"
}

/** Runs a server until standard input ends, also by the death of the tests, and then removes its folder. */
const supervised = '"$@" & server=$!; cat > /dev/null; kill -QUIT $server; wait $server; rm -rf "$PWD"/*'

export interface Cluster {
  /** The URL of the server, without a database. */
  readonly url: string
  readonly stop: () => Promise<void>
}

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

/** Starts a PostgreSQL server with a new data folder on a free port of the loopback interface. */
export const startCluster = async (settings: Readonly<Record<string, string>> = fast): Promise<Cluster> => {
  const folder = mkdtempSync(join(tmpdir(), "coffer-postgres-"))
  const remove = () => {
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}
    const data = join(folder, "data")
    mkdirSync(data)
    if (user.uid !== undefined) for (const path of [folder, data]) chownSync(path, user.uid, user.gid)
    const bin = programs(folder)
    const options = { ...user, cwd: folder, env: { LC_ALL: "C", TZ: "UTC" } }
    execFileSync(
      join(bin, "initdb"),
      ["-D", data, "-U", "coffer", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
      { ...options, stdio: ["ignore", "ignore", "pipe"] }
    )
    const port = await freePort()
    const command = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
    const server = spawn(
      "/bin/sh",
      ["-c", supervised, "sh", join(bin, "postgres"), "-D", data, "-p", `${port}`, ...command],
      { ...options, env: { ...options.env, PATH: "/usr/bin:/bin" }, stdio: ["pipe", "ignore", "pipe"] }
    )
    const said: Array<string> = []
    server.stderr.setEncoding("utf8").on("data", (text: string) => {
      said.push(text)
      if (said.length > 200) said.shift()
    })
    const ended = once(server, "exit")
    /** Ends all sessions at once. The data folder is removed, so nothing has to be flushed. */
    const end = () => {
      server.stdin.end()
    }
    const stop = async () => {
      end()
      await ended
      remove()
    }
    const url = `postgres://coffer@127.0.0.1:${port}`
    for (let tries = 0; !(await isAnswering(url)); tries++) {
      if (server.exitCode !== null || tries >= 300) {
        if (server.exitCode === null) await stop()
        throw new Error(`the PostgreSQL of the tests did not start:\n${said.join("")}`)
      }
      await setTimeout(100)
    }
    return { url, stop }
  } catch (error) {
    remove()
    throw error
  }
}

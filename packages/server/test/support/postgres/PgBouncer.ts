import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { freePort } from "../Port.js"

/** The user `nobody`: PgBouncer refuses to run as root. */
const nobody = 65_534

/** The version of the `pgbouncer` in the PATH, such as 1.21; null without one. */
export const pgBouncerVersion: number | null = (() => {
  const { status, stdout } = spawnSync("pgbouncer", ["--version"], { encoding: "utf8" })
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(status === 0 ? stdout : "") ?? []
  return major === undefined ? null : Number(`${major}.${minor?.padStart(2, "0")}`)
})()

/** PgBouncer before a server, in transaction mode: each transaction may run on another of its few sessions. */
export class PgBouncer {
  private constructor(
    readonly process: ChildProcess,
    readonly folder: string,
    readonly port: number
  ) {}

  static async before(target: number): Promise<PgBouncer> {
    const folder = mkdtempSync(join(tmpdir(), "coffer-pgbouncer-"))
    const port = await freePort()
    const file = join(folder, "pgbouncer.ini")
    writeFileSync(
      file,
      `[databases]
* = host=127.0.0.1 port=${target} user=coffer
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 5
max_client_conn = 200
${(pgBouncerVersion ?? 0) >= 1.21 ? "max_prepared_statements = 200" : ""}
`
    )
    chmodSync(folder, 0o755)
    chmodSync(file, 0o644)
    const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}
    const child = spawn("pgbouncer", [file], { ...user, cwd: folder, stdio: "ignore" })
    const bouncer = new PgBouncer(child, folder, port)
    for (let tries = 0; !(await bouncer.isListening()); tries++) {
      if (tries === 100 || child.exitCode !== null) throw new Error("the PgBouncer of the tests did not start")
      await setTimeout(50)
    }
    return bouncer
  }

  private async isListening(): Promise<boolean> {
    const socket = connect(this.port, "127.0.0.1")
    const isThere = await once(socket, "connect").then(
      () => true,
      () => false
    )
    socket.destroy()
    return isThere
  }

  async remove(): Promise<void> {
    const ended = once(this.process, "exit")
    this.process.kill("SIGKILL")
    await ended
    rmSync(this.folder, { recursive: true, force: true })
  }
}

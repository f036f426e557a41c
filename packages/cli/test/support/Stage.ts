import { randomBytes } from "node:crypto"
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import S3rver from "s3rver"
import { freePort } from "../../../server/test/support/Port.js"
import { root } from "./Documents.js"
import { TestHome, finish, node, until } from "./Programs.js"

/**
 * The machine of somebody who follows the pages: the programs are in the path and the server is a service, with its files
 * where the pages say. What differs between that machine and this one is replaced: `/opt/coffer`, `/etc/coffer`,
 * `/var/lib/coffer`, the server's address, the port of metrics; `systemctl` starts and stops the server, and `sudo` goes on as the same user.
 */
export class Stage {
  private constructor(
    private readonly folder: string,
    private readonly url: string,
    private readonly metricsPort: number,
    private readonly store: S3rver,
    private readonly storePort: number,
    readonly home: TestHome
  ) {}

  /** @param isPublic whether the server has an address for browsers, from which federations get their audience, and knows its proxy. */
  static async set({
    furnished,
    isPublic = false
  }: {
    readonly furnished: boolean
    readonly isPublic?: boolean
  }): Promise<Stage> {
    const folder = mkdtempSync(join(realpathSync(tmpdir()), "coffer-stage-"))
    for (const name of ["etc", "lib", "bin", "store"]) mkdirSync(join(folder, name))
    const store = new S3rver({
      address: "127.0.0.1",
      port: 0,
      silent: true,
      directory: join(folder, "store"),
      configureBuckets: [{ name: "coffer-backups" }]
    })
    const { port: storePort } = await store.run()
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const stage = new Stage(folder, url, await freePort(), store, storePort, new TestHome(url))
    writeFileSync(join(folder, "etc/master.key"), `${randomBytes(32).toString("hex")}\n`, { mode: 0o600 })
    stage.install(port, isPublic)
    await stage.must("systemctl start coffer")
    if (furnished) {
      await stage.logIn("ada@example.com")
      await stage.must(
        "coffer org create acme && coffer project create webshop --org acme && coffer init --org acme --project webshop --env dev"
      )
    }
    return stage
  }

  /** Another machine with the same files, where no server runs. It shares the store of backups. */
  async copy(): Promise<Stage> {
    const folder = mkdtempSync(join(realpathSync(tmpdir()), "coffer-stage-"))
    for (const name of ["etc", "lib"]) cpSync(join(this.folder, name), join(folder, name), { recursive: true })
    mkdirSync(join(folder, "bin"))
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const stage = new Stage(folder, url, await freePort(), this.store, this.storePort, new TestHome(url))
    stage.install(port)
    return stage
  }

  private install(port: number, isPublic = false) {
    writeFileSync(
      join(this.folder, "etc/coffer.env"),
      [
        "SMTP_HOST=log",
        "SERVICE_SCIM_DOMAINS=example.com",
        `SERVICE_PORT=${port}`,
        "SUPERADMIN_EMAIL_0=ada@example.com",
        ...(isPublic ? [`SERVICE_PUBLIC_URL=${this.url}`, "SERVICE_TRUSTED_PROXIES=127.0.0.0/8"] : []),
        `BACKUP_S3_ENDPOINT=http://127.0.0.1:${this.storePort}`,
        "BACKUP_S3_BUCKET=coffer-backups",
        "BACKUP_S3_ACCESS_KEY=S3RVER",
        "BACKUP_S3_SECRET_KEY=S3RVER",
        ""
      ].join("\n")
    )
    const server = `${node} ${root}packages/server/bin/coffer-server.js`
    const pid = join(this.folder, "pid")
    this.program("coffer", `exec ${node} ${root}packages/cli/bin/coffer.js "$@"`)
    this.program("coffer-mcp", `exec ${node} ${root}packages/mcp/bin/coffer-mcp.js "$@"`)
    this.program("coffer-server", `exec ${server} "$@"`)
    this.program("npx", 'exec "$@"')
    this.program("chgrp", "exit 0")
    this.program(
      "sudo",
      `keep=-i
while :; do
  case "$1" in
    -E) keep= ;;
    -u) shift ;;
    *) break ;;
  esac
  shift
done
exec env $keep PATH="$PATH" HOME="$HOME" "$@"`
    )
    this.program(
      "systemctl",
      `case "$1" in
  start)
    cd ${this.folder}/lib
    set -a; . ${this.folder}/etc/coffer.env; set +a
    # A process of Node that asks the server would cost more than its answer.
    starts() { grep -cs 'listening on http' ${this.folder}/log; }
    touch ${this.folder}/log
    before=$(starts)
    SERVICE_MASTER_KEY_FILE=${this.folder}/etc/master.key SERVICE_DB_PATH=${this.folder}/lib/service.db \\
      nohup ${server} >/dev/null 2>>${this.folder}/log </dev/null & echo $! > ${pid}
    while [ "$(starts)" = "$before" ] && ! grep -qs '^State:.*Z' "/proc/$(cat ${pid})/status"; do sleep 0.05; done ;;
  stop)
    server=$(cat ${pid} 2>/dev/null) && kill "$server" 2>/dev/null || exit 0
    # What has ended may be there for seconds until somebody takes note.
    while kill -0 "$server" 2>/dev/null && ! grep -qs '^State:.*Z' "/proc/$server/status"; do sleep 0.02; done ;;
  restart) "$0" stop; exec "$0" start ;;
  *) exit 1 ;;
esac`
    )
  }

  private program(name: string, script: string) {
    writeFileSync(join(this.folder, "bin", name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(this.folder, "bin", name), 0o755)
  }

  /** Text of a page as it is to be on this machine. */
  here(text: string): string {
    return text
      .replaceAll("https://coffer.example.com", this.url)
      .replace(/(?<=127\.0\.0\.1:|SERVICE_METRICS_PORT=)9464/g, String(this.metricsPort))
      .replaceAll("/opt/coffer", root.slice(0, -1))
      .replaceAll("/etc/coffer", join(this.folder, "etc"))
      .replaceAll("/var/lib/coffer", join(this.folder, "lib"))
  }

  /** Output as a page shows it: the same for all ids, and with the names of the page's machine. */
  asWritten(text: string): string {
    return text
      .replaceAll(this.url, "http://localhost:7100")
      .replaceAll(realpathSync(this.home.folder), "/home/ada")
      .replaceAll(this.home.folder, "/home/ada")
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID")
  }

  run(script: string, variables: Readonly<Record<string, string>> = {}) {
    const env = {
      ...variables,
      PATH: `${join(this.home.folder, ".local/bin")}:${join(this.folder, "bin")}:${process.env["PATH"] ?? ""}`
    }
    return finish(this.home.spawn("/bin/sh", ["-euc", this.here(script)], { env }))
  }

  private async must(script: string) {
    const { code, stderr } = await this.run(script)
    if (code !== 0) throw new Error(`${script}: ${stderr}${this.log}`)
  }

  private get log(): string {
    const file = join(this.folder, "log")
    return existsSync(file) ? readFileSync(file, "utf8") : ""
  }

  async logIn(email: string) {
    const codes = () => [...this.log.matchAll(new RegExp(`login code for ${email}: ([0-9]{6})`, "g"))]
    const before = codes().length
    await this.must(`coffer login --email ${email}`)
    const code = await until(() => codes()[before]?.[1], "a login code")
    await this.must(`coffer login --email ${email} --code ${code}`)
  }

  /** Logs in where a page shows that at a terminal, which asks for the code. Answers whether it was that. */
  async loggedIn(command: string, output: string): Promise<boolean> {
    const email = /^(?:npx )?coffer login --email (\S+)$/.exec(command)?.[1]
    if (email === undefined) return false
    const asks = `Code: [0-9]{6}\nlogged in to http://localhost:7100 as ${email.replaceAll(".", "\\.")}$`
    if (!new RegExp(asks).test(output)) throw new Error(`this is not what a login looks like: ${output}`)
    await this.logIn(email)
    return true
  }

  /** Where the process of the service is noted. */
  get pidFile(): string {
    return join(this.folder, "pid")
  }

  /** Removes a copy; the store goes on. */
  async remove() {
    await this.run("systemctl stop coffer || true")
    this.home.remove()
    rmSync(this.folder, { recursive: true, force: true })
  }

  async clear() {
    await this.remove()
    await this.store.close()
  }
}

import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert } from "vitest"
import { freePort } from "../../../server/test/support/Port.js"
import { finish, TestHome, until } from "../support/Programs.js"
import { putProgram } from "./Roots.js"
import { must } from "./Support.js"

interface Running {
  readonly child: ChildProcess
  readonly home: TestHome
  readonly said: () => string
}

/** The root of another system, which packages of Debian are installed into. */
export class DebianRoot {
  private constructor(readonly folder: string) {}

  /** Makes a root with the C library, a shell, and no package. */
  static async make(folder: string) {
    for (const path of ["dev", "etc", "tmp", "var/lib/dpkg/info", "var/lib/dpkg/updates"]) {
      mkdirSync(join(folder, path), { recursive: true })
    }
    chmodSync(folder, 0o755)
    writeFileSync(join(folder, "var/lib/dpkg/status"), "")
    writeFileSync(join(folder, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n")
    writeFileSync(join(folder, "etc/group"), "root:x:0:\n")
    await putProgram(folder, "/bin/sh", "/bin/sh")
    // Only the libraries of Node: Node itself comes with the package.
    await putProgram(folder, process.execPath, "/tmp/node")
    rmSync(join(folder, "tmp/node"))
    return new DebianRoot(folder)
  }

  path(path: string) {
    return join(this.folder, path)
  }

  read(path: string) {
    return readFileSync(this.path(path), "utf8")
  }

  ownerAndMode(path: string) {
    const { gid, mode, uid } = statSync(this.path(path))
    return `${uid}:${gid} ${(mode & 0o7777).toString(8)}`
  }

  /** The ids of the user coffer, who exists in this root only. */
  get ids() {
    const [, , uid, gid] = /^coffer:.*$/m.exec(this.read("etc/passwd"))?.[0].split(":") ?? []
    return { uid: Number(uid), gid: Number(gid) }
  }

  /** Runs dpkg on this root, with the scripts of the packages outside it: there are no programs for them inside. */
  dpkg(...args: ReadonlyArray<string>) {
    const options = [
      "--root",
      this.folder,
      "--force-script-chrootless",
      "--force-depends,confold",
      "--log",
      "/dev/null"
    ]
    return must("dpkg", [...options, ...args])
  }

  /** Starts a command inside the root. */
  spawn(command: ReadonlyArray<string>, env: NodeJS.ProcessEnv, user = "0:0") {
    const script = `mount --rbind /dev "$0/dev"; exec chroot --userspec=${user} "$0" "$@"`
    return spawn("unshare", ["--mount", "sh", "-euc", script, this.folder, ...command], {
      env: { PATH: process.env["PATH"], ...env },
      stdio: "pipe"
    })
  }

  /** Starts the server as its unit says. */
  async startServer(): Promise<Running> {
    const unit = this.read("usr/lib/systemd/system/coffer.service")
    const all = (name: string) => [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, text = ""]) => text)
    const only = (name: string) => {
      const values = all(name)
      assert.lengthOf(values, 1, name)
      return values[0] ?? ""
    }
    assert.strictEqual(only("User"), "coffer")
    const lines = [this.read(only("EnvironmentFile")), ...all("Environment")].join("\n")
    const settings = [...lines.matchAll(/^([A-Z0-9_]+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value])
    const port = String(await freePort())
    const script = `cd "${only("WorkingDirectory")}"; umask 077; exec ${only("ExecStart")}`
    const child = this.spawn(
      ["/bin/sh", "-euc", script],
      { ...Object.fromEntries(settings), SERVICE_PORT: port },
      `${this.ids.uid}:${this.ids.gid}`
    )
    let said = ""
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => (said += text))
    }
    await until(() => (said.includes("listening on") || child.exitCode !== null ? true : undefined), "the server")
    assert.include(said, "listening on")
    return { child, said: () => said, home: new TestHome(`http://127.0.0.1:${port}`) }
  }

  /** Serves while somebody uses the client, as the superadmin. */
  async serve(use: (coffer: (args: string, input?: string) => Promise<string>, running: Running) => Promise<void>) {
    const running = await this.startServer()
    const coffer = async (args: string, input = "") => {
      const { code, stderr, stdout } = await running.home.coffer(args.split(" "), { input })
      assert.strictEqual(code, 0, `${args}: ${stderr}`)
      return stdout
    }
    await coffer("login --email ada@example.com")
    const code = await until(() => /login code for \S+: ([0-9]{6})/.exec(running.said())?.[1], "a login code")
    await coffer(`login --email ada@example.com --code ${code}`)
    await use(coffer, running)
    running.home.remove()
    const ended = once(running.child, "close")
    running.child.kill()
    assert.deepStrictEqual(await ended, [0, null], running.said())
  }

  /** Runs a command as root to its successful end. */
  async run(command: string, env: NodeJS.ProcessEnv) {
    const { code, stderr, stdout } = await finish(this.spawn(command.split(" "), env))
    assert.strictEqual(code, 0, `${command}: ${stdout}${stderr}`)
  }
}

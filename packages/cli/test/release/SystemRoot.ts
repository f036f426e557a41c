import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert } from "vitest"
import { freePort } from "../../../server/test/support/Port.js"
import { finish, TestHome, until } from "../support/Programs.js"
import { putLibraries, putProgram } from "./Roots.js"
import { must } from "./Support.js"

interface Running {
  readonly child: ChildProcess
  readonly home: TestHome
  readonly said: () => string
}

/** Programs that the scripts of the packages call. */
const ofScripts = "cat chgrp chmod chown cut find getent grep mkdir rm useradd userdel".split(" ")

/** The root of another system, which packages are installed into. */
export class SystemRoot {
  private constructor(readonly folder: string) {}

  /** Makes a root with the C library, a shell, and no package. */
  static async make(folder: string) {
    for (const path of ["dev", "etc", "proc", "tmp", "var/lib/dpkg/info", "var/lib/dpkg/updates"]) {
      mkdirSync(join(folder, path), { recursive: true })
    }
    chmodSync(folder, 0o755)
    writeFileSync(join(folder, "var/lib/dpkg/status"), "")
    writeFileSync(join(folder, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n")
    writeFileSync(join(folder, "etc/group"), "root:x:0:\n")
    await putProgram(folder, "/bin/sh", "/bin/sh")
    // Node itself comes with the package.
    await putLibraries(folder, process.execPath)
    return new SystemRoot(folder)
  }

  /**
   * Makes a root that also has what the scripts of the packages call. Its systemctl writes its arguments down and fails, as it
   * may: no script may fail with it.
   */
  static async withPrograms(folder: string) {
    const root = await SystemRoot.make(folder)
    for (const name of ofScripts) {
      const found = await must("/bin/sh", ["-c", `PATH="$PATH:/usr/sbin" command -v ${name}`])
      await putProgram(folder, found.trim(), `/usr/bin/${name}`)
    }
    await putProgram(folder, "/usr/sbin/nologin", "/usr/sbin/nologin")
    writeFileSync(root.path("usr/bin/systemctl"), `#!/bin/sh\necho "$@" >> /tmp/systemctl\nexit 1\n`, { mode: 0o755 })
    mkdirSync(root.path("run/systemd/system"), { recursive: true })
    return root
  }

  /** The arguments of each call of systemctl since the last read. */
  get systemctl(): ReadonlyArray<string> {
    const file = this.path("tmp/systemctl")
    if (!existsSync(file)) return []
    const lines = readFileSync(file, "utf8").trimEnd().split("\n")
    rmSync(file)
    return lines
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

  /** Runs rpm on this root, with the scripts of the packages inside it. There is no package that meets their needs. */
  async rpm(action: string, ...args: ReadonlyArray<string>) {
    const options = ["--root", this.folder, "--dbpath", "/var/lib/rpm", ...(action === "-q" ? [] : ["--nodeps"])]
    const { code, stderr, stdout } = await finish(spawn("rpm", [...options, action, ...args]))
    assert.strictEqual(code, 0, `rpm ${action} ${args.join(" ")}: ${stdout}${stderr}`)
    return `${stdout}${stderr}`
  }

  /** Starts a command inside the root. */
  spawn(command: ReadonlyArray<string>, env: NodeJS.ProcessEnv, user = "0:0") {
    const mounts = `for one in dev proc; do mount --rbind "/$one" "$0/$one"; done`
    const script = `${mounts}; exec chroot --userspec=${user} "$0" "$@"`
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

import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { freePort } from "../../../server/test/support/Port.js"
import { finish, until } from "../support/Programs.js"
import { hasRoots, inside, putProgram } from "./Roots.js"
import { packSqlite, sqlite } from "./LocalSqlite.js"
import { freshFolder, must, release, version } from "./Support.js"
import { isSoak } from "../../../domain/test/support/Runs.js"

/** The steps of the Dockerfile without Docker: the build with npm, then the image's program in a root of its own. */
describe.skipIf(!isSoak || !hasRoots)("the container", () => {
  const folder = freshFolder()
  const root = join(folder, "root")
  const context = join(folder, "release/container")
  let dockerfile: string

  const instruction = (name: string) => new RegExp(`^ *${name} (\\[.*\\])$`, "m").exec(dockerfile)?.[1] ?? "[]"

  beforeAll(async () => {
    mkdirSync(join(folder, "sqlite"))
    await packSqlite(join(folder, "sqlite"))
    const made = { COFFER_SQLITE_PACKAGES: join(folder, "sqlite") }
    await release(["--packages", "--out", join(folder, "release")], made)
    dockerfile = readFileSync(join(context, "Dockerfile"), "utf8")
    const [, build = ""] = /^RUN (cd \/tmp\/packages (?:.*\\\n)*.*)$/m.exec(dockerfile) ?? []
    const script = build.replaceAll("/tmp/", `${folder}/`).replaceAll("/opt/coffer", join(root, "opt/coffer"))
    cpSync(context, join(folder, "packages"), { recursive: true })
    await must("/bin/sh", ["-euc", script])
    await putProgram(root, process.execPath, "/usr/local/bin/node")
    await putProgram(root, "/usr/bin/env", "/usr/bin/env")
    const data = join(root, "data")
    for (const one of [data, join(root, "tmp")]) mkdirSync(one)
    for (const one of [folder, root]) chmodSync(one, 0o755)
    if (process.getuid?.() === 0) chownSync(data, 10001, 10001)
  }, 900_000)
  afterAll(() => rmSync(folder, { recursive: true }))

  const start = (command: ReadonlyArray<string>, variables: Record<string, string>) => {
    const given = /^ENV (?:.*\\\n)*.*$/m.exec(dockerfile)?.[0].matchAll(/(\w+)=(\S+)/g) ?? []
    const environment = Object.fromEntries([...given].map(([, name = "", value = ""]) => [name, value]))
    // The volume, and the memory that compose.yaml gives for temporary files.
    const mounts = `mount --bind "$0/data" "$0/data"; mount -o remount,bind,rw "$0/data"; mount -t tmpfs tmpfs "$0/tmp"`
    return spawn("unshare", inside(root, command, mounts), {
      env: { PATH: `${process.env["PATH"]}:/usr/local/bin`, ...environment, SERVICE_HOST: "127.0.0.1", ...variables },
      stdio: "pipe"
    })
  }

  it("has three packages, and runs healthy without rights on a file system that it cannot write to", async () => {
    const modules = join(root, "opt/coffer/lib/node_modules")
    assert.isTrue(existsSync(join(modules, "coffer")))
    assert.sameMembers(readdirSync(join(modules, "@coffer")), ["server", sqlite])

    const port = String(await freePort())
    const key = randomBytes(32).toString("hex")
    const variables = { SERVICE_PORT: port, SERVICE_MASTER_KEY: key, SMTP_HOST: "log" }
    const server = start(JSON.parse(instruction("ENTRYPOINT")), variables)
    let said = ""
    server.stderr.setEncoding("utf8").on("data", (text: string) => (said += text))
    const ended = once(server, "close")
    await until(() => (said.includes("listening on") || server.exitCode !== null ? true : undefined), "the server")

    const check: ReadonlyArray<string> = JSON.parse(instruction("CMD").replace("7100", port))
    const healthy = await finish(start(check, variables))
    assert.strictEqual(healthy.code, 0, said)
    server.kill("SIGTERM")
    assert.deepStrictEqual(await ended, [0, null], said)
    assert.strictEqual((await finish(start(check, variables))).code, 1)

    const rotated = await finish(
      start(["/opt/coffer/bin/coffer", ..."master-key rotate --db /data/service.db --generate".split(" ")], variables)
    )
    assert.match(rotated.stdout, /^[0-9a-f]{64}\n$/, rotated.stderr)
    const asked = await finish(start(["/opt/coffer/bin/coffer", "--version"], variables))
    assert.strictEqual(asked.stdout, `${version}\n`)
  })
})

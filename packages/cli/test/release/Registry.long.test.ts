import { spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { root } from "../support/Documents.js"
import { finish, until } from "../support/Programs.js"
import { startRegistry } from "./LocalRegistry.js"
import { packSqlite, sqlite } from "./LocalSqlite.js"
import { freshFolder, must, onlyPrograms, release, version } from "./Support.js"

describe.skipIf(process.platform !== "linux")("the server from a registry", () => {
  const folder = freshFolder()
  const made = join(folder, "release")
  const prefix = join(folder, "prefix")
  const modules = join(prefix, "lib/node_modules")
  let registry: Awaited<ReturnType<typeof startRegistry>>
  let env: Record<string, string>

  beforeAll(async () => {
    const tarballs = join(folder, "sqlite")
    mkdirSync(tarballs)
    await packSqlite(tarballs)
    await release(["--packages", "--out", made], { COFFER_SQLITE_PACKAGES: tarballs })
    registry = await startRegistry(
      [`coffer-server-${version}.tgz`, `coffer-${sqlite}-${version}.tgz`].map((name) => join(made, name))
    )
    env = {
      // No compiler and no Python.
      PATH: await onlyPrograms(join(folder, "bin"), ["node", "npm", "npx", "sh", "env"]),
      HOME: join(folder, "home"),
      npm_config_registry: registry.url,
      npm_config_cache: join(folder, "cache"),
      npm_config_update_notifier: "false",
      SERVICE_PORT: "0"
    }
  })
  afterAll(() => {
    registry.close()
    rmSync(folder, { recursive: true })
  })

  /** Starts a command in an empty folder until it serves. */
  const serves = async (name: string, program: string, ...args: ReadonlyArray<string>) => {
    const cwd = join(folder, name)
    mkdirSync(cwd)
    // A group of its own, as a terminal makes it: Ctrl-C there reaches npx and the server.
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] })
    const ended = once(child, "close")
    let said = ""
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => (said += text))
    }
    const isOver = () => /^Coffer is at .*[^]*\n$/m.test(said) || child.exitCode !== null
    await until(() => (isOver() ? true : undefined), "the server")
    const [, url = ""] = /^Coffer is at (\S+),/m.exec(said) ?? []
    assert.strictEqual((await fetch(`${url}/health/ready`)).status, 200, said)
    assert.deepStrictEqual(readdirSync(cwd), ["coffer-data"])
    process.kill(-(child.pid ?? 0), "SIGINT")
    await ended
  }

  it("is a command away in an empty folder, without a compiler and any other package", async () => {
    await serves("first", "npx", "--yes", "@coffer/server", "dev")
    const names = new Set(registry.asked.filter((path) => !path.startsWith("-/")))
    assert.sameMembers(
      [...names],
      [
        ...["@coffer/server", `tarballs/coffer-server-${version}.tgz`],
        ...[`@coffer/${sqlite}`, `tarballs/coffer-${sqlite}-${version}.tgz`]
      ]
    )
    const before = registry.asked.length
    await serves("second", "npx", "--yes", "--offline", "@coffer/server", "dev")
    assert.lengthOf(registry.asked, before)
  })

  it("says how SQLite is compiled where no package has it, and runs with one that npm compiled", async () => {
    await must("npm", ["install", "--global", "--prefix", prefix, "@coffer/server"], env)
    rmSync(join(modules, "@coffer/server/node_modules"), { recursive: true })
    const bin = join(prefix, "bin/coffer-server")
    const refused = await finish(spawn(bin, ["dev"], { cwd: folder, env, stdio: "pipe" }))
    assert.strictEqual(refused.code, 1)
    assert.match(refused.stderr, /there is no compiled SQLite for Node [\d.]+ on linux-\w+: use Node 20, 22, 24 or 26/)
    assert.include(readFileSync(`${root}docs/install.md`, "utf8"), "\n## SQLite for other platforms\n")

    const beside = join(modules, "better-sqlite3")
    cpSync(
      join(root, "node_modules/better-sqlite3/build/Release/better_sqlite3.node"),
      join(beside, "build/Release/better_sqlite3.node")
    )
    const { version: locked } = JSON.parse(readFileSync(join(root, "node_modules/better-sqlite3/package.json"), "utf8"))
    writeFileSync(join(beside, "package.json"), '{ "version": "1.0.0" }')
    assert.strictEqual((await finish(spawn(bin, ["dev"], { cwd: folder, env, stdio: "pipe" }))).code, 1)
    writeFileSync(join(beside, "package.json"), JSON.stringify({ version: locked }))
    await serves("compiled", bin, "dev")
  })
})

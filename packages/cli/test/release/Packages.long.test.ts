import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { freePort } from "../../../server/test/support/Port.js"
import { tree } from "../../src/Commands.js"
import { optionText } from "../../src/grammar/Usage.js"
import { root } from "../support/Documents.js"
import { finish, TestHome, until } from "../support/Programs.js"
import { packSqlite, sqlite } from "./LocalSqlite.js"
import { filesBelow, freshFolder, must, onlyPrograms, release, sumOf, version } from "./Support.js"

const folder = freshFolder()
const made = join(folder, "release")
const prefix = join(folder, "prefix")
const modules = join(prefix, "lib/node_modules")
const bin = (name: string) => join(prefix, "bin", name)
const server = join(modules, "@coffer/server")

let environment: Record<string, string>
let said: string

beforeAll(async () => {
  // Made twice, at two places: the second for the comparison alone.
  mkdirSync(join(folder, "sqlite"))
  await packSqlite(join(folder, "sqlite"))
  said = await release(["--check", "--out", made], {
    COFFER_SQLITE_PACKAGES: join(folder, "sqlite"),
    npm_config_registry: "http://127.0.0.1:1",
    npm_config_fetch_retries: "0",
    npm_config_cache: join(folder, "cache")
  })
  environment = { PATH: await onlyPrograms(join(folder, "bin"), ["node", "npm", "sh", "env"]), HOME: folder }
})
afterAll(() => rmSync(folder, { recursive: true }))

const listen = async (variables: Record<string, string>) => {
  const port = await freePort()
  const child = spawn(process.execPath, [join(server, "bin/coffer-server.js")], {
    cwd: folder,
    env: { ...environment, ...variables, SERVICE_PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"]
  })
  let said = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text))
  await until(() => (said.includes("listening on") || child.exitCode !== null ? true : undefined), "the server")
  return { child, said: () => said, url: `http://127.0.0.1:${port}` }
}

const stop = async (child: ChildProcess) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, "close")
  child.kill()
  await ended
}

describe("npm run release", () => {
  it("makes the packages, the container's context and completions, each with its sum", () => {
    const files = filesBelow(made)
    assert.includeMembers(
      [...files],
      [
        ...["", "client-", "client-effect4-", "domain-", "server-"].map((name) => `coffer-${name}${version}.tgz`),
        ...[`coffer-${version}.cdx.json`, `coffer-${version}.helm.tgz`, `coffer-${version}.mcpb`],
        ...["container/Dockerfile", "Formula/coffer.rb", "flake.nix", "server.json"]
      ]
    )
    const sums = readFileSync(join(made, "SHA256SUMS"), "utf8")
    const expected = files
      .filter((path) => path !== "SHA256SUMS")
      .map((path) => `${sumOf(join(made, path))}  ${path}\n`)
    assert.strictEqual(sums, expected.join(""))
  })

  it("says that it has no executables where the registry cannot be reached", () => {
    assert.include(said, "no executables, no .deb and no .rpm: ")
    assert.include(said, "no SQLite and no server as .deb and .rpm: ")
    const ofPlatform = filesBelow(made).filter((path) => path.includes(process.platform))
    assert.deepStrictEqual(ofPlatform, [`coffer-${sqlite}-${version}.tgz`, `container/coffer-${sqlite}-${version}.tgz`])
  })

  it("makes the same bytes twice, at another place, in another zone, under another umask", () => {
    const compared = said.match(/^(same|DIFFERS) .*$/gm)
    assert.deepStrictEqual(
      compared,
      filesBelow(made).map((path) => `same   ${path}`)
    )
  })

  it("has a section of the changelog for the version", () => {
    assert.match(
      readFileSync(`${root}CHANGELOG.md`, "utf8"),
      new RegExp(`^## ${version.replaceAll(".", "\\.")} \\(`, "m")
    )
  })
})

describe("the manual pages", () => {
  const pages = () => filesBelow(join(made, "man"))
  const read = (name: string) => readFileSync(join(made, "man", name), "utf8")

  const pageOf = ({ name }: { readonly name: string }) => `coffer-${name.replaceAll(" ", "-")}.1`

  it("are one for each program, command and noun of the client", () => {
    const expected = tree.nodes.map(pageOf)
    assert.sameMembers([...pages()], [...expected, "coffer.1", "coffer-mcp.1", "coffer-server.1"])
  })

  it("have every command with its options and examples", () => {
    const plain = (text: string) => text.replaceAll("\\-", "-").replaceAll("\\(dq", '"').replaceAll("\\e", "\\")
    for (const node of tree.nodes) {
      const page = plain(read(pageOf(node)))
      for (const { description, examples, options } of node.type === "command" ? [node] : node.commands) {
        assert.include(page, `${description}.`)
        for (const example of examples) assert.include(page, example)
        for (const option of options) assert.include(page, optionText(option))
      }
    }
  })

  const hasGroff = spawnSync("groff", ["--version"]).status === 0

  it.skipIf(!hasGroff)("are without a warning of groff", async () => {
    const files = pages().map((name) => join(made, "man", name))
    const { code, stderr } = await finish(spawn("groff", ["-man", "-ww", "-z", "-Kutf8", ...files]))
    assert.deepStrictEqual([code, stderr], [0, ""])
  })
})

describe("the package of the client", () => {
  it("is installed by npm without a network, a compiler and any other package", async () => {
    const tarball = join(made, `coffer-${version}.tgz`)
    await must("npm", ["install", "--global", "--offline", "--prefix", prefix, tarball], environment)
    assert.isFalse(existsSync(join(modules, "coffer/node_modules")))
    assert.isTrue(existsSync(join(prefix, "share/man/man1/coffer-secret.1")))
    for (const name of ["coffer", "coffer-mcp"]) {
      assert.strictEqual(await must(bin(name), ["--version"], environment), `${version}\n`)
    }
    assert.strictEqual(await must(bin("docker-credential-coffer"), ["list"], environment), "{}\n")
  })

  it("holds no folder of the machine that made it", () => {
    for (const path of filesBelow(join(modules, "coffer"))) {
      const text = readFileSync(join(modules, "coffer", path), "utf8")
      for (const place of [root, folder]) assert.notInclude(text, place, path)
    }
  })

  it("has the licence of every package in it", () => {
    const text = readFileSync(join(modules, "coffer/THIRD-PARTY-LICENCES.txt"), "utf8")
    for (const name of ["effect", "@effect/cli", "yaml", "@modelcontextprotocol/server", "zod"]) {
      assert.match(text, new RegExp(`^${name} [0-9.]+ \\((MIT|ISC)\\)$`, "m"))
    }
  })

  it("says where the master key is rotated when there is no server beside it", async () => {
    const home = new TestHome("http://127.0.0.1:9")
    const { code, stderr } = await finish(home.spawn(bin("coffer"), ["master-key", "rotate", "--db", "service.db"]))
    assert.strictEqual(code, 1)
    assert.include(stderr, "run it where the server is installed")
    home.remove()
  })
})

describe("the compiled code of the client", () => {
  let home: TestHome

  const code = () => join(home.folder, ".cache/coffer/compiled")
  const start = async (...args: ReadonlyArray<string>) => finish(home.spawn(bin("coffer"), args))
  /** A file that is written again is another one. */
  const kept = () => readdirSync(code()).map((name) => `${name} ${statSync(join(code(), name)).ino}`)

  beforeEach(async () => {
    home = new TestHome("http://127.0.0.1:9")
    assert.strictEqual((await start("org", "list")).code, 3)
  })
  afterEach(() => home.remove())

  it("is kept where only its user can change it, and used from then on", async () => {
    const [first = "", ...others] = kept()
    assert.match(first, /^Cli-[A-Z0-9]{8}-[0-9.]+\S*-\w+ \d+$/)
    assert.lengthOf(others, 0)
    assert.strictEqual(statSync(code()).mode & 0o777, 0o700)
    assert.strictEqual(statSync(join(code(), first.split(" ")[0] ?? "")).mode & 0o777, 0o600)
    assert.strictEqual((await start("org", "list")).code, 3)
    assert.deepStrictEqual(kept(), [first])
  })

  it.each<readonly [string, (file: string) => void]>([
    ["cut off", (file) => truncateSync(file, 1000)],
    ["something else", (file) => writeFileSync(file, "something else")],
    ["empty", (file) => truncateSync(file)],
    ["open to others", (file) => chmodSync(file, 0o622)]
  ])("is not used if it is %s, and made again", async (_, change) => {
    const [before = ""] = kept()
    change(join(code(), before.split(" ")[0] ?? ""))
    assert.strictEqual((await start("org", "list")).code, 3)
    const [after = ""] = kept()
    assert.notStrictEqual(after, before)
    assert.strictEqual((await start("org", "list")).code, 3)
    assert.deepStrictEqual(kept(), [after])
  })

  it("is kept by run too", async () => {
    const env = {
      SERVICE_API_KEY: `svc_sa_${"x".repeat(49)}`,
      SERVICE_ORG: "acme",
      SERVICE_PROJECT: "webshop",
      SERVICE_ENV: "dev"
    }
    await finish(home.spawn(bin("coffer"), ["run", "--", "true"], { env }))
    assert.lengthOf(
      kept().filter((name) => name.startsWith("main-")),
      1
    )
  })

  it("is not looked for in the folder of somebody else, and not written to it", async () => {
    if (process.geteuid?.() !== 0) return
    rmSync(join(home.folder, ".cache"), { recursive: true })
    chownSync(home.folder, 65_534, 65_534)
    assert.strictEqual((await start("org", "list")).code, 3)
    assert.isFalse(existsSync(join(home.folder, ".cache")))
  })

  it("is done without where it cannot be kept", async () => {
    rmSync(join(home.folder, ".cache"), { recursive: true })
    writeFileSync(join(home.folder, ".cache"), "")
    const { code, stderr } = await start("org", "list")
    assert.strictEqual(code, 3)
    assert.match(stderr, /^coffer: there is no session [^\n]+\n$/)
  })
})

describe("the package of the server", () => {
  const key = randomBytes(32).toString("hex")
  let home: TestHome
  let running: Awaited<ReturnType<typeof listen>>
  let variables: Record<string, string>

  beforeAll(async () => {
    mkdirSync(server, { recursive: true })
    await must("tar", ["-xzf", join(made, `coffer-server-${version}.tgz`), "--strip-components=1", "-C", server])
    const beside = join(modules, "@coffer", sqlite)
    mkdirSync(beside)
    await must("tar", ["-xzf", join(made, `coffer-${sqlite}-${version}.tgz`), "--strip-components=1", "-C", beside])
    mkdirSync(join(folder, "backups"), { mode: 0o700 })
    variables = {
      SERVICE_MASTER_KEY: key,
      SMTP_HOST: "log",
      SERVICE_DB_PATH: join(folder, "service.db"),
      SUPERADMIN_EMAIL_0: "ada@example.com",
      BACKUP_DIR: join(folder, "backups")
    }
    running = await listen(variables)
    home = new TestHome(running.url)
  })
  afterAll(async () => {
    await stop(running.child)
    home.remove()
  })

  const client = async (...args: ReadonlyArray<string>) => {
    const { code, stderr, stdout } = await finish(home.spawn(bin("coffer"), args))
    assert.strictEqual(code, 0, `${args.join(" ")}: ${stderr}`)
    return stdout
  }

  it("needs SQLite alone, of the same release, and runs no script when it is installed", () => {
    const { dependencies, optionalDependencies, scripts } = JSON.parse(
      readFileSync(join(server, "package.json"), "utf8")
    )
    assert.deepStrictEqual([dependencies, scripts], [undefined, undefined])
    assert.deepStrictEqual(optionalDependencies, { [`@coffer/${sqlite}`]: version })
  })

  it("has the package of SQLite for its platform and its C library, with both licences", () => {
    const files = filesBelow(join(modules, "@coffer", sqlite))
    assert.includeMembers([...files], ["LICENSE", "SQLITE.txt", `abi-${process.versions.modules}.node`])
    const manifest = JSON.parse(readFileSync(join(modules, "@coffer", sqlite, "package.json"), "utf8"))
    assert.deepInclude(manifest, { os: ["linux"], cpu: [process.arch], libc: ["glibc"], version })
  })

  it("serves the client, with its documents, threads and backups", async () => {
    assert.strictEqual((await fetch(`${running.url}/health/ready`)).status, 200, running.said())
    for (const path of ["openapi.json", "docs", "llms-full.txt"]) {
      assert.strictEqual((await fetch(`${running.url}/${path}`)).status, 200, path)
    }
    await client("login", "--email", "ada@example.com")
    const code = await until(() => /login code for \S+: ([0-9]{6})/.exec(running.said())?.[1], "a login code")
    await client("login", "--email", "ada@example.com", "--code", code)
    await client("org", "create", "acme")
    await client("project", "create", "webshop", "--org", "acme")
    await client("init", "--org", "acme", "--project", "webshop", "--env", "dev")
    await client("secret", "set", "API_KEY", "k-8c1f")
    assert.strictEqual(await client("secret", "get", "API_KEY"), "k-8c1f")
    assert.strictEqual(await client("run", "--", "sh", "-c", "echo $API_KEY"), "k-8c1f\n")
    assert.match(
      await client("doctor"),
      new RegExp(`^ok\tconsole\tthe same as the release ${version}: \\d+ files$`, "m")
    )
    await client("backup", "create")
    const drilled = await finish(
      home.spawn(process.execPath, [join(server, "bin/coffer-server.js"), "drill"], { env: variables })
    )
    assert.strictEqual(drilled.code, 0, drilled.stderr)
  })

  it("serves the tool server of the client's package", async () => {
    const said = [
      {
        id: 0,
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "host", version: "1" } }
      },
      { method: "notifications/initialized" },
      { id: 1, method: "tools/call", params: { name: "secret_get", arguments: { key: "API_KEY" } } }
    ].map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
    const child = home.spawn(bin("coffer-mcp"), [])
    let heard = ""
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (heard += text))
    child.stdin?.write(said.join(""))
    await until(() => (heard.includes('"id":1') ? true : undefined), "the tool's result")
    child.stdin?.end()
    assert.include(heard, "k-8c1f")
  })

  it("rotates the master key by the client beside it, and starts under the new one", async () => {
    await stop(running.child)
    const out = join(folder, "new.key")
    const args = ["master-key", "rotate", "--db", join(folder, "service.db"), "--generate", "--out", out]
    const { code, stderr } = await finish(home.spawn(bin("coffer"), args, { env: { SERVICE_MASTER_KEY: key } }))
    assert.strictEqual(code, 0, stderr)
    assert.strictEqual(statSync(out).mode & 0o777, 0o600)
    running = await listen({ ...variables, SERVICE_MASTER_KEY: readFileSync(out, "utf8").trim() })
    assert.include(running.said(), "listening on")
  })
})

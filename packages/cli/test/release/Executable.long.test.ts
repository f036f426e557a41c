import { chmodSync, mkdirSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { finish } from "../support/Programs.js"
import { workplace } from "../support/Workplace.js"
import { hasRoots, inside, putProgram } from "./Roots.js"
import { freshFolder, must, release, version } from "./Support.js"
import { describeSystemPackages } from "./SystemPackages.js"
import { isSoak } from "../../../domain/test/support/Runs.js"

describe.skipIf(!isSoak || !hasRoots)("the executables, in a root with the C library and nothing else", () => {
  const folder = freshFolder()
  const root = join(folder, "root")
  const name = `coffer-${version}-${process.platform}-${process.arch}`
  const place = workplace()
  let variables: Record<string, string>

  beforeAll(async () => {
    await release(["--out", join(folder, "release")])
    await must("tar", ["-xzf", join(folder, "release", `${name}.tar.gz`), "-C", folder])
    mkdirSync(join(root, "bin"), { recursive: true })
    await must("cp", ["-a", join(folder, name, "coffer"), join(folder, name, "coffer-mcp"), join(root, "bin")])
    await putProgram(root, join(folder, name, "coffer"), "/bin/coffer")
    // The program that `coffer run` starts.
    await putProgram(root, "/bin/sh", "/bin/sh")
    await place.ok("secret", "set", "API_KEY", "k-8c1f")
    const key = await place.prints("service-account", "create", "ci", "--project", "webshop")
    await place.ok(
      ...words("acl grant --service-account ci --project-pattern webshop --env-pattern dev --permission write")
    )
    variables = {
      SERVICE_SERVER_URL: place.server.url,
      SERVICE_API_KEY: key.trim(),
      SERVICE_ORG: "acme",
      SERVICE_PROJECT: "webshop",
      SERVICE_ENV: "dev",
      HOME: "/nowhere"
    }
    for (const one of [folder, root]) chmodSync(one, 0o755)
  })
  afterAll(() => {
    rmSync(folder, { recursive: true })
  })

  const words = (text: string) => text.split(" ")

  const run = (command: ReadonlyArray<string>, input = "", more: Record<string, string> = {}) =>
    finish(place.home.spawn("unshare", inside(root, command), { env: { ...variables, ...more } }), input)

  it("is such a root: no Node, no shell's tools, no file that can be written", async () => {
    assert.sameMembers(readdirSync(join(root, "bin")), ["coffer", "coffer-mcp", "sh"])
    const { code, stderr } = await run(["/bin/sh", "-c", "echo > /file"])
    assert.strictEqual(code, 2)
    assert.match(stderr, /Read-only file system/)
  })

  it("print the version, the help and what is wrong", async () => {
    assert.strictEqual((await run(["/bin/coffer", "--version"])).stdout, `${version}\n`)
    assert.strictEqual((await run(["/bin/coffer-mcp", "--version"])).stdout, `${version}\n`)
    assert.match((await run(["/bin/coffer", "--help"])).stdout, /^USAGE /m)
    const wrong = await run(["/bin/coffer", "secret", "gte", "API_KEY"])
    assert.strictEqual(wrong.code, 2, wrong.stderr)
  })

  it("read, write, import and export secrets", async () => {
    assert.strictEqual((await run(words("/bin/coffer secret get API_KEY"))).stdout, "k-8c1f")
    assert.include((await run(words("/bin/coffer secret set OTHER"), "a value\n")).stderr, "")
    const exported = await run(words("/bin/coffer secret export --format yaml"))
    assert.match(exported.stdout, /^API_KEY: "?k-8c1f"?$/m, exported.stderr)
  })

  it("replace themselves by the command of run, which has the secrets and not the key", async () => {
    const ran = await run(["/bin/coffer", "run", "--", "/bin/sh", "-c", "echo $$ $API_KEY $SERVICE_API_KEY.; exit 7"])
    assert.match(ran.stdout, /^[0-9]+ k-8c1f \.\n$/, ran.stderr)
    assert.strictEqual(ran.code, 7)
    const child = place.home.spawn("unshare", inside(root, ["/bin/coffer", "run", "--", "/bin/sh", "-c", "echo $$"]), {
      env: variables
    })
    // `unshare`, `sh` and `chroot` replace themselves too.
    assert.strictEqual((await finish(child)).stdout, `${child.pid}\n`)
  })

  it("take no options of Node from the environment, but pass them on", async () => {
    const NODE_OPTIONS = "--require /not/there.js"
    const ran = await run(["/bin/coffer", "run", "--", "/bin/sh", "-c", "echo $NODE_OPTIONS"], "", { NODE_OPTIONS })
    assert.strictEqual(ran.stdout, `${NODE_OPTIONS}\n`, ran.stderr)
  })

  it("serve the tools", async () => {
    const child = place.home.spawn("unshare", inside(root, ["/bin/coffer-mcp"]), { env: variables })
    const said = [
      {
        id: 0,
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "host", version: "1" } }
      },
      { id: 1, method: "tools/list" }
    ].map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
    const { stderr, stdout } = await finish(child, said.join(""))
    const [, list] = stdout.trimEnd().split("\n")
    assert.lengthOf(JSON.parse(list ?? "{}").result?.tools ?? [], 15, stderr)
  })

  it("say where the master key is rotated", async () => {
    const { code, stderr } = await run(words("/bin/coffer master-key rotate --db /service.db"))
    assert.strictEqual(code, 1)
    assert.include(stderr, "run it where the server is installed")
  })

  it("come with the licences of everything in them", () => {
    const files = readdirSync(join(folder, name))
    for (const file of ["LICENSE", "NODE-LICENCE.txt", "THIRD-PARTY-LICENCES.txt"]) assert.include(files, file)
  })

  describeSystemPackages(join(folder, "release"), () => Promise.resolve(join(folder, "release")))
})

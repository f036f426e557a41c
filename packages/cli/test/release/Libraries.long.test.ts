import { startTestServer } from "@coffer/client/testing"
import { spawn } from "node:child_process"
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { ServerProcess } from "../../../client/src/testing/ServerProcess.js"
import { installed, unpack } from "../../../client/test/support/Installed.js"
import { type Account, testPlace } from "../../../client/test/support/Place.js"
import { isSoak } from "../../../domain/test/support/Runs.js"
import { blocksOf, pages, root } from "../support/Documents.js"
import { finish } from "../support/Programs.js"
import { filesBelow, freshFolder, must, release, version } from "./Support.js"

const folder = freshFolder()
const made = join(folder, "release")
const app = join(folder, "app")
const modules = join(app, "node_modules")
const effect4 = join(folder, "effect4")
const tarball = (name: string) => join(made, `coffer-${name}-${version}.tgz`)

const versionIn = (folder: string): string => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version

/** The oldest that the client works with, from the registry, and the newest Effect 4. */
const oldest = { effect: "3.22.2", "@effect/platform": "0.97.0", "@types/node": "20.19.43" }
const newest4 = { effect: "4", "@types/node": "20.19.43" }

const makeFolder = (folder: string, dependencies: Readonly<Record<string, string>>, lib: ReadonlyArray<string>) => {
  mkdirSync(folder)
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }))
  const compilerOptions = {
    // Checking the types of Effect too takes as long as all else here.
    ...{ strict: true, skipLibCheck: !isSoak, target: "es2022", lib, module: "nodenext", types: ["node"] },
    ...{ noUncheckedSideEffectImports: true, outDir: "out", rootDir: "." }
  }
  const include = ["*.ts", "effect", "promise"]
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include }))
}

const prepare = () => {
  makeFolder(app, oldest, ["es2023"])
  // The types of Effect 4 need those of browsers.
  makeFolder(effect4, newest4, ["es2023", "dom"])
  cpSync(`${root}packages/client-effect4/examples`, effect4, { recursive: true })
  for (const example of ["effect", "promise"]) {
    const source = `${root}packages/client/examples/${example}`
    // The pools need a driver, which packages/client/test/promise/Pools.long.test.ts has.
    const filter = (path: string) => !/\.test\.ts$|\/(password|pool)\.ts$/.test(path)
    cpSync(source, join(app, example), { recursive: true, filter })
  }
  copyFileSync(join(import.meta.dirname, "Application.ts"), join(app, "main.ts"))
  for (const name of ["Handled", "Shop"])
    copyFileSync(join(import.meta.dirname, `${name}.ts`), join(app, `${name.toLowerCase()}.ts`))
  const guide = pages.filter(({ path }) => path === "docs/testing.md").flatMap(blocksOf)
  const programs = guide.filter(({ language }) => language === "ts").map(({ text }) => text)
  assert.lengthOf(programs, 1)
  writeFileSync(join(app, "testing.ts"), programs.join(""))
  writeFileSync(
    join(app, "internal.ts"),
    `// @ts-expect-error the package does not export it\nimport "@coffer/client/internal/ServerUrl"\n`
  )
}

const compile = (folder: string) =>
  must(process.execPath, [`${root}node_modules/typescript/bin/tsc`, "--project", folder])

const start = (program: string) =>
  finish(spawn(process.execPath, [join(app, "out", program)], { cwd: app, stdio: "pipe" }))

const npmInstall = (folder: string, ...names: ReadonlyArray<string>) =>
  must("npm", ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", ...names.map(tarball)])

beforeAll(async () => {
  await release(["--libraries", "--out", made])
  prepare()
  if (isSoak) {
    await npmInstall(app, "client", "domain")
    await npmInstall(effect4, "client-effect4")
  } else {
    const packed = { "@coffer/client": tarball("client"), "@coffer/domain": tarball("domain") }
    unpack(modules, packed, installed("effect", "@effect/platform", "@types/node", "undici-types"))
  }
  // In place of an installation, which compiles SQLite.
  symlinkSync(`${root}packages/server`, join(modules, "@coffer/server"))
})
afterAll(() => rmSync(folder, { recursive: true }))

describe("an application", () => {
  const place = testPlace()
  beforeAll(() => compile(app))

  it.runIf(isSoak)("has one Effect: its own, which is the oldest that the client works with", () => {
    for (const name of ["client", "domain"]) assert.isFalse(existsSync(join(modules, "@coffer", name, "node_modules")))
    assert.strictEqual(versionIn(join(modules, "effect")), oldest.effect)
  })

  it("runs the examples with its own Effect against a server of its tests", async () => {
    const { code, stderr, stdout } = await start("main.js")
    assert.strictEqual(stdout, "effect: 31 characters, port 8080\npromise: 31 characters\n", stderr)
    assert.deepStrictEqual([code, stderr], [0, ""])
  })

  it("runs the program of docs/testing.md", async () => {
    assert.deepInclude(await start("testing.js"), { code: 0, stdout: "", stderr: "" })
  })

  it("cannot import what is internal", async () => {
    const { code, stderr } = await start("internal.js")
    assert.strictEqual(code, 1)
    assert.include(stderr, "ERR_PACKAGE_PATH_NOT_EXPORTED")
  })

  const shop = ({ apiKey }: Account) =>
    new ServerProcess([process.execPath, join(app, "out/shop.js")], {
      env: {
        PATH: process.env["PATH"],
        SERVICE_API_KEY: apiKey,
        SERVICE_SERVER_URL: place.bridge.url,
        COFFER_PLACE: "acme/webshop/app",
        COPIES: join(folder, "copies")
      }
    })

  it("lives through a day: changes, a broken reference, a server that stops, a cold start and a revoked key", async () => {
    const account = await place.account("shop", "app")
    await place.environment("other", { SOURCE: "x" })
    await place.environment("app", { COLOUR: "red", SHADE: "dark" })
    await place.write("app", { references: { LINK: "<${SHADE}>" } })
    const first = shop(account)
    await first.out.said(/^red, <dark>$/m)
    await place.write("app", { set: { COLOUR: "blue" } })
    await first.out.said(/^blue, <dark>$/m)
    await place.write("app", { references: { LINK: "${other:SOURCE}" } })
    await first.out.said(/^blue, .*LINK .*other.*$/m)
    await place.write("app", { references: { LINK: "<${SHADE}>" } })
    await first.out.said(/^blue, <dark>$/m, 2)

    await place.bridge.close()
    await first.out.said(/acme\/webshop\/app is not followed, and its last values stay: cannot reach/)
    const cold = shop(account)
    await cold.out.said(/using the offline copy of acme\/webshop\/app/)
    await cold.out.said(/^blue, <dark>$/m)
    await place.bridge.open()
    await place.write("app", { set: { COLOUR: "green" } })
    for (const one of [first, cold]) await one.out.said(/^green, <dark>$/m)
    await cold.stop()

    await place.ok("service-account", "revoke", account.id, "--yes")
    await first.out.said(/is not followed, and its last values stay: .*revoked/)
    const refused = shop(account)
    assert.strictEqual((await refused.ended).code, 1)
    assert.match(refused.out.text + refused.err.text, /SERVICE_API_KEY: .* refuses the credential/)
    assert.isNull(first.child.exitCode)
    await first.stop()
    assert.isFalse(existsSync(join(folder, "copies")) && filesBelow(join(folder, "copies")).length > 0)
  })

  it("learns what to install for its tests", async () => {
    rmSync(join(modules, "@coffer/server"))
    const { code, stderr } = await start("main.js")
    assert.strictEqual(code, 1)
    assert.include(
      stderr,
      "@coffer/server is not installed in this project: install it beside @coffer/client (npm install --save-dev @coffer/server)"
    )
  })
})

describe.runIf(isSoak)("an application with Effect 4", () => {
  it("has one Effect, needs no other package, and runs the example", async () => {
    await compile(effect4)
    assert.deepStrictEqual(readdirSync(join(effect4, "node_modules/@coffer")), ["client-effect4"])
    assert.isFalse(existsSync(join(effect4, "node_modules/@coffer/client-effect4/node_modules")))
    assert.match(versionIn(join(effect4, "node_modules/effect")), /^4\./)
    const server = await startTestServer({ dev: { DATABASE_URL: "postgres://app@db.internal/shop" } })
    const env = { SERVICE_API_KEY: server.apiKey, SERVICE_SERVER_URL: server.url, COFFER_PLACE: server.place }
    const program = [join(effect4, "out/main.js")]
    const ended = await finish(spawn(process.execPath, program, { cwd: effect4, env, stdio: "pipe" }))
    await server.close()
    assert.deepInclude(ended, { code: 0, stderr: "", stdout: "31 characters, port 8080\n" })
  })
})

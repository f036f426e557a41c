import { build } from "esbuild"
import { spawn } from "node:child_process"
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import ts from "typescript"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { finish } from "../../../cli/test/support/Programs.js"
import { startTestServer } from "../../src/promise/testing.js"
import { install, type Packed, packages } from "../support/Packed.js"

const folder = mkdtempSync(join(realpathSync(tmpdir()), "coffer-plain-"))
let client: Packed

beforeAll(() => {
  const found = packages().find(({ name }) => /^coffer-client-\d/.test(name))
  client = found ?? assert.fail("no client is made")
  install(join(folder, "node_modules"), "@coffer/client", client)
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true }))

const program = `
  const say = (text) => process.stdout.write(text + "\\n")
  const main = async () => {
    // The client lets a program end that only waits for a change.
    const held = setInterval(() => {}, 1000)
    const coffer = await connect({
      server: process.env.SERVICE_SERVER_URL,
      place: "dev/app/dev",
      every: 100,
      onWarning: (text) => process.stderr.write(text + "\\n")
    })
    say(coffer.get("A"))
    const kept = await coffer.reload(["A"], ({ A }) => {
      if (A === "wrong") throw new RangeError(A)
      return A
    })
    const changed = new Promise((resolve) => coffer.onChange(resolve))
    const path = { org_name: "dev", project_name: "app", env_name: "dev" }
    await coffer.call("secrets", (api) => api.set({ path: { ...path, key: "A" }, payload: { value: "wrong" } }))
    await changed
    say(coffer.get("A") + " " + await kept.use((value) => value))
    const refused = await connect({
      server: process.env.SERVICE_SERVER_URL,
      place: "dev/app/dev",
      credential: { apiKey: "svc_sa_" + "a".repeat(49) }
    }).catch((error) => error)
    say([refused instanceof CofferError, refused.reason, refused.message].join(" "))
    const missing = await coffer.call("secrets", (api) => api.get({ path: { ...path, key: "NONE" } })).catch((error) => error)
    say(missing.reason)
    await coffer.close()
    clearInterval(held)
  }
  main()`

const run = async (file: string, source: string, args: ReadonlyArray<string> = []) => {
  writeFileSync(join(folder, file), source)
  const server = await startTestServer({ dev: { A: "right" } })
  const env = { PATH: process.env["PATH"], SERVICE_API_KEY: server.apiKey, SERVICE_SERVER_URL: server.url }
  const ended = await finish(
    spawn(process.execPath, [...args, join(folder, file)], { cwd: folder, env, stdio: "pipe" })
  )
  await server.close()
  return { ...ended, url: server.url }
}

describe("the promise client as it is installed", { timeout: 120_000 }, () => {
  it("is one file of at most 350 KB for each kind of module, and needs no other package", () => {
    for (const path of ["dist/promise.js", "dist/promise.cjs"]) {
      const text = client.files[path] ?? assert.fail(path)
      assert.isAtMost(Buffer.byteLength(text), 350_000)
      const names = [...text.matchAll(/\b(?:from|import|require)\s*\(?\s*"([\w@./:-]+)"/g)].map(
        ([, name]) => name ?? ""
      )
      assert.deepStrictEqual(
        names.filter((name) => !name.startsWith("node:")),
        [],
        path
      )
    }
    const { dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(client.files["package.json"] ?? "")
    assert.isUndefined(dependencies)
    const optional = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional === true)
    assert.sameMembers(optional, ["@coffer/domain", "@coffer/server", "@effect/platform", "effect"])
    assert.deepStrictEqual(readdirSync(join(folder, "node_modules/@coffer")), ["client"])
  })

  it.each([
    ["import", "main.mjs", `import { CofferError, connect } from "@coffer/client/promise"`],
    ["require", "main.cjs", `const { CofferError, connect } = require("@coffer/client/promise")`]
  ])("runs by %s: reads, follows, keeps what it has, calls and is refused", async (_, file, line) => {
    const { code, stderr, stdout, url } = await run(file, `${line}\n${program}`)
    const refusal = `true Unauthorized credential.apiKey: ${url} refuses the credential: it is unknown, expired or revoked`
    assert.deepStrictEqual(stdout.split("\n"), ["right", "wrong right", refusal, "NotFound", ""], stderr)
    assert.strictEqual(stderr, "the resource of A could not be opened again, so the old one stays: RangeError\n")
    assert.strictEqual(code, 0)
  })

  const modes: ReadonlyArray<readonly [string, Readonly<Record<string, string>>]> = [
    ["commonjs, node10", { module: "commonjs", moduleResolution: "node10", ignoreDeprecations: "6.0" }],
    ["node16, a script", { module: "node16" }],
    ["nodenext, a module", { module: "nodenext" }],
    ["bundler", { module: "preserve", moduleResolution: "bundler" }],
    ["esnext, bundler", { module: "esnext", moduleResolution: "bundler" }]
  ]

  it.each(modes)("has types for %s, which need no other types", (name, options) => {
    const file = join(
      folder,
      name.includes("script") ? "plain.cts" : name.includes("module") ? "plain.mts" : "plain.ts"
    )
    copyFileSync(join(import.meta.dirname, "Plain.ts"), file)
    const { options: compiler } = ts.convertCompilerOptionsFromJson(
      {
        ...{ strict: true, noEmit: true, skipLibCheck: false, types: [], target: "es2022", lib: ["es2022"] },
        ...{ exactOptionalPropertyTypes: true, ...options }
      },
      folder
    )
    const made = ts.createProgram([file], compiler)
    const found = ts.getPreEmitDiagnostics(made)
    assert.deepStrictEqual(
      found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n")),
      []
    )
    const kind = /node10|script/.test(name) ? /promise\.d\.cts$/ : /promise\.d\.ts$/
    const [types] = made.getSourceFiles().filter(({ fileName }) => /\/promise\.d\.[cm]?ts$/.test(fileName))
    assert.match(types?.fileName ?? "", kind)
  })

  it("has a module without Node's own for browsers and Workers, at each of its addresses", () => {
    const at = join(folder, "node_modules/@coffer/client")
    const manifest = JSON.parse(readFileSync(join(at, "package.json"), "utf8"))
    const exported: ReadonlyArray<readonly [string, Readonly<Record<string, string>>]> = Object.entries(
      manifest.exports
    )
    assert.includeMembers(
      exported.map(([path]) => path),
      [".", "./promise", "./promise/testing", "./testing"]
    )
    for (const [path, conditions] of exported) {
      // The first condition that fits is taken.
      assert.strictEqual(Object.keys(conditions)[0], "workerd")
      for (const condition of ["browser", "worker", "workerd", "edge-light"]) {
        const file = conditions[condition] ?? assert.fail(`${path} has nothing for ${condition}`)
        assert.notMatch(readFileSync(join(at, file), "utf8"), /node:|require\(|import /, `${path} for ${condition}`)
      }
    }
  })

  it("says in a browser and in a Worker where it runs", async () => {
    const source = join(folder, "page.mjs")
    writeFileSync(source, `import { connect } from "@coffer/client/promise"\nconsole.log(connect)\n`)
    for (const conditions of [["browser"], ["workerd", "worker", "browser"]]) {
      const { outputFiles } = await build({
        ...{ entryPoints: [source], bundle: true, write: false, format: "esm", outdir: folder, logLevel: "silent" },
        conditions
      })
      const text = outputFiles[0]?.text ?? ""
      assert.include(text, "it runs on Node, Bun and Deno")
      assert.notInclude(text, "node:")
      assert.isBelow(text.length, 3_000)
    }
    for (const file of ["page.mjs", "page.cjs"]) {
      const line = file.endsWith("cjs") ? `require("@coffer/client/promise")` : `import "@coffer/client/promise"`
      const { code, stderr } = await run(file, line, ["--conditions=browser"])
      assert.strictEqual(code, 1)
      assert.include(stderr, "Error: @coffer/client reads files and opens connections of its own")
    }
  })

  it("starts a server for tests without another package but the server", async () => {
    mkdirSync(join(folder, "node_modules/@coffer"), { recursive: true })
    symlinkSync(join(import.meta.dirname, "../../../server"), join(folder, "node_modules/@coffer/server"))
    const source = (line: string) => `${line}
      startTestServer({ dev: { A: "1" } }).then(async (server) => {
        process.stdout.write(server.place)
        await server.close()
      })`
    for (const [file, line] of [
      ["server.mjs", `import { startTestServer } from "@coffer/client/promise/testing"`],
      ["server.cjs", `const { startTestServer } = require("@coffer/client/promise/testing")`]
    ] as const) {
      const { code, stderr, stdout } = await run(file, source(line))
      assert.deepStrictEqual([code, stdout, stderr], [0, "dev/app/dev", ""])
    }
    rmSync(join(folder, "node_modules/@coffer/server"))
  })
})

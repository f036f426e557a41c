/** The promise client with the tools of others, from the registry: compilers, test runners, runtimes and frameworks. */
import { type RunningServer, startTestServer } from "@coffer/client/promise/testing"
import { spawn } from "node:child_process"
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { ServerProcess } from "../../../client/src/testing/ServerProcess.js"
import { freePort } from "../../../server/test/support/Port.js"
import { root } from "../support/Documents.js"
import { finish } from "../support/Programs.js"
import { filesBelow, freshFolder, must, release, version } from "./Support.js"

const folder = freshFolder()
const sources = join(import.meta.dirname, "tools")
const tarball = join(folder, "release", `coffer-client-${version}.tgz`)

/** Fails where no registry is reached, as behind a wall: the tests are then skipped, and say so. */
const isReached = await finish(spawn("npm", ["view", "jest", "version"], { stdio: "pipe" })).then(
  ({ code }) => code === 0
)
if (!isReached) process.stdout.write("skipped: no npm registry is reached, which the tools come from\n")

let server: RunningServer

beforeAll(async () => {
  await release(["--libraries", "--out", join(folder, "release")])
  server = await startTestServer({ dev: { A: "right" } })
})
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

const variables = () => ({
  ...{ PATH: process.env["PATH"], HOME: folder, SERVICE_API_KEY: server.apiKey, SERVICE_SERVER_URL: server.url },
  ...{ COPIES: join(folder, "copies"), NEXT_TELEMETRY_DISABLED: "1", CI: "1" }
})

/** Makes a project with the client, its sources and what these need. */
const project = async (name: string, ...packages: ReadonlyArray<string>) => {
  const path = join(folder, name)
  mkdirSync(path)
  writeFileSync(join(path, "package.json"), JSON.stringify({ private: true }))
  if (readdirSync(sources).includes(name)) {
    // As texts, because the compiler and the linter of this repository know none of these tools.
    for (const file of filesBelow(join(sources, name))) {
      mkdirSync(dirname(join(path, file)), { recursive: true })
      copyFileSync(join(sources, name, file), join(path, file.replace(/\.txt$/, "")))
    }
  }
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"]
  const before = performance.now()
  await must("npm", ["install", "--prefix", path, ...options, tarball, ...packages])
  return { path, seconds: (performance.now() - before) / 1000 }
}

const run = async (path: string, file: string, ...args: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await finish(spawn(file, args, { cwd: path, env: variables(), stdio: "pipe" }))
  assert.strictEqual(code, 0, `${file} ${args.join(" ")}: ${stdout}${stderr}`)
  return stdout
}

describe.runIf(isReached)("the promise client", { timeout: 900_000 }, () => {
  it("is one package of less than 2 MB", async () => {
    const { path, seconds } = await project("alone")
    const modules = join(path, "node_modules")
    assert.deepStrictEqual(
      readdirSync(modules).filter((name) => !name.startsWith(".")),
      ["@coffer"]
    )
    assert.deepStrictEqual(readdirSync(join(modules, "@coffer")), ["client"])
    assert.isBelow(filesBelow(modules).length, 120)
    process.stdout.write(`one package in ${seconds.toFixed(1)} s\n`)
  })

  it.each(["5.0", "5.4", "5.9", "6"])("has types for TypeScript %s in each mode of modules", async (typescript) => {
    const { path } = await project(`typescript-${typescript}`, `typescript@${typescript}`)
    for (const file of ["plain.ts", "plain.cts", "plain.mts"])
      copyFileSync(join(root, "packages/client/test/promise/Plain.ts"), join(path, file))
    const silent = typescript === "6" ? { ignoreDeprecations: "6.0" } : {}
    const modes = [
      ["plain.ts", { module: "commonjs", moduleResolution: "node10", ...silent }],
      ["plain.cts", { module: "node16" }],
      ["plain.mts", { module: "nodenext" }],
      ["plain.ts", { module: typescript === "5.0" ? "es2022" : "preserve", moduleResolution: "bundler" }],
      ["plain.ts", { module: "esnext", moduleResolution: "bundler" }]
    ] as const
    for (const [file, options] of modes) {
      const compilerOptions = {
        ...{ strict: true, noEmit: true, target: "es2022", lib: ["es2022"], types: [], skipLibCheck: false },
        ...options
      }
      writeFileSync(join(path, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [file] }))
      await run(path, process.execPath, "node_modules/typescript/bin/tsc", "--project", ".")
    }
  })

  it("is loaded by Jest", async () => {
    const { path } = await project("jest", "jest@30")
    await run(path, process.execPath, "node_modules/jest/bin/jest.js")
  })

  it("runs on Bun and Deno as on Node, as a module and as a script", async () => {
    const { path } = await project("runtimes", "bun@1", "deno@2")
    const found = (scope: string, program: string) => {
      const [name = ""] = readdirSync(join(path, "node_modules", scope)).filter((each) => !each.includes("baseline"))
      return join(path, "node_modules", scope, name, program)
    }
    const runtimes = [[process.execPath], [found("@oven", "bin/bun")], [found("@deno", "deno"), "run", "--allow-all"]]
    for (const [program = "", ...args] of runtimes) {
      assert.strictEqual(await run(path, program, ...args, "main.mjs"), "right right\nwrong right\nright\n")
      assert.strictEqual(await run(path, program, ...args, "main.cjs"), "right\n")
    }
  })

  it("is read by a page of Next.js, on the server", async () => {
    const { path } = await project("next", "next@16", "react@19", "react-dom@19")
    const next = join(path, "node_modules/next/dist/bin/next")
    await run(path, process.execPath, next, "build")
    const port = String(await freePort())
    const served = new ServerProcess([process.execPath, next, "start", "--port", port], { cwd: path, env: variables() })
    for (let tries = 0; ; tries++) {
      const page = await fetch(`http://127.0.0.1:${port}`).then(
        (response) => response.text(),
        () => ""
      )
      if (page.includes("value:right")) break
      assert.isBelow(tries, 120, `${page}${served.err.text}`)
      await setTimeout(500)
    }
    await served.stop()
  })

  it("is a provider of Nest", async () => {
    const nest = ["core", "common", "platform-express", "cli"].map((name) => `@nestjs/${name}@12`)
    const types = ["reflect-metadata", "rxjs", "typescript@5", "@types/node@20"]
    const { path } = await project("nest", ...nest, ...types)
    await run(path, process.execPath, "node_modules/@nestjs/cli/bin/nest.js", "build")
    assert.strictEqual(await run(path, process.execPath, "dist/main.js"), "value:right\n")
  })
})

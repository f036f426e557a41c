/**
 * Holds what docs/install.md says: clients and servers of neighbouring releases are compatible. `last` has the client of the
 * last release as one script, what its server answered to it and to the client of then, and what a person saw.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib"
import { build } from "esbuild"
import { Effect } from "effect"
import { afterAll, assert, it } from "vitest"
import { recorder, type Recording, replay } from "../../../client/test/releases/Recording.js"
import { cleanUp, Program } from "../../../server/test/support/Program.js"
import { runInProcess } from "../support/InProcess.js"
import { finish, TestHome } from "../support/Programs.js"
import { newSince, type Runner, type Seen, walk } from "./Walk.js"

const last = join(import.meta.dirname, "last")
const script = join(last, "coffer.cjs.br")
const file = join(last, "server.json")
/** A built checkout of the release to record. */
const recorded = process.env["COFFER_RECORD_FROM"]

interface LastRelease extends Pick<Recording, "version" | "exchanges"> {
  /** The results that a person saw of the release's client at its own server. */
  readonly seen: ReadonlyArray<Seen>
}

const homes: Array<TestHome> = []
afterAll(() => {
  for (const home of homes) home.remove()
  cleanUp()
})

const place = { SERVICE_ORG: "acme", SERVICE_PROJECT: "webshop", SERVICE_ENV: "dev" }

const homeAt = (url: string): TestHome => {
  const home = new TestHome(url)
  homes.push(home)
  writeFileSync(join(home.folder, "x.env"), "C=c\nD='d d'\n")
  return home
}

const values = (home: TestHome, code: () => Promise<string>) => ({
  CODE: code,
  FILE: () => Promise.resolve(join(home.folder, "x.env"))
})

const codeOf = (program: Program) => async () =>
  (await program.said(/login code for ada@example\.com: (\d{6})/))[1] ?? ""

/** Starts the script `coffer.cjs` beside it with the code that V8 compiled in its first run, which halves its time. */
const starter = `
const { existsSync, readFileSync, writeFileSync } = require("node:fs")
const filename = __dirname + "/coffer.cjs"
const cache = filename + ".cache"
const cachedData = existsSync(cache) ? readFileSync(cache) : undefined
const script = new (require("node:vm").Script)(require("node:module").wrap(readFileSync(filename, "utf8")), { filename, cachedData })
if (cachedData === undefined) process.on("exit", () => writeFileSync(cache, script.createCachedData()))
script.runInThisContext()({}, require, { exports: {} }, filename, __dirname)
`

/** Runs the script of the last release's client. */
const lastClient = (home: TestHome): Runner => {
  const start = join(home.folder, "start.cjs")
  writeFileSync(start, starter)
  writeFileSync(join(home.folder, "coffer.cjs"), brotliDecompressSync(readFileSync(script)))
  return (args) => finish(home.spawn(process.execPath, [start, ...args], { env: place }))
}

/** Runs today's client: in this process, except for what starts another. */
const todaysClient =
  (home: TestHome): Runner =>
  (args) =>
    args[0] === "run"
      ? home.coffer(args, { env: place })
      : Effect.runPromise(runInProcess(args, { ...home.environment, ...place }))

const assertDone = (seen: ReadonlyArray<Seen>) => {
  for (const { code, command, stderr } of seen) {
    assert.strictEqual(code, 0, `${command}: ${stderr}`)
    assert.notMatch(stderr, /update (?:it|the|coffer)|its response|unexpected/, command)
  }
}

it.runIf(recorded === undefined)(
  "the last release's client sees of today's server what it saw of its own",
  async () => {
    const { seen }: LastRelease = JSON.parse(readFileSync(file, "utf8"))
    const program = await Program.start()
    const home = homeAt(program.url)
    assert.deepStrictEqual(await walk(lastClient(home), values(home, codeOf(program))), seen)
    await program.stop()
  }
)

const anyCode = () => Promise.resolve("123456")

it.runIf(recorded === undefined)(
  "today's client does with the last release's server what that can, and says what it cannot",
  async () => {
    const release: LastRelease = JSON.parse(readFileSync(file, "utf8"))
    const { close, url } = await replay(release)
    const home = homeAt(url)
    const run = todaysClient(home)
    assertDone(await walk(run, values(home, anyCode)))
    for (const [says, ...commands] of newSince[release.version] ?? []) {
      for (const args of commands) {
        const { code, stderr } = await run(args)
        assert.notStrictEqual(code, 0, args.join(" "))
        assert.match(stderr, says, args.join(" "))
      }
    }
    await close()
  }
)

it.runIf(recorded !== undefined)("records a release", async () => {
  const root = recorded ?? ""
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  const { outputFiles } = await build({
    entryPoints: [join(root, "packages/cli/dist/main.js")],
    ...{ bundle: true, minify: true, platform: "node", format: "cjs", write: false, logLevel: "silent" },
    define: { "process.env.COFFER_VERSION": JSON.stringify(version) }
  })
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 }
  writeFileSync(script, brotliCompressSync(outputFiles[0]?.contents ?? "", { params }))
  const start = () => Program.start({}, undefined, join(root, "packages/server/bin/coffer-server.js"))

  const first = await start()
  const home = homeAt(first.url)
  const seen = await walk(lastClient(home), values(home, codeOf(first)))
  assertDone(seen)
  await first.stop()

  const second = await start()
  const { close, exchanges, url } = await recorder(second.url)
  const other = homeAt(url)
  const run = todaysClient(other)
  await walk(run, values(other, codeOf(second)))
  for (const [, ...commands] of newSince[version] ?? []) for (const args of commands) await run(args)
  await close()
  await second.stop()
  writeFileSync(file, `${JSON.stringify({ version, seen, exchanges } satisfies LastRelease, null, 1)}\n`)
})

import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { makeThreadClient, parseBody, parseLines } from "@coffer/server/http/ParseJson"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, FastCheck } from "effect"
import { runs } from "../../../domain/test/support/Runs.js"

/** More than is parsed at once. */
const large = 65 * 1024
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text))

/** A JSON text with a value, as small or as large as spaces make it. */
const sized = (text: string, size: number) => bytesOf(text + " ".repeat(Math.max(0, size - text.length)))

const parsed = (text: string, size: number) => Effect.either(parseBody(sized(text, size)))

describe("a body", () => {
  it.effect.prop(
    "is parsed alike whether it is small or large",
    [FastCheck.json({ maxDepth: 4 })],
    ([text]) =>
      Effect.gen(function* () {
        const value = yield* parsed(text, large)
        assert.deepStrictEqual(value, yield* parsed(text, 0))
        assert.strictEqual(JSON.stringify(yield* value), JSON.stringify(JSON.parse(text)))
      }),
    { fastCheck: { numRuns: runs(50) } }
  )

  it.effect("keeps its keys, those of every object's own prototype too, and their order", () =>
    Effect.gen(function* () {
      const text = '{"b":"1","__proto__":{"x":1},"a":"€é😀","constructor":null,"2":1e999,"1":[-0]}'
      const value = yield* parseBody(sized(text, large))
      assert.strictEqual(JSON.stringify(value), JSON.stringify(JSON.parse(text)))
      assert.deepStrictEqual(Object.getPrototypeOf(value), Object.prototype)
    })
  )

  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels)
  it.effect.each<readonly [string, string, string]>([
    ["no JSON", "{", "the body: is not well-formed JSON"],
    ["a lone surrogate", String.raw`["\ud800"]`, "the body: holds a lone surrogate, which is no text"],
    ["a lone surrogate as a key", String.raw`{"\ud800":1}`, "the body: holds a lone surrogate, which is no text"],
    ["33 levels", nested(33), "the body: is nested deeper than 32 levels"]
  ])("is refused with %s, whether it is small or large", ([, text, message]) =>
    Effect.gen(function* () {
      for (const size of [0, large]) {
        const error = yield* Effect.flip(parseBody(sized(text, size)))
        assert.deepStrictEqual([error.code, error.message], ["VALIDATION_ERROR", message])
      }
      yield* parseBody(sized(nested(32), large))
    })
  )

  it.effect("is refused when it is not UTF-8, whether it is small or large", () =>
    Effect.gen(function* () {
      for (const size of [10, large]) {
        const error = yield* Effect.flip(parseBody(new Uint8Array(size).fill(0xff)))
        assert.strictEqual(error.message, "the body: is not UTF-8")
      }
    })
  )

  it.effect("of many values is refused before one of them is made", () =>
    Effect.gen(function* () {
      const list = (count: number) => `[${"1,".repeat(count - 1)}1]`
      assert.strictEqual(JSON.stringify(yield* parseBody(sized(list(5_000), large))).length, 10_001)
      const error = yield* Effect.flip(parseBody(sized(list(5_001), large)))
      assert.strictEqual(error.message, "the body: holds more than 5000 values, and no call takes as many")
      // Commas and brackets in texts are no values, and no levels.
      const text = JSON.stringify({ a: ',[{"\\'.repeat(10_000) })
      assert.strictEqual(JSON.stringify(yield* parseBody(sized(text, large))), text)
    })
  )
})

describe("lines of JSON", () => {
  const linesOf = (text: string) =>
    Effect.gen(function* () {
      const all: Array<unknown> = []
      yield* parseLines(text, (values) => Effect.sync(() => all.push(...values)))
      return all
    })

  it.effect("are parsed in their order, whatever pieces they come in", () =>
    Effect.gen(function* () {
      // Lines around the size of a piece, and one that is longer than several.
      const lengths = [1, 65_530, 5, 65_536, 300_000, 65_537, 1]
      const lines = [...lengths.map((length) => "é".repeat(length)), ...Array.from({ length: 30_000 }, (_, at) => at)]
      const text = lines.map((line) => JSON.stringify(line)).join("\n")
      assert.deepStrictEqual(yield* linesOf(text), lines)
      assert.deepStrictEqual(yield* linesOf(`${text}\n`), lines)
      assert.deepStrictEqual(yield* linesOf(""), [])
    })
  )

  it.effect.each<readonly [string, string, string]>([
    ["a line that is no JSON", '{"a":1}\n{', "is not well-formed JSON"],
    ["nothing but line feeds", "\n".repeat(16 * 1024 * 1024), "is not well-formed JSON"],
    ["16 MiB of nested lists in a line", "[".repeat(16 * 1024 * 1024), "has more than 6291456 characters"],
    ["6 MiB of nested lists in a line", "[".repeat(6 * 1024 * 1024), "is nested deeper than 32 levels"],
    ["6 MiB of lists in a line", `[${"[],".repeat(2 * 1024 * 1024 - 2)}[]]`, "holds more than 25000 values"],
    ["a lone surrogate", String.raw`["\ud800"]`, "holds a lone surrogate"]
  ])("are refused with %s", ([, text, message]) =>
    Effect.map(Effect.flip(linesOf(text)), (wrong) => assert.include(wrong, message))
  )

  it.effect("end with the first refused piece", () =>
    Effect.gen(function* () {
      let taken = 0
      const stopped = parseLines("1\n".repeat(1_000_000), (values) => {
        taken += values.length
        return Effect.fail("enough")
      })
      assert.strictEqual(yield* Effect.flip(stopped), "enough")
      assert.isBelow(taken, 40_000)
    })
  )
})

describe("a thread with a question", () => {
  const withScript = <A>(script: string, use: (path: string) => Effect.Effect<A>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const folder = mkdtempSync(join(tmpdir(), "coffer-thread-"))
        writeFileSync(join(folder, "thread.mjs"), script)
        return folder
      }),
      (folder) => use(join(folder, "thread.mjs")),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
    )

  const question = (first: number) => ({ bytes: new Uint8Array([first]), form: "body" as const })

  /** Ends at a 0, runs out of memory at a 1, and else answers how often it was asked. */
  const mortal = `
    import { parentPort } from "node:worker_threads"
    let asked = 0
    parentPort.on("message", ({ bytes: [first] }) => {
      if (first === 0) process.exit(1)
      if (first === 1) for (const all = []; ; ) all.push(new Array(1e6).fill(asked).map(String))
      if (first === 2) setTimeout(() => process.exit(0))
      parentPort.postMessage(++asked)
    })`

  it.effect("that dies is the end of that question alone: the next one has another thread", () =>
    withScript(mortal, (path) =>
      Effect.gen(function* () {
        const ask = makeThreadClient(path)
        const answers = yield* Effect.forEach([7, 8, 0, 9, 1, 10, 11], (first) => Effect.exit(ask(question(first))), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          answers.map((exit) => Exit.getOrElse(exit, () => "died")),
          [1, 2, "died", 1, "died", 1, 2]
        )
      })
    )
  )
})

import { parse } from "dotenv"
import * as fc from "fast-check"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { parse as parseYaml } from "yaml"
import type { FormatName, Pair } from "@coffer/domain/formats/Format"
import { carried, formats, keys, tricky, values } from "./Support.js"

/** Every tricky text, and many made ones, under keys of their own. */
const samples: ReadonlyArray<Pair> = [
  ...tricky.map((value, index) => ({ key: `TRICKY_${index}`, value })),
  ...fc.sample(values, { numRuns: 1_500, seed: 42 }).map((value, index) => ({ key: `SAMPLE_${index}`, value })),
  ...[...new Set(fc.sample(keys, { numRuns: 100, seed: 42 }))].map((key) => ({ key, value: `of ${key}` }))
]

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "coffer-formats-"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The file of a format, with what it takes of the samples. */
const written = (name: FormatName, all = samples) => {
  const taken = carried(formats[name], all)
  const path = join(folder, `secrets.${name}`)
  const text = formats[name].write(taken)
  writeFileSync(path, text)
  return { path, text, taken }
}

const expected = (taken: ReadonlyArray<Pair>) => taken.map(({ key, value }) => [key, value] as const)

const run = (command: string, args: ReadonlyArray<string>, env: Record<string, string> = {}) => {
  const { error, status, stderr, stdout } = spawnSync(command, args, {
    encoding: "buffer",
    // Bash reads its start-up file when its input is a socket.
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"] ?? "", ...env },
    maxBuffer: 64 * 1024 * 1024
  })
  assert.isUndefined(error)
  assert.strictEqual(status, 0, stderr.toString())
  assert.strictEqual(stderr.toString(), "")
  return stdout.toString()
}

const has = (command: string, ...args: ReadonlyArray<string>) => spawnSync(command, args).status === 0

const agrees = (found: Readonly<Record<string, unknown>>, taken: ReadonlyArray<Pair>) => {
  for (const [key, value] of expected(taken)) {
    assert.isTrue(Object.hasOwn(found, key), key)
    assert.strictEqual(found[key], value, key)
  }
  assert.lengthOf(Object.keys(found), taken.length)
}

describe("env", () => {
  it.each([false, true])("is read by npm's dotenv (its fast parser: %s)", (fast) => {
    const { taken, text } = written("env")
    agrees(parse(text, { fast }), taken)
  })
})

describe("shell", () => {
  // The environment of a process has room for less than all samples at once.
  const chunks = (all: ReadonlyArray<Pair>) =>
    Array.from({ length: Math.ceil(all.length / 400) }, (_, index) => all.slice(index * 400, (index + 1) * 400))

  const readBy = (program: string, args: ReadonlyArray<string>) => {
    // A locale of the samples would be complained about.
    const plain = samples.filter(({ key }) => !/^(LC_|LANG)/.test(key))
    for (const chunk of chunks(plain)) {
      const { path, taken } = written("shell", chunk)
      const print = `process.stdout.write(JSON.stringify(process.env))`
      const env = { FILE: path, NODE: process.execPath, PRINT: print, HOME: folder }
      const found: Record<string, string> = JSON.parse(run(program, args, env))
      for (const [key, value] of expected(taken)) assert.strictEqual(found[key], value, key)
    }
  }

  it.each(["dash", "bash", "bash --posix"])("is read by . of %s", (command) => {
    const [program = "", ...flags] = command.split(" ")
    readBy(program, [...flags, "-c", `. "$FILE"; exec "$NODE" -e "$PRINT"`])
  })

  /** The text of a word of fish: both quotes know escapes, and what is not in quotes is a mistake here. */
  const fishWord = (word: string): string => {
    const parts = [...word.matchAll(/'((?:\\[^]|[^'\\])*)'|"((?:\\[^]|[^"\\$])*)"/g)]
    assert.strictEqual(parts.map(([part]) => part).join(""), word)
    return parts
      .map(([, single, double]) =>
        single === undefined
          ? (double ?? "").replace(/\\([\\"$\n])/g, (_, taken: string) => (taken === "\n" ? "" : taken))
          : single.replace(/\\([\\'])/g, "$1")
      )
      .join("")
  }

  // A shell that the machine lacks is skipped; the model of fish below is always held.
  it.skipIf(!has("zsh", "-c", "true"))("is read by . of zsh", () => {
    readBy("zsh", ["-f", "-c", `. "$FILE"; exec "$NODE" -e "$PRINT"`])
  })

  it.skipIf(!has("busybox", "sh", "-c", "true"))("is read by . of busybox", () => {
    readBy("busybox", ["sh", "-c", `. "$FILE"; exec "$NODE" -e "$PRINT"`])
  })

  it.skipIf(!has("fish", "--version"))("is read by source of fish", () => {
    readBy("fish", ["--no-config", "-c", `source $FILE; exec $NODE -e $PRINT`])
  })

  it("holds no text that fish runs or reads as another value, as its grammar of quotes says", () => {
    fc.assert(
      fc.property(values, (value) => {
        if (formats.shell.refusal({ key: "KEY", value }) !== undefined) return
        const text = formats.shell.write([{ key: "KEY", value }])
        assert.strictEqual(fishWord(text.slice("export KEY=".length, -1)), value)
      }),
      { examples: [["abc\\"], ["; touch F #"], ["x\\' y"], ["'\\\\'"], ["a\\\nb"]] }
    )
  })

  it("refuses the names that a shell keeps for itself", () => {
    for (const key of [
      ...["UID", "PPID", "RANDOM", "OPTIND", "SHELLOPTS", "_", "with.dot", "with-hyphen"],
      ...["path", "argv", "status", "HISTSIZE", "USERNAME", "fish_pid", "umask"]
    ]) {
      assert.isString(formats.shell.refusal({ key, value: "x" }), key)
    }
  })
})

describe("docker", () => {
  it("is read as Docker's kvfile reads it", () => {
    const { taken, text } = written("docker")
    const found: Record<string, string> = {}
    // cli/pkg/kvfile of Docker 28, line by line.
    for (const raw of text.split("\n")) {
      const scanned = raw.replace(/\r$/, "")
      assert.isBelow(Buffer.byteLength(raw), 65_536)
      const line = scanned.trimStart()
      if (line === "" || line.startsWith("#")) continue
      const [key = ""] = line.split("=", 1)
      assert.notMatch(key, /\s/)
      Object.defineProperty(found, key, { value: line.slice(key.length + 1), enumerable: true })
    }
    agrees(found, taken)
  })
})

describe("json", () => {
  it.runIf(has("python3", "--version"))("is read by Python's json", () => {
    const { path, taken } = written("json")
    const found = run("python3", [
      "-c",
      "import json,sys; print(json.dumps(json.load(open(sys.argv[1], encoding='utf-8'))))",
      path
    ])
    agrees(JSON.parse(found), taken)
  })
})

describe("yaml", () => {
  it.each(["1.1", "1.2"] as const)("is read by a reader of YAML %s", (version) => {
    const { taken, text } = written("yaml")
    const found: Map<string, unknown> = parseYaml(text, { version, mapAsMap: true })
    assert.deepStrictEqual<ReadonlyArray<readonly [string, unknown]>>([...found], expected(taken))
  })

  it.runIf(has("python3", "-c", "import yaml"))("is read by PyYAML", () => {
    const { path, taken } = written("yaml")
    const found = run("python3", [
      "-c",
      "import json,sys,yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1], encoding='utf-8'))))",
      path
    ])
    agrees(JSON.parse(found), taken)
  })
})

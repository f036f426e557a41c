import { parse } from "dotenv"
import * as fc from "fast-check"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it, type TestContext } from "vitest"
import { parse as parseYaml } from "yaml"
import type { Pair } from "@coffer/domain/formats/Format"
import type { FormatName } from "@coffer/domain/formats/FormatNames"
import { isNotForChildren } from "@coffer/domain/secrets/DangerousVariables"
import { envReaders } from "./EnvReaders.js"
import { node } from "../support/Programs.js"
import { carried, formats, keys, tricky, values } from "./Support.js"
import { runs } from "../../../domain/test/support/Runs.js"

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

/** The environment of a process has room for less than all samples at once. */
const chunks = (all: ReadonlyArray<Pair>) =>
  Array.from({ length: Math.ceil(all.length / 400) }, (_, index) => all.slice(index * 400, (index + 1) * 400))

/** Texts of what has a meaning in some reader. */
const quotes = fc
  .array(fc.constantFrom("'", '"', "`", "\\", "\n", "\r", "$", "{", "}", "#", ";", " ", "a", "B", "=", "é"), {
    maxLength: 8
  })
  .map((pieces) => pieces.join(""))

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

/** Skips a test where the reader is not on this machine, and says which. */
const needs = (context: TestContext, isThere: boolean, reader: string) =>
  context.skip(!isThere, `${reader} is not installed`)

describe("env", () => {
  it.each([false, true])("is read by npm's dotenv (its fast parser: %s)", (fast) => {
    const { taken, text } = written("env")
    agrees(parse(text, { fast }), taken)
  })

  it("is read by Node's --env-file", () => {
    for (const chunk of chunks(samples)) {
      const { path, taken } = written("env", chunk)
      const found = run(node, [`--env-file=${path}`, "-p", "JSON.stringify(process.env)"])
      const all: Record<string, string> = JSON.parse(found)
      for (const [key, value] of expected(taken)) assert.strictEqual(all[key], value, key)
    }
  })

  it("is read by python-dotenv", (context) => {
    needs(context, has("python3", "-c", "import dotenv"), "python-dotenv")
    const { path, taken } = written("env")
    const print = "import json, sys, dotenv; print(json.dumps(dotenv.dotenv_values(sys.argv[1])))"
    agrees(JSON.parse(run("python3", ["-c", print, path])), taken)
  })

  /** Builds the readers in Go: without the network, so that their modules must have been downloaded. */
  const buildGo = () => {
    const program = join(folder, "readers")
    const { status } = spawnSync("go", ["build", "-o", program, "."], {
      cwd: fileURLToPath(new URL("readers", import.meta.url)),
      env: { ...process.env, GOPROXY: "off", GOTOOLCHAIN: "local" }
    })
    return { program, isThere: status === 0 }
  }

  it("is read by godotenv and compose-go", { timeout: 300_000 }, (context) => {
    const { isThere, program } = buildGo()
    needs(context, isThere, "Go with godotenv and compose-go (go mod download in test/formats/readers)")
    const { path, taken } = written("env")
    for (const reader of ["godotenv", "compose-go"]) agrees(JSON.parse(run(program, [reader, path])), taken)
  })

  it("is read alike by the grammars of all readers, whatever the value", () => {
    let taken = 0
    fc.assert(
      fc.property(fc.oneof(values, quotes), (value) => {
        const pair = { key: "KEY", value }
        if (formats.env.refusal(pair) !== undefined) return
        taken++
        const text = formats.env.write([pair]).slice("KEY=".length)
        for (const [name, reader] of Object.entries(envReaders)) assert.strictEqual(reader(text), value, name)
      }),
      {
        numRuns: runs(20_000),
        examples: [['{"a":"it\'s"}'], ["x\\' y"], ["a\r\nb"], ["C:\\new"], ["it's $5"], ["$$2y$$10$$abc"]]
      }
    )
    assert.isAbove(taken, runs(2_000))
  })
})

describe("shell", () => {
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
  it("is read by . of zsh", (context) => {
    needs(context, has("zsh", "-c", "true"), "zsh")
    readBy("zsh", ["-f", "-c", `. "$FILE"; exec "$NODE" -e "$PRINT"`])
  })

  it("is read by . of busybox", (context) => {
    needs(context, has("busybox", "sh", "-c", "true"), "busybox")
    readBy("busybox", ["sh", "-c", `. "$FILE"; exec "$NODE" -e "$PRINT"`])
  })

  it("is read by source of fish", (context) => {
    needs(context, has("fish", "--version"), "fish")
    readBy("fish", ["--no-config", "-c", `source $FILE; exec $NODE -e $PRINT`])
  })

  it("holds no text that fish runs or reads as another value, as its grammar of quotes says", () => {
    fc.assert(
      fc.property(fc.oneof(values, quotes), (value) => {
        if (formats.shell.refusal({ key: "KEY", value }) !== undefined) return
        const text = formats.shell.write([{ key: "KEY", value }])
        assert.strictEqual(fishWord(text.slice("export KEY=".length, -1)), value)
      }),
      { examples: [["abc\\"], ["; touch F #"], ["x\\' y"], ["'\\\\'"], ["a\\\nb"]] }
    )
  })

  /** Commands that print the variables of a shell, those of its modules too. */
  const ownNames = {
    bash: { argv: ["bash", "--norc", "-c"], names: "compgen -v" },
    zsh: {
      argv: ["zsh", "-f", "-c"],
      names:
        "zmodload zsh/parameter zsh/zleparameter zsh/terminfo zsh/termcap zsh/sched zsh/datetime; print -l ${(k)parameters}"
    },
    fish: { argv: ["fish", "--no-config", "-c"], names: "set -n" }
  } as const

  it.for(["bash", "zsh", "fish"] as const)(
    "leaves every variable of %s itself right, or refuses it",
    (name, context) => {
      const { argv, names } = ownNames[name]
      const [program, ...flags] = argv
      needs(context, has(program, ...flags, "true"), name)
      const own = run(program, [...flags, names]).split("\n")
      assert.isAbove(own.length, 20)
      for (const key of own.filter((word) => /^[A-Za-z_]\w*$/.test(word) && !isNotForChildren(word))) {
        const pair = { key, value: "a b;$x" }
        if (formats.shell.refusal(pair) !== undefined) continue
        const path = join(folder, "own.sh")
        writeFileSync(path, formats.shell.write([pair, { key: "ZLAST", value: "ok" }]))
        const read = run(program, [...flags, `. ${path}; exec env -0`]).split("\0")
        assert.includeMembers(read, [`${key}=a b;$x`, "ZLAST=ok"])
      }
    }
  )

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

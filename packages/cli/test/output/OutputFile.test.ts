import { Variables } from "@coffer/client/internal/Variables"
import { env } from "@coffer/domain/formats/Env"
import { json } from "@coffer/domain/formats/Json"
import { parseTemplate } from "@coffer/domain/formats/Template"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, onTestFinished } from "vitest"
import { isExport, isRendered } from "../../src/output/Earlier.js"
import { openOutput, type OutputFile, writeOutput } from "../../src/output/OutputFile.js"
import { Input } from "../../src/terminal/Input.js"

const root = mkdtempSync(join(tmpdir(), "coffer-output-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** A folder of its own, and a home beside it. */
const workplace = () => {
  const folder = mkdtempSync(join(root, "place-"))
  return { folder, home: mkdtempSync(join(root, "home-")), path: (name: string) => join(folder, name) }
}

interface Situation {
  /** The home directory. Absent if there is no place for records. */
  readonly home?: string
  /** The person's answer. Absent if nobody can be asked. */
  readonly answer?: string
}

const asked: Array<string> = []

const inSituation = ({ answer, home }: Situation) =>
  Layer.mergeAll(
    Layer.succeed(Input, {
      canAsk: answer !== undefined,
      open: () => assert.fail("standard input is not read"),
      ask: (question) => Effect.sync(() => (asked.push(question), answer ?? "")),
      askHidden: () => assert.fail("nothing hidden is asked for")
    }),
    Layer.succeed(Variables, { PATH: process.env["PATH"] ?? "", ...(home === undefined ? {} : { HOME: home }) })
  )

const exportTo = (path: string, force = false): OutputFile => ({
  path,
  force,
  holdsValues: true,
  isOwn: isExport(path.endsWith(".json") ? json : env),
  mode: 0o600,
  keepsAccess: false
})

const write = (file: OutputFile, text: string, situation: Situation = {}) =>
  openOutput(file).pipe(
    Effect.flatMap((output) => writeOutput(output, (chunk) => chunk(Buffer.from(text)))),
    Effect.provide(inSituation(situation))
  )

const refusal = (file: OutputFile, situation: Situation = {}) =>
  Effect.map(Effect.flip(write(file, "new", situation)), ({ message }) => message)

const envText = (value: string) => `${env.head ?? ""}${env.write([{ key: "A", value }])}`

describe("a file that the client writes for its user", () => {
  it.effect("is written where no file stands, and over an empty file", () =>
    Effect.gen(function* () {
      const { folder, path } = workplace()
      yield* write(exportTo(path(".env")), envText("1"))
      writeFileSync(path("mktemp.env"), "")
      yield* write(exportTo(path("mktemp.env")), envText("1"))
      for (const name of [".env", "mktemp.env"]) {
        assert.strictEqual(readFileSync(path(name), "utf8"), envText("1"))
        assert.strictEqual(statSync(path(name)).mode & 0o777, 0o600)
      }
      assert.sameMembers(readdirSync(folder), [".env", "mktemp.env"])
    })
  )

  it.effect("replaces an earlier output of the same command, with and without a home", () =>
    Effect.gen(function* () {
      for (const situation of [{}, { home: workplace().home }]) {
        const { path } = workplace()
        for (const name of [".env", "all.json"]) {
          const text = (value: string) => (name === ".env" ? envText(value) : json.write([{ key: "A", value }]))
          for (const value of ["1", "it's\n2", "3"]) {
            yield* write(exportTo(path(name)), text(value), situation)
            assert.strictEqual(readFileSync(path(name), "utf8"), text(value))
          }
        }
      }
    })
  )

  it.effect("keeps a file that somebody else made or edited, and names --force", () =>
    Effect.gen(function* () {
      const { home } = workplace()
      const { folder, path } = workplace()
      const foreign: Readonly<Record<string, string>> = {
        ".env": "PORT=8080\n# my notes\n",
        "edited.env": `${envText("1")}# my notes\n`,
        "package.json": '{\n  "name": "shop",\n  "version": "1.0.0"\n}\n',
        "notes.json": "not JSON"
      }
      yield* write(exportTo(path("edited.env")), envText("1"), { home })
      for (const [name, text] of Object.entries(foreign)) {
        writeFileSync(path(name), text)
        if (name === "package.json") chmodSync(path(name), 0o644)
        for (const situation of [{}, { home }]) {
          assert.strictEqual(
            yield* refusal(exportTo(path(name)), situation),
            `${path(name)} exists, and is not an earlier output of this command: name another file, or replace it with --force`
          )
        }
        assert.strictEqual(readFileSync(path(name), "utf8"), text)
      }
      assert.sameMembers(readdirSync(folder), Object.keys(foreign))
      yield* write(exportTo(path(".env"), true), envText("2"), { home })
      yield* write(exportTo(path(".env")), envText("3"), { home })
      assert.strictEqual(readFileSync(path(".env"), "utf8"), envText("3"))
    })
  )

  it.effect("asks at a terminal, and keeps the file without a yes", () =>
    Effect.gen(function* () {
      const { path } = workplace()
      writeFileSync(path("app.json"), "mine")
      assert.strictEqual(
        yield* refusal(exportTo(path("app.json")), { answer: "" }),
        `${path("app.json")} stays as it is: nothing was written`
      )
      assert.strictEqual(
        asked.at(-1),
        `Replace ${path("app.json")}, which is not an earlier output of this command? [y/N] `
      )
      assert.strictEqual(readFileSync(path("app.json"), "utf8"), "mine")
      yield* write(exportTo(path("app.json")), "{}\n", { answer: "y" })
      assert.strictEqual(readFileSync(path("app.json"), "utf8"), "{}\n")
    })
  )

  it.effect("is recognized by its record where its content says nothing, until it is changed", () =>
    Effect.gen(function* () {
      const { home } = workplace()
      const { path } = workplace()
      const file: OutputFile = { ...exportTo(path("app.conf")), isOwn: () => false, keepsAccess: true }
      yield* write(file, "one", { home })
      chmodSync(file.path, 0o640)
      yield* write(file, "two", { home })
      assert.deepStrictEqual([readFileSync(file.path, "utf8"), statSync(file.path).mode & 0o777], ["two", 0o640])
      assert.match(yield* refusal(file), /not an earlier output/)
      const [record = ""] = readdirSync(join(home, ".local/state/coffer/outputs"))
      assert.notInclude(readFileSync(join(home, ".local/state/coffer/outputs", record), "utf8"), "app.conf")
      writeFileSync(file.path, "twi")
      assert.match(yield* refusal(file, { home }), /not an earlier output/)
    })
  )

  it.effect("is not written where git would take it along, unless it is forced", () =>
    Effect.gen(function* () {
      const { folder, path } = workplace()
      execFileSync("git", ["-C", folder, "init", "--quiet"])
      writeFileSync(path(".gitignore"), "ignored.json\n")
      assert.match(
        yield* refusal(exportTo(path("all.json"))),
        /all\.json is in a git work tree that does not ignore it, .*; --force writes it nevertheless$/
      )
      yield* write(exportTo(path("ignored.json")), "{}\n")
      yield* write(exportTo(path("all.json"), true), "{}\n")
      assert.sameMembers(readdirSync(folder), [".git", ".gitignore", "all.json", "ignored.json"])
      yield* write({ ...exportTo(path("example.json")), holdsValues: false }, "{}\n")
    })
  )

  it.effect("follows no symbolic link, also one that appears meanwhile", () =>
    Effect.gen(function* () {
      const { path } = workplace()
      writeFileSync(path("theirs"), "theirs")
      symlinkSync(path("theirs"), path("link.json"))
      assert.match(yield* refusal(exportTo(path("link.json"), true)), /is a symbolic link/)
      const output = yield* Effect.provide(openOutput(exportTo(path("late.json"))), inSituation({}))
      symlinkSync(path("theirs"), path("late.json"))
      const writing = writeOutput(output, (chunk) => chunk(Buffer.from("ours")))
      const { message } = yield* Effect.flip(Effect.provide(writing, inSituation({})))
      assert.match(message, /another program wrote .* meanwhile/)
      assert.strictEqual(readFileSync(path("theirs"), "utf8"), "theirs")
      assert.isTrue(lstatSync(path("late.json")).isSymbolicLink())
    })
  )

  it.effect("stays as it was on a full disk, and no part of a file is left", (context) =>
    Effect.gen(function* () {
      const small = mkdtempSync(join(root, "small-"))
      const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", small])
      context.skip(mounted.status !== 0, "this user cannot mount a small disk")
      onTestFinished(() => void spawnSync("umount", ["--lazy", small]))
      const file = exportTo(join(small, "all.json"))
      yield* write(file, "{}\n")
      const { message } = yield* Effect.flip(write(file, "x".repeat(100_000)))
      assert.strictEqual(message, `${file.path} cannot be written: the disk is full`)
      assert.deepStrictEqual(readdirSync(small), ["all.json"])
      assert.strictEqual(readFileSync(file.path, "utf8"), "{}\n")
    })
  )
})

describe("a rendered file without a record", () => {
  const template = 'listen 8080;\nset $token "{{TOKEN}}";\nset $other "{{OTHER}}";\n'
  const parts = Either.getOrThrow(parseTemplate(template))
  const fits = (text: string, of = parts) => isRendered(of)(Buffer.from(text), statSync(root, { bigint: true }))

  it("is recognized by the literals of its template", () => {
    assert.isTrue(fits('listen 8080;\nset $token "a";\nset $other "";\n'))
    assert.isTrue(fits('listen 8080;\nset $token "it"s";\nset $other "";";\n'))
  })

  it("is another file with other lines before, between or after them", () => {
    const rendered = 'listen 8080;\nset $token "a";\nset $other "";\n'
    for (const text of [`# mine\n${rendered}`, `${rendered}# mine\n`, rendered.replace("a", 'a";\n# mine')]) {
      assert.isFalse(fits(text), text)
    }
  })

  it("is not recognized by a template that says little", () => {
    assert.isFalse(fits("anything\n", Either.getOrThrow(parseTemplate("{{TOKEN}}\n"))))
    assert.isFalse(fits("a:5432:b\n", Either.getOrThrow(parseTemplate("{{HOST}}:5432:{{USER}}\n"))))
  })
})

it("a folder that does not exist is named before anything is read", () => {
  mkdirSync(join(root, "exists"))
  return Effect.runPromise(
    Effect.map(refusal(exportTo(join(root, "missing/all.json"))), (message) =>
      assert.include(message, "would be in a directory that does not exist; create it first")
    )
  )
})

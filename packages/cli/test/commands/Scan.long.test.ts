import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { FastCheck as fc, Redacted } from "effect"
import { assert, describe, it } from "vitest"
import { Batch } from "../../src/commands/scan/Batch.js"
import { secretPatterns } from "../../src/commands/scan/SecretPatterns.js"
import { pathOfBytes, pathOfText, shownPath } from "../../src/commands/scan/FilePath.js"
import { SecretSearch } from "../../src/commands/scan/Search.js"
import { workplace } from "../support/Workplace.js"
import { runs } from "../../../domain/test/support/Runs.js"

const place = workplace()

const pem = `-----BEGIN PRIVATE KEY-----\n${"q7Zc".repeat(16)}\n${"Xb3k".repeat(16)}\n-----END PRIVATE KEY-----\n`
const values = {
  API_KEY: "canary-1-8f3b",
  JSON_TEXT: '{"user": "ada"}\n',
  PEM: pem,
  SAME: "canary-1-8f3b",
  LOGIN: "canary-2-77aa",
  LOGIN_URL: "redis://:canary-2-77aa",
  SHORT: "s3cret",
  NUMBER: "12345678"
}

/** A repository with files, of which those in `staged` are staged. */
const repository = (staged: Readonly<Record<string, string>>, others: Readonly<Record<string, string>> = {}) => {
  const folder = mkdtempSync(join(place.home.folder, "repository-"))
  const git = (...args: ReadonlyArray<string>) => {
    const { status, stderr } = spawnSync("git", args, { cwd: folder, encoding: "utf8" })
    assert.strictEqual(status, 0, stderr)
  }
  const write = (files: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
  }
  git("init", "-q")
  write(staged)
  if (Object.keys(staged).length > 0) git("add", ...Object.keys(staged))
  write(others)
  return { folder, git, write }
}

const scan = (cwd: string, ...args: ReadonlyArray<string>) =>
  place.home.coffer(["scan", "--env", "acme/webshop/dev", ...args], { cwd })

const furnish = async () => {
  const input = JSON.stringify(values)
  assert.strictEqual((await place.home.coffer(["secret", "import", "-", "--format", "json"], { input })).code, 0)
}

describe("coffer scan", () => {
  it("names file, line and key of each staged value, and shows no value", async () => {
    await furnish()
    const { folder } = repository({
      "src/config.ts": `// first\nconst key = "${values.API_KEY}"\n`,
      "keys/private.pem": `\n\n${pem}`,
      "indented.yml": `key: |\n${pem.replace(/^/gm, "  ")}`,
      "secret.yml": `data:\n  text: ${Buffer.from(values.JSON_TEXT).toString("base64")}\n`,
      "escaped.json": JSON.stringify({ text: values.JSON_TEXT.trim() }),
      "odd name\n.txt": values.API_KEY,
      "curl.sh": `curl -H 'Authorization: Basic ${Buffer.from(`ada:${values.LOGIN}`).toString("base64")}'`,
      "url.txt": values.LOGIN_URL,
      "fine.txt": `${values.SHORT} ${values.NUMBER} -----BEGIN PRIVATE KEY-----`
    })
    const { code, stderr, stdout } = await scan(folder)
    assert.strictEqual(code, 1, stderr)
    assert.deepStrictEqual(stdout.trim().split("\n").sort(), [
      "curl.sh\t1\tLOGIN",
      "escaped.json\t1\tJSON_TEXT",
      "indented.yml\t3\tPEM",
      "indented.yml\t4\tPEM",
      "keys/private.pem\t3\tPEM",
      "keys/private.pem\t4\tPEM",
      "keys/private.pem\t5\tPEM",
      "odd name .txt\t1\tAPI_KEY",
      "odd name .txt\t1\tSAME",
      "secret.yml\t2\tJSON_TEXT",
      "src/config.ts\t2\tAPI_KEY",
      "src/config.ts\t2\tSAME",
      "url.txt\t1\tLOGIN",
      "url.txt\t1\tLOGIN_URL"
    ])
    assert.match(stderr, /not looked for, because the value is a number or shorter than 8: NUMBER, SHORT/)
    assert.match(stderr, /14 values of acme\/webshop\/dev in 9 staged files; take them out/)
    for (const value of [values.API_KEY, "q7Zc", values.SHORT]) assert.notInclude(stdout + stderr, value)
    const { data } = JSON.parse((await scan(folder, "--json", "--only", "API_KEY")).stdout)
    assert.deepStrictEqual(data.at(0), { file: "odd name\n.txt", line: 1, key: "API_KEY" })
  })

  it("reads what is staged, and not what the folder has", async () => {
    const { folder, git, write } = repository({ "a.txt": values.API_KEY })
    write({ "a.txt": "clean" })
    assert.strictEqual((await scan(folder)).code, 1, "the index still has it")
    git("add", "a.txt")
    const clean = await scan(folder)
    assert.deepStrictEqual([clean.code, clean.stdout], [0, ""])
    assert.include(clean.stderr, "no value of acme/webshop/dev in 1 staged file")
    git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "first")
    assert.include((await scan(folder)).stderr, "nothing to look through: 0 staged files")
    write({ "a.txt": values.API_KEY })
    assert.include((await scan(folder)).stderr, "nothing to look through: 0 staged files")
  })

  it("reads everything staged from a folder below, whatever git is set to", async () => {
    const { folder, git } = repository({ "a.txt": values.API_KEY, "lib/b.txt": "clean" })
    git("config", "diff.relative", "true")
    assert.strictEqual((await scan(join(folder, "lib"))).code, 1)
  })

  it("looks into files and folders that are named, without those that git ignores", async () => {
    const { folder, write } = repository(
      { ".gitignore": "node_modules\n", "lib/a.txt": "clean" },
      { "lib/new.txt": values.API_KEY, "node_modules/b.txt": values.API_KEY }
    )
    symlinkSync(join(folder, "node_modules/b.txt"), join(folder, "lib/link.txt"))
    const below = await scan(folder, "lib", "--except", "SAME")
    assert.deepStrictEqual([below.code, below.stdout], [1, "lib/new.txt\t1\tAPI_KEY\n"])
    assert.strictEqual((await scan(folder, "node_modules/b.txt")).code, 1)
    write({ ":!x/a.txt": values.API_KEY })
    assert.strictEqual((await scan(folder, ":!x", "--only", "API_KEY")).stdout, ":!x/a.txt\t1\tAPI_KEY\n")
    assert.match((await scan(folder, "nope.txt")).stderr, /there is no file nope\.txt/)
  })

  it("looks into files whose names are not UTF-8, and shows them with escapes", async () => {
    const { folder, git } = repository({ "lib/é.txt": "clean" })
    const name = Buffer.concat([
      Buffer.from(join(folder, "lib/é-")),
      Buffer.from([0xff, 0xc0, 0xae]),
      Buffer.from(".txt")
    ])
    writeFileSync(name, values.API_KEY)
    const expected = "lib/é-\\xff\\xc0\\xae.txt\t1\tAPI_KEY\n"
    const named = await scan(folder, "lib", "--only", "API_KEY")
    assert.deepStrictEqual([named.code, named.stdout], [1, expected])
    git("add", "lib")
    const staged = await scan(folder, "--only", "API_KEY")
    assert.deepStrictEqual([staged.code, staged.stdout], [1, expected])
    const { code, stderr } = await place.home.shell('cd "$FOLDER/lib" && $COFFER scan --env acme/webshop/dev *', {
      env: { FOLDER: folder }
    })
    assert.strictEqual(code, 1)
    assert.match(stderr, /a name that is not UTF-8 cannot be given: name its folder/)
  })

  it("stops a commit as a hook", () => {
    const { folder, write } = repository({ "a.txt": values.API_KEY })
    const coffer = join(import.meta.dirname, "../../bin/coffer.js")
    const line = `#!/bin/sh\nexec "${process.execPath}" "${coffer}" scan --env acme/webshop/dev\n`
    writeFileSync(join(folder, ".git/hooks/pre-commit"), line, { mode: 0o755 })
    const commit = () =>
      spawnSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-aqm", "first"], {
        cwd: folder,
        env: { ...place.home.environment },
        encoding: "utf8"
      })
    const refused = commit()
    assert.strictEqual(refused.status, 1, refused.stderr)
    assert.include(refused.stderr, "2 values of acme/webshop/dev in 1 staged file")
    write({ "a.txt": "clean" })
    assert.strictEqual(commit().status, 0)
  })

  it("says that there is no repository", async () => {
    assert.match((await scan("/")).stderr, /git: fatal: not a git repository/i)
  })
})

it("shows a path as text where it is UTF-8, and as bytes where it is not", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (text) => shownPath(pathOfText(text)) === text.toWellFormed()))
  const decode = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const shown = shownPath(pathOfBytes(bytes))
      if (decode(bytes).includes("\ufffd")) assert.match(shown, /\\x[89a-f][0-9a-f]|\ufffd/)
      else assert.strictEqual(shown, decode(bytes))
    })
  )
})

describe("the search", () => {
  const letters = (least: number, most: number) =>
    fc.string({ unit: fc.constantFrom("a", "b", "\n"), minLength: least, maxLength: most })

  it("finds what a search of the whole text finds, wherever chunks divide it", () => {
    fc.assert(
      fc.property(letters(8, 10), fc.array(letters(0, 12)), (value, chunks) => {
        const bare = value.trim()
        fc.pre(bare.length >= 8)
        const secrets = new SecretSearch(secretPatterns([{ key: "A", value: Redacted.make(value) }]).patterns)
        const search = secrets.start()
        for (const chunk of chunks) search.take(Buffer.from(chunk))
        const text = chunks.join("")
        const lines = new Set<number>()
        for (let at = text.indexOf(bare); at >= 0; at = text.indexOf(bare, at + 1)) {
          lines.add(text.slice(0, at).split("\n").length)
        }
        assert.deepStrictEqual(
          search.finds().map(({ line }) => line),
          [...lines]
        )
      }),
      { numRuns: runs(2_000) }
    )
  })

  it("finds every value, also where one ends another", () => {
    fc.assert(
      fc.property(fc.array(letters(8, 10), { minLength: 2, maxLength: 4 }), letters(0, 30), (values, text) => {
        const secrets = values.map((value, index) => ({ key: String(index), value: Redacted.make(value) }))
        const search = new SecretSearch(secretPatterns(secrets).patterns).start()
        search.take(Buffer.from(text))
        const found = new Set(search.finds().map(({ key }) => key))
        for (const [index, value] of values.map((one) => one.trim()).entries()) {
          const isThere = value.length >= 8 && text.includes(value)
          assert.strictEqual(found.has(String(index)), isThere)
        }
      }),
      { numRuns: runs(2_000) }
    )
  })

  it("finds a value in whatever base64 it became a part of", () => {
    const bytes = fc.uint8Array({ maxLength: 5 })
    const alphabet = fc.constantFrom("base64" as const, "base64url" as const)
    fc.assert(
      fc.property(fc.string({ minLength: 8 }), bytes, bytes, alphabet, (value, before, after, encoding) => {
        const { patterns } = secretPatterns([{ key: "A", value: Redacted.make(value) }])
        fc.pre(patterns.length > 0)
        const search = new SecretSearch(patterns).start()
        const encoded = Buffer.concat([before, Buffer.from(value), after]).toString(encoding)
        search.take(Buffer.from(encoded))
        assert.lengthOf(search.finds(), 1)
      })
    )
  })

  it("finds a value of several lines with other line breaks", () => {
    const found = (value: string, text: string) => {
      const search = new SecretSearch(secretPatterns([{ key: "A", value: Redacted.make(value) }]).patterns).start()
      search.take(Buffer.from(text))
      return search.finds().map(({ line }) => line)
    }
    assert.deepStrictEqual(found("one\r\ntwo\r\nthree\r\n", "\none\ntwo\nthree"), [2])
    assert.deepStrictEqual(found("one\ntwo\nthree\n", "\r\none\r\ntwo\r\nthree"), [2])
  })

  it("reads a batch of git however it is cut", () => {
    const contents = fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 4 })
    fc.assert(
      fc.property(contents, fc.integer({ min: 1, max: 20 }), (files, size) => {
        const output = Buffer.concat(
          files.flatMap((bytes) => [Buffer.from(`${"0".repeat(40)} blob ${bytes.length}\n`), bytes, Buffer.from("\n")])
        )
        const read: Array<Array<number>> = []
        const batch = new Batch(() => {
          const bytes: Array<number> = []
          read.push(bytes)
          return (chunk) => bytes.push(...chunk)
        })
        for (let at = 0; at < output.length; at += size) batch.take(output.subarray(at, at + size))
        assert.deepStrictEqual(
          read,
          files.map((bytes) => [...bytes])
        )
      })
    )
  })
})

import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, beforeAll, describe, it } from "vitest"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { ok, prints } = place

const put = (name: string, text: string) => writeFileSync(join(place.home.folder, name), text)

/** The notes about the lines of a file, without its name. */
const notesOf = (stderr: string) => [...stderr.matchAll(/^coffer: \S+, (line .*)$/gm)].map(([, note]) => note)

beforeAll(async () => {
  await ok("env", "create", "imported")
})

describe("secret import", () => {
  it("refuses what dotenvx encrypted, by line, and says how to decrypt it", async () => {
    put("x.env", 'DOTENV_PUBLIC_KEY="03a5"\nA=1\nB="encrypted:BDqDBibm4wsYqMpCjTQ6BsDHmMadg9K3dAt+Z9HPMfLEIRVz"\n')
    const { code, stderr } = await place.home.coffer(["secret", "import", "x.env"])
    assert.strictEqual(code, 1)
    assert.match(stderr, /x\.env, line 3: B: is a value that dotenvx encrypted;.* dotenvx decrypt --stdout/)
    assert.notInclude(stderr, "BDqDBibm")
  })

  it("notes the variables that Doppler and dotenvx write about themselves", async () => {
    const own = {
      DOPPLER_CONFIG: "dev",
      DOPPLER_ENVIRONMENT: "dev",
      DOPPLER_PROJECT: "shop",
      DOTENV_PUBLIC_KEY_CI: "x"
    }
    put("doppler.json", JSON.stringify({ ...own, DOPPLER_TOKEN: "kept" }))
    const { stderr } = await ok("secret", "import", "doppler.json", "--env", "imported")
    assert.deepStrictEqual(notesOf(stderr), [
      ...["CONFIG", "ENVIRONMENT", "PROJECT"].map(
        (name) => `line 1: DOPPLER_${name} is Doppler's own: it names a place there`
      ),
      "line 1: DOTENV_PUBLIC_KEY_CI is dotenvx's own: it encrypts values there"
    ])
  })

  const lines = [
    "A=1",
    "B=$A",
    'C="${A}-${B}"',
    "D='$A ${A}'",
    "E=$ELSEWHERE/$A",
    "F=${A:-default}",
    "G=$$A",
    "H=$H",
    "I=$$$A"
  ]

  it("notes variables in values, and stores them as they are", async () => {
    put("variables.env", `${lines.join("\n")}\n`)
    const { stderr } = await ok("secret", "import", "variables.env", "--env", "staging")
    assert.deepStrictEqual(notesOf(stderr), [
      "line 2: B contains $…, which is kept as it is",
      "line 3: C contains ${…}, which is kept as it is",
      "line 4: D contains ${…}, which is kept as it is",
      "line 5: E contains $…, which is kept as it is",
      "line 6: F contains ${…}, which is kept as it is",
      "line 7: G contains $$, which is kept as it is",
      "line 8: H contains $…, which is kept as it is",
      "line 9: I contains $…, which is kept as it is",
      "line 9: I contains $$, which is kept as it is"
    ])
    assert.strictEqual(await prints("secret", "get", "B", "--env", "staging"), "$A")
  })

  it("makes references of those that name other keys of the file, with --expand", async () => {
    const { stderr } = await ok("secret", "import", "variables.env", "--env", "prod", "--expand")
    assert.deepStrictEqual(
      notesOf(stderr).map((note) => note?.split(" contains ")[0]),
      ["line 4: D", "line 5: E", "line 6: F", "line 7: G", "line 8: H", "line 9: I", "line 9: I"]
    )
    const found: Record<string, string> = JSON.parse(
      await prints("secret", "export", "--format", "json", "--env", "prod")
    )
    assert.deepStrictEqual(found, {
      A: "1",
      B: "1",
      C: "1-1",
      D: "$A ${A}",
      E: "$ELSEWHERE/1",
      F: "${A:-default}",
      G: "$$A",
      H: "$H",
      I: "$$$A"
    })
    assert.strictEqual(await prints("secret", "get", "C", "--env", "prod", "--raw"), "${A}-${B}")
  })

  it("expands no other format", async () => {
    put("x.json", "{}")
    const { code, stderr } = await place.home.coffer(["secret", "import", "x.json", "--expand"])
    assert.deepStrictEqual([code, stderr.includes("--expand is for .env files: the format here is json")], [2, true])
  })
})

it("secret set KEY=VALUE stores the value, and a refusal does not show it", async () => {
  await ok("secret", "set", "PAIR=hunter2")
  assert.strictEqual(await place.prints("secret", "get", "PAIR"), "hunter2")
  const { code, stderr } = await place.home.coffer(["secret", "set", "PAIR=hunter2", "OTHER"])
  assert.strictEqual(code, 2)
  assert.notInclude(stderr, "hunter2")
})

describe("secret export", () => {
  it("names the format that can hold what a .env file cannot", async () => {
    await ok("env", "create", "odd")
    put(
      "odd.json",
      JSON.stringify({ JSON_TEXT: '{"a":"it\'s"}', CRLF: "a\r\nb", LOOKS: "it's $5", PROMPT_COMMAND: "x" })
    )
    await ok("secret", "import", "odd.json", "--env", "odd")
    const refused = await place.home.coffer(["secret", "export", "--env", "odd"])
    assert.strictEqual(refused.code, 1)
    assert.match(
      refused.stderr,
      /CRLF has a value with a carriage return.*LOOKS has a value with quotes.*shell, json or yaml can hold them/
    )
    const { stderr, stdout } = await ok("secret", "export", "--env", "odd", "--skip-unsupported")
    assert.include(stdout, `JSON_TEXT={"a":"it's"}\n`)
    assert.include(stderr, "PROMPT_COMMAND can make programs run code")
  })

  it("and get withhold from a shell what run leaves out, and edit does not", async () => {
    const get = ["secret", "get", "--env", "odd", "--format", "shell", "JSON_TEXT", "PROMPT_COMMAND"]
    const refused = await place.home.coffer(get)
    assert.deepStrictEqual([refused.code, refused.stdout], [1, ""])
    assert.include((await ok(...get, "--allow-env", "PROMPT_COMMAND")).stdout, "export PROMPT_COMMAND='x'\n")
    const edit = ["secret", "edit", "PROMPT_COMMAND", "--env", "odd", "--format", "shell", "--yes"]
    const { code, stderr } = await place.home.coffer(edit, { env: { EDITOR: "true" } })
    assert.deepStrictEqual([code, stderr.includes("nothing was changed")], [0, true], stderr)
  })
})

describe("coffer import of a file", () => {
  it("is coffer secret import", async () => {
    put(".env", "FROM_FILE=one\nSECOND=two\n")
    const { stdout } = await ok("import", ".env", "--dry-run", "-e", "imported")
    assert.strictEqual(stdout, "FROM_FILE\tcreated\t1\nSECOND\tcreated\t1\n")
    assert.strictEqual((await ok("import", ".env", "-e", "imported")).stdout, stdout)
    put(".env", "FROM_FILE=other\n")
    const refused = await place.home.coffer(["import", ".env", "-e", "imported"])
    assert.strictEqual(refused.code, 2)
    assert.match(refused.stderr, /this would overwrite or delete 1 secret \(FROM_FILE\)/)
    await ok("import", ".env", "-e", "imported", "-y")
    assert.strictEqual(await prints("get", "FROM_FILE", "-e", "imported"), "other")
  })

  it.each([
    [["import", ".env", "--map", "a=b"], /--map is not for the import of a file/],
    [["import", ".env", "other.env"], /the import of a file takes no further argument/],
    [["import", "doppler", "x.json", "--dry-run"], /--dry-run is not for the import from a tool/],
    [["import", "dopler"], /TOOL takes one of .*; did you mean doppler\?/],
    [["import", "-"], /add --format/]
  ] as const)("refuses %j", async (words, sentence) => {
    const { code, stderr } = await place.home.coffer(words)
    assert.strictEqual(code, 2)
    assert.match(stderr, sentence)
  })
})

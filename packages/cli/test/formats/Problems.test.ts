import { parse } from "dotenv"
import { Either } from "effect"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { formatOf } from "@coffer/domain/formats/Format"
import type { FormatName } from "@coffer/domain/formats/FormatNames"
import { formats } from "./Support.js"
import { runs } from "../../../domain/test/support/Runs.js"

/** A value that must be in no message. */
const secret = "hunter2"

const problems: ReadonlyArray<readonly [FormatName, string, number, RegExp]> = [
  ["env", `A=1\nnot an assignment ${secret}`, 2, /KEY=value/],
  ["env", `A=1\n\n# note\nB="${secret}\n`, 4, /^B: its quotes do not close/],
  ["env", `A='${secret}' rest`, 1, /^A: its quotes do not close/],
  ["env", `A=${secret}#tail`, 1, /^A: a # directly after the text/],
  ["env", "A=#tail", 1, /^A: a # directly after/],
  ["env", `A=1\nP="C:\\\\new${secret}"`, 2, /^P: after another backslash, .n and .r are a line end/],
  ["env", `A=1\nP="${secret}\\\\\\r"`, 2, /^P: after another backslash/],
  ["env", "__proto__=x", 1, /dotenv does not read/],
  ["env", "export A", 1, /KEY=value/],
  ["shell", `export A='1'\nexport B="$(${secret})"`, 2, /^B: its value is not plain text/],
  ["shell", `export A=\`${secret}\``, 1, /^A: /],
  ["shell", `A='${secret}`, 1, /^A: /],
  ["shell", `rm -rf ${secret}`, 1, /runs nothing/],
  ["shell", `export A='x'; rm ${secret}`, 1, /^A: /],
  ["shell", "export A='x'\r\n", 1, /LF/],
  ["shell", `export A='${secret}\0'`, 1, /NUL/],
  ["docker", `A=1\n${secret}`, 2, /KEY=value/],
  ["json", `{\n  "A": "1",\n  "B": 2\n}`, 3, /^B must have a text/],
  ["json", `{"A": {"B": "${secret}"}}`, 1, /^A must have a text/],
  ["json", `["${secret}"]`, 1, /start of an object/],
  ["json", `{"A": "${secret}",}`, 1, /a key in double quotes/],
  ["json", `{"A": "1"\n "B": "${secret}"}`, 2, /comma/],
  ["json", `{"A": "1"} ${secret}`, 1, /after the object/],
  ["json", `{A: "${secret}"}`, 1, /double quotes/],
  ["json", "", 1, /start of an object/],
  ["yaml", `A: "1"\nB: 8080\n`, 2, /^B must have a text/],
  ["yaml", `A: yes\n`, 1, /^A: not every reader/],
  ["yaml", `A: 012\n`, 1, /^A /],
  ["yaml", `A: 2001-01-01\n`, 1, /^A: not every reader/],
  ["yaml", `A: 1_000\n`, 1, /^A: not every reader/],
  ["yaml", `A:\n`, 1, /^A must have a text/],
  ["yaml", `A: &x "${secret}"\nB: *x\n`, 2, /^B must have a text/],
  ["yaml", `A:\n  B: "${secret}"\n`, 1, /^A must have a text/],
  ["yaml", `A: "x"\n\tB: "${secret}"\n`, 2, /not valid YAML: the line is indented with a tab/],
  ["yaml", `A: "${secret}\n`, 2, /not valid YAML: quotes that begin on this line or above do not close/],
  ["yaml", `A: @${secret}\n`, 1, /not valid YAML: write the value in double quotes/],
  ["yaml", `A: ${secret}: x\n`, 1, /not valid YAML: there is a second colon/],
  ["yaml", `A: "\\${secret}"\n`, 1, /not valid YAML: double quotes hold a backslash/],
  ["yaml", `A: "x"\n---\nB: "y"\n`, 2, /second document/],
  ["yaml", `- ${secret}\n`, 1, /start of lines/]
]

describe("a file that cannot be read", () => {
  it.each(problems)("%s %j is refused with its line", (name, text, line, problem) => {
    const found = formats[name].read(text)
    assert.isTrue(Either.isLeft(found))
    if (Either.isRight(found)) return
    const [first] = found.left.mistakes
    assert.match(first.problem, problem)
    assert.strictEqual(first.line, line)
    for (const mistake of found.left.mistakes) {
      assert.notInclude(mistake.problem, secret)
      assert.notMatch(mistake.problem, /[A-Za-z]_[A-Z]/, "no code of a library")
    }
  })

  it.each<readonly [FormatName, string, ReadonlyArray<number>]>([
    ["env", "one\nA=1\ntwo three\nB='x' y\nC=2#3\nD=4\n", [1, 3, 4, 5]],
    ["env", 'A=1\nB="open\nC=2\n', [2]],
    ["shell", "rm x\nA='1'\nB=$(date)\nC='2'\nD=`x`\n", [1, 3, 5]],
    ["docker", "one\nA=1\ntwo\n", [1, 3]],
    ["json", '{\n"A": 1,\n"B": "x",\n"C": true,\n"D": null\n}', [2, 4, 5]],
    ["json", '{\n"A": 1,\n"B": [1],\n"C": 2\n}', [2, 3]],
    ["yaml", "A: 1\nB: text\nC: yes\nD: [1]\n", [1, 3, 4]],
    ["yaml", 'A: "x" y\nB: text\nC: @z\nD: x: y\n', [1, 3, 4]]
  ])("%s %j is refused with all of its mistakes", (name, text, lines) => {
    const found = Either.flip(formats[name].read(text))
    assert.deepStrictEqual(
      Either.getOrThrow(found).mistakes.map(({ line }) => line),
      lines
    )
  })
})

it("reads every .env file that it takes as dotenv reads it", () => {
  const piece = fc.constantFrom(
    ..."A B export =  : # ' \" ` \\ $ \n \r \t \u2028 x y A= B=' C=\" D=` \\' \\\" \n\n \n# =' ='x\\' '\n".split(" "),
    " "
  )
  const text = fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(""))
  let taken = 0
  fc.assert(
    fc.property(text, (source) => {
      const found = formats.env.read(source)
      if (Either.isLeft(found)) return
      const all = parse(source)
      for (const { key, value } of found.right) {
        if (found.right.filter((entry) => entry.key === key).length > 1) continue
        taken++
        assert.strictEqual(value, Object.hasOwn(all, key) ? all[key] : undefined, JSON.stringify(source))
      }
    }),
    { numRuns: runs(20_000) }
  )
  assert.isAbove(taken, runs(500))
})

const read = (name: FormatName, text: string) =>
  Object.fromEntries(Either.getOrThrow(formats[name].read(text)).map(({ key, line, value }) => [key, [value, line]]))

it("tells what a .env file's value contains that other readers replace", () => {
  const source = [
    'A="say \\"x\\""',
    "B=${HOME}/x",
    "C='${HOME} \\\" $HOME'",
    "D=$HOME",
    'E="\\"${X:-y}"',
    "F=$$2y$$10$$abc",
    "G='Let\\'s go'",
    'H="C:\\temp"',
    "I='\\\\server'",
    "J=$(date)",
    "K=plain\\n",
    'L="two\\nlines"',
    "M=a$"
  ].join("\n")
  const entries = Either.getOrThrow(formats.env.read(source))
  assert.deepStrictEqual(
    entries.map(({ kept = [] }) => kept.join(" ")),
    ['\\"', "${…}", "${…}", "$…", '\\" ${…}', "$$", "\\'", "a backslash", "\\\\", "$(…)", "", "", ""]
  )
})

it("tells what else other readers take differently, and nothing of a line feed that all read", () => {
  const source = 'A="a\\rb"\nB=`x`\nC: y\nD="a\rb"\r\nE="a\r\nb"\r\nF="a\\nb"\n'
  const entries = Either.getOrThrow(formats.env.read(source))
  assert.deepStrictEqual(
    entries.map(({ notes = [] }) => notes.join()),
    [
      "contains \\r, which is read as a carriage return",
      "is in backticks, which not every reader takes for quotes",
      "is written with a colon, which not every reader takes",
      "contains a carriage return, which is read as a line feed",
      "",
      ""
    ]
  )
})

describe("files that others wrote", () => {
  it.each<[FormatName, string, Record<string, [string, number]>]>([
    [
      "env",
      "# head\nexport A=plain # note\r\nB = 'single # no note'\nC: colon\nD=\"two\nlines\" # note\nE=\n\nF=`it's`\n",
      {
        A: ["plain", 2],
        B: ["single # no note", 3],
        C: ["colon", 4],
        D: ["two\nlines", 5],
        E: ["", 7],
        F: ["it's", 9]
      }
    ],
    [
      "shell",
      "#!/bin/sh\nexport A='it'\\''s'\nB=\"two \\$ \\\"x\\\"\"  # note\nC=plain/path:1\nD='a\nb'\nE=\nF=a\\ b",
      { A: ["it's", 2], B: ['two $ "x"', 3], C: ["plain/path:1", 4], D: ["a\nb", 5], E: ["", 7], F: ["a b", 8] }
    ],
    ["docker", "# note\n\n  A= 'kept' # too\r\nB=\n", { A: [" 'kept' # too", 3], B: ["", 4] }],
    ["json", '{\n\t"A": "x\\u00fc\\ud83d\\udd10\\/",\r\n\t"B":""}', { A: ["xü🔐/", 2], B: ["", 3] }],
    [
      "yaml",
      "# note\nA: plain text\nB: 'it''s'\nC: |\n  two\n  lines\n\"D\": !!str 012\n",
      { A: ["plain text", 2], B: ["it's", 3], C: ["two\nlines\n", 4], D: ["012", 7] }
    ],
    ["yaml", "", {}],
    ["yaml", "{}\n", {}],
    ["env", "\n# nothing\n", {}],
    ["json", " {} ", {}]
  ])("%s %j are read", (name, text, expected) => {
    assert.deepStrictEqual(read(name, text), expected)
  })
})

it("knows a format by the file's name", () => {
  const names = [
    ".env",
    "prod.env",
    ".env.local",
    "a/b/.env.prod",
    "x.sh",
    "x.JSON",
    "x.yaml",
    "x.yml",
    ".env.json",
    "x.txt",
    "x",
    "env"
  ]
  assert.deepStrictEqual(
    names.map((name) => formatOf(name) ?? "unknown"),
    ["env", "env", "env", "env", "shell", "json", "yaml", "yaml", "json", "unknown", "unknown", "unknown"]
  )
})

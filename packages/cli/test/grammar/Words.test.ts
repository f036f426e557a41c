import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import type { Syntax } from "../../src/grammar/Data.js"
import { countProblem, readWords } from "../../src/grammar/Words.js"

const syntax: Syntax = {
  options: [
    { kind: "option", name: "file", description: "", value: "text" },
    { kind: "option", name: "json", description: "" },
    { kind: "option", name: "only", description: "", value: "text", isRepeatable: true },
    { kind: "option", name: "format", description: "", value: "text", choices: ["env", "json"], isRequired: true }
  ],
  arguments: [{ kind: "argument", name: "VALUE", description: "", least: 0, most: Infinity, isSecret: true }]
}

const open: Syntax = { ...syntax, arguments: [{ kind: "argument", name: "KEY", description: "", least: 1, most: 2 }] }

const word = fc.oneof(
  fc.string({ unit: "binary" }).filter((text) => !text.includes("\0")),
  fc.constantFrom("-", "--", "--version", "-h", "--file", "--json", "", "--file=-", "-abc"),
  fc.string().map((text) => `-${text.replaceAll("\0", "")}`)
)

const messageOf = (argv: ReadonlyArray<string>, of = open) => {
  const reading = readWords(of, argv)
  return reading.type === "wrong" ? reading.message : reading.type
}

describe("the words of a command line", () => {
  it("after -- are arguments, whatever they begin with", () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (after) => {
        const reading = readWords(syntax, ["--json", "--", ...after])
        assert(reading.type === "words")
        assert.deepStrictEqual(
          reading.arguments,
          after.map((text) => ({ text, isVerbatim: true }))
        )
        assert.deepStrictEqual([...reading.options.keys()], ["json"])
      })
    )
  })

  it("before -- are options and arguments in any order, and each comes back as it was", () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), fc.string({ minLength: 1 }), (words, value) => {
        // -f, -h and -j are options, in a group too.
        const plain = words.filter((text) => !text.startsWith("--") && !/^-[A-Za-z]*[fhj]/.test(text))
        fc.pre(!value.startsWith("-"))
        const reading = readWords(syntax, [...plain, "--only", value, "--only=--json"])
        assert(reading.type === "words")
        assert.deepStrictEqual(
          reading.arguments.map(({ text }) => text),
          plain
        )
        assert.deepStrictEqual(reading.options.get("only"), [value, "--json"])
      })
    )
  })

  it("are options that are named in full, once, with a value where one belongs", () => {
    const cases = [
      [["--file"], "--file needs a value"],
      [["--file="], "--file needs a value"],
      [["--file", "--json"], "--file needs a value, and --json is an option; for a value that looks like one, write"],
      [["--file", "--json=1"], "--file needs a value, and --json is an option"],
      [["--file", "a", "--file=b"], "--file is given twice"],
      [["--json", "--json"], "--json is given twice"],
      [["--json=yes"], "--json takes no value"],
      [["--format", "xml"], "--format takes one of env, json"],
      [["--format", "jsn"], "--format takes one of env, json; did you mean json?"],
      [["--fil", "a"], "unknown option --fil; did you mean --file?"],
      [["--File", "a"], "unknown option --File; did you mean --file?"],
      [["--wizard"], "unknown option --wizard"],
      [["-x"], "unknown option -x"],
      [["-abc"], "unknown option -abc"],
      [["--__proto__"], "unknown option --__proto__"],
      [["--no-json"], "unknown option --no-json"]
    ] as const
    for (const [argv, message] of cases) assert.strictEqual(messageOf(argv).slice(0, message.length), message)
  })

  it("are all checked, so that one mistake does not hide the others", () => {
    const check = (text: string) => (text === text.toUpperCase() ? undefined : "KEY must be uppercase")
    const checked: Syntax = {
      options: syntax.options,
      arguments: [
        { kind: "argument", name: "KEY", description: "", least: 1, most: 1, check },
        { kind: "argument", name: "REST", description: "", least: 0, most: Infinity }
      ]
    }
    const all = (...argv: ReadonlyArray<string>) => {
      const reading = readWords(checked, argv)
      return reading.type === "wrong" ? [reading.message, ...reading.others] : [reading.type]
    }
    assert.deepStrictEqual(all("--fil", "--json=1", "--json=1", "--format", "xml"), [
      "unknown option --fil; did you mean --file?",
      "--json takes no value",
      "--json is given twice",
      "--format takes one of env, json"
    ])
    assert.deepStrictEqual(all("key", "rest", "--format=xml"), [
      "--format takes one of env, json",
      "KEY must be uppercase"
    ])
    assert.deepStrictEqual(all("--wizard", "hat", "KEY"), ["unknown option --wizard"], "hat may be its value")
    assert.deepStrictEqual(all("KEY", "rest"), ["words"])
  })

  it("ask for help at any place before --", () => {
    for (const argv of [["--help"], ["K", "-h"], ["--no-such", "--help"], ["--file", "-h"], ["--json", "--help=x"]]) {
      assert.strictEqual(messageOf(argv), "help", argv.join(" "))
    }
    assert.strictEqual(messageOf(["--", "--help"]), "words")
  })

  it("are counted, without showing one that may be a secret", () => {
    const problem = (argv: ReadonlyArray<string>, of: Syntax) => {
      const reading = readWords(of, argv)
      assert(reading.type === "words")
      return countProblem(of, reading, "coffer secret set")
    }
    assert.strictEqual(problem(["a"], open), "--format is missing")
    assert.strictEqual(problem(["--format=env"], open), "KEY is missing")
    assert.strictEqual(problem(["--format=env", "a", "b"], open), undefined)
    assert.strictEqual(problem(["--format=env", "a", "b", "c"], open), "unexpected argument 3 of coffer secret set")
    const one: Syntax = { ...syntax, arguments: [{ ...syntax.arguments[0]!, most: 1 }] }
    assert.strictEqual(
      problem(["--format=env", "my", "hunter2"], one),
      "unexpected argument 2 of coffer secret set: put a value with spaces in quotes"
    )
  })
})

describe("an option whose value may be left out or be the next word", () => {
  const login: Syntax = {
    options: [
      { kind: "option", name: "email", description: "", value: "ADDRESS", isValueOptional: true, isValueNext: true },
      { kind: "option", name: "code", description: "", value: "text" },
      { kind: "option", name: "json", description: "" }
    ],
    arguments: []
  }
  const optionsOf = (...argv: ReadonlyArray<string>) => {
    const reading = readWords(login, argv)
    return reading.type === "words" ? Object.fromEntries(reading.options) : reading
  }

  it("takes the next word, unless that word is an option", () => {
    assert.deepStrictEqual(optionsOf("--email", "a@b.c"), { email: ["a@b.c"] })
    assert.deepStrictEqual(optionsOf("--email=a@b.c"), { email: ["a@b.c"] })
    assert.deepStrictEqual(optionsOf("--email"), { email: [""] })
    assert.deepStrictEqual(optionsOf("--email", "--json"), { email: [""], json: [] })
    assert.deepStrictEqual(optionsOf("--code", "1", "--email", "a@b.c", "--json"), {
      code: ["1"],
      email: ["a@b.c"],
      json: []
    })
    assert.deepStrictEqual(optionsOf("--email", "a@b.c", "--code", "1"), { email: ["a@b.c"], code: ["1"] })
  })

  it("takes no second word, and no empty value after =", () => {
    const reading = readWords(login, ["--email", "a@b.c", "d@e.f"])
    assert.strictEqual(
      reading.type === "words" && countProblem(login, reading, "coffer login"),
      "unexpected argument 1 of coffer login"
    )
    assert.deepStrictEqual(optionsOf("--email="), {
      type: "wrong",
      message: "--email needs a value",
      others: []
    })
    assert.deepStrictEqual(optionsOf("--email", "a", "--email", "b"), {
      type: "wrong",
      message: "--email is given twice",
      others: []
    })
  })
})

import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { readSeed } from "@coffer/server/operations/dev/SeedFile"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { freshPath } from "../support/Services.js"

const seedOf = (content: string | Uint8Array) =>
  Effect.gen(function* () {
    const file = join(yield* freshPath, "../seed.json")
    writeFileSync(file, content)
    return yield* readSeed(file).pipe(
      Effect.map((seed) =>
        [...seed].map(([env, values]) => [env, [...values].map(([key, value]) => [key, Redacted.value(value)])])
      ),
      Effect.mapError(({ message }) => message.replace(file, "FILE"))
    )
  }).pipe(Effect.scoped)

const many = (count: number, value: string) =>
  JSON.stringify({ dev: Object.fromEntries(Array.from({ length: count }, (_, index) => [`K${index}`, value])) })

describe("A seed file", () => {
  it.effect("keeps the order of its environments and every value as it is", () =>
    Effect.gen(function* () {
      const seed = yield* seedOf('{"qa": {"A": "1", "B.c-d": " \\u00e9\\n"}, "dev": {}, "eu-west": {"__proto__": ""}}')
      assert.deepStrictEqual(seed, [
        [
          "qa",
          [
            ["A", "1"],
            ["B.c-d", " é\n"]
          ]
        ],
        ["dev", []],
        ["eu-west", [["__proto__", ""]]]
      ])
      assert.deepStrictEqual(yield* seedOf(" {} \n"), [])
    })
  )

  const refusals: ReadonlyArray<readonly [what: string, content: string | Uint8Array, message: RegExp]> = [
    ["no JSON", "dev: hunter2", /^FILE, line 1: is not the start of an object such as \{"dev": \{"KEY": "value"\}\}$/],
    ["nothing", "", /^FILE, line 1: is not the start of an object/],
    ["a list", "[]", /^FILE, line 1: is not the start of an object/],
    [
      "an end that is missing",
      '{"dev": {"A": "hunter2"}\n',
      /^FILE, line 2: is not valid JSON: expected a comma or the closing brace$/
    ],
    ["text after the end", '{}\n{"dev": "hunter2"}', /^FILE, line 2: is not valid JSON: text after the object$/],
    [
      "an environment that is no object",
      '{"dev":\n"hunter2"}',
      /^FILE, line 2: dev is not the start of an object such as \{"KEY": "value"\}$/
    ],
    [
      "an environment's name",
      '{"Dev": {"A": "hunter2"}}',
      /^FILE, line 1: "Dev": an environment name has 2 to 50 characters/
    ],
    ["an environment twice", '{"dev": {"A": "hunter2"},\n"dev": {}}', /^FILE, line 2: dev is here twice: remove one$/],
    [
      "a key that cannot be stored",
      '{"dev": {\n"A B": "hunter2"}}',
      /^FILE, line 2: dev: "A B": a secret key has 1 to 100 characters/
    ],
    ["a key twice", '{"dev": {"A": "hunter2",\n"A": "hunter2"}}', /^FILE, line 2: dev\.A is here twice: remove one$/],
    [
      "a value that is no text",
      '{"dev": {"A": "1",\n"B": 2}}',
      /^FILE, line 2: dev\.B: the value must be a text in double quotes, of at most 64 KB$/
    ],
    ["a value without quotes", '{"dev": {"A": hunter2}}', /^FILE, line 1: dev\.A: the value must be a text/],
    [
      "a value that is too long",
      many(1, "hunter2".padEnd(65_537)),
      /^FILE, line 1: dev\.K0: a secret value is a string of at most 64 KB/
    ],
    ["half a character", '{"dev": {"A": "hunter2\\ud800"}}', /^FILE, line 1: dev\.A: a secret value is a string/],
    ["too many keys", many(2_001, ""), /^FILE, line 1: dev has more than 2000 secrets$/],
    ["bytes that are no text", Buffer.from('{"dev": {"A": "hunter2\xff"}}', "latin1"), /^FILE is not UTF-8$/]
  ]
  for (const [what, content, message] of refusals) {
    it.effect(`is refused by its place and without its values: ${what}`, () =>
      Effect.gen(function* () {
        const said = yield* Effect.flip(seedOf(content))
        assert.match(said, message)
        assert.notMatch(said, /hunter2|\n/)
      })
    )
  }

  it.effect("that cannot be read is named", () =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(readSeed("/nowhere/seed.json"))
      assert.match(message, /^\/nowhere\/seed\.json cannot be read: ENOENT/)
    })
  )
})

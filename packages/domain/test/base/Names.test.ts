import { OrgId } from "@coffer/domain/base/Ids"
import { isOwnMessage } from "@coffer/domain/base/Message"
import {
  Email,
  EnvName,
  LoginCode,
  OrgName,
  ProjectName,
  SecretKey,
  ServiceAccountName
} from "@coffer/domain/base/Names"
import { Count, integerParameter } from "@coffer/domain/base/Schemas"
import { byteLength, maxSecretValueBytes } from "@coffer/domain/secrets/SecretValueForm"
import { RedactedSecretValue, SecretKeys, SecretValue, SecretValues } from "@coffer/domain/secrets/SecretValues"
import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck, Option, ParseResult, Redacted, Schema } from "effect"
import { inspect } from "node:util"

const accepts = <A, I>(schema: Schema.Schema<A, I>, input: unknown): boolean =>
  Either.isRight(Schema.decodeUnknownEither(schema)(input))

/** The messages and paths of a refusal; none when it was accepted. */
const issues = <A, I>(schema: Schema.Schema<A, I>, input: unknown) =>
  Either.match(ParseResult.decodeUnknownEither(schema)(input), {
    onLeft: (error) =>
      ParseResult.ArrayFormatter.formatIssueSync(error).map(({ message, path }) => ({ message, path: [...path] })),
    onRight: () => []
  })

const lower = "abcdefghijklmnopqrstuvwxyz"
const upper = lower.toUpperCase()
const digits = "0123456789"
const consistsOf = (alphabet: string, text: string) => [...text].every((character) => alphabet.includes(character))

/** Texts near a rule's edge: of its own characters mostly, of any length about its bounds, with a stranger at times. */
const near = (alphabet: string, maxLength: number) =>
  FastCheck.oneof(
    FastCheck.string({ unit: FastCheck.constantFrom(...alphabet), maxLength: maxLength + 3, size: "max" }),
    FastCheck.string({ unit: FastCheck.constantFrom(...alphabet), maxLength: 6 }),
    FastCheck.string({
      unit: FastCheck.constantFrom(...alphabet, "A", "_", ".", " ", "\n", "/", "é", "İ"),
      maxLength: 5
    }),
    FastCheck.string({ unit: "binary", maxLength: 4 })
  )

/** Letters and digits that only look like ASCII, or turn into it when cases are changed. */
const lookAlikes = [
  "\u212A",
  "\u017F",
  "\u0130",
  "\u0131",
  "\u0430",
  "\uFF41",
  "\u0660",
  "\u{1D7D8}",
  "\u2010",
  "a\u0301"
]

for (const [what, isName] of [
  ["an organization's name", Schema.is(OrgName)],
  ["a project's name", Schema.is(ProjectName)],
  ["an environment's name", Schema.is(EnvName)]
] as const) {
  describe(what, () => {
    it.prop(
      "has 2 to 50 lowercase letters, digits and hyphens, with a letter or digit at either end",
      [near(`${lower}${digits}--`, 50)],
      ([text]) => {
        const right =
          text.length >= 2 &&
          text.length <= 50 &&
          consistsOf(`${lower}${digits}-`, text) &&
          text.at(0) !== "-" &&
          text.at(-1) !== "-"
        assert.strictEqual(isName(text), right)
      }
    )

    it("may have 2 and 50 characters, but not 1 or 51", () => {
      assert.deepStrictEqual(
        [1, 2, 50, 51].map((length) => isName("a".repeat(length))),
        [false, true, true, false]
      )
    })

    it("is refused with a newline at its end, in capitals, and with letters that look like others", () => {
      for (const text of ["acme\n", "\nacme", "Acme", "ac me", "ac/me", "..", ...lookAlikes.map((c) => `ac${c}me`)]) {
        assert.isFalse(isName(text), JSON.stringify(text))
      }
    })

    it("is text", () => {
      for (const input of [12, null, undefined, ["acme"], { name: "acme" }, true]) assert.isFalse(isName(input))
    })
  })
}

describe("a secret's key", () => {
  it.prop(
    "has 1 to 100 characters: a letter or underscore, then letters, digits, underscores, dots and hyphens",
    [near(`${lower}${upper}${digits}_.-`, 100)],
    ([text]) => {
      const right =
        text.length >= 1 &&
        text.length <= 100 &&
        consistsOf(`${lower}${upper}_`, text.charAt(0)) &&
        consistsOf(`${lower}${upper}${digits}_.-`, text)
      assert.strictEqual(accepts(SecretKey, text), right)
    }
  )

  it("may have 1 and 100 characters, but not 0 or 101", () => {
    assert.deepStrictEqual(
      [0, 1, 100, 101].map((length) => accepts(SecretKey, "K".repeat(length))),
      [false, true, true, false]
    )
  })

  it("may bear the names of an object's own members", () => {
    for (const text of ["__proto__", "constructor", "toString", "hasOwnProperty", "_", "A.b-c_d"]) {
      assert.isTrue(accepts(SecretKey, text), text)
    }
  })

  it("is refused as a dot segment, with separators, line ends, or letters that look like others", () => {
    for (const text of [".", "..", "a/b", "a;b", "a b", "a\n", "1A", "-A", "a%2Fb", "a\0", ...lookAlikes]) {
      assert.isFalse(accepts(SecretKey, text), JSON.stringify(text))
    }
  })
})

describe("the length of a text in bytes", () => {
  it.prop("is that of its UTF-8", [FastCheck.string({ unit: "binary", size: "max", maxLength: 300 })], ([text]) => {
    assert.strictEqual(byteLength(text), Buffer.byteLength(text, "utf8"))
  })
})

describe("a secret's value", () => {
  for (const [what, unit, bytes] of [
    ["ASCII", "a", 1],
    ["two bytes", "é", 2],
    ["three bytes", "€", 3],
    ["four bytes", "🔑", 4]
  ] as const) {
    it(`of characters of ${what} has at most 65,536 bytes`, () => {
      const most = Math.floor(65_536 / bytes)
      const filler = "a".repeat(65_536 - most * bytes)
      assert.isTrue(accepts(SecretValue, unit.repeat(most) + filler))
      assert.isFalse(accepts(SecretValue, unit.repeat(most) + filler + "a"))
      assert.isFalse(accepts(SecretValue, unit.repeat(most + 1)))
    })
  }

  it.prop(
    "near the limit is taken exactly when its UTF-8 fits",
    [
      FastCheck.constantFrom("a", "é", "€", "🔑"),
      FastCheck.integer({ min: -3, max: 3 }),
      FastCheck.nat({ max: 65_536 })
    ],
    ([unit, over, units]) => {
      const wide = unit.repeat(Math.min(units, Math.floor(maxSecretValueBytes / Buffer.byteLength(unit))))
      const text = wide + "x".repeat(Math.max(0, maxSecretValueBytes + over - Buffer.byteLength(wide)))
      assert.strictEqual(accepts(SecretValue, text), Buffer.byteLength(text) <= 65_536)
    }
  )

  it("may be empty, hold a NUL byte, a line end, a byte order mark or an unassigned character", () => {
    for (const text of ["", "\0", "a\0b", "\r\n", "\uFEFFx", "\u{10FFFF}", "\uFFFE"]) {
      assert.isTrue(accepts(SecretValue, text), JSON.stringify(text))
    }
  })

  it("has no lone surrogate", () => {
    for (const text of ["\uD800", "a\uDC00", "\uDC00\uD800", "🔑\uD83D"]) assert.isFalse(accepts(SecretValue, text))
  })

  it("is never part of its refusal", () => {
    const canary = `hunter2-${"x".repeat(70_000)}`
    for (const input of [canary, `hunter2\uD800`, { hunter2: 1 }, ["hunter2"]]) {
      const found = issues(RedactedSecretValue, input)
      assert.isAbove(found.length, 0)
      for (const { message } of found) {
        assert.notInclude(message, "hunter2")
        if (typeof input === "string") assert.isTrue(isOwnMessage(message), message)
      }
    }
  })
})

describe("an e-mail address", () => {
  const decode = (text: string): string | null => Option.getOrNull(Schema.decodeOption(Email)(text))

  it.each([
    ["user@bücher.example", "user@xn--bcher-kva.example"],
    [" User@BÜCHER.Example ", "user@xn--bcher-kva.example"],
    ["user@bu\u0308cher.example", "user@xn--bcher-kva.example"],
    ["user@XN--BCHER-KVA.example", "user@xn--bcher-kva.example"],
    ["user@例え.テスト", "user@xn--r8jz45g.xn--zckzah"],
    ["user@straße.example", "user@xn--strae-oqa.example"]
  ])("%j is one person's, whichever form its domain has", (text, address) => {
    assert.strictEqual(decode(text), address)
  })

  it.each([
    "bücher@example.com",
    "user@\uff45xample.com",
    "user@exam\u00adple.com",
    "user@e\u212aample.com",
    "user@example\u3002com",
    "user@bücher.example:80",
    "user@bücher.example/x",
    "user@a@bücher.example",
    "user@bücher%2eexample",
    "user@bücher..example",
    "user@bücher.example#",
    "user@\ud800.example",
    `user@${"ü".repeat(300)}.example`
  ])("%j is no e-mail address: only the domain has another form, which no other domain becomes", (text) => {
    assert.isNull(decode(text))
  })

  it("is the same after it was decoded once", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.string({ unit: "grapheme", minLength: 1, maxLength: 20 }), (name) => {
        const once = decode(`user@${name}.example`)
        if (once !== null) assert.strictEqual(decode(once), once)
      })
    )
  })
  const atomCharacters = `${lower}${upper}${digits}!#$%&'*+/=?^_\`{|}~-`
  const atom = FastCheck.string({ unit: FastCheck.constantFrom(...atomCharacters), minLength: 1, maxLength: 12 })
  const label = FastCheck.stringMatching(/^[A-Za-z0-9](?:[A-Za-z0-9-]{0,8}[A-Za-z0-9])?$/)
  const address = FastCheck.tuple(
    FastCheck.array(atom, { minLength: 1, maxLength: 3 }),
    FastCheck.array(label, { minLength: 1, maxLength: 4 })
  ).map(([local, domain]) => `${local.join(".")}@${domain.join(".")}`)

  it.prop(
    "is trimmed and in lowercase, whatever spelling was given",
    [address, FastCheck.constantFrom("", " ", "\t", "\n", "\r\n ", "\u00a0")],
    ([text, space]) => {
      const wanted = [...text].map((c) => (upper.includes(c) ? lower.charAt(upper.indexOf(c)) : c)).join("")
      assert.strictEqual(decode(`${space}${text}${space}`), wanted)
      assert.strictEqual(decode(wanted), wanted, "what is normal stays as it is")
    }
  )

  it("of one person is the same in every spelling", () => {
    const spellings = ["ada@example.com", "ADA@EXAMPLE.COM", " Ada@Example.com\n", "\tada@example.COM "]
    assert.deepStrictEqual(new Set(spellings.map(decode)), new Set(["ada@example.com"]))
  })

  it.prop(
    "has nothing but ASCII in it",
    [address, FastCheck.string({ unit: "grapheme-composite", minLength: 1 })],
    ([text, odd]) => {
      const at = text.indexOf("@")
      for (const candidate of [`${text.slice(0, at)}${odd}${text.slice(at)}`, `${text}${odd}z`]) {
        const decoded = decode(candidate)
        assert.isTrue(decoded === null || /^[\x21-\x7e]+$/.test(decoded), JSON.stringify(candidate))
      }
    }
  )

  it("is refused with letters that look like others: no such address becomes another person's", () => {
    for (const odd of lookAlikes) {
      assert.isNull(decode(`${odd}evin@example.com`), JSON.stringify(odd))
      // A domain with such a letter is another one, which its ASCII form shows.
      for (const text of [`kevin@example.${odd}om`, `kevin@${odd}.com`]) {
        assert.match(decode(text) ?? "xn--", /xn--/, JSON.stringify(text))
      }
    }
    // The Kelvin sign, which toLowerCase() turns into a k, and the long s, which toUpperCase() turns into an S.
    assert.isNull(decode("\u212Aevin@example.com"))
    assert.isNull(decode("\u017Fam@example.com"))
  })

  it("is refused where it could be read in two ways", () => {
    for (const text of [
      "",
      "ada",
      "@example.com",
      "ada@",
      "ada@@example.com",
      "ada@example.com@evil.com",
      "ada@evil.com <ada@example.com>",
      '"a@x" <b@y>',
      '"ada"@example.com',
      "ada@example.com,bob@example.com",
      "ada@example.com;bob@example.com",
      "ada @example.com",
      "ada@exa mple.com",
      "ada@example.com\nbcc:bob@example.com",
      "ada\0@example.com",
      ".ada@example.com",
      "ada.@example.com",
      "a..da@example.com",
      "ada@.example.com",
      "ada@example.com.",
      "ada@example..com",
      "ada@-example.com",
      "ada@example-.com",
      "ada@[127.0.0.1]",
      "ada(comment)@example.com",
      "ada\u200b@example.com"
    ]) {
      assert.isNull(decode(text), JSON.stringify(text))
    }
  })

  it("has at most 64 characters before the @, 63 in a label and 254 in all", () => {
    const name = (length: number) => "a".repeat(length)
    assert.isNotNull(decode(`${name(64)}@example.com`))
    assert.isNull(decode(`${name(65)}@example.com`))
    assert.isNotNull(decode(`a@${name(63)}.com`))
    assert.isNull(decode(`a@${name(64)}.com`))
    const long = (last: number) => `${name(60)}@${name(63)}.${name(63)}.${name(last)}`
    assert.deepStrictEqual([long(65).length, decode(long(65))], [254, null], "a label of 65")
    const full = `${name(60)}@${name(63)}.${name(63)}.${name(61)}.aaa`
    assert.deepStrictEqual([full.length, decode(full)], [254, full])
    assert.isNull(decode(`${full}a`))
  })

  it("is refused with one sentence, whatever was given", () => {
    for (const input of ["hunter2", "hunter2@", 7, null, { hunter2: 1 }]) {
      for (const { message } of issues(Email, input)) assert.isTrue(isOwnMessage(message), message)
    }
  })
})

describe("a service account's name", () => {
  it.prop(
    "has 1 to 64 letters, digits, spaces, dots, underscores and hyphens, with a letter or digit first",
    [near(`${lower}${upper}${digits} ._-`, 64)],
    ([text]) => {
      const right =
        text.length >= 1 &&
        text.length <= 64 &&
        consistsOf(`${lower}${upper}${digits}`, text.charAt(0)) &&
        consistsOf(`${lower}${upper}${digits} ._-`, text)
      assert.strictEqual(accepts(ServiceAccountName, text), right)
    }
  )

  it.prop("never has a UUID's form, in either case", [FastCheck.uuid()], ([id]) => {
    assert.isFalse(accepts(ServiceAccountName, id))
    assert.isFalse(accepts(ServiceAccountName, id.toUpperCase()))
    assert.isTrue(accepts(ServiceAccountName, `${id}x`))
  })
})

describe("an identifier", () => {
  it.prop("is a UUID in lowercase", [FastCheck.uuid()], ([id]) => {
    assert.isTrue(accepts(OrgId, id))
    for (const text of [`${id}\n`, ` ${id}`, id.slice(1), `${id}0`, `{${id}}`, id.replaceAll("-", "")]) {
      assert.isFalse(accepts(OrgId, text), text)
    }
    assert.strictEqual(accepts(OrgId, id.toUpperCase()), id.toUpperCase() === id)
  })
})

describe("a login code", () => {
  it.prop(
    "has 6 digits of ASCII",
    [FastCheck.string({ unit: FastCheck.constantFrom(...Array.from(digits), "٠", "０", " ", "+"), maxLength: 8 })],
    ([text]) => {
      assert.strictEqual(accepts(LoginCode, text), text.length === 6 && consistsOf(digits, text))
    }
  )

  it("is not shown by its refusal, nor by what prints it", () => {
    for (const { message } of issues(LoginCode, "1234567")) assert.notInclude(message, "1234567")
    assert.notInclude(inspect(Schema.decodeSync(LoginCode)("123456")), "123456")
  })
})

describe("a count", () => {
  it.prop("is a whole number from 0 to 2,147,483,647", [FastCheck.double()], ([number]) => {
    const right = Number.isSafeInteger(number) && number >= 0 && number <= 2_147_483_647
    assert.strictEqual(accepts(Count, number), right)
  })

  it("takes its bounds and nothing beyond, and no text", () => {
    assert.deepStrictEqual(
      [0, 2_147_483_647, -1, 2_147_483_648, 1.5, Number.NaN, Infinity, "1", null].map((input) => accepts(Count, input)),
      [true, true, false, false, false, false, false, false, false]
    )
  })
})

describe("a whole number in a query string", () => {
  const Limit = integerParameter(1, 100)

  it.prop("is taken between its bounds, in plain decimal", [FastCheck.integer({ min: -50, max: 250 })], ([number]) => {
    assert.strictEqual(accepts(Limit, String(number)), number >= 1 && number <= 100)
  })

  it("has one spelling", () => {
    for (const text of ["", "01", "+1", "1.0", "1e1", "0x1", " 1", "1 ", "١", "1\n", "99999999999", "NaN"]) {
      assert.isFalse(accepts(Limit, text), JSON.stringify(text))
    }
  })
})

describe("values by key", () => {
  const decode = Schema.decodeUnknownSync(SecretValues)
  const fromJson = (text: string) => JSON.parse(text) as unknown
  const keys = FastCheck.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,8}$/)
  const plain = (values: ReadonlyMap<string, Redacted.Redacted>) =>
    [...values].map(([key, value]) => [key, Redacted.value(value)])

  it.prop(
    "come back from the wire as they went, order and all",
    [FastCheck.uniqueArray(FastCheck.tuple(keys, FastCheck.string()), { selector: ([key]) => key, maxLength: 8 })],
    ([entries]) => {
      const values = decode(Object.fromEntries(entries))
      assert.deepStrictEqual(plain(values), entries)
      const wire = JSON.stringify(Schema.encodeSync(SecretValues)(values))
      assert.deepStrictEqual(plain(decode(fromJson(wire))), entries)
    }
  )

  it("keep a key named __proto__ or constructor as any other, on the way in and out", () => {
    const wire = '{"__proto__":"a","constructor":"b","toString":"c"}'
    const values = decode(fromJson(wire))
    assert.deepStrictEqual(plain(values), [
      ["__proto__", "a"],
      ["constructor", "b"],
      ["toString", "c"]
    ])
    assert.strictEqual(JSON.stringify(Schema.encodeSync(SecretValues)(values)), wire)
    assert.notProperty({}, "a")
  })

  it("may be an empty object", () => {
    assert.strictEqual(decode({}).size, 0)
  })

  it("are an object: no list, text, number or null", () => {
    for (const input of [[], ["a"], "a", 1, null, true]) {
      const found = issues(SecretValues, input)
      assert.strictEqual(found.length, 1)
      assert.isTrue(isOwnMessage(found[0]!.message))
    }
  })

  it("are refused with the name of the wrong key, and never with a value", () => {
    for (const [input, path] of [
      [{ GOOD: "hunter2", "1BAD": "hunter2" }, "1BAD"],
      [{ "": "hunter2" }, ""],
      [fromJson('{"__proto__":"hunter2","a b":"hunter2"}'), "a b"],
      [{ GOOD: "hunter2", NUMBER: 4711 }, "NUMBER"],
      [{ NULL: null }, "NULL"],
      [{ NESTED: { hunter2: "hunter2" } }, "NESTED"],
      [{ LIST: ["hunter2"] }, "LIST"],
      [{ SURROGATE: "hunter2\uD800" }, "SURROGATE"],
      [{ LONG: "hunter2".repeat(10_000) }, "LONG"],
      [fromJson('{"__proto__":7}'), "__proto__"]
    ] as const) {
      const found = issues(SecretValues, input)
      assert.deepStrictEqual(
        found.map((issue) => issue.path),
        [[path]]
      )
      for (const { message } of found) {
        assert.isTrue(isOwnMessage(message), message)
        assert.notMatch(message, /hunter2|4711/)
      }
    }
  })

  it("do not show themselves when they are printed", () => {
    assert.notInclude(inspect(decode({ A: "hunter2" }), { depth: 9, showHidden: true }), "hunter2")
  })
})

describe("a list in a request", () => {
  /** A list that fails the test when an item of it is looked at. */
  const untouchable = (length: number) =>
    new Proxy(Array.from({ length }), {
      get: (target, name, receiver) =>
        typeof name === "string" && /^\d+$/.test(name)
          ? assert.fail("an item was looked at")
          : (Reflect.get(target, name, receiver) as unknown)
    })

  it("of too many items is refused before one of them is decoded", () => {
    const found = issues(SecretKeys, untouchable(2_001))
    assert.deepStrictEqual(
      found.map(({ message }) => message),
      ["at most 2,000 keys at once"]
    )
    assert.throws(() => issues(SecretKeys, untouchable(2_000)), /an item was looked at/)
    assert.isTrue(
      accepts(
        SecretKeys,
        Array.from({ length: 2_000 }, () => "KEY")
      )
    )
  })

  it("of values by key is counted before one of them is decoded", () => {
    const values = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`not a key ${index}`, 7]))
    assert.deepStrictEqual(
      issues(SecretValues, values(2_001)).map(({ message }) => message),
      ["at most 2,000 keys at once"]
    )
    assert.notInclude(issues(SecretValues, values(2_000))[0]!.message, "2,000")
  })
})

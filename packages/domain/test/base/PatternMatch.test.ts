import { isOwnMessage } from "@coffer/domain/base/Message"
import { Pattern } from "@coffer/domain/base/Pattern"
import { matcherOf } from "@coffer/domain/base/PatternMatch"
import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck, ParseResult, Schema } from "effect"
import picomatch from "picomatch"
import { runs } from "../support/Runs.js"

const matches = (pattern: string, name: string): boolean => matcherOf(name)(pattern)

const decode = Schema.decodeUnknownEither(Pattern)
const accepts = (text: unknown) => Either.isRight(decode(text))

/** Expands braces into all patterns that they stand for. */
const expand = (pattern: string): ReadonlyArray<string> => {
  const open = pattern.indexOf("{")
  if (open === -1) return [pattern]
  const close = pattern.indexOf("}", open)
  const rests = expand(pattern.slice(close + 1))
  return pattern
    .slice(open + 1, close)
    .split(",")
    .flatMap((alternative) => rests.map((rest) => pattern.slice(0, open) + alternative + rest))
}

/** `*` is any text, `?` is one character, anything else is itself: the whole of a pattern without braces. */
const fits = (pattern: string, name: string): boolean => {
  if (pattern === "") return name === ""
  const rest = pattern.slice(1)
  return pattern.startsWith("*")
    ? fits(rest, name) || (name !== "" && fits(pattern, name.slice(1)))
    : name !== "" && (pattern.startsWith("?") || pattern[0] === name[0]) && fits(rest, name.slice(1))
}

const oracle = (pattern: string, name: string) => expand(pattern).some((plain) => fits(plain, name))

const plain = (maxLength: number) =>
  FastCheck.string({ unit: FastCheck.constantFrom("a", "b", "a", "b", "-", "1", "*", "?"), maxLength })
const group = FastCheck.array(plain(4), { minLength: 2, maxLength: 4 }).map((texts) => `{${texts.join(",")}}`)
const pattern = FastCheck.array(FastCheck.oneof(plain(4), plain(3), group), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join(""))
  .filter(accepts)
const name = FastCheck.stringMatching(/^[ab1][ab1-]{0,8}[ab1]$/)

const fold = (text: string) => text.replace(/\*+/g, "*")

const picomatchOptions = {
  dot: true,
  nobracket: true,
  noextglob: true,
  noglobstar: true,
  nonegate: true,
  noquantifiers: true,
  strictSlashes: true
}

/** A name made from a pattern, so that it fits more often than not. */
const nameFor = (text: string) =>
  FastCheck.tuple(FastCheck.constantFrom(...expand(text)), FastCheck.array(name, { minLength: 5, maxLength: 5 })).map(
    ([alternative, fillers]) => {
      let next = 0
      return alternative.replace(/[*?]/g, (wild) => (wild === "?" ? "a" : fillers[next++ % 5]!))
    }
  )

describe("a pattern", () => {
  it.prop(
    "matches exactly the names that its alternatives stand for",
    [pattern.chain((text) => FastCheck.tuple(FastCheck.constant(text), FastCheck.oneof(name, nameFor(text))))],
    ([[text, candidate]]) => {
      if (/^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$/.test(candidate)) {
        assert.strictEqual(matches(text, candidate), oracle(text, candidate), `${text} on ${candidate}`)
      }
    },
    { fastCheck: { numRuns: runs(1_500) } }
  )

  it.prop("means the same as it was given and as it is kept", [pattern, name], ([text, candidate]) => {
    assert.strictEqual(matches(text, candidate), matches(Schema.decodeSync(Pattern)(text), candidate))
  })

  it("has the five forms of the specification, and their combinations", () => {
    const table: ReadonlyArray<readonly [pattern: string, yes: ReadonlyArray<string>, no: ReadonlyArray<string>]> = [
      ["*", ["a1", "prod", "web-shop-2"], []],
      ["prod", ["prod"], ["prod2", "aprod", "pro", "staging"]],
      ["web-*", ["web-shop", "web-a"], ["web", "aweb-shop", "we-b"]],
      ["*-prod", ["eu-prod"], ["prod", "eu-prod-2", "prod-eu"]],
      ["*shop*", ["shop", "webshop", "webshop-2"], ["shp", "sh-op"]],
      ["prod?", ["prod1", "proda"], ["prod", "prod12"]],
      ["??", ["a1"], ["a", "abc"]],
      ["{staging,prod}", ["staging", "prod"], ["dev", "stagingprod", "prodstaging"]],
      ["{eu,us}-{staging,prod}", ["eu-prod", "us-staging"], ["eu-dev", "prod", "eu-us"]],
      ["web{,-*}", ["web", "web-shop"], ["webshop"]],
      ["{a,}b", ["ab"], ["aab", "abb"]],
      ["{*-eu,prod-?}", ["web-eu", "prod-1"], ["prod-12", "eu"]],
      ["dev--*", ["dev--a"], ["dev-a"]],
      ["**", ["a1", "prod"], []],
      ["web***shop", ["webshop", "web-a-shop"], ["web"]]
    ]
    for (const [text, yes, no] of table) {
      assert.isTrue(accepts(text), text)
      for (const candidate of yes) assert.isTrue(matches(text, candidate), `${text} on ${candidate}`)
      for (const candidate of no) assert.isFalse(matches(text, candidate), `${text} on ${candidate}`)
    }
  })

  it("with an empty alternative matches without it and with it", () => {
    assert.deepStrictEqual(
      ["prod", "prod-eu", "prod-", "prod-us"].map((candidate) => matches("prod{,-eu}", candidate)),
      [true, true, false, false]
    )
  })

  it("that folds to the same as another is the same", () => {
    assert.strictEqual(Schema.decodeSync(Pattern)("web-****"), "web-*")
    assert.strictEqual(Schema.decodeSync(Pattern)("{a**,***b}**"), "{a*,*b}*")
  })

  it("gives no meaning to what is special elsewhere: it is refused", () => {
    for (const text of [
      "[ab]",
      "a[",
      "]",
      "!prod",
      "!",
      "+(a)",
      "@(a|b)",
      "*(a)",
      "?(a)",
      "!(a)",
      "(a)",
      "a|b",
      "a/b",
      "/",
      "**/a",
      "./a",
      "..",
      ".",
      "a.b",
      "\\*",
      "a\\",
      "$a",
      "^a",
      "#a",
      "a b",
      " ",
      "a,b",
      ",",
      "{a}",
      "{}",
      "{",
      "}",
      "{a,b",
      "a,b}",
      "{a,{b,c}}",
      "{{a,b},c}",
      "{a,b}}",
      "{1..3}",
      "{a..c}",
      "a{2}",
      "a_b",
      "Prod",
      "PROD",
      "pröd",
      "\u212A",
      "a\n",
      "\0",
      ""
    ]) {
      assert.isFalse(accepts(text), JSON.stringify(text))
    }
    for (const input of [null, undefined, 7, ["*"], { pattern: "*" }]) assert.isFalse(accepts(input))
  })

  it.prop(
    "is what the grammar says, nothing else",
    [FastCheck.string({ unit: FastCheck.constantFrom(...Array.from("ab1-**??{{}},,.![/(")), maxLength: 12 })],
    ([text]) => {
      let [depth, commas, right, alternatives] = [0, 0, text !== "", 0]
      for (const character of text) {
        if (character === "{") {
          right &&= depth === 0
          depth++
          commas = 0
        } else if (character === "}") {
          right &&= depth === 1 && commas > 0
          depth--
          alternatives += commas + 1
        } else if (character === ",") {
          right &&= depth === 1
          commas++
        } else right &&= "ab1-*?".includes(character)
      }
      const folded = text.replace(/\*+/g, "*")
      right &&= depth === 0 && alternatives <= 10
      right &&= !right || expand(folded).every((alternative) => alternative.split("*").length - 1 <= 3)
      assert.strictEqual(accepts(text), right, text)
    },
    { fastCheck: { numRuns: runs(5_000) } }
  )

  it("has at most 200 characters", () => {
    assert.isTrue(accepts("a".repeat(200)))
    assert.isFalse(accepts("a".repeat(201)))
    assert.isFalse(accepts("*".repeat(201)), "as it was given, before stars are folded")
  })

  it("has at most 10 alternatives, in all its braces together", () => {
    assert.isTrue(accepts("{a,b,c,d,e,f,g,h,i,j}"))
    assert.isFalse(accepts("{a,b,c,d,e,f,g,h,i,j,k}"))
    assert.isTrue(accepts("{a,b}{a,b}{a,b}{a,b}{a,b}"))
    assert.isFalse(accepts("{a,b}{a,b}{a,b}{a,b}{a,b,c}"))
  })

  it("has at most 3 stars in whatever its braces stand for", () => {
    assert.isTrue(accepts("*a*a*"))
    assert.isFalse(accepts("*a*a*a*"))
    assert.isTrue(accepts("{*,a*,*b,c*d}*a*"))
    assert.isFalse(accepts("{*a*,b}*a*"))
    assert.isFalse(accepts("{*a,b}{*a,b}{*a,b}{*a,b}"))
  })

  it("is refused with one sentence that does not repeat it", () => {
    for (const text of ["[hunter2", "HUNTER2", "", "x".repeat(300)]) {
      const failed = ParseResult.decodeUnknownEither(Pattern)(text)
      assert.isTrue(Either.isLeft(failed))
      if (Either.isLeft(failed)) {
        for (const { message } of ParseResult.ArrayFormatter.formatIssueSync(failed.left)) {
          assert.isTrue(isOwnMessage(message), message)
        }
      }
    }
  })

  it.prop(
    "matches what picomatch matches",
    [pattern.chain((text) => FastCheck.tuple(FastCheck.constant(text), FastCheck.oneof(name, nameFor(text))))],
    ([[text, candidate]]) => {
      // Only what no name can be sets the two apart: picomatch lets nothing match the empty text.
      if (candidate === "") return
      assert.strictEqual(matches(text, candidate), picomatch(fold(text), picomatchOptions)(candidate), text)
    },
    { fastCheck: { numRuns: runs(1_500) } }
  )

  const worst = [
    "{*a?,*a}{?*a,?*,*aa,?*a}{*?,?*a,*,*}?b",
    "*a*a*b",
    `*${"a?".repeat(40)}*${"?a".repeat(40)}*`,
    "{*a,a*}{*a,a*}{*a,a*}{?,??}{?,??}b",
    "{*,a*,*a,?*,*?,a,aa,?,??,???}*a*b",
    `{${"a".repeat(40)},${"a".repeat(39)}?}{*a,*aa}{*,a*}{a,aa}{a,?}b`,
    "{a,aa}{a,aa}{a,aa}{a,aa}{a,aa}*a*a*b"
  ]

  it("that has many ways to match is right about the longest names", () => {
    const names = ["a".repeat(50), `${"a".repeat(49)}c`, "ab".repeat(25), `a${"-".repeat(48)}a`, "a".repeat(31)]
    for (const text of worst) {
      assert.isTrue(accepts(text), text)
      for (const candidate of names) {
        if (!text.includes("{*,a*,*a")) {
          assert.strictEqual(matches(text, candidate), oracle(text, candidate), `${text} on ${candidate}`)
        }
      }
    }
  })

  it("matches no name longer than any can be, unless it is for everything or that name itself", () => {
    const long = "a".repeat(64)
    assert.deepStrictEqual(
      ["*", long, "a*", "*a", "?*"].map((text) => matches(text, long)),
      [true, true, false, false, false]
    )
  })

  it("outside of the grammar matches nothing but itself", () => {
    for (const text of ["{a", "{a,b", "a}", "{{a,b},c}", "[ab]", "a|b", "(ab)", "!b", "@(ab)", "a+"]) {
      for (const candidate of ["a", "ab", "b", "c", "aa"]) assert.isFalse(matches(text, candidate), text)
    }
  })

  it("takes no longer for its stars and braces than for its length", () => {
    const fastest = (work: () => void): number =>
      Math.min(
        ...Array.from({ length: 7 }, () => {
          const start = performance.now()
          work()
          return performance.now() - start
        })
      )
    const deciding = (text: string) => () => {
      const fits = matcherOf("a".repeat(50))
      // As many as one subject can have rules, each with two patterns.
      for (let count = 0; count < 2_000; count++) fits(text)
    }
    const plain = fastest(deciding(`*${"a".repeat(50)}?`))
    for (const text of worst) {
      assert.isBelow(fastest(deciding(text)) / plain, 25, text)
    }
  })
})

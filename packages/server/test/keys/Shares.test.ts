import { randomBytes } from "node:crypto"
import { interpolate, splitBytes } from "@coffer/server/keys/Shamir"
import { combineShares, splitKey } from "@coffer/server/keys/Shares"
import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import fc from "fast-check"
import { runs } from "../../../domain/test/support/Runs.js"

const hex = (text: string) => Buffer.from(text, "hex")
const combined = (lines: ReadonlyArray<string>) =>
  Either.merge(Either.mapLeft(combineShares(lines.join("\n")), ({ message }) => message))
const keyHex = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString("hex"))

/** Some shares of all, in any order. */
const chosen = fc.integer({ min: 2, max: 8 }).chain((threshold) =>
  fc.integer({ min: threshold, max: 12 }).chain((count) =>
    fc
      .shuffledSubarray(
        Array.from({ length: count }, (_, index) => index),
        { minLength: threshold }
      )
      .map((indexes) => ({ threshold, count, indexes }))
  )
)

// Made by another program: 3 of the shares of 00 01 … 1f, with tables of logarithms.
const key = Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString("hex")
const shares = [
  "1-3-K7Q2M-RFDDF-WQVSB-FW4GT-TEW90-P6QFT-AHQN5-XJVC5-1YRN3-KAVQ4-2YTHX-S79MN-CKVEG-26YX8",
  "2-3-K7Q2M-3CP2T-AG7Y3-RVDBQ-S32JC-J7PJE-QNREA-ZCB80-C27A5-J8M25-N7EJK-F9FWP-VFN0G-56AYK",
  "5-3-K7Q2M-VEVCF-KA8W1-4KQN7-2VRAS-QJ2RC-XG5CH-FS8T6-97PYS-Z4282-DD4FA-3W39Y-99QQ0-2J1PZ"
] as const

describe("Shamir's shares", () => {
  it("are those of the test case in draft-mcgrew-tss-03, section 9", () => {
    const points = [
      { x: 1, y: hex("B9FA07E185") },
      { x: 2, y: hex("F5409B4511") }
    ]
    assert.deepStrictEqual(Buffer.from(interpolate(points, 0)), hex("7465737400"))
  })

  it("give the bytes by any that are enough, and each of the others", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), chosen, (secret, { count, indexes, threshold }) => {
        const points = splitBytes(secret, threshold, count)
        const some = indexes.flatMap((index) => points[index] ?? []).slice(0, threshold)
        assert.deepStrictEqual(interpolate(some, 0), new Uint8Array(secret))
        for (const { x, y } of points) assert.deepStrictEqual(interpolate(some, x), y)
      }),
      { numRuns: runs(100) }
    )
  })

  it("say nothing as long as one is missing: every value is as possible as any other", () => {
    for (const threshold of [2, 3, 5]) {
      const few = splitBytes(randomBytes(1), threshold, threshold).slice(1)
      const possible = Array.from({ length: 256 }, (_, byte) =>
        interpolate([...few, { x: 1, y: Uint8Array.of(byte) }], 0)
      )
      assert.lengthOf(new Set(possible.map(([byte]) => byte)), 256)
    }
    // The coefficients may be 0 too: a share that always differs from the secret would exclude a value.
    const equal = Array.from({ length: 4_000 }, () => splitBytes(Uint8Array.of(7), 2, 2)[0]?.y[0] === 7)
    assert.include(equal, true)
  })
})

describe("the shares of a master key", () => {
  it("give the key by any that are enough, however they are typed", () => {
    fc.assert(
      fc.property(keyHex, chosen, (key, { count, indexes, threshold }) => {
        const made = splitKey(key, threshold, count)
        const lines = indexes.map((index) => made[index] ?? "")
        assert.strictEqual(combined(lines), key)
        const typed = lines.map((line) => ` ${line.toLowerCase().replaceAll("-", " ").replaceAll("0", "o")}\r`)
        assert.strictEqual(combined(["", ...typed, " "]), key)
        assert.strictEqual(combined(lines.map((line) => line.replaceAll("1", "l"))), key)
        assert.notInclude(made.join(""), key)
      }),
      { numRuns: runs(40) }
    )
    assert.strictEqual(combined(shares), key)
    for (const share of splitKey(key, 2, 3)) assert.match(share, /^[1-3]-2(-[0-9A-HJKMNP-TV-Z]{5}){14}$/)
  })

  it("are refused for one mistyped or swapped character, with the share's number and line", () => {
    fc.assert(
      fc.property(fc.nat({ max: 87 }), fc.nat({ max: 31 }), (at, number) => {
        const [first, second, third] = shares
        const letter = "0123456789ABCDEFGHJKMNPQRSTVWXYZ".charAt(number)
        const wrong = second.slice(0, at) + letter + second.slice(at + 1)
        fc.pre(wrong !== second && second[at] !== "-")
        assert.match(combined([first, wrong, third]), /line 2/)
        const swapped = second.replace(/(..)(.)(.)(..)$/, "$1$3$2$4")
        assert.match(combined([first, swapped, third]), /^share 2 \(line 2\) has a typing mistake: compare each group/)
      }),
      { numRuns: runs(200) }
    )
  })

  it("have a sentence for each mistake, without anything of a share", () => {
    const [first, second, third] = shares
    const [other = "", another = ""] = splitKey(key, 3, 3)
    const [ofTwo = ""] = splitKey(key, 2, 2)
    const mixed = "shares of different splits are mixed: take those of one split, which have the same first group"
    for (const [lines, sentence] of [
      [[], "no share is given: type the shares, one a line"],
      [[first], "3 shares are needed, and 1 given: add 2 more"],
      [[first, second], "3 shares are needed, and 2 given: add 1 more"],
      [[first, second, first], "share 1 is given twice: replace one of the two by another share"],
      [[first, second, another], mixed],
      [[first, second, ofTwo], mixed],
      [[other, another, first], mixed],
      [[first, key, third], "line 2 is no share: a share begins with its number and how many are needed"],
      [
        [first, second.replace("RVDBQ", "RVDQ"), third],
        "share 2 (line 2) has a typing mistake: group 4 has 4 characters, and should have 5"
      ],
      [
        [first, second.replace("RVDBQ", "RVDUQ"), third],
        "share 2 (line 2) has a typing mistake: group 4 has a character that no share has"
      ],
      [
        [first, second.replace("-RVDBQ", ""), third],
        "share 2 (line 2) has a typing mistake: it has 65 characters after its two numbers, and should have 70 in 14 groups"
      ]
    ] as const) {
      assert.strictEqual(combined(lines), sentence)
    }
  })

  it("of two keys are refused, also if their sets have the same name by chance", () => {
    // Of 1f 1e … 00, by the same other program.
    const foreign = "4-3-K7Q2M-PYS5C-CZRE0-AD2TX-NFHCC-GPX61-SKN8C-K1DDG-K7B10-93DH3-PYAV5-SMPQQ-KZ7H0-HFC3K"
    assert.match(combined([shares[0], shares[1], foreign]), /^shares of different splits are mixed/)
    assert.match(combined([...shares, foreign]), /^shares of different splits are mixed/)
  })
})

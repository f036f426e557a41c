import { blockListOf, isInside, misleading, networkOf } from "@coffer/server/base/config/Networks"
import * as fc from "effect/FastCheck"
import { Option } from "effect"
import { assert, describe, it } from "vitest"
import { runs } from "../../../domain/test/support/Runs.js"

const byte = fc.integer({ min: 0, max: 255 })
const ipv4 = fc.array(byte, { minLength: 4, maxLength: 4 })
/** Groups that meet the mapped prefix more often than by chance. */
const group = fc.oneof(fc.constant(0), fc.constant(0xffff), fc.integer({ min: 0, max: 0xffff }))
const ipv6 = fc.oneof(
  fc.array(group, { minLength: 8, maxLength: 8 }),
  fc.array(group, { minLength: 2, maxLength: 2 }).map((last) => [0, 0, 0, 0, 0, 0xffff, ...last])
)

const textOfIpv4 = (bytes: ReadonlyArray<number>) => bytes.join(".")
const textsOfIpv6 = (groups: ReadonlyArray<number>): ReadonlyArray<string> => {
  const hex = groups.map((each) => each.toString(16))
  const [high = 0, low = 0] = groups.slice(6)
  const dotted = [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".")
  return [
    hex.join(":"),
    hex.join(":").toUpperCase(),
    `${hex.slice(0, 6).join(":")}:${dotted}`,
    // The first run of zeros, compressed.
    `:${hex.join(":")}:`.replace(/:0(?::0)+:/, "::").replace(/^:(?!:)|(?<!:):$/g, "")
  ]
}

const bits = (parts: ReadonlyArray<number>, width: number) =>
  parts.map((part) => part.toString(2).padStart(width, "0")).join("")
const mapped = bits([0, 0, 0, 0, 0, 0xffff], 16)

const isRefused = (text: string) => misleading([text]).length > 0
const admits = (text: string, address: string) => isInside(blockListOf(Option.toArray(networkOf(text))), address)

describe("a network of callers", () => {
  it("is taken if and only if it has no address of IPv4 by another name, however it is written", () => {
    fc.assert(
      fc.property(ipv6, fc.integer({ min: 0, max: 128 }), (groups, prefix) => {
        const all = bits(groups, 16)
        const overlaps = all.slice(0, Math.min(prefix, 96)) === mapped.slice(0, Math.min(prefix, 96))
        for (const text of textsOfIpv6(groups)) assert.strictEqual(isRefused(`${text}/${prefix}`), overlaps, text)
      }),
      { numRuns: runs(4_000) }
    )
  })

  it("of IPv6, once taken, admits exactly the IPv6 addresses that begin with its bits, and no IPv4 address", () => {
    fc.assert(
      fc.property(ipv6, fc.integer({ min: 0, max: 128 }), ipv4, ipv6, (groups, prefix, four, six) => {
        const [text = ""] = textsOfIpv6(groups)
        fc.pre(!isRefused(`${text}/${prefix}`))
        assert.isFalse(admits(`${text}/${prefix}`, textOfIpv4(four)))
        const [other = ""] = textsOfIpv6(six)
        const begins = bits(six, 16).startsWith(bits(groups, 16).slice(0, prefix))
        assert.strictEqual(admits(`${text}/${prefix}`, other), begins)
      }),
      { numRuns: runs(4_000) }
    )
  })

  it("of IPv4 admits those that begin with its bits, and has one spelling of its prefix", () => {
    fc.assert(
      fc.property(ipv4, fc.integer({ min: 0, max: 32 }), ipv4, (bytes, prefix, other) => {
        const text = `${textOfIpv4(bytes)}/${prefix}`
        assert.isFalse(isRefused(text))
        assert.strictEqual(admits(text, textOfIpv4(other)), bits(other, 8).startsWith(bits(bytes, 8).slice(0, prefix)))
        assert.isTrue(isRefused(`${textOfIpv4(bytes)}/0${prefix}`))
        assert.isFalse(isRefused(textOfIpv4(bytes)))
      }),
      { numRuns: runs(2_000) }
    )
  })

  it("was taken before though it admitted all of IPv4", () => {
    for (const text of ["::/0", "::ffff:0:0/96", "::/80"]) {
      assert.isTrue(admits(text, "203.0.113.9"), text)
      assert.isTrue(isRefused(text), text)
    }
  })
})

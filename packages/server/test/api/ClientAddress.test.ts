import { networksOrNone, blockListOf } from "@coffer/server/base/config/Networks"
import { clientAddress } from "@coffer/server/http/ClientAddress"
import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"

const proxies = (text: string) => blockListOf(Option.getOrThrow(networksOrNone.read(text)))

const addressOf = (
  trusted: string | null,
  peer: string,
  { forwardedFor, realIp }: { readonly realIp?: string; readonly forwardedFor?: string } = {}
) => clientAddress(trusted === null ? null : proxies(trusted), { peer, realIp, forwardedFor })

describe("the client's address", () => {
  it("is what the headers of any peer say, unless proxies are listed", () => {
    assert.strictEqual(
      addressOf(null, "192.0.2.9", { realIp: " 198.51.100.1 ", forwardedFor: "1.1.1.1" }),
      "198.51.100.1"
    )
    assert.strictEqual(addressOf(null, "192.0.2.9", { forwardedFor: "198.51.100.1, 10.0.0.1" }), "198.51.100.1")
    assert.strictEqual(addressOf(null, "::ffff:192.0.2.9", { realIp: "unknown" }), "192.0.2.9")
  })

  it("is the peer's own, if the peer is no proxy", () => {
    const headers = { realIp: "198.51.100.1", forwardedFor: "198.51.100.2" }
    for (const trusted of ["none", "10.0.0.0/8"]) {
      assert.strictEqual(addressOf(trusted, "192.0.2.9", headers), "192.0.2.9", trusted)
    }
    assert.strictEqual(addressOf("10.0.0.0/8", "2001:db8::9", headers), "2001:db8::9")
    assert.strictEqual(addressOf("2001:db8::/32", "::ffff:192.0.2.9", headers), "192.0.2.9")
  })

  it("is what a listed proxy says: by X-Real-Ip, or as the last address that belongs to no proxy", () => {
    const trusted = "10.0.0.0/8, fd00::/8"
    assert.strictEqual(addressOf(trusted, "::ffff:10.1.2.3", { realIp: "198.51.100.1" }), "198.51.100.1")
    assert.strictEqual(addressOf(trusted, "fd00::1", { realIp: "2001:db8::1" }), "2001:db8::1")
    const forged = "203.0.113.7, 198.51.100.1, 10.0.0.2"
    assert.strictEqual(addressOf(trusted, "10.0.0.1", { forwardedFor: forged }), "198.51.100.1")
    for (const [hop, address] of [
      ["198.51.100.1:51234", "198.51.100.1"],
      ["[2001:db8::1]", "2001:db8::1"],
      ["[2001:db8::1]:443", "2001:db8::1"]
    ] as const) {
      assert.strictEqual(addressOf(trusted, "10.0.0.1", { forwardedFor: `203.0.113.7, ${hop}` }), address)
    }
    for (const useless of ["10.0.0.2", "198.51.100.1, unknown", "", ","]) {
      assert.strictEqual(addressOf(trusted, "10.0.0.1", { forwardedFor: useless }), "10.0.0.1", useless)
    }
  })

  it("is read from a header as it is written: mapped, with a zone, with blanks; or the header says nothing", () => {
    for (const [realIp, address] of [
      ["::ffff:192.168.100.200", "192.168.100.200"],
      ["::FFFF:192.0.2.1", "192.0.2.1"],
      ["2001:db8::1%eth0", "2001:db8::1"],
      ["1::ffff:1.2.3.4", "1::ffff:1.2.3.4"],
      ["198.51.100.1:443", "192.0.2.9"],
      ["[2001:db8::1]", "192.0.2.9"]
    ] as const) {
      assert.strictEqual(addressOf(null, "192.0.2.9", { realIp }), address, realIp)
    }
  })

  it("is the whole of a proxy's entry, or the proxy's own address if the entry is anything else", () => {
    for (const [forwardedFor, address] of [
      ["198.51.100.1", "198.51.100.1"],
      ["198.51.100.123:51234", "198.51.100.123"],
      [" 198.51.100.123:51234 ", "198.51.100.123"],
      ["[2001:db8::1]:443", "2001:db8::1"],
      [" [2001:db8::1] ", "2001:db8::1"],
      ["x[2001:db8::1]", "10.0.0.1"],
      ["[2001:db8::1]x", "10.0.0.1"],
      ["[2001:db8::1]:443x", "10.0.0.1"],
      ["[2001:db8::1]:", "10.0.0.1"],
      ["x198.51.100.1:443", "10.0.0.1"],
      ["198.51.100.1:443x", "10.0.0.1"],
      ["198.51.100.1:", "10.0.0.1"]
    ] as const) {
      assert.strictEqual(addressOf("10.0.0.0/8", "10.0.0.1", { forwardedFor }), address, forwardedFor)
    }
  })

  it("is the peer's without headers, and unknown of a connection that has ended, whatever its headers say to proxies", () => {
    assert.strictEqual(addressOf(null, "192.0.2.9"), "192.0.2.9")
    assert.strictEqual(addressOf("10.0.0.0/8", "10.0.0.1"), "10.0.0.1")
    const ended = { peer: undefined, realIp: undefined, forwardedFor: undefined }
    assert.isNull(clientAddress(null, ended))
    assert.isNull(clientAddress(proxies("10.0.0.0/8"), { ...ended, realIp: "198.51.100.1" }))
  })
})

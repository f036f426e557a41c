import { judge } from "@coffer/server/base/outbound/AddressVerdict"
import { assert, describe, it } from "vitest"

const listedNone = judge([])

describe("a non-public address is refused:", () => {
  it.each([
    ["0.0.0.0", "unspecified"],
    ["0.1.2.3", "this network"],
    ["10.0.0.1", "private"],
    ["100.64.0.1", "carrier-grade NAT"],
    ["100.100.100.200", "metadata of Alibaba"],
    ["127.0.0.1", "loopback"],
    ["127.255.255.254", "loopback"],
    ["168.63.129.16", "metadata of Azure"],
    ["169.254.169.254", "metadata of AWS, Google and others"],
    ["172.16.0.1", "private"],
    ["172.31.255.255", "private"],
    ["192.0.0.192", "metadata of Oracle"],
    ["192.0.2.1", "documentation"],
    ["192.88.99.1", "6to4 relay"],
    ["192.168.1.1", "private"],
    ["198.18.0.1", "benchmarks"],
    ["198.51.100.1", "documentation"],
    ["203.0.113.1", "documentation"],
    ["224.0.0.1", "multicast"],
    ["239.255.255.250", "multicast"],
    ["240.0.0.1", "reserved"],
    ["255.255.255.255", "broadcast"],
    ["::", "unspecified"],
    ["::1", "loopback"],
    ["::ffff:127.0.0.1", "IPv4-mapped"],
    ["::ffff:7f00:1", "IPv4-mapped"],
    ["::ffff:8.8.8.8", "IPv4-mapped, of a public address"],
    ["::127.0.0.1", "IPv4-compatible"],
    ["::ffff:0:127.0.0.1", "IPv4-translated"],
    ["64:ff9b::7f00:1", "NAT64"],
    ["64:ff9b::8.8.8.8", "NAT64 of a public address"],
    ["64:ff9b:1::1", "local NAT64"],
    ["100::1", "discard"],
    ["2001::1", "Teredo"],
    ["2001:10::1", "ORCHID"],
    ["2001:20::1", "ORCHIDv2"],
    ["2001:db8::1", "documentation"],
    ["2002:7f00:1::1", "6to4"],
    ["2002:808:808::1", "6to4 of a public address"],
    ["3fff::1", "documentation"],
    ["5f00::1", "segment routing"],
    ["fc00::1", "unique local"],
    ["fd00:ec2::254", "metadata of AWS"],
    ["fe80::1", "link-local"],
    ["fe80::1%eth0", "link-local with a zone"],
    ["2606:4700::1%eth0", "a zone"],
    ["fec0::1", "site-local"],
    ["ff02::1", "multicast"],
    ["localhost", "no address"],
    ["0x7f.1", "no address in its plain form"],
    ["2130706433", "no address in its plain form"],
    ["127.1", "no address in its plain form"],
    ["", "nothing"]
  ])("%s (%s)", (address) => {
    assert.strictEqual(listedNone(address), "refused")
  })
})

describe("an address", () => {
  it.each([
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "223.255.255.255"
  ])("%s is public", (address) => {
    assert.strictEqual(listedNone(address), "public")
  })

  it.each(["2606:4700:4700::1111", "2001:4860:4860::8888", "2a00:1450::1", "3ffe::1"])("%s is public", (address) => {
    assert.strictEqual(listedNone(address), "public")
  })

  it("of a listed network may be reached, and no other for that", () => {
    const listed = judge([
      { address: "10.1.0.0", prefix: 16, family: "ipv4" },
      { address: "127.0.0.0", prefix: 8, family: "ipv4" },
      { address: "fd00:1::", prefix: 32, family: "ipv6" },
      { address: "::1", prefix: 128, family: "ipv6" }
    ])
    assert.deepStrictEqual(
      ["10.1.2.3", "10.2.0.0", "127.0.0.1", "::1", "fd00:1::5", "fd00:2::5", "169.254.169.254", "1.1.1.1"].map(listed),
      ["listed", "refused", "listed loopback", "listed loopback", "listed", "refused", "refused", "public"]
    )
  })
})

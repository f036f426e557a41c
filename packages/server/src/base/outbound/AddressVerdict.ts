import { isIP } from "node:net"
import { blockListOf, type Network } from "../config/Networks.js"

const networksOf = (family: Network["family"], texts: ReadonlyArray<string>): ReadonlyArray<Network> =>
  texts.map((text) => {
    const [address = "", bits] = text.split("/")
    return { address, prefix: Number(bits), family }
  })

/** IPv4 networks that are not public (RFC 6890), and those of cloud metadata among the public ones. */
const refused4 = blockListOf(
  networksOf("ipv4", [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "168.63.129.16/32",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4"
  ])
)

/** The only IPv6 networks that are public. Loopback, local, multicast, mapped and NAT64 addresses are outside of it. */
const public6 = blockListOf(networksOf("ipv6", ["2000::/3"]))

/** Non-public networks within: protocols with Teredo (2001::/23), documentation, and 6to4, which embeds an IPv4 address. */
const refused6 = blockListOf(networksOf("ipv6", ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]))

const loopback = blockListOf([...networksOf("ipv4", ["127.0.0.0/8"]), ...networksOf("ipv6", ["::1/128"])])

const isPublic = (address: string, version: number): boolean =>
  version === 4 ? !refused4.check(address, "ipv4") : public6.check(address, "ipv6") && !refused6.check(address, "ipv6")

/** How an address may be reached. */
export type Verdict = "refused" | "public" | "listed" | "listed loopback"

/** Judges literal addresses. A scoped address (fe80::1%eth0) is refused. */
export const judge = (listed: ReadonlyArray<Network>): ((address: string) => Verdict) => {
  const allowed = blockListOf(listed)
  return (address) => {
    const version = address.includes("%") ? 0 : isIP(address)
    if (version === 0) return "refused"
    const family = version === 4 ? "ipv4" : "ipv6"
    if (allowed.check(address, family)) return loopback.check(address, family) ? "listed loopback" : "listed"
    return isPublic(address, version) ? "public" : "refused"
  }
}

import { BlockList, isIP } from "node:net"
import * as Option from "effect/Option"
import { type Format, listOf } from "./SettingFormats.js"

/** A network such as 10.0.0.0/8. */
export interface Network {
  readonly address: string
  readonly prefix: number
  readonly family: "ipv4" | "ipv6"
}

/** Reads a network, or one address. */
export const networkOf = (text: string): Option.Option<Network> => {
  const [, address = "", bits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  const widest = version === 4 ? 32 : 128
  const prefix = bits === undefined ? widest : Number(bits)
  return version === 0 || prefix > widest
    ? Option.none()
    : Option.some({ address, prefix, family: version === 4 ? "ipv4" : "ipv6" })
}

/** The bytes of an IPv6 address. */
const bytesOfIpv6 = (address: string): ReadonlyArray<number> => {
  // Its last part may be written as an IPv4 address.
  const hex = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
    [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)].map((group) => group.toString(16)).join(":")
  )
  const [before = [], after = []] = hex.split("::").map((half) => (half === "" ? [] : half.split(":")))
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0")
  const groups = hex.includes("::") ? [...before, ...zeros, ...after] : before
  return groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff])
}

/** The prefix of IPv4 addresses that are mapped to IPv6: ::ffff:0:0/96. */
const mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

const isBitShared = (bytes: ReadonlyArray<number>, bit: number): boolean =>
  (((bytes[bit >> 3] ?? 0) ^ (mapped[bit >> 3] ?? 0)) & (0x80 >> (bit & 7))) === 0

/** Whether a network of IPv6 has addresses that stand for those of IPv4, as a block list takes them. */
const hasMapped = ({ address, family, prefix }: Network): boolean =>
  family === "ipv6" &&
  Array.from({ length: Math.min(prefix, 96) }, (_, bit) => bit).every((bit) => isBitShared(bytesOfIpv6(address), bit))

/**
 * Says why a network is not written as one that admits callers: it could admit more than its text says. Null if it is.
 */
const misleadingIn = (text: string): string | null => {
  const network = Option.getOrNull(networkOf(text))
  if (network === null) return "is no network such as 10.0.0.0/8 or fd00::/8"
  if (/\/0\d/.test(text)) return `has a prefix with a leading zero: write /${network.prefix}`
  if (!hasMapped(network)) return null
  return network.prefix > 96
    ? "is a network of IPv4 written as IPv6: write it as 10.0.0.0/8"
    : "admits all of IPv4 too: write 2000::/3 for all public addresses of IPv6, and networks of IPv4 as such"
}

/** Says of each network that would be refused today why. Those that were stored before stay as they are. */
export const misleading = (networks: ReadonlyArray<string>): ReadonlyArray<string> =>
  networks.flatMap((network) => {
    const why = misleadingIn(network)
    return why === null ? [] : [`${network} ${why}`]
  })

const rule = "a list of networks such as 10.0.0.0/8 or fd00::/8, separated by commas"

export const networks: Format<ReadonlyArray<Network>> = listOf({ rule: `must be ${rule}`, read: networkOf })

/** The same, or `none`. */
export const networksOrNone: Format<ReadonlyArray<Network>> = {
  rule: `must be none, or ${rule}`,
  read: (text) => (text === "none" ? Option.some([]) : networks.read(text))
}

/** Makes a list that says whether an address is in one of the networks. */
export const blockListOf = (some: ReadonlyArray<Network>): BlockList => {
  const list = new BlockList()
  for (const { address, family, prefix } of some) list.addSubnet(address, prefix, family)
  return list
}

/** Whether an address, which is not mapped from IPv4 to IPv6, is in a list of networks. */
export const isInside = (list: BlockList, address: string): boolean =>
  list.check(address, isIP(address) === 4 ? "ipv4" : "ipv6")

import { BlockList, isIP } from "node:net"
import * as Option from "effect/Option"
import { type Format, listOf } from "./Formats.js"

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

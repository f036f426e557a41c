import { type BlockList, isIP } from "node:net"
import { isInside } from "../base/config/Networks.js"

/** Removes the prefix of an IPv4-mapped IPv6 address, and the zone, which may have any length. */
const normalized = (address: string): string =>
  address.replace(/%\S*$/, "").replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "")

const asAddress = (text: string | undefined): string | null => {
  if (text === undefined) return null
  const address = normalized(text.trim())
  return isIP(address) === 0 ? null : address
}

/** As `asAddress`, of a hop that some proxies write with a port, or in brackets. */
const asHop = (text: string | undefined): string | null =>
  asAddress(text) ??
  asAddress(/^\s*\[([^\]]*)\](?::[0-9]+)?\s*$/.exec(text ?? "")?.[1]) ??
  asAddress(/^\s*([0-9.]+):[0-9]+\s*$/.exec(text ?? "")?.[1])

/** The facts that a request gives about its client. */
export interface AddressFacts {
  /** The address of the connection. */
  readonly peer: string | undefined
  readonly realIp: string | undefined
  readonly forwardedFor: string | undefined
}

/** The last address that is no proxy: a client can send any addresses before it. */
const lastClient = (proxies: BlockList, forwardedFor: string | undefined): string | null => {
  const hops = forwardedFor?.split(",") ?? []
  for (let index = hops.length - 1; index >= 0; index--) {
    const address = asHop(hops[index])
    if (address === null || !isInside(proxies, address)) return address
  }
  return null
}

/**
 * The client's address by the proxy's headers if they are valid, or else the address of the connection. With a list of proxies,
 * the headers of other peers are ignored.
 */
export const clientAddress = (
  proxies: BlockList | null,
  { forwardedFor, peer, realIp }: AddressFacts
): string | null => {
  const own = peer === undefined ? null : normalized(peer)
  if (proxies === null) return asAddress(realIp) ?? asAddress(forwardedFor?.split(",", 1)[0]) ?? own
  if (own === null || !isInside(proxies, own)) return own
  return asAddress(realIp) ?? lastClient(proxies, forwardedFor) ?? own
}

import { isIP } from "node:net"
import type { Settings } from "../../base/Config.js"

/** Whom passkeys are for (Web Authentication, section 4): the host of the server's public address, and that address. */
export interface RelyingParty {
  readonly id: string
  readonly origin: string
}

const isName = (host: string): boolean => isIP(host.replace(/^\[|\]$/g, "")) === 0

/** The relying party of a server, or why it has none. Browsers take no IP address as one. */
export const relyingPartyOf = ({ publicUrl }: Pick<Settings, "publicUrl">): RelyingParty | string => {
  if (publicUrl === null) {
    return "passkeys are off on this server: an operator has to set SERVICE_PUBLIC_URL, the address of its browsers"
  }
  const { hostname, origin } = new URL(publicUrl)
  return isName(hostname)
    ? { id: hostname, origin }
    : "passkeys are off on this server: SERVICE_PUBLIC_URL has an IP address, and browsers need a name"
}

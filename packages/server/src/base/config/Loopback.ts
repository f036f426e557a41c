import { isIP } from "node:net"

/** 127.0.0.0/8, ::1 and `localhost`. Not its subdomains, which a resolver may look up elsewhere. */
export const isLoopback = (name: string): boolean =>
  name === "::1" || (isIP(name) === 4 && name.startsWith("127.")) || name.toLowerCase() === "localhost"

/** The host of a URL, without the brackets of an IPv6 address. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "")

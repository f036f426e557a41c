import { checkServerIdentity, type ConnectionOptions } from "node:tls"
import type { Target } from "./Kind.js"

/** How a connection checks the certificate of the other side. */
export const tlsOf = ({ ca, host, tls }: Pick<Target, "ca" | "host" | "tls">): ConnectionOptions => ({
  // Also when NODE_TLS_REJECT_UNAUTHORIZED=0 is set.
  rejectUnauthorized: tls !== "require",
  ...(ca !== null && { ca }),
  // The connection goes to an address; the certificate is of the host.
  ...(/[a-z]/i.test(host) && !host.includes(":") && { servername: host }),
  checkServerIdentity: (_address, certificate) =>
    tls === "verify-full" ? checkServerIdentity(host, certificate) : undefined
})

import { NotFound, ValidationError } from "@coffer/domain/Errors"
import type { IncomingMessage } from "node:http"
import type { NodeRequest } from "./NodeRequest.js"

/** Headers that a request has once. Of several, Node would keep the first or join them. */
const once: ReadonlySet<string> = new Set(["host", "authorization", "x-api-key"])

/** The first of those headers that a request has twice. */
const repeated = ({ rawHeaders }: IncomingMessage): string | undefined => {
  const seen = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? "").toLowerCase()
    if (!once.has(name)) continue
    if (seen.has(name)) return name
    seen.add(name)
  }
  return undefined
}

/** HTTP/1.1 has one Host, HTTP/1.0 may have none (RFC 9112, section 3.2). */
const hasSoundHost = ({ headers, httpVersion }: IncomingMessage): boolean =>
  headers.host === undefined ? httpVersion === "1.0" : headers.host !== ""

/** Why a request is refused before it is routed. */
export const refusal = (request: NodeRequest): NotFound | ValidationError | null => {
  const twice = repeated(request.source)
  if (twice !== undefined && twice !== "host") {
    return new ValidationError({ message: `the ${twice} header is there twice: send one credential` })
  }
  if (twice === "host" || !hasSoundHost(request.source)) {
    return new ValidationError({ message: "the Host header is missing, or there are several" })
  }
  const path = request.url.split("?", 1)[0] ?? ""
  // The router ends a path at `;` or `#`, and takes an empty segment for a parameter.
  return /[;#]|\/\/|.\/$/.test(path) ? new NotFound({ message: "no such path: /openapi.json lists them all" }) : null
}

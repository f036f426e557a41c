import { NotFound, ValidationError } from "@coffer/domain/Errors"
import type { IncomingMessage } from "node:http"
import type { NodeRequest } from "./NodeRequest.js"

/** HTTP/1.1 has one Host, HTTP/1.0 may have none (RFC 9112, section 3.2); of several, Node would keep the first. */
const hasSoundHost = ({ headers, httpVersion, rawHeaders }: IncomingMessage): boolean => {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ""
    if (name.length === 4 && name.toLowerCase() === "host") count++
  }
  return count === 1 ? headers.host !== "" : count === 0 && httpVersion === "1.0"
}

/** Why a request is for none of the calls, whatever they are, before any of them is looked for. */
export const refusal = (request: NodeRequest): NotFound | ValidationError | null => {
  if (!hasSoundHost(request.source)) {
    return new ValidationError({ message: "the Host header is missing, or there are several" })
  }
  const path = request.url.split("?", 1)[0] ?? ""
  // The router ends a path at `;` or `#`, and takes an empty segment for a parameter.
  return /[;#]|\/\/|.\/$/.test(path) ? new NotFound({ message: "no such path: /openapi.json lists them all" }) : null
}

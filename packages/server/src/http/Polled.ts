import * as Headers from "@effect/platform/Headers"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { contentETag, namesETag } from "./ETag.js"
import type { NodeRequest } from "./NodeRequest.js"

/** Larger responses have no tag: a hash of them would hold up the event loop. */
const largest = 128 * 1024

/** Gives a response that is polled an `ETag` of its bytes, and sends it as 304 to a client that has it. */
export const conditional = (
  { headers: requested }: NodeRequest,
  response: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse => {
  const { body, cookies, headers, status } = response
  if (status !== 200 || body._tag !== "Uint8Array" || body.body.length > largest) return response
  const etag = contentETag(body.body)
  const known = requested["if-none-match"]
  const tagged = Headers.set(headers, "etag", etag)
  return known !== undefined && namesETag(known, etag)
    ? HttpServerResponse.empty({ status: 304, headers: Headers.remove(tagged, "content-length"), cookies })
    : HttpServerResponse.setHeader(response, "etag", etag)
}

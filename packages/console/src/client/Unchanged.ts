import { headerOf, type HttpRequest, type HttpResponse } from "@coffer/client/internal/Send"

/** The most responses that are kept, and the bytes of each. */
const [most, largest] = [16, 128 * 1024]

/** The paths of the lists that pages poll. None of them holds a value. */
const polled = /^\/api\/orgs\/[^/]+\/(?:approvals|audit-logs|requests|webhooks(?:\/[^/]+\/deliveries)?)$/

/** The last responses of such lists, by their address. */
const known = new Map<string, { readonly etag: string; readonly response: HttpResponse }>()

const isPolled = ({ method, url }: HttpRequest): boolean => method === "GET" && polled.test(url.pathname)

/** The headers by which the server answers 304 to a poll whose response has not changed. */
export const ifChanged = (request: HttpRequest): HttpRequest["headers"] => {
  const kept = isPolled(request) ? known.get(request.url.href) : undefined
  return kept === undefined ? request.headers : { ...request.headers, "if-none-match": kept.etag }
}

/** The response of a poll, which is the kept one if it has not changed. */
export const keepUnchanged = (request: HttpRequest, response: HttpResponse): HttpResponse => {
  if (!isPolled(request)) return response
  const { href } = request.url
  const kept = known.get(href)
  if (response.status === 304 && kept !== undefined) return kept.response
  known.delete(href)
  const etag = headerOf(response, "etag")
  if (etag !== undefined && response.status === 200 && response.body.length <= largest) {
    known.set(href, { etag, response })
    const [oldest] = known.keys()
    if (known.size > most && oldest !== undefined) known.delete(oldest)
  }
  return response
}

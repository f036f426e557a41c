/** Requests that were sent before the scripts that read the responses had come, by address. */
const begun = new Map<string, Promise<Response>>()

/** A prefetch is no act of the person: it accepts no invitation. */
const headers = { "x-coffer": "1", purpose: "prefetch" }

/** Sends a read of the API that the page will need. */
export const beginRead = (path: string): Promise<Response> => {
  const response = fetch(path, { headers })
  // Whoever takes it learns of the failure.
  response.catch(() => {})
  begun.set(new URL(path, location.origin).href, response)
  return response
}

/** Returns the response to a read that was sent early, once; undefined if there is none that the page can use. */
export const takeBegun = async (href: string): Promise<Response | undefined> => {
  const found = await begun.get(href)?.catch(() => undefined)
  begun.delete(href)
  // Without a session, the page asks for the login. Any other refusal may be due to the prefetch.
  return found?.ok === true || found?.status === 401 ? found : undefined
}

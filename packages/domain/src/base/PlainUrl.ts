/**
 * Whether a text is an http or https URL that is requested as it is written: without credentials or a fragment, and with a
 * host in its only spelling, which is no other form of an address, no IDN that is not ASCII, and has no dot at its end.
 */
export const isPlainUrl = (text: string): boolean => {
  const [, host = ""] = /^https?:\/\/(\[[^\]/?#]*\]|[^:/?#]*)(?::\d+)?(?:[/?]|$)/i.exec(text) ?? []
  if (!URL.canParse(text) || /[\s\\#\p{Cc}]/u.test(text)) return false
  const { hostname, password, username } = new URL(text)
  return username === "" && password === "" && host !== "" && !host.endsWith(".") && host.toLowerCase() === hostname
}

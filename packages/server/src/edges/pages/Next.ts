/** Where a browser goes after a login that says nothing else. */
export const home = "/"

/** The sealed cookie that holds the address must stay below 4 KiB. */
const longest = 1_000

/** Only resolves the address: a name that never exists (RFC 2606). */
const base = "http://own.invalid"

/** The address if it is one of this server's own, or else that of its home: a link must not lead a login elsewhere. */
export const ownAddress = (text: string | null): string => {
  if (text === null || text.length > longest || !text.startsWith("/") || !URL.canParse(text, base)) return home
  const { hash, origin, pathname, search } = new URL(text, base)
  // Two slashes name another host: a browser resolves `/x/..//elsewhere.test` to them.
  return origin === base && !pathname.startsWith("//") ? `${pathname}${search}${hash}` : home
}

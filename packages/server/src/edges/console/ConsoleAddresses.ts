/** The folder of the hashed files. No organization has this name. */
export const assets = "-/assets/"

/** First segments that belong to the API and to the server's own pages, of which an unknown path is not found. */
const taken: ReadonlySet<string> = new Set(["api", "device", "docs", "health", "login", "metrics", "v1"])

/** A segment of an address of the console: a name, a key or one of its pages. */
const segment = /^(?:[A-Za-z0-9_-][A-Za-z0-9_.-]*|-)$/

const pathOf = (url: string): string => (url.split("?", 1)[0] ?? "").slice(1)

/** The name of the file that a request means, if it means one. */
export const fileOf = (url: string): string => pathOf(url)

/** Whether a path is one of the console's own addresses, which all have the same page. */
export const isAddress = (url: string): boolean => {
  const path = pathOf(url)
  if (path === "") return true
  const segments = path.split("/")
  const [first = ""] = segments
  // A file extension in the only segment: `/robots.txt` is no place.
  if (segments.length === 1 && first.includes(".")) return false
  return (
    !`${path}/`.startsWith(assets) &&
    segments.length <= 8 &&
    !taken.has(first.toLowerCase()) &&
    segments.every((one) => segment.test(one))
  )
}

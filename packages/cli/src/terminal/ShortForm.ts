/** At least this many characters of an id are shown. */
const shortestShown = 8

/** The beginnings of ids that tell them apart. */
export const shortIds = (ids: ReadonlyArray<string>): ((id: string) => string) => {
  const isUnique = (length: number) => new Set(ids.map((id) => id.slice(0, length))).size === new Set(ids).size
  let length = shortestShown
  while (length < 36 && !isUnique(length)) length++
  return (id) => id.slice(0, length)
}

/** Returns the Levenshtein distance of two texts. */
export const editDistance = (a: string, b: string): number => {
  const [rows, columns] = [[...a], [...b]]
  let above = Array.from({ length: columns.length + 1 }, (_, column) => column)
  for (const [row, letter] of rows.entries()) {
    const next = [row + 1]
    for (const [column, other] of columns.entries()) {
      const replaced = (above[column] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    above = next
  }
  return above.at(-1) ?? 0
}

/** Returns the first word with the smallest distance. Words at an infinite distance are skipped. */
export const nearestBy = (words: ReadonlyArray<string>, distanceTo: (word: string) => number): string | undefined => {
  let nearest: string | undefined
  let least = Infinity
  for (const word of words) {
    const distance = distanceTo(word)
    if (distance < least) [nearest, least] = [word, distance]
  }
  return nearest
}

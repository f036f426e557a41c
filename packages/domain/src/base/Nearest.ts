/**
 * Returns how many letters are to be inserted, removed, replaced or swapped with the next one to make one text of the other (the
 * optimal string alignment distance).
 */
export const editDistance = (a: string, b: string): number => {
  const [rows, columns] = [[...a], [...b]]
  let above = Array.from({ length: columns.length + 1 }, (_, column) => column)
  let twoAbove: ReadonlyArray<number> = []
  for (const [row, letter] of rows.entries()) {
    const next = [row + 1]
    for (const [column, other] of columns.entries()) {
      const replaced = (above[column] ?? 0) + (letter === other ? 0 : 1)
      const isSwapped = row > 0 && column > 0 && letter === columns[column - 1] && rows[row - 1] === other
      const swapped = isSwapped ? (twoAbove[column - 1] ?? 0) + 1 : Infinity
      next.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1, swapped))
    }
    twoAbove = above
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

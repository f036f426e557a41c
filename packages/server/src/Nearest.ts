/** The number of letters to insert, delete or replace (Levenshtein). */
export const editDistance = (a: string, b: string): number => {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (const [row, letter] of [...a].entries()) {
    const next = [row + 1]
    for (const [column, other] of [...b].entries()) {
      const replaced = (above[column] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    above = next
  }
  return above[b.length] ?? 0
}

/** The word that was probably meant: the nearest one, when less than half of its letters differ. */
export const nearest = (word: string, words: ReadonlyArray<string>): string | null => {
  const [best] = words
    .filter((other) => Math.abs(other.length - word.length) <= word.length / 2)
    .map((other) => ({ other, far: editDistance(word.slice(0, 100), other.slice(0, 100)) }))
    .filter(({ far, other }) => far < other.length / 2)
    .sort((a, b) => a.far - b.far)
  return best?.other ?? null
}

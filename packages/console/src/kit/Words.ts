/** Whether each word of a search occurs in a text. */
export const hasWords = (text: string, words: string): boolean => {
  const within = text.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => within.includes(word))
}

/** The column in which the values of facts begin. */
const width = "Organization: ".length

/** The text of a notice: an opening, facts by their labels, and paragraphs that say how to go on. */
export const noticeText = (
  opening: string,
  facts: Readonly<Record<string, string>>,
  ...paragraphs: ReadonlyArray<string>
): string => {
  const lines = Object.entries(facts).map(([label, fact]) => `  ${`${label}:`.padEnd(width)}${fact}`)
  return `${[opening, lines.join("\n"), ...paragraphs].join("\n\n")}\n`
}

const columns = ["row", "against", "measured", "base", "ratio", "target"]

const cells = ({ against, atLeast, base, measured, ratio, row, target }) => [
  row,
  against,
  measured,
  base,
  ratio.toFixed(2),
  target === undefined
    ? ""
    : `${atLeast ? "≥" : "≤"} ${target}${(atLeast ? ratio >= target : ratio <= target) ? "" : "  missed"}`
]

/** Prints the machine and the results, as a Markdown table. */
export const print = (results, machine) => {
  const { versions, ...rest } = machine
  for (const [name, value] of Object.entries({ ...rest, ...versions })) process.stdout.write(`${name}: ${value}\n`)
  const lines = [columns, ...results.map(cells)]
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => line[column].length)))
  const format = (line) => `| ${line.map((cell, column) => cell.padEnd(widths[column])).join(" | ")} |\n`
  process.stdout.write(`\n${format(columns)}| ${widths.map((width) => "-".repeat(width)).join(" | ")} |\n`)
  for (const line of lines.slice(1)) process.stdout.write(format(line))
}

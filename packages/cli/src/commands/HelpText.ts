const noise =
  /^ *(A user-defined piece of text.*|A true or false value\.|An integer\.|One of the following: .*|This setting is optional\.|This (argument|option) (may|must) be repeated.*)$/

const sections = /^(USAGE|DESCRIPTION|ARGUMENTS|OPTIONS|COMMANDS)$/

interface Item {
  readonly name: string
  readonly text: string
}

/** A command of the list, with what it does and without its options: its own help has those. */
const command = /^ {2}- ([a-z][a-z-]*(?: [a-z][a-z-]*)*)(?: [[<-].*?)? {2,}(.*)$/

const example = /^(.*?) Example: (.*)$/

const itemsOfCommands = (lines: ReadonlyArray<string>): ReadonlyArray<Item> =>
  lines.flatMap((line) => {
    const [, name, text = ""] = command.exec(line) ?? []
    // The short name of another command would say everything twice.
    if (name === undefined || name.startsWith("env ")) return []
    return [{ name, text: (example.exec(text)?.[1] ?? text).replace(/\.$/, "") }]
  })

const itemsOfOptions = (lines: ReadonlyArray<string>): ReadonlyArray<Item> => {
  const items: Array<Item> = []
  for (const line of lines) {
    if (!line.startsWith(" ")) items.push({ name: line.replace(/ 1\+$/, ""), text: "" })
    else
      items.push({ name: items.at(-1)?.name ?? "", text: [items.pop()?.text, line.trim()].filter(Boolean).join(" ") })
  }
  return items
}

const columns = (items: ReadonlyArray<Item>) => {
  const width = Math.max(...items.map(({ name }) => name.length))
  return items.map(({ name, text }) => `  ${name.padEnd(width)}  ${text}`.trimEnd())
}

/** Where the command that the parser calls by its last word stands on the command line. */
const commandLine = (usage: string, argv: ReadonlyArray<string>) => {
  const [word = "", ...rest] = usage.replace(/^\$ /, "").split(" ")
  const names = argv.slice(0, argv.indexOf(word) + 1).filter((name) => !name.startsWith("-"))
  return ["  coffer", ...names, ...rest].join(" ")
}

const bodyOf = (title: string, lines: ReadonlyArray<string>, argv: ReadonlyArray<string>): ReadonlyArray<string> => {
  switch (title) {
    case "USAGE":
      return lines.map((line) => commandLine(line, argv))
    case "COMMANDS":
      return columns(itemsOfCommands(lines))
    case "ARGUMENTS":
    case "OPTIONS":
      return columns(itemsOfOptions(lines))
    default:
      return lines.flatMap((line) => {
        const [, sentence, shown] = example.exec(line) ?? []
        return sentence === undefined || shown === undefined
          ? [`  ${line}`]
          : [`  ${sentence}`, "", "EXAMPLE", `  ${shown}`]
      })
  }
}

/**
 * The parser's help, as people read it: the whole command in the usage, an item a line, and examples by themselves.
 * Whatever else the parser prints stays as it is.
 *
 * @param text without colours.
 */
export const tidyHelp = (text: string, argv: ReadonlyArray<string>): string => {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !noise.test(line))
  const start = lines.indexOf("USAGE")
  if (start < 0) return text
  const group = lines.includes("COMMANDS")
  const out: Array<string> = []
  let title = ""
  let body: Array<string> = []
  const flush = () => {
    if (title !== "") out.push(title, ...bodyOf(title, body, argv), "")
    body = []
  }
  for (const line of lines.slice(start)) {
    if (sections.test(line)) {
      flush()
      title = line
    } else body.push(line)
  }
  flush()
  if (group) out.push(`${out[1]?.trim()} COMMAND --help says more about a command.`)
  return out
    .map((line, index) => (group && index === 1 ? `${line} COMMAND` : line))
    .join("\n")
    .trimEnd()
}

import type { Command } from "../kit/Commands.js"

const maxFound = 50

/** How well a title fits the words that were typed: the lower, the better; null if it does not. */
const rank = (title: string, words: ReadonlyArray<string>): number | null => {
  const text = title.toLowerCase()
  let sum = 0
  for (const word of words) {
    const at = text.indexOf(word)
    if (at < 0) return null
    sum += at === 0 ? 0 : /[^a-z0-9]/.test(text[at - 1] ?? "") ? 1 : 2
  }
  return sum + text.length / 1_000
}

/** The commands without those that are offered twice: the first of each stays. */
export const distinct = (commands: ReadonlyArray<Command>): ReadonlyArray<Command> => {
  const first = new Map<string, Command>()
  for (const command of commands) {
    const name = `${command.hint} ${command.title}`
    if (!first.has(name)) first.set(name, command)
  }
  return [...first.values()]
}

/** The commands whose titles have all words that were typed, the best first. */
export const search = (commands: ReadonlyArray<Command>, typed: string): ReadonlyArray<Command> => {
  const words = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
  if (words.length === 0) return commands.slice(0, maxFound)
  return commands
    .flatMap((command) => {
      const found = rank(command.title, words)
      return found === null ? [] : [{ command, found }]
    })
    .sort((a, b) => a.found - b.found)
    .slice(0, maxFound)
    .map(({ command }) => command)
}

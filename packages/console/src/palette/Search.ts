import { type Command, commandKinds } from "../kit/Commands.js"

const maxFound = 50

const wordsOf = (typed: string): ReadonlyArray<string> =>
  typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")

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
    const name = `${command.kind} ${command.hint} ${command.title}`
    if (!first.has(name)) first.set(name, command)
  }
  return [...first.values()]
}

/** Commands under a heading. */
export interface Section {
  readonly heading: string
  readonly commands: ReadonlyArray<Command>
}

/**
 * The commands whose titles have all words that were typed, in sections, the best first. The section with the best of all comes first.
 */
export const search = (commands: ReadonlyArray<Command>, typed: string): ReadonlyArray<Section> => {
  const words = wordsOf(typed)
  const ranked = commands.flatMap((command) => {
    const found = rank(command.title, words)
    return found === null ? [] : [{ command, found: words.length === 0 ? 0 : found }]
  })
  const best = ranked.sort((a, b) => a.found - b.found).slice(0, maxFound)
  const sections = new Map<string, Array<Command>>()
  const ordered = words.length === 0 ? commandKinds : best.map(({ command }) => command.kind)
  for (const kind of ordered) sections.set(kind, [])
  for (const { command } of best) sections.get(command.kind)?.push(command)
  return [...sections].flatMap(([heading, found]) => (found.length === 0 ? [] : [{ heading, commands: found }]))
}

/** A part of a title, and whether it was typed. */
export interface TitlePart {
  readonly text: string
  readonly isTyped: boolean
}

/** Splits a title at the words that were typed. */
export const partsOf = (title: string, typed: string): ReadonlyArray<TitlePart> => {
  const text = title.toLowerCase()
  const isTyped = Array.from(title, () => false)
  for (const word of wordsOf(typed)) {
    const at = text.indexOf(word)
    if (at >= 0) isTyped.fill(true, at, at + word.length)
  }
  const parts: Array<TitlePart> = []
  for (const [index, letter] of [...title].entries()) {
    const last = parts.at(-1)
    const mark = isTyped[index] === true
    if (last?.isTyped === mark) parts[parts.length - 1] = { text: last.text + letter, isTyped: mark }
    else parts.push({ text: letter, isTyped: mark })
  }
  return parts
}

import type { Entry } from "./Format.js"

/** An assignment as it is spelled in a `.env` file. */
interface Spelled {
  /** The value with its quotes; none where it has no quotes. */
  readonly quoted: string | undefined
  /** The value as dotenv reads it. */
  readonly value: string
  /** The whole assignment, with the line ends of the file. */
  readonly source: string
  /** The key with what follows it. */
  readonly head: string
}

/** `$NAME`, `${NAME}`, `$$` and `$(command)`: what some readers replace. */
const replaced = [
  ["${…}", /\$\{/],
  ["$…", /(?<!\$)(?:\$\$)*\$[A-Za-z0-9_]/],
  ["$$", /\$\$/],
  ["$(…)", /\$\(/]
] as const

/** Returns the parts that are kept as they are, although another reader replaces them. */
const keptIn = ({ quoted, value }: Spelled): ReadonlyArray<string> => {
  const inner = quoted?.slice(1, -1) ?? ""
  const names = replaced.flatMap(([name, pattern]) => (pattern.test(value) ? [name] : []))
  switch (quoted?.[0]) {
    case "'":
      return [
        ...(inner.includes("\\'") ? ["\\'"] : []),
        ...(inner.includes("\\\\") ? ["\\\\"] : []),
        // python-dotenv replaces it in any quotes.
        ...names.filter((name) => name === "${…}")
      ]
    case '"':
      return [...(inner.includes('\\"') ? ['\\"'] : []), ...(/\\[^nr"]/.test(inner) ? ["a backslash"] : []), ...names]
    default:
      return names
  }
}

const notesOf = ({ head, quoted, source }: Spelled): ReadonlyArray<string> => [
  ...(quoted?.startsWith('"') === true && /\\r/.test(quoted)
    ? ["contains \\r, which is read as a carriage return"]
    : []),
  ...(source.includes("\r") ? ["contains a carriage return, which is read as a line feed"] : []),
  ...(quoted?.startsWith("`") === true ? ["is in backticks, which not every reader takes for quotes"] : []),
  ...(head.includes(":") && !head.includes("=") ? ["is written with a colon, which not every reader takes"] : [])
]

/** Returns the differences in how other readers of `.env` files take an assignment that is read. */
export const differences = (spelled: Spelled): Pick<Entry, "kept" | "notes" | "isExpandable"> => {
  const kept = keptIn(spelled)
  const notes = notesOf(spelled)
  const isExpandable = kept.length > 0 && !/^['`]/.test(spelled.quoted ?? "")
  return {
    ...(kept.length > 0 && { kept }),
    ...(notes.length > 0 && { notes }),
    ...(isExpandable && { isExpandable })
  }
}

/** All that a person may not expect of an entry, as the ends of sentences "KEY …". */
export const notesOfEntry = ({ kept = [], notes = [] }: Entry): ReadonlyArray<string> => [
  ...kept.map((part) => `contains ${part}, which is kept as it is`),
  ...notes
]

/** Whether dotenv reads a line feed or carriage return where others read a backslash and a letter. */
export const hasDoubtfulEscape = (quoted: string | undefined): boolean =>
  quoted?.startsWith('"') === true && /\\\\[nr]/.test(quoted)

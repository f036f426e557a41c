import { maxSecretValueBytes } from "../SecretValues.js"
import type { Either } from "effect"
import { type Entry, Findings, type Format, type Pair, type Unreadable } from "./Format.js"
import { Scanner } from "./Scanner.js"

const name = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Variables that shells keep for themselves: read-only, changed by the shell, or evaluated, which runs code in a value. */
const kept = new Set([
  ..."_ BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND BASH_COMPAT".split(" "),
  ..."BASH_LINENO BASH_MONOSECONDS BASH_REMATCH BASH_SOURCE BASH_SUBSHELL BASH_TRAPSIG BASH_VERSINFO".split(" "),
  ..."BASH_XTRACEFD DIRSTACK EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD LINENO OPTIND".split(" "),
  ..."PIPESTATUS PPID RANDOM SECONDS SHELLOPTS SHLVL SRANDOM UID".split(" ")
])

const refusal = ({ key, value }: Pair) => {
  if (!name.test(key)) return "is no name for a shell's variable"
  if (kept.has(key)) return "is a variable that shells keep for themselves"
  return value.includes("\0") ? "has a value with a NUL byte, which no shell can hold" : undefined
}

const write = (pairs: ReadonlyArray<Pair>) =>
  pairs.map(({ key, value }) => `export ${key}='${value.replaceAll("'", "'\\''")}'\n`).join("")

const blank = /\s*/y
const comment = /#[^\n]*/y
const start = /(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)=/y
const piece = /'([^']*)'|"([^"\\$`]*(?:\\[^][^"\\$`]*)*)"|\\([^])|([\w@%+=:,./-]+)/y
const end = /[ \t]*(?=\n|$)|[ \t]+#[^\n]*/y

/** The start of a line that can be judged after one that cannot. */
const next = /^(?:export[ \t]+)?[A-Za-z_][A-Za-z0-9_]*=/m

const escaped = (text: string) => (text === "\n" ? "" : text)

/** The text of one piece of a word (POSIX, "Quoting"). */
const textOf = ([, single, double, character, plain]: RegExpExecArray): string => {
  if (single !== undefined) return single
  if (double !== undefined) return double.replace(/\\([$`"\\\n])/g, (_, taken: string) => escaped(taken))
  return character === undefined ? (plain ?? "") : escaped(character)
}

const read = (text: string): Either.Either<ReadonlyArray<Entry>, Unreadable> => {
  const scanner = new Scanner(text)
  const found = new Findings()
  while (!found.isStopped()) {
    scanner.skip(blank)
    if (text[scanner.at] === "#") {
      scanner.skip(comment)
      continue
    }
    if (scanner.done) break
    const line = scanner.lineAt(scanner.at)
    const key = scanner.take(start)?.[1]
    if (key === undefined) {
      found.refuse(line, "is not export KEY='value'; coffer reads assignments alone, and runs nothing")
      scanner.skipTo(next)
      continue
    }
    let value = ""
    for (let part = scanner.take(piece); part !== null && !found.isStopped(); part = scanner.take(piece)) {
      value += textOf(part)
      if (value.length > maxSecretValueBytes) found.tooLong(line, key)
    }
    if (found.isStopped()) break
    if (scanner.take(end) === null) {
      found.refuse(
        line,
        `${key}: its value is not plain text for a shell; write it in single quotes, on lines that end with LF`
      )
      scanner.skipTo(next)
    } else if (value.includes("\0")) {
      found.refuse(line, `${key}: holds a NUL byte, which no shell reads; use json or yaml`)
    } else found.add({ key, value, line })
  }
  return found.result
}

/** Assignments that any POSIX shell reads with the `.` command. */
export const shell: Format = { refusal, write, read }

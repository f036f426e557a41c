import { maxSecretValueBytes } from "../secrets/SecretValueForm.js"
import type * as Either from "effect/Either"
import { type Entry, Findings, type Format, type Pair, type Unreadable } from "./Format.js"
import { Scanner } from "./Scanner.js"

const name = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Variables that a shell keeps for itself: read-only, changed by the shell, tied to another variable, or evaluated, which runs
 * code in a value. From the manuals; those of zsh also from its modules.
 */
const kept: Readonly<Record<string, ReadonlyArray<string>>> = {
  bash: [
    "_ BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND BASH_COMPAT",
    "BASH_LINENO BASH_MONOSECONDS BASH_REMATCH BASH_SOURCE BASH_SUBSHELL BASH_TRAPSIG BASH_VERSINFO",
    "BASH_XTRACEFD DIRSTACK EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD LINENO OPTIND PIPESTATUS",
    "PPID RANDOM SECONDS SHELLOPTS SHLVL SRANDOM UID"
  ],
  zsh: [
    "argv cdpath fignore fpath histchars mailpath manpath module_path path pipestatus prompt psvar status",
    "signals watch zsh_eval_context zsh_scheduled_events aliases builtins commands dirstack functions galiases",
    "history historywords jobdirs jobstates jobtexts keymaps modules nameddirs options parameters reswords",
    "saliases termcap terminfo userdirs usergroups widgets ARGC BAUD COLUMNS CPUTYPE DIRSTACKSIZE EGID ERRNO",
    "FUNCNEST GID HISTCHARS HISTSIZE KEYTIMEOUT LINES LISTMAX LOGCHECK MACHTYPE MAILCHECK OSTYPE REPORTMEMORY",
    "REPORTTIME SAVEHIST TMOUT TRY_BLOCK_ERROR TRY_BLOCK_INTERRUPT TTY TTYIDLE USERNAME VENDOR WORDCHARS",
    "ZSH_ARGZERO ZSH_EXECUTION_STRING ZSH_NAME ZSH_PATCHLEVEL ZSH_SCRIPT ZSH_SUBSHELL ZSH_VERSION",
    "ZSH_EVAL_CONTEXT WATCH KEYBOARD_HACK ZLE_RPROMPT_INDENT funcstack funcfiletrace funcsourcetrace functrace",
    "functions_source patchars dis_aliases dis_builtins dis_functions dis_functions_source dis_galiases",
    "dis_patchars dis_reswords dis_saliases"
  ],
  fish: ["CDPATH MANPATH CMD_DURATION FISH_VERSION PWD hostname status_generation umask version"]
}

const keepers = new Map(
  Object.entries(kept).flatMap(([shell, lines]) =>
    lines.flatMap((line) => line.split(" ").map((key) => [key, shell] as const))
  )
)

/** The shell that keeps a variable for itself. All that begin with fish_ are settings of fish. */
const keeperOf = (key: string) => (/^(?:__)?fish_/.test(key) ? "fish" : keepers.get(key))

/** Why no variable of a shell can hold a value, as the end of a sentence "KEY …". */
export const shellRefusal = (value: string): string | undefined =>
  value.includes("\0") ? "has a value with a NUL byte, which no shell can hold" : undefined

const refusal = ({ key, value }: Pair) => {
  if (!name.test(key)) return "is no name for a shell's variable"
  const keeper = keeperOf(key)
  if (keeper !== undefined) return `is a variable that ${keeper} keeps for itself`
  return shellRefusal(value)
}

/**
 * Quotes a value for POSIX shells and for fish, which reads a backslash before a quote or another backslash as an escape, even
 * within single quotes. Both read these two alike within double quotes.
 */
export const quoteForShell = (value: string): string =>
  (value.match(/\\+|'+|[^'\\]+/g) ?? [""])
    .map((part) => (/^['\\]/.test(part) ? `"${part.replaceAll("\\", "\\\\")}"` : `'${part}'`))
    .join("")

const write = (pairs: ReadonlyArray<Pair>) =>
  pairs.map(({ key, value }) => `export ${key}=${quoteForShell(value)}\n`).join("")

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

/** Assignments that bash, dash, zsh, busybox and fish read with `eval` or the `.` command, to the same bytes. */
export const shell: Format = { refusal, write, read }

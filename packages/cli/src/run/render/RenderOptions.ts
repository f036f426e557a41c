import { parseDelimiters } from "@coffer/domain/formats/Template"
import { spanOrSecondsMillis } from "@coffer/domain/base/Span"
import * as Either from "effect/Either"
import { nonInteractiveSpec, placeSpecs } from "../../grammar/Place.js"
import { anyText, argument, type ArgumentSpec, type Codec, flag, option } from "../../grammar/Specs.js"
import type { Values } from "../../grammar/Values.js"
import { parseSignal } from "../RunArgv.js"

const codec = <A>(decode: (text: string) => A | undefined, takes: string): Codec<A> => ({
  value: "text",
  description: "",
  decode: (name, text) => Either.fromNullable(decode(text), () => `${name} takes ${takes}`)
})

const fileName = codec(
  (text) => (text === "-" ? undefined : text),
  "the name of a file; without it, standard output is written"
)

const mode = codec(
  (text) => (/^0?[0-7]{3}$/.test(text) ? Number.parseInt(text, 8) : undefined),
  "three octal digits, such as 0640"
)

const interval = codec((text) => {
  const span = spanOrSecondsMillis(text)
  return span >= 100 ? span : undefined
}, "a time of at least 100ms, such as 20s or 1m")

const delimiters = codec(parseDelimiters, "two pairs of punctuation marks, such as '[[,]]'")

/** The words behind `--`: a word before it is more often a mistyped option's value. */
const watchedCommand: ArgumentSpec<ReadonlyArray<string>> = {
  data: {
    kind: "argument",
    name: "-- COMMAND",
    description: "With --watch: a command that runs for as long, and is started again when the file has changed",
    least: 0,
    most: Infinity
  },
  decode: (words) =>
    words.every(({ isVerbatim }) => isVerbatim)
      ? Either.right(words.map(({ text }) => text))
      : Either.left("one template is rendered at a time; a command stands behind --")
}

export const renderSpecs = {
  ...placeSpecs,
  nonInteractive: nonInteractiveSpec,
  delimiters: option(
    "delimiters",
    delimiters,
    "What encloses names in the template, such as '[[,]]' for a file that is a template itself ({{,}})"
  ),
  output: option("output", fileName, "The file to write; without it, standard output"),
  mode: option("mode", mode, "The permissions of a file that does not exist yet (0600); one that exists keeps its own"),
  check: flag("check", "Write nothing; exit with 1 when the file would change"),
  force: flag("force", "Write also inside a git work tree that does not ignore the file"),
  watch: flag("watch", "Write the file again whenever a value that it contains has changed"),
  watchInterval: option("watch-interval", interval, "How often --watch asks for changes (20s)"),
  signal: option(
    "signal",
    codec(parseSignal, "the name of a signal, such as HUP"),
    "What --watch sends after a change, to the process of --pid-file or to COMMAND, which then is not started again"
  ),
  pidFile: option("pid-file", anyText, "The file with the id of the process that gets --signal"),
  template: argument("TEMPLATE", anyText, "The template; - is standard input"),
  command: watchedCommand
}

export type RenderOptions = Values<typeof renderSpecs>

/** Returns the problem with an invalid combination of options, in a sentence. */
export const checkRender = (options: RenderOptions): string | undefined => {
  const { check, command, output, pidFile, signal, watch } = options
  const parts = { "watch-interval": options.watchInterval, signal, "pid-file": pidFile, COMMAND: command[0] }
  const part = Object.entries(parts).find(([, value]) => value !== undefined)?.[0]
  if (!watch && part !== undefined) {
    return `${part === "COMMAND" ? part : `--${part}`} says what --watch does: give --watch too`
  }
  if (check && watch) return "--check looks once and --watch goes on: give one of them"
  if (output === undefined && (check || watch)) return `--${check ? "check" : "watch"} needs a file: give --output`
  if (pidFile !== undefined && command.length > 0) return "--pid-file and COMMAND are two processes: give one of them"
  if (pidFile !== undefined && signal === undefined) return "--pid-file needs a signal to send, such as --signal HUP"
  if (signal !== undefined && pidFile === undefined && command.length === 0) {
    return "--signal needs a process: give --pid-file, or a COMMAND behind --"
  }
  return undefined
}

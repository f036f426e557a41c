import { writePrivate } from "@coffer/domain/client/PrivateFile"
import { withMessage } from "@coffer/domain/Message"
import { Effect, Redacted, Schema } from "effect"
import { lstatSync } from "node:fs"
import { dirname } from "node:path"
import { changeMany, dryRun, yes } from "../../changes/BulkChange.js"
import { CannotDo } from "../../Failures.js"
import { type FormatName, formatNames, formatOf } from "../../formats/Format.js"
import { readSecrets, writeSecrets } from "../../formats/Formats.js"
import { atEnv, atEnvPlain } from "../../grammar/Command.js"
import { argument, option } from "../../grammar/Fields.js"
import { readBytes, type Source, sourceOf } from "../../terminal/Bytes.js"
import { note, writeValues } from "../../terminal/Print.js"
import { withProgress } from "../../terminal/Progress.js"

const format = option(
  "format",
  Schema.Literal(...formatNames),
  "The file's format (default: by its extension, .env, .sh, .json, .yaml or .yml)"
)

const unknownFormat = (name: string) =>
  `the format of ${name} is not known: add --format with one of ${formatNames.join(", ")}`

const file = argument(
  "FILE",
  Schema.NonEmptyString.annotations(withMessage("FILE is empty: name a file, or - for standard input")),
  "The file to read; - reads standard input, and needs --format"
)

/** The largest file, in bytes: the limit of one write, with room for the format's escapes. */
const largest = 64 * 1024 * 1024

/** Reads text. A byte order mark at its start is not part of it. */
const readText = Effect.fnUntraced(function* (source: Source) {
  const { name } = source
  const tooLarge = new CannotDo({ message: `${name} is larger than any environment: check that it is the right file` })
  const bytes = yield* readBytes(source, largest, tooLarge)
  return yield* Effect.try({
    try: () => Redacted.make(new TextDecoder("utf-8", { fatal: true }).decode(bytes)),
    catch: () => new CannotDo({ message: `${name} is not UTF-8 text; convert it first` })
  })
})

/** Reads and checks the secrets of a file, with progress. */
const readFile = (format: FormatName, source: Source) =>
  withProgress((progress) =>
    Effect.gen(function* () {
      yield* progress.step(0, `reading ${source.name}`)
      const text = yield* readText(source)
      yield* progress.step(0.5, "checking")
      const found = yield* readSecrets(format, source.name, text)
      yield* progress.step(1, `${found.secrets.size} secrets checked`)
      return found
    })
  )

/** At most this many warnings are shown. */
const maxWarnings = 10

const noteWarnings = (warnings: ReadonlyArray<string>) => {
  const more = warnings.length - maxWarnings
  const shown = [...warnings.slice(0, maxWarnings), ...(more > 0 ? [`and ${more} more such values`] : [])]
  return Effect.forEach(shown, note, { discard: true })
}

interface FileOptions {
  readonly file: string
  readonly format: FormatName | undefined
}

const formatFor = ({ file, format }: FileOptions) => format ?? formatOf(file)

export const importSecrets = atEnv("import", {
  description: "Write the secrets of a file, all or none",
  examples: ["coffer secret import .env --dry-run", "coffer secret import - --format json < secrets.json"],
  options: { file, format, dryRun, yes },
  check: (options) => (formatFor(options) === undefined ? unknownFormat(sourceOf(options.file).name) : undefined),
  run: (context) =>
    Effect.gen(function* () {
      const { call, options, path } = context
      const source = sourceOf(options.file)
      const { secrets, warnings } = yield* readFile(formatFor(options) ?? "env", source)
      yield* noteWarnings(warnings)
      if (secrets.size === 0) yield* note(`${source.name} holds no secrets`)
      yield* changeMany(context, path, ({ dryRun, headers }) =>
        withProgress((progress) => {
          const payload = { set: secrets, dry_run: dryRun }
          const written = call("environments", (api) => api.writeBundle({ path, headers, payload, withResponse: true }))
          return progress.during(`${dryRun ? "comparing" : "writing"} ${secrets.size} secrets`, written)
        })
      )
    })
})

/** Checks that a file can be written there. An existing file is replaced; anything else is refused. */
const checkTarget = (path: string) =>
  Effect.try({
    try: () => ({
      directory: lstatSync(dirname(path), { throwIfNoEntry: false }),
      target: lstatSync(path, { throwIfNoEntry: false })
    }),
    catch: () => new CannotDo({ message: `${path} cannot be looked at; check the directory's permissions` })
  }).pipe(
    Effect.flatMap(({ directory, target }) => {
      const refuse = (message: string) => Effect.fail(new CannotDo({ message: `${path} ${message}` }))
      if (directory === undefined) return refuse("would be in a directory that is not there; make it first")
      if (target === undefined || target.isFile()) return Effect.void
      return target.isSymbolicLink()
        ? refuse("is a symbolic link; name the file that it points to")
        : refuse("is not a file; without --output the secrets go to standard output")
    })
  )

interface OutputOptions {
  readonly format: FormatName | undefined
  readonly output: string | undefined
}

/** The file to write; none for standard output. */
const targetOf = ({ output }: OutputOptions) => (output === "-" ? undefined : output)

const outputFormat = (options: OutputOptions) => {
  const target = targetOf(options)
  return options.format ?? (target === undefined ? "env" : formatOf(target))
}

export const exportSecrets = atEnvPlain("export", {
  description: "Write all secrets of the environment to a file, or to standard output",
  examples: ["coffer secret export --output prod.json", "coffer secret export --env staging --format shell"],
  options: {
    format,
    output: option("output", Schema.String, "The file to write, with mode 0600 (default: standard output)")
  },
  check: (options) => (outputFormat(options) === undefined ? unknownFormat(options.output ?? "") : undefined),
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const target = targetOf(options)
      if (target !== undefined) yield* checkTarget(target)
      const bundle = yield* call("environments", (api) => api.bundle({ path, urlParams: {}, headers: {} }))
      const secrets = bundle === undefined ? [] : bundle.data
      const text = Redacted.value(yield* writeSecrets(outputFormat(options) ?? "env", secrets))
      if (target === undefined) return yield* writeValues(text, "--output writes them as they are")
      yield* writePrivate(target, text)
      yield* note(`${secrets.length} secrets of ${path.project_name}/${path.env_name} written to ${target}`)
    })
})

import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { writePrivate } from "@coffer/domain/client/PrivateFile"
import { withMessage } from "@coffer/domain/Message"
import { Effect, Option, Redacted, Schema } from "effect"
import { lstatSync } from "node:fs"
import { dirname } from "node:path"
import { CannotDo, WrongUsage } from "../Failures.js"
import { formatNames, formatOf } from "../formats/Format.js"
import { readSecrets, writeSecrets } from "../formats/Formats.js"
import { readBytes, type Source, sourceOf } from "../Input.js"
import { note, writeValues } from "../Output.js"
import { changeMany, dryRun, yes } from "./BulkChange.js"
import { withProgress } from "./Progress.js"
import { argument, atEnv, connect, env, org, project, serverUrl, settingsOf } from "./Shared.js"

const format = Options.choice("format", formatNames).pipe(
  Options.withDescription("The file's format (default: by its extension, .env, .sh, .json, .yaml or .yml)"),
  Options.optional
)

const unknownFormat = (name: string) =>
  new WrongUsage({ message: `the format of ${name} is not known: add --format with one of ${formatNames.join(", ")}` })

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

export const importCommand = Command.make("import", { ...atEnv, file, format, dryRun, yes }, (options) =>
  Effect.gen(function* () {
    const source = sourceOf(options.file)
    const name = Option.getOrElse(options.format, () => formatOf(options.file))
    if (name === undefined) return yield* unknownFormat(source.name)
    const settings = yield* settingsOf(options)
    const place = yield* settings.envPath
    const server = yield* settings.server
    const secrets = yield* withProgress((progress) =>
      Effect.gen(function* () {
        yield* progress.step(0, `reading ${source.name}`)
        const text = yield* readText(source)
        yield* progress.step(0.5, "checking")
        const found = yield* readSecrets(name, source.name, text)
        yield* progress.step(1, `${found.size} secrets checked`)
        return found
      })
    )
    if (secrets.size === 0) yield* note(`${source.name} holds no secrets`)
    const client = yield* connect(server)
    yield* changeMany(options, place, ({ dryRun, headers }) =>
      withProgress((progress) => {
        const payload = { set: secrets, dry_run: dryRun }
        const call = client.call("environments", (api) =>
          api.writeBundle({ path: place, headers, payload, withResponse: true })
        )
        return progress.during(`${dryRun ? "comparing" : "writing"} ${secrets.size} secrets`, call)
      })
    )
  })
).pipe(
  Command.withDescription("Write the secrets of a file, all or none. Example: coffer secret import .env --dry-run")
)

const output = Options.text("output").pipe(
  Options.withDescription("The file to write, with mode 0600 (default: standard output)"),
  Options.optional
)

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

export const exportCommand = Command.make("export", { serverUrl, org, project, env, format, output }, (options) =>
  Effect.gen(function* () {
    const target = Option.getOrUndefined(Option.filter(options.output, (path) => path !== "-"))
    const name = Option.getOrElse(options.format, () => (target === undefined ? ("env" as const) : formatOf(target)))
    if (name === undefined) return yield* unknownFormat(target ?? "")
    if (target !== undefined) yield* checkTarget(target)
    const settings = yield* settingsOf(options)
    const path = yield* settings.envPath
    const client = yield* connect(yield* settings.server)
    const bundle = yield* client.call("environments", (api) => api.bundle({ path, urlParams: {}, headers: {} }))
    const secrets = bundle === undefined ? [] : bundle.data
    const text = Redacted.value(yield* writeSecrets(name, secrets))
    if (target === undefined) return yield* writeValues(text, "--output writes them as they are")
    yield* writePrivate(target, text)
    yield* note(`${secrets.length} secrets of ${path.project_name}/${path.env_name} written to ${target}`)
  })
).pipe(
  Command.withDescription(
    "Write all secrets of the environment to a file, or to standard output. Example: coffer secret export --output prod.json"
  )
)

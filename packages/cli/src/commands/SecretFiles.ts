import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { writePrivate } from "@coffer/domain/client/PrivateFile"
import { Effect, Option, Redacted, Schema } from "effect"
import { lstatSync, readFileSync } from "node:fs"
import { dirname } from "node:path"
import { CannotDo, WrongUsage } from "../Failures.js"
import { formatNames, formatOf } from "../formats/Format.js"
import { readSecrets, writeSecrets } from "../formats/Formats.js"
import { note, write } from "../Output.js"
import { changeMany, dryRun, yes } from "./BulkChange.js"
import { withProgress } from "./Progress.js"
import { argument, atEnv, connect, env, org, project, serverUrl, settingsOf } from "./Shared.js"

const format = Options.choice("format", formatNames).pipe(
  Options.withDescription("The file's format; when left out, its extension tells (.env, .sh, .json, .yaml, .yml)"),
  Options.optional
)

const unknownFormat = (path: string) =>
  new WrongUsage({
    message: `the name of ${path} does not tell its format: add --format with one of ${formatNames.join(", ")}`
  })

const file = argument("FILE", Schema.NonEmptyString.pipe(Schema.pattern(/^[^-]/)), "The file to read")

/** As much as a write of a bundle takes, with room for how a format spells it. */
const largest = 64 * 1024 * 1024

/** The text of a file. A byte order mark at its start says what it is, and is no part of it. */
const readText = (path: string) =>
  Effect.try({
    try: () => readFileSync(path),
    catch: () => new CannotDo({ message: `${path} cannot be read; check that it is there and yours to read` })
  }).pipe(
    Effect.filterOrFail(
      (bytes) => bytes.length <= largest,
      () => new CannotDo({ message: `${path} is larger than any environment: check that it is the right file` })
    ),
    Effect.flatMap((bytes) =>
      Effect.try({
        try: () => Redacted.make(new TextDecoder("utf-8", { fatal: true }).decode(bytes)),
        catch: () => new CannotDo({ message: `${path} is not UTF-8 text; convert it first` })
      })
    )
  )

export const importCommand = Command.make("import", { ...atEnv, file, format, dryRun, yes }, (options) =>
  Effect.gen(function* () {
    const path = options.file
    const name = Option.getOrElse(options.format, () => formatOf(path))
    if (name === undefined) return yield* unknownFormat(path)
    const settings = yield* settingsOf(options)
    const place = yield* settings.envPath
    const server = yield* settings.server
    const secrets = yield* withProgress((progress) =>
      Effect.gen(function* () {
        yield* progress.step(0, `reading ${path}`)
        const text = yield* readText(path)
        yield* progress.step(0.5, "checking")
        const found = yield* readSecrets(name, path, text)
        yield* progress.step(1, `${found.size} secrets checked`)
        return found
      })
    )
    if (secrets.size === 0) yield* note(`${path} holds no secrets`)
    const client = yield* connect(server)
    yield* changeMany(options, place, ({ dryRun, headers }) =>
      withProgress((progress) => {
        const payload = { set: secrets, dry_run: dryRun }
        const call = client.call((api) =>
          api.environments.writeBundle({ path: place, headers, payload, withResponse: true })
        )
        return progress.during(`${dryRun ? "comparing" : "writing"} ${secrets.size} secrets`, call)
      })
    )
  })
).pipe(
  Command.withDescription("Write the secrets of a file, all or none. Example: coffer secret import .env --dry-run")
)

const output = Options.text("output").pipe(
  Options.withDescription("The file to write, for its owner alone; standard output when left out"),
  Options.optional
)

/** Whether a file can be put there: a file that is there is replaced, anything else is left alone. */
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
    const target = Option.getOrUndefined(options.output)
    const name = Option.getOrElse(options.format, () => (target === undefined ? ("env" as const) : formatOf(target)))
    if (name === undefined) return yield* unknownFormat(target ?? "")
    if (target !== undefined) yield* checkTarget(target)
    const settings = yield* settingsOf(options)
    const path = yield* settings.envPath
    const client = yield* connect(yield* settings.server)
    const bundle = yield* client.call((api) => api.environments.bundle({ path, urlParams: {}, headers: {} }))
    const secrets = bundle === undefined ? [] : bundle.data
    const text = Redacted.value(yield* writeSecrets(name, secrets))
    if (target === undefined) return yield* write(text)
    yield* writePrivate(target, text)
    yield* note(`${secrets.length} secrets of ${path.project_name}/${path.env_name} written to ${target}`)
  })
).pipe(
  Command.withDescription(
    "Write all secrets of the environment to a file, or to standard output. Example: coffer secret export --output prod.json"
  )
)

import { withMessage } from "@coffer/domain/base/Message"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { changeMany, dryRun, yes } from "../../changes/BulkChange.js"
import { formatOf } from "@coffer/domain/formats/Format"
import type { FormatName } from "@coffer/domain/formats/FormatNames"
import { readSecrets } from "../../formats/Formats.js"
import { asking, atEnv } from "../../grammar/Command.js"
import { argument } from "../../grammar/Fields.js"
import { flag } from "../../grammar/Specs.js"
import { type Source, sourceOf } from "../../terminal/Bytes.js"
import { plural } from "../../terminal/Plural.js"
import { note } from "../../terminal/Print.js"
import { withProgress } from "../../terminal/Progress.js"
import { readText } from "../../terminal/TextFile.js"
import { fileFormat, unknownFormat } from "./FileFormat.js"

const file = argument(
  "FILE",
  Schema.NonEmptyString.annotations(withMessage("FILE is empty: name a file, or - for standard input")),
  "The file to read; - reads standard input, and needs --format"
)

/** The largest file, in bytes: the limit of one write, with room for the format's escapes. */
const largest = 64 * 1024 * 1024

/** Reads and checks the secrets of a file, with progress. */
const readFile = (format: FormatName, source: Source, expand: boolean) =>
  withProgress((progress) =>
    Effect.gen(function* () {
      yield* progress.step(0, `reading ${source.name}`)
      const text = yield* readText(source, largest, "larger than any environment: check that it is the right file")
      yield* progress.step(0.5, "checking")
      const found = yield* readSecrets(format, source.name, text, { expand })
      yield* progress.step(1, `${plural(found.secrets.size + found.references.size, "secret")} checked`)
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
  options: {
    file,
    format: fileFormat,
    expand: flag(
      "expand",
      "Of a .env file: make references of $NAME and ${NAME}, outside single quotes, where NAME is another key of the file"
    ),
    dryRun,
    yes,
    ...asking
  },
  check: (options) => {
    const format = formatFor(options)
    if (format === undefined) return unknownFormat(sourceOf(options.file).name)
    return options.expand && format !== "env" ? `--expand is for .env files: the format here is ${format}` : undefined
  },
  run: (context) =>
    Effect.gen(function* () {
      const { call, options, path } = context
      const source = sourceOf(options.file)
      const { references, secrets, warnings } = yield* readFile(formatFor(options) ?? "env", source, options.expand)
      const count = secrets.size + references.size
      yield* noteWarnings(warnings)
      if (count === 0) yield* note(`${source.name} holds no secrets`)
      yield* changeMany(context, path, ({ dryRun, headers }) =>
        withProgress((progress) => {
          const payload = { set: secrets, ...(references.size > 0 && { references }), dry_run: dryRun }
          const written = call("environments", (api) => api.writeBundle({ path, headers, payload, withResponse: true }))
          return progress.during(`${dryRun ? "comparing" : "writing"} ${plural(count, "secret")}`, written)
        })
      )
    })
})

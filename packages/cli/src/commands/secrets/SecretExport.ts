import type { EnvPath } from "@coffer/domain/api/Paths"
import type { SecretKey } from "@coffer/domain/base/Names"
import { type Bundle, listOf } from "@coffer/domain/secrets/Bundle"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { defined } from "@coffer/domain/base/Defined"
import { NotThere } from "../../base/Failures.js"
import { formatOf } from "@coffer/domain/formats/Format"
import type { FormatName } from "@coffer/domain/formats/FormatNames"
import { loadFormat } from "@coffer/domain/formats/Reading"
import { writeSecrets } from "../../formats/Formats.js"
import { atEnvPlain, type Call } from "../../grammar/Command.js"
import { option } from "../../grammar/Fields.js"
import { inPlace, optionalPlace } from "../../grammar/PlaceForm.js"
import { flag } from "../../grammar/Specs.js"
import { isNotForChildren } from "@coffer/domain/secrets/DangerousVariables"
import { questionAbout } from "../../grammar/Words.js"
import { plural } from "../../terminal/Plural.js"
import { note, writeValues } from "../../terminal/Print.js"
import { isExport } from "../../output/Earlier.js"
import { openOutput, writeOutput } from "../../output/OutputFile.js"
import { fileFormat, unknownFormat } from "./FileFormat.js"
import { allowEnvOption, keysOption, sentenceOf } from "./KeyArguments.js"
import { requireComplete } from "./CompleteBundle.js"

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

interface ExportOptions extends OutputOptions {
  readonly only: ReadonlyArray<SecretKey> | undefined
  readonly except: ReadonlyArray<SecretKey> | undefined
}

/** Reads the secrets to write. Fails if a key to leave out does not exist: it may be a mistyped one. */
const readChosen = Effect.fnUntraced(function* (call: Call, path: EnvPath, { except = [], only }: ExportOptions) {
  const urlParams = defined({ keys: only })
  const bundle = yield* call("environments", (api) => api.bundle({ path, urlParams, headers: {} }))
  const { data, errors = [] }: Pick<Bundle, "data" | "errors"> = listOf(bundle) ?? { data: [] }
  const existing = new Set([...data, ...errors].map(({ key }) => key))
  const absent = except.filter((key) => !existing.has(key))
  if (absent.length === 0) return yield* requireComplete(bundle, except)
  const are = absent.length === 1 ? "is" : "are"
  return yield* new NotThere({
    message: `${sentenceOf(absent)} of --except ${are} not in ${path.project_name}/${path.env_name}${questionAbout(
      absent[0] ?? "",
      [...existing]
    )} coffer secret list shows the keys`
  })
})

/** Names the keys that are dangerous in an environment, where a file may become one. A file for another Coffer keeps them. */
const noteDangerous = (format: FormatName, secrets: ReadonlyArray<{ readonly key: SecretKey }>) => {
  const keys = secrets.flatMap(({ key }) => (isNotForChildren(key) ? [key] : []))
  return keys.length === 0 || (format !== "env" && format !== "docker")
    ? Effect.void
    : note(
        `${sentenceOf(keys)} can make programs run code, or be a credential of coffer, where this file is the environment`
      )
}

/** The file to write, if it may be written. */
const openTarget = Effect.fnUntraced(function* (path: string, format: FormatName, force: boolean) {
  return yield* openOutput({
    path,
    force,
    holdsValues: true,
    isOwn: isExport(yield* loadFormat(format)),
    mode: 0o600,
    keepsAccess: false,
    otherwise: "without --output the secrets go to standard output"
  })
})

const bothChoices = "--only and --except are two ways to choose: give one of them"

export const exportSecrets = atEnvPlain("export", {
  description: "Write all secrets of the environment to a file, or to standard output",
  examples: [
    "coffer secret export --output prod.json",
    "coffer secret export staging --format shell",
    "coffer secret export --only API_KEY,DATABASE_URL",
    "coffer secret export --format shell --except API_KEY --skip-unsupported"
  ],
  options: {
    place: optionalPlace,
    format: fileFormat,
    output: option("output", Schema.String, "The file to write, with mode 0600 (default: standard output)"),
    force: flag("force", "Replace a file that is no earlier export, and write where git would take the file along"),
    only: keysOption("only", "Only these keys, separated by commas"),
    except: keysOption("except", "All but these keys, separated by commas"),
    skip: flag("skip-unsupported", "Leave out what the format cannot hold, and name it on standard error"),
    allowEnv: allowEnvOption
  },
  place: inPlace,
  check: (options) => {
    if (options.only !== undefined && options.except !== undefined) return bothChoices
    return outputFormat(options) === undefined ? unknownFormat(options.output ?? "") : undefined
  },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const target = targetOf(options)
      const format = outputFormat(options) ?? "env"
      const output = target === undefined ? undefined : yield* openTarget(target, format, options.force)
      const secrets = yield* readChosen(call, path, options)
      const { allowEnv, skip } = options
      const allowed = new Set<string>(allowEnv)
      const isAllowed = (key: string) => allowed.has(key)
      const { left, text: written } = yield* writeSecrets(format, secrets, { withHead: true, skip, isAllowed })
      yield* Effect.forEach(left, (why) => note(`left out of the format ${format}: ${why}`))
      yield* noteDangerous(format, secrets)
      const text = Redacted.value(written)
      if (output === undefined) return yield* writeValues(text, "--output writes them as they are")
      yield* writeOutput(output, (write) => write(Buffer.from(text)))
      const count = plural(secrets.length - left.length, "secret")
      yield* note(`${count} of ${path.project_name}/${path.env_name} written to ${output.file.path}`)
    })
})

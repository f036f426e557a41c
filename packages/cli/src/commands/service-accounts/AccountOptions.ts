import { Days } from "@coffer/domain/directory/ServiceAccount"
import { EnvName, ProjectName } from "@coffer/domain/base/Names"
import { spanMillis } from "@coffer/domain/base/Span"
import { type ProgramName, programNames } from "@coffer/domain/guides/Programs"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { codecOf, option } from "../../grammar/Fields.js"
import { placeSpecs } from "../../grammar/Place.js"
import { orAny, placeOf, type PlaceOf } from "../../grammar/PlaceArguments.js"
import { anyText, type Codec, completedBy, old, type OptionSpec } from "../../grammar/Specs.js"

/** Where an account works: the project that it is bound to, and the environment of a program's lines. */
type AccountPlace = PlaceOf<ProjectName | null, string | null>

const daysCodec = codecOf(Days)

/** The name of one project: an account is bound to one, or to none. */
const oneProject: Codec<ProjectName> = {
  ...codecOf(ProjectName),
  decode: (name, text) =>
    text === "*"
      ? Either.left(`${name} binds the account to one project, such as webshop/*: leave it out to bind it to none`)
      : codecOf(ProjectName).decode(name, text)
}

const place = placeOf(oneProject, orAny(codecOf(EnvName)))

const at = completedBy(
  "env-path",
  option(
    "at",
    place,
    "Bind it to the project of this place, such as webshop/prod or 'webshop/*'; left out, it can be given access to all of the organization"
  )
)

/** Not the shared option: the project of `service.yml` must not scope an account. */
const oldProject = old(completedBy("project", option("project", ProjectName, "Old form of --at")))
const oldEnv = old(placeSpecs.env)

/** `--at`, or the options of earlier releases. */
export const accountPlace: OptionSpec<AccountPlace> = {
  data: { ...at.data, value: "PLACE" },
  also: [oldProject.data, oldEnv.data],
  decode: (texts, given) => {
    const [env] = given.get("env") ?? []
    const project = oldProject.decode(given.get("project"), given)
    if (texts === undefined) {
      return Either.map(project, (named) => ({ org: undefined, project: named ?? null, env: env ?? null }))
    }
    return given.has("project") || given.has("env")
      ? Either.left("--at names the project and the environment: leave --project and --env out")
      : place.decode("--at", texts[0] ?? "")
  }
}

const isProgram = (text: string): text is ProgramName => programNames.some((name) => name === text)

const program = option(
  "program",
  Schema.Literal(...programNames),
  `Print the lines that set a program up: ${programNames.join(", ")}`
)

const days: Codec<number> = {
  value: "text",
  description: "",
  decode: (name, text) => {
    const number = spanMillis(text) / spanMillis("1d")
    return Number.isInteger(number)
      ? daysCodec.decode(name, String(number))
      : Either.left(`${name} takes whole days or weeks, such as 90d or 12w`)
  }
}

const forOption = option("for", anyText, "How long its key lasts, such as 90d or 12w; without it, until it is revoked")
const oldDays = old(option("expires-in-days", Days, "Old form of --for"))

interface KeyTerms {
  readonly days: number | undefined
  readonly program: ProgramName | undefined
}

/** How long the key lasts, and the program. In earlier releases, `--for` named the program: no program's name is a duration. */
export const keyTerms: OptionSpec<KeyTerms> = {
  data: forOption.data,
  also: [program.data, oldDays.data],
  decode: (texts, given) => {
    const [text] = texts ?? []
    const named = program.decode(given.get("program"), given)
    const old = oldDays.decode(given.get("expires-in-days"), given)
    if (text === undefined) return Either.all({ days: old, program: named })
    if (isProgram(text)) {
      return given.has("program")
        ? Either.left("--program names the program, and --for says how long the key lasts, such as 90d")
        : Either.all({ days: old, program: Either.right(text) })
    }
    return given.has("expires-in-days")
      ? Either.left("--for and --expires-in-days say the same: give one of them")
      : Either.all({ days: days.decode("--for", text), program: named })
  }
}

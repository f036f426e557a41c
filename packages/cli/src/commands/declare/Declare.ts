import {
  type DeclaredKey,
  DeclaredOwner,
  DeclaredPattern,
  DeclaredText,
  declarationTexts,
  maxRequiredIn,
  type RequiredIn
} from "@coffer/domain/secrets/DeclaredKey"
import { EnvName, SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { defined } from "@coffer/domain/base/Defined"
import { WrongUsage } from "../../base/Failures.js"
import { atProject, wide, yes } from "../../grammar/Command.js"
import { argument, commas, option, optionalArgument } from "../../grammar/Fields.js"
import { inProject, optionalProject } from "../../grammar/PlaceArguments.js"
import { completedBy, flag } from "../../grammar/Specs.js"
import { confirm } from "../../terminal/Prompts.js"
import { doneView, listView } from "../../terminal/View.js"
import { requiredText } from "./Difference.js"
import { declareFrom, declareTo } from "./Files.js"

const described = ([first = "", ...rest]: string): string => first.toUpperCase() + rest.join("")

const environments = commas(Schema.Array(EnvName).pipe(Schema.maxItems(maxRequiredIn)), "names of environments")

const declareFields = {
  key: completedBy("key", optionalArgument("KEY", SecretKey, "The key to declare; without it, --from or --write")),
  requiredIn: option(
    "required-in",
    environments,
    "The environments that need a value, by name and separated by commas; they need not be there yet"
  ),
  everywhere: flag("required-everywhere", "All environments need a value"),
  nowhere: flag("required-nowhere", "No environment needs a value"),
  pattern: option("pattern", DeclaredPattern, described(declarationTexts.pattern)),
  description: option("description", DeclaredText, described(declarationTexts.description)),
  example: option("example", DeclaredText, described(declarationTexts.example)),
  owner: option("owner", DeclaredOwner, described(declarationTexts.owner)),
  from: option(
    "from",
    Schema.NonEmptyString,
    "Declare the keys of a file such as .env.example: comments become descriptions, decorators such as @required are understood"
  ),
  write: option(
    "write",
    Schema.NonEmptyString,
    "Write what is declared to a file, from which it can be declared again"
  ),
  dryRun: flag("dry-run", "With --from and --write, show what would be done and do nothing"),
  yes
}

interface Required {
  readonly requiredIn: ReadonlyArray<EnvName> | undefined
  readonly everywhere: boolean
  readonly nowhere: boolean
}

const requiredOf = ({ everywhere, nowhere, requiredIn }: Required): RequiredIn | undefined =>
  everywhere ? "*" : nowhere ? [] : requiredIn

interface DeclareOptions extends Required {
  readonly key: SecretKey | undefined
  readonly from: string | undefined
  readonly write: string | undefined
  readonly pattern: string | undefined
  readonly description: string | undefined
  readonly example: string | undefined
  readonly owner: string | undefined
  readonly dryRun: boolean
}

const problemOf = (given: DeclareOptions): string | undefined => {
  const { description, dryRun, everywhere, example, from, key, nowhere, owner, pattern, requiredIn, write } = given
  const ways = [key, from, write].filter((one) => one !== undefined).length
  if (ways !== 1) return "name one KEY, or a file with --from or --write"
  if ([everywhere, nowhere, requiredIn !== undefined].filter(Boolean).length > 1) {
    return "--required-in, --required-everywhere and --required-nowhere exclude each other: give one of them"
  }
  if (key !== undefined) return dryRun ? "--dry-run goes with --from and --write" : undefined
  const ofOne = Object.entries({ pattern, description, example, owner }).find(([, value]) => value !== undefined)
  if (ofOne !== undefined) return `--${ofOne[0]} is of one key: name the KEY instead of a file`
  return write !== undefined && requiredOf(given) !== undefined ? "--write takes what is declared as it is" : undefined
}

const declare = atProject("declare", {
  description: "Say what the project expects of a key; what is left out stays as it was declared",
  examples: [
    "coffer declare DATABASE_URL --required-in staging,prod --pattern 'postgres://.+'",
    "coffer declare --from .env.example --dry-run",
    "coffer declare --write .env.example"
  ],
  options: declareFields,
  check: problemOf,
  run: (context) =>
    Effect.gen(function* () {
      const { call, options, path } = context
      const required_in = requiredOf(options)
      if (options.from !== undefined) return yield* declareFrom(context, options.from, { requiredIn: required_in })
      if (options.write !== undefined) return yield* declareTo(context, options.write)
      const { description, example, key, owner, pattern } = options
      if (key === undefined) return yield* new WrongUsage({ message: "name the KEY" })
      const place = { ...path, key }
      const known = yield* Effect.catchTag(
        call("declared", (api) => api.get({ path: place })),
        "NotFound",
        () => Effect.succeed({})
      )
      const { key: _key, updated_at: _at, updated_by: _by, ...before }: Partial<DeclaredKey> = known
      const payload = { ...before, ...defined({ required_in, pattern, description, example, owner }) }
      const made = yield* call("declared", (api) => api.set({ path: place, payload }))
      return doneView(`${key} is declared in ${path.project_name}: required ${requiredText(made.required_in)}`, made)
    })
})

const columns = {
  key: ({ key }: DeclaredKey) => key,
  "required in": ({ required_in }: DeclaredKey) => requiredText(required_in),
  pattern: ({ pattern }: DeclaredKey) => pattern,
  example: ({ example }: DeclaredKey) => example,
  owner: ({ owner }: DeclaredKey) => owner,
  description: ({ description }: DeclaredKey) => description
}

const list = atProject("declare list", {
  description: "List the keys that the project declares",
  examples: ["coffer declare list", "coffer declare list webshop --json"],
  options: { project: optionalProject, wide },
  place: inProject,
  run: ({ call, path }) =>
    Effect.map(
      call("declared", (api) => api.list({ path })),
      (declared) =>
        listView(
          declared,
          columns,
          "no keys are declared, or none that you may see; to begin: coffer declare --from .env.example"
        )
    )
})

const remove = atProject("declare rm", {
  description: "Declare a key no longer; its secrets stay",
  examples: ["coffer declare rm OLD_TOKEN"],
  options: { key: completedBy("key", argument("KEY", SecretKey, "The key that is declared")), yes },
  run: ({ call, options: { key, yes }, path }) =>
    Effect.gen(function* () {
      yield* confirm(`Declare ${key} of ${path.project_name} no longer?`, yes)
      yield* call("declared", (api) => api.delete({ path: { ...path, key } }))
      return doneView(`${key} is declared no longer in ${path.project_name}`)
    })
})

export const declareCommands = [declare, list, remove] as const

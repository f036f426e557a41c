import { type CofferClient, makeClient } from "@coffer/client/internal/CofferClient"
import type { Exchange } from "@coffer/client/internal/Exchange"
import type { EnvPath, OrgPath, ProjectPath } from "@coffer/domain/api/Paths"
import { defined } from "@coffer/domain/base/Defined"
import type { Credential } from "@coffer/client/internal/Credential"
import { credentialFor } from "@coffer/client/internal/ProgramCredential"
import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import type { CommandLineSettings, MissingSettings, Settings } from "@coffer/client/internal/Settings"
import type { BadSetting } from "@coffer/client/internal/Variables"
import type * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { type CannotDo, type Failure, WrongUsage } from "../base/Failures.js"
import type { Input } from "../terminal/Input.js"
import type { Output } from "../terminal/Output.js"
import { wide as shownWide } from "../terminal/Listing.js"
import { printListView, printView, type View } from "../terminal/View.js"
import { Version } from "../base/Version.js"
import { asking as withAsking, askingSpecs } from "./Asking.js"
import { destroysWithout, type Syntax } from "./Data.js"
import type { PlacePath } from "./Missing.js"
import {
  allEnvsSpec,
  explainingMissing,
  findPlace,
  jsonSpec,
  nonInteractiveSpec,
  placeProblem,
  placeSpecs,
  refuse,
  wideSpec
} from "./Place.js"
import { isIdKind, isShortId } from "./IdKinds.js"
import { flag, type Specs, syntaxOf } from "./Specs.js"
import { type SpecsOf, type Values, valuesOf } from "./Values.js"
import type { Words } from "./Words.js"

/** The terminal that a command is used at. */
export type Terminal = Input | Output

/** Requirements of a command. Its connections close with the scope. */
export type Needs = Terminal | Scope.Scope

/** Reports a failure on standard output, for a caller that does not show standard error. */
export type Report = (sentence: string) => Effect.Effect<void, CannotDo, Output>

/** A command: its data, and its function for a command line that its syntax allows. */
export interface Leaf extends Syntax {
  readonly type: "command"
  readonly name: string
  /** A second name. */
  readonly alias?: string
  readonly description: string
  readonly examples: ReadonlyArray<string>
  /** Whether it is an old command: it works as ever, and no help and no completion shows it. */
  readonly isOld?: boolean
  /** Called with each failure, wrong usage included, before it goes to standard error. */
  readonly report?: Report
  /** Decodes the values of the words, and runs the command. */
  readonly run: (words: Words) => Effect.Effect<void, Failure, Needs>
}

/** A noun with its commands. */
export interface Group {
  readonly type: "group"
  readonly name: string
  readonly description: string
  /** A second name. */
  readonly alias?: string
  readonly isOld?: boolean
  readonly commands: Array.NonEmptyReadonlyArray<Leaf>
}

export const group = (
  name: string,
  description: string,
  commands: Array.NonEmptyReadonlyArray<Leaf>,
  alias?: string
): Group => ({
  type: "group",
  name,
  description,
  commands,
  ...(alias === undefined ? {} : { alias })
})

/** A command with a second, shorter name. */
export const withAlias = (leaf: Leaf, alias: string): Leaf => ({ ...leaf, alias })

/** A command of an earlier release: it works as ever, and no help and no completion shows it. */
export const oldCommand = (leaf: Leaf): Leaf => ({ ...leaf, isOld: true })

/** The typed client's `call`. */
export type Call = CofferClient["call"]

/** A client that sends this credential. The caller has checked that the credential may go to this server. */
export const clientWith = (server: ServerUrl, credential: Option.Option<Credential>) =>
  Effect.flatMap(Version, (version) => makeClient({ server, credential, program: "cli", version }))

/** A client for a server, with the credential for that server. */
export const connect = Effect.fnUntraced(function* (
  server: ServerUrl,
  path: PlacePath | void,
  takesNoSession?: boolean
) {
  const { env_name, org_name, project_name } = path ?? {}
  const place =
    org_name === undefined || project_name === undefined || env_name === undefined
      ? undefined
      : { org_name, project_name, env_name }
  return yield* clientWith(server, Option.some(yield* credentialFor(server, place, takesNoSession)))
})

export const serverUrl = placeSpecs.serverUrl
export const org = placeSpecs.org
export const project = placeSpecs.project
export const env = placeSpecs.env
export const json = jsonSpec
export const nonInteractive = nonInteractiveSpec
/** The option of a list: a command that has it prints its view as a list. */
export const wide = wideSpec
/** The options of a command that changes an environment. */
export const asking = askingSpecs
export const yes = flag("yes", destroysWithout)

interface Described {
  readonly description: string
  /** Command lines that show what the command is for. The tests run them. */
  readonly examples: readonly [string, ...ReadonlyArray<string>]
}

interface Checks<F extends Specs> {
  /** Returns the problem with an invalid combination of options, in a sentence. It is called before anything is done. */
  readonly check?: (options: Values<F>) => string | undefined
}

/** A command that works without a server, or finds its own way there. */
interface Definition<F extends Specs, E extends Failure> extends Described, Checks<F> {
  readonly options: F
  readonly report?: Report
  readonly run: (options: Values<F>) => Effect.Effect<void, E, Needs>
}

/** The context of a command at a server. */
export interface Context<F extends Specs, Path> {
  readonly options: Values<F>
  /** Where it works: the path parameters of the contract. */
  readonly path: Path
  readonly call: Call
  /** For calls without the contract's schemas. */
  readonly exchange: Exchange
  readonly server: ServerUrl
  readonly settings: Settings
  /** The settings that the command line gives. */
  readonly given: CommandLineSettings
  readonly json: boolean
}

/** A command at a server. It prints the view that `run` returns: a record for machines with `--json`, else for people. */
interface PlaceDefinition<F extends Specs, Path, E extends Failure> extends Described, Checks<F> {
  readonly options: F
  /** Settings that arguments give. */
  readonly place?: (options: Values<F>) => CommandLineSettings
  /** The command without a server; undefined if the options ask for one. */
  readonly offline?: (options: Values<F>, json: boolean) => Effect.Effect<View | void, E, Needs> | undefined
  readonly run: (context: Context<F, Path>) => Effect.Effect<View | void, E, Needs>
}

const allowed = <A>(values: Either.Either<A, string>): Effect.Effect<A, WrongUsage> =>
  Effect.mapError(values, (message) => new WrongUsage({ message }))

/** A command that works without a server, or finds its own way there. */
export const command = <const F extends Specs, E extends Failure>(
  name: string,
  { check, description, examples, options: own, report, run }: Definition<F, E>
): Leaf => {
  const decodeAndRun = (words: Words) =>
    Effect.flatMap(allowed(valuesOf(own, words)), (options) => Effect.zipRight(refuse(check?.(options)), run(options)))
  const syntax = syntaxOf(Object.values(own))
  const reporting = report === undefined ? {} : { report }
  return { type: "command", name, description, examples, ...syntax, run: decodeAndRun, ...reporting }
}

interface PlaceOptions extends CommandLineSettings {
  readonly nonInteractive: boolean
  readonly json?: boolean
}

const wideName = "wide"

/** The options with whole ids, where the command line has the beginning of one. */
const withWholeIds = Effect.fnUntraced(function* <Options extends object>(
  own: Specs,
  options: Options,
  exchange: Exchange,
  path: PlacePath | void
) {
  const whole: Record<string, string> = {}
  const before: Array<string> = []
  for (const [name, { data }] of Object.entries(own)) {
    const text: unknown = Predicate.hasProperty(options, name) ? options[name] : undefined
    if (typeof text !== "string") continue
    const { names } = data
    if (isIdKind(names) && isShortId(text)) {
      // Loaded late: most ids are whole.
      const { wholeId } = yield* Effect.promise(() => import("./ShortIds.js"))
      whole[name] = yield* wholeId(exchange, { kind: names, text, before }, path ?? {})
    }
    if (data.kind === "argument") before.push(whole[name] ?? text)
  }
  return { ...options, ...whole }
})

/**
 * Makes the function that declares commands at a kind of place. Such a command reads the settings, finds its place in them,
 * connects, runs and prints.
 */
const commandsAt =
  <At extends PlaceOptions, Path extends PlacePath | void>(
    specs: SpecsOf<At>,
    pathOf: (settings: Settings, at: At) => Effect.Effect<Path, BadSetting | MissingSettings>
  ) =>
  <const F extends Specs, E extends Failure>(
    name: string,
    { check, description, examples, offline, options: own, place, run }: PlaceDefinition<F, Path, E>
  ): Leaf => {
    const decodeAndRun = (words: Words) =>
      Effect.gen(function* () {
        const at = yield* allowed(valuesOf<At>(specs, words))
        const { json = false } = at
        const options = yield* allowed(valuesOf(own, words))
        yield* refuse(check?.(options))
        const atPlace = Effect.gen(function* () {
          const named = place?.(options) ?? {}
          yield* refuse(placeProblem(at, named))
          const found = yield* findPlace({ ...at, ...named }, (settings) => pathOf(settings, at))
          const { call, exchange } = yield* connect(found.server, found.path, at.nonInteractive)
          const context = {
            ...found,
            options: yield* withWholeIds(own, options, exchange, found.path),
            call,
            exchange,
            json
          }
          return yield* withAsking(options, json)(explainingMissing(context)(run(context)))
        })
        const isWide = Predicate.hasProperty(options, wideName) && options[wideName] === true
        const running: Effect.Effect<View | void, Failure, Needs> = offline?.(options, json) ?? atPlace
        const view = yield* isWide ? shownWide(running) : running
        if (view === undefined) return
        yield* wideName in own ? printListView(view, { json, wide: isWide }) : printView(view, json)
      })
    const syntax = syntaxOf([...Object.values<Specs[string]>(specs), ...Object.values(own)])
    return { type: "command", name, description, examples, ...syntax, run: decodeAndRun }
  }

const serverSpecs = { serverUrl, nonInteractive, json }
const orgSpecs = { serverUrl, org, nonInteractive, json }
const projectSpecs = { serverUrl, org, project, nonInteractive, json }
const envSpecs = { serverUrl, org, project, env, nonInteractive, json }

/** A command at a server, with a credential. */
export const atServer = commandsAt(serverSpecs, () => Effect.void)
/** A command at an organization. */
export const atOrg = commandsAt(orgSpecs, ({ orgPath }) => orgPath)
/** A command at a project. */
export const atProject = commandsAt(projectSpecs, ({ projectPath }) => projectPath)
/** A command at an environment. */
export const atEnv = commandsAt(envSpecs, ({ envPath }) => envPath)

/** A command at a server, with the credential for the environment if one is named. */
export const atServerOrEnv = commandsAt(envSpecs, ({ envPath }): Effect.Effect<Partial<EnvPath>, BadSetting> =>
  Effect.catchTag(envPath, "MissingSettings", () => Effect.succeed({}))
)

const ifGiven = <A>(
  setting: Effect.Effect<A, BadSetting | MissingSettings>
): Effect.Effect<A | undefined, BadSetting> =>
  Effect.catchTag(setting, "MissingSettings", () => Effect.succeed(undefined))

/** A command at an organization that works without a project and an environment too. */
export const atOrgAndBelow = commandsAt(
  envSpecs,
  ({ env, orgPath, project }): Effect.Effect<OrgPath & Partial<EnvPath>, BadSetting | MissingSettings> =>
    Effect.zipWith(orgPath, Effect.all({ project_name: ifGiven(project), env_name: ifGiven(env) }), (path, names) => ({
      ...path,
      ...defined(names)
    }))
)

const allEnvs = allEnvsSpec
const envsSpecs = { serverUrl, org, project, env, allEnvs, nonInteractive, json }

/** A command at an environment or, with `--all-envs`, at all environments of a project. */
export const atEnvs = commandsAt(
  envsSpecs,
  (
    { envPath, projectPath },
    { allEnvs }
  ): Effect.Effect<ProjectPath & Partial<EnvPath>, BadSetting | MissingSettings> => (allEnvs ? projectPath : envPath)
)

const plainSpecs = { serverUrl, org, project, env, nonInteractive }

/** A command at an environment that prints no record: without `--json`. */
export const atEnvPlain = commandsAt(plainSpecs, ({ envPath }) => envPath)

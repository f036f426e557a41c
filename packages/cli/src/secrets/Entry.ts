import type { Exchange } from "@coffer/client/internal/Exchange"
import type { EnvNames } from "@coffer/client/internal/SecretCalls"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import type { Failure } from "../base/Failures.js"
import { asking } from "../grammar/Asking.js"
import { allEnvsSpec, envSpecs, exchangeAt, explainingMissing, findPlace } from "../grammar/Place.js"
import { type Specs, syntaxOf } from "../grammar/Specs.js"
import { type Values, valuesOf } from "../grammar/Values.js"
import { countProblem, readWords } from "../grammar/Words.js"
import type { Input } from "../terminal/Input.js"
import type { Output } from "../terminal/Output.js"
import { printListView, printView, type View } from "../terminal/View.js"
import { checkGet, getSpecs, onlyKey, readOne } from "./Get.js"
import { listKeys, listSpecs } from "./List.js"
import { checkSet, onlyWrite, setSpecs, store } from "./Set.js"

type Needs = Input | Output | Scope.Scope

/** Runs a command line; undefined for one that the full client has to run, or to refuse. */
type Entry = (words: ReadonlyArray<string>) => Effect.Effect<void, Failure, Needs> | undefined

/** Returns the action for the options of a command. Undefined for the cases of the full client. */
type Plan<S extends Specs> = (
  options: Values<S>
) => ((exchange: Exchange, path: EnvNames) => Effect.Effect<View, Failure, Needs>) | undefined

/** An entry of a command at an environment. */
const entry =
  <S extends Specs>(own: S, plan: Plan<S>): Entry =>
  (words) => {
    const isList = "wide" in own
    const syntax = syntaxOf([...Object.values(envSpecs), ...Object.values(own)])
    const reading = readWords(syntax, words)
    if (reading.type !== "words" || countProblem(syntax, reading, "") !== undefined) return undefined
    const values = Either.all([valuesOf(envSpecs, reading), valuesOf(own, reading)])
    if (Either.isLeft(values)) return undefined
    const [at, options] = values.right
    const named =
      Predicate.hasProperty(options, "place") && typeof options.place === "string" ? options.place : undefined
    if (named !== undefined && at.env !== undefined) return undefined
    const place = { ...at, env: named ?? at.env }
    const run = plan(options)
    if (run === undefined) return undefined
    return Effect.gen(function* () {
      const found = yield* findPlace(place, ({ envPath }) => envPath)
      const exchange = yield* exchangeAt(found.server, found.path, place.nonInteractive)
      const view = yield* asking(
        options,
        place.json
      )(explainingMissing({ ...found, exchange })(run(exchange, found.path)))
      yield* isList
        ? printListView(view, {
            json: place.json,
            wide: Predicate.hasProperty(options, "wide") && options.wide === true
          })
        : printView(view, place.json)
    })
  }

const get = entry(getSpecs, (options) => {
  const key = onlyKey(options)
  if (key === undefined || options.clip || checkGet(options) !== undefined) return undefined
  return (exchange, path) => readOne(exchange, path, key, options)
})

const set = entry(setSpecs, (options) => {
  const one = onlyWrite(options)
  return one === undefined || checkSet(options) !== undefined
    ? undefined
    : (exchange, path) => store(exchange, path, one, options)
})

const list = entry({ allEnvs: allEnvsSpec, ...listSpecs }, ({ allEnvs, removed }) =>
  allEnvs || removed ? undefined : listKeys
)

const entries: ReadonlyMap<string, Entry> = new Map([
  ["get", get],
  ["set", set],
  ["list", list],
  ["ls", list]
])

/** Runs `secret get`, `set` or `list`; undefined for a command line that the full client has to run, or to refuse. */
export const entryFor = ([name = "", ...words]: ReadonlyArray<string>) => entries.get(name)?.(words)

import { sentenceOf } from "@coffer/domain/errors/BrokenRules"
import { BadSetting } from "@coffer/client/internal/Variables"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { NotThere } from "../../base/Failures.js"
import { nearest, questionAbout } from "../../grammar/Words.js"
import { note, show } from "../../terminal/Print.js"
import { agrees, agreesByEnter, ask, canAsk } from "../../terminal/Prompts.js"
import type { Shelf } from "./Catalog.js"

interface Wanted<Name extends string> {
  /** The setting. */
  readonly key: string
  readonly schema: Schema.Schema<Name, string>
  /** The name, if an option or a variable gives it. */
  readonly given: string | undefined
  /** Where to look it up; none where that would need a name that was left out. */
  readonly shelf: Shelf<Name> | undefined
}

const decode = <Name extends string>(schema: Schema.Schema<Name, string>, text: string) =>
  Either.mapLeft(
    Schema.decodeEither(schema)(text),
    (error) => new BadSetting({ message: `${JSON.stringify(text)}: ${sentenceOf(error, "is not a name")}` })
  )

const absent = <Name extends string>({ what, where }: Shelf<Name>, name: Name) =>
  `there is no ${what} ${name}${where}, or you may not see it`

/** Whether to create a name: not without a question where it may be a mistyped one. */
const agreesToCreate = Effect.fnUntraced(function* <Name extends string>(
  shelf: Shelf<Name>,
  name: Name,
  names: ReadonlyArray<Name>,
  isTyped: boolean
) {
  const meant = nearest(names, name)
  if (meant !== undefined) return yield* agrees(`${absent(shelf, name)}; did you mean ${meant}? Create ${name}?`)
  if (isTyped || (yield* shelf.isInNew)) return true
  return yield* agreesByEnter(`${absent(shelf, name)}. Create it?`)
})

/** Creates a name that does not exist, if a person wants it. */
const offerToCreate = Effect.fnUntraced(function* <Name extends string>(
  shelf: Shelf<Name>,
  name: Name,
  names: ReadonlyArray<Name>,
  isTyped: boolean
) {
  if (!(yield* agreesToCreate(shelf, name, names, isTyped))) return false
  yield* shelf.create(name)
  yield* note(`${shelf.what} ${name}${shelf.where} created`)
  return true
})

/** Checks a given name by the list. Without a list, it is taken as it is. */
const checkName = Effect.fnUntraced(function* <Name extends string>(name: Name, shelf: Shelf<Name> | undefined) {
  const names = yield* shelf?.names ?? Effect.succeed(undefined)
  if (shelf === undefined || names === undefined || names.includes(name)) return name
  if ((yield* canAsk) && (yield* offerToCreate(shelf, name, names, false))) return name
  return yield* new NotThere({
    message: `${absent(shelf, name)}${questionAbout(name, names)} ${shelf.list} shows what there is`
  })
})

const menuOf = <Name extends string>({ what, where }: Shelf<Name>, names: ReadonlyArray<Name>) => {
  if (names.length === 0) return `There is no ${what}${where} yet.\n`
  const width = String(names.length).length
  const lines = names.map((name, index) => `  ${String(index + 1).padStart(width)}  ${name}\n`)
  return `${what.charAt(0).toUpperCase()}${what.slice(1)}s${where}:\n${lines.join("")}`
}

const questionOf = (key: string, names: ReadonlyArray<string> | undefined, byEnter: string | undefined) => {
  if (names === undefined) return `${key} (empty to leave it out): `
  if (byEnter !== undefined) {
    const another = names.length === 1 ? "another name to create it" : "number, name, or a new name to create it"
    return `${key} (Enter for ${byEnter}, ${another}, - to leave it out): `
  }
  const ways = names.length === 0 ? "a name to create it" : "number, name, or a new name to create it"
  return `${key} (${ways}, empty to leave it out): `
}

const leftOut = "-"

/** Asks until the answer is an existing name, one to create, or says that there is none. */
const askName = Effect.fnUntraced(function* <Name extends string>({ key, schema, shelf }: Wanted<Name>) {
  const names = yield* shelf?.names ?? Effect.succeed(undefined)
  if (shelf !== undefined && names !== undefined) yield* show(menuOf(shelf, names))
  // The only name, or the first environment of a project that was just created.
  const byEnter = names?.length === 1 || (yield* shelf?.isInNew ?? Effect.succeed(false)) ? names?.[0] : undefined
  for (;;) {
    const answer = yield* ask(questionOf(key, names, byEnter))
    if (answer === "" && byEnter !== undefined) return byEnter
    if (answer === "" || answer === leftOut) return undefined
    // A name may look like a number.
    const known =
      names?.find((name) => name === answer) ?? (/^[0-9]+$/.test(answer) ? names?.[Number(answer) - 1] : undefined)
    if (known !== undefined) return known
    const name = decode(schema, answer)
    if (Either.isLeft(name)) yield* note(name.left.message)
    else if (shelf === undefined || names === undefined) return name.right
    else if (yield* offerToCreate(shelf, name.right, names, true)) return name.right
  }
})

/** The name for a setting: the given one, else what a person chooses, else none. */
export const chooseName = Effect.fnUntraced(function* <Name extends string>(wanted: Wanted<Name>) {
  const { given, schema, shelf } = wanted
  if (given !== undefined) return yield* checkName(yield* decode(schema, given), shelf)
  return (yield* canAsk) ? yield* askName(wanted) : undefined
})

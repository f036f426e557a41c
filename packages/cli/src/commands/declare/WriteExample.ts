import type { DeclaredKey, RequiredIn } from "@coffer/domain/secrets/DeclaredKey"
import { env } from "@coffer/domain/formats/Env"
import * as Either from "effect/Either"
import { quote } from "./Decorators.js"
import { type Read, readExample } from "./ExampleFile.js"
import { patternDecorator } from "./Regexes.js"

/** The part of a declared key that a file keeps. */
type Kept = Omit<DeclaredKey, "updated_at" | "updated_by">

const head = "# What this project needs: coffer declare --from reads it. The values are examples.\n"

const requiredDecorator = (requiredIn: RequiredIn): string =>
  requiredIn === "*"
    ? "@required"
    : requiredIn.length === 0
      ? "@optional"
      : `@required=forEnv(${requiredIn.join(", ")})`

interface Spelling {
  /** Whether the description is plain comments, and the example the value. Else they are decorators, which hold any text. */
  readonly isPlainDescription: boolean
  readonly isPlainExample: boolean
}

const spellings: ReadonlyArray<Spelling> = [
  { isPlainDescription: true, isPlainExample: true },
  { isPlainDescription: false, isPlainExample: true },
  { isPlainDescription: true, isPlainExample: false },
  { isPlainDescription: false, isPlainExample: false }
]

const spell = (
  { description, example, key, owner, pattern, required_in }: Kept,
  { isPlainDescription, isPlainExample }: Spelling
): string => {
  const comments = isPlainDescription ? (description?.split("\n") ?? []) : []
  const decorators = [
    requiredDecorator(required_in),
    ...(pattern === undefined ? [] : [patternDecorator(pattern)]),
    ...(owner === undefined ? [] : [`@owner=${quote(owner)}`]),
    ...(description === undefined || isPlainDescription ? [] : [`@description=${quote(description)}`]),
    ...(example === undefined || isPlainExample ? [] : [`@example=${quote(example)}`])
  ]
  const above = [...comments, decorators.join(" ")].map((text) => `# ${text}`.trimEnd() + "\n").join("")
  return above + (isPlainExample && example !== undefined ? env.write([{ key, value: example }]) : `${key}=\n`)
}

/** In one order, so that equal declarations are equal texts. */
const canonical = ({ description, example, key, owner, pattern, required_in }: Kept | Read): string =>
  JSON.stringify([key, required_in, pattern, description, example, owner])

const readsBack = (text: string, declared: Kept): boolean => {
  const reading = readExample("", `${head}\n${text}`)
  const [read, ...others] = Either.isRight(reading) ? reading.right.keys : []
  return others.length === 0 && read !== undefined && canonical(read) === canonical(declared)
}

/** The text of a file that reads back to the same declarations, and the keys that no such file can hold. */
export const writeExample = (declared: ReadonlyArray<Kept>) => {
  const texts: Array<string> = []
  const left: Array<string> = []
  for (const one of declared) {
    const text = spellings.map((spelling) => spell(one, spelling)).find((each) => readsBack(each, one))
    if (text === undefined) left.push(one.key)
    else texts.push(text)
  }
  return { text: [head, ...texts].join("\n"), left }
}

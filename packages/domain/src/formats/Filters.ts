import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import { spellEnvValue } from "./EnvSpelling.js"
import { quoteForShell, shellRefusal } from "./Shell.js"
import { quoteForYaml } from "./YamlText.js"

/** How a template writes a value; on the left, why it cannot, as the end of a sentence "KEY …". */
type Filter = (value: string) => Either.Either<string, string>

/** Reserved characters (RFC 3986) that `encodeURIComponent` does not escape. */
const reserved = /[!'()*]/g

const percent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`

const filters = {
  json: (value) => Either.right(JSON.stringify(value)),
  yaml: (value) => Either.right(quoteForYaml(value)),
  shell: (value) => {
    const refusal = shellRefusal(value)
    return refusal === undefined ? Either.right(quoteForShell(value)) : Either.left(refusal)
  },
  base64: (value) => Either.right(Encoding.encodeBase64(value)),
  url: (value) => Either.right(encodeURIComponent(value).replace(reserved, percent)),
  env: (value) => spellEnvValue(value)
} satisfies Readonly<Record<string, Filter>>

export type FilterName = keyof typeof filters

export const isFilterName = (text: string): text is FilterName => Object.hasOwn(filters, text)

export const filterNames = Object.keys(filters).filter(isFilterName)

/** Writes a value; without a filter as it is. */
export const applyFilter = (name: FilterName | null, value: string): Either.Either<string, string> =>
  name === null ? Either.right(value) : filters[name](value)

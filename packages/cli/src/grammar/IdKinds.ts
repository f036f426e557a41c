import * as Either from "effect/Either"
import type { NameKind } from "./Data.js"
import type { Codec } from "./Specs.js"

interface Noun {
  readonly noun: string
  readonly many: string
  /** The command that shows the ids. */
  readonly list: string
}

const noun = (noun: string, list: string, many = `${noun}s`): Noun => ({ noun, many, list })

/** The records that commands name by an id, or by its beginning. */
export const idNouns = {
  request: noun("request", "coffer request list"),
  waiting: noun("request", "coffer request list"),
  approval: noun("request", "coffer request list"),
  rule: noun("access rule", "coffer acl list"),
  "rule-or-who": noun("access rule", "coffer acl list"),
  webhook: noun("webhook", "coffer webhook list"),
  delivery: noun("delivery", "coffer webhook deliveries ID", "deliveries"),
  "use-rule": noun("use rule", "coffer use list KEY"),
  export: noun("export", "coffer request list"),
  session: noun("session", "coffer session list"),
  backup: noun("backup", "coffer backup list")
} as const satisfies { readonly [Kind in NameKind]?: Noun }

export type IdKind = keyof typeof idNouns

export const isIdKind = (kind: string | undefined): kind is IdKind => kind !== undefined && Object.hasOwn(idNouns, kind)

const shortest = 4
const whole = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const beginning = new RegExp(`^[0-9a-f-]{${shortest},36}$`)

/** Whether a text is not a whole id. */
export const isShortId = (text: string): boolean => !whole.test(text)

interface IdSchema<Id> {
  readonly make: (text: string, options: { readonly disableValidation: boolean }) => Id
}

/** An id, or its beginning: a command gets the whole id. */
export const idOf = <Id>(schema: IdSchema<Id>): Codec<Id> => ({
  value: "text",
  description: "",
  decode: (name, text) =>
    beginning.test(text)
      ? Either.right(schema.make(text, { disableValidation: true }))
      : Either.left(`${name} must be a UUID in lowercase, or its first characters, at least ${shortest}`)
})

/** The records of a name or an id; else the one whose id begins so, or several candidates. */
export const meantBy = <A extends { readonly id: string; readonly name: string }>(
  records: ReadonlyArray<A>,
  text: string
): ReadonlyArray<A> => {
  const named = records.filter(({ id, name }) => id === text || name === text)
  return named.length > 0 || !beginning.test(text) ? named : records.filter(({ id }) => id.startsWith(text))
}

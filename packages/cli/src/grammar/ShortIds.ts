/** Ids that are given by their beginning, such as `0192f0c1`, as long as one record of the list begins so. */
import type { Exchange } from "@coffer/client/internal/Exchange"
import { dependentIdList, idLists, isDependentIdKind, orgList, readNames } from "@coffer/client/internal/NameList"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { CannotDo, NotThere, WrongUsage } from "../base/Failures.js"
import { idNouns } from "./IdKinds.js"
import type { PlacePath } from "./Missing.js"

/** An option or argument whose text may be the beginning of an id. */
export interface ShortId {
  readonly kind: keyof typeof idNouns
  readonly text: string
  /** The values of the command's arguments before it: a delivery follows its webhook, a use rule its key. */
  readonly before: ReadonlyArray<string>
}

/** The lists of an organization that together have the ids of a kind. */
const orgLists = { waiting: ["request", "approval", "export"], "rule-or-who": ["rule"] } as const

const listsOf = ({ before, kind }: ShortId, { env_name, org_name, project_name }: PlacePath) => {
  if (kind === "session" || kind === "backup") return [idLists[kind]]
  if (isDependentIdKind(kind)) return [dependentIdList(kind, [org_name, project_name, env_name], before.at(-1))]
  if (org_name === undefined) return []
  return (kind === "waiting" || kind === "rule-or-who" ? orgLists[kind] : [kind]).map((each) => orgList(each, org_name))
}

/** At most this many candidates are named. */
const maxShown = 5

/** Finds the id that begins with a text. */
export const wholeId = Effect.fnUntraced(function* (exchange: Exchange, short: ShortId, path: PlacePath) {
  const { kind, text } = short
  const { list, many, noun } = idNouns[kind]
  const lists = listsOf(short, path).filter((each) => each !== undefined)
  const [first, ...others] = yield* Effect.forEach(lists, (each) => Effect.either(readNames(exchange, each)))
  if (first !== undefined && Either.isLeft(first)) {
    const { message } = first.left
    return yield* new CannotDo({
      message: `the ids that begin with ${text} cannot be listed: ${message}; give the whole id`
    })
  }
  // Whoever may not read one of several lists may still name what is in the others.
  const ids = [first, ...others].flatMap((each) => (each === undefined || Either.isLeft(each) ? [] : each.right))
  const found = ids.filter((id) => id.startsWith(text))
  const [only, ...further] = found
  if (only === undefined) {
    return yield* new NotThere({ message: `no ${noun} has an id that begins with ${text}; ${list} shows them` })
  }
  if (further.length === 0) return only
  const more = found.length > maxShown ? `, and ${found.length - maxShown} more` : ""
  return yield* new WrongUsage({
    message: `${text} is the beginning of the ids of ${found.length} ${many}: ${found.slice(0, maxShown).join(", ")}${more}; give more of it`
  })
})

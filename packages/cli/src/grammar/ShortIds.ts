/** Ids that are given by their beginning, such as `0192f0c1`, as long as one record of the list begins so. */
import type { Exchange } from "@coffer/client/internal/Exchange"
import {
  dependentIdList,
  idLists,
  isDependentIdKind,
  isOrgListKind,
  orgList,
  readNames
} from "@coffer/client/internal/NameList"
import * as Effect from "effect/Effect"
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

const listOf = ({ before, kind }: ShortId, { env_name, org_name, project_name }: PlacePath) => {
  if (isDependentIdKind(kind)) return dependentIdList(kind, [org_name, project_name, env_name], before.at(-1))
  if (isOrgListKind(kind)) return org_name === undefined ? undefined : orgList(kind, org_name)
  return idLists[kind]
}

/** At most this many candidates are named. */
const maxShown = 5

/** Finds the id that begins with a text. */
export const wholeId = Effect.fnUntraced(function* (exchange: Exchange, short: ShortId, path: PlacePath) {
  const { kind, text } = short
  const { list, many, noun } = idNouns[kind]
  const names = listOf(short, path)
  const ids =
    names === undefined
      ? []
      : yield* Effect.mapError(
          readNames(exchange, names),
          ({ message }) =>
            new CannotDo({ message: `the ids that begin with ${text} cannot be listed: ${message}; give the whole id` })
        )
  const found = ids.filter((id) => id.startsWith(text))
  const [first, ...others] = found
  if (first === undefined) {
    return yield* new NotThere({ message: `no ${noun} has an id that begins with ${text}; ${list} shows them` })
  }
  if (others.length === 0) return first
  const more = found.length > maxShown ? `, and ${found.length - maxShown} more` : ""
  return yield* new WrongUsage({
    message: `${text} is the beginning of the ids of ${found.length} ${many}: ${found.slice(0, maxShown).join(", ")}${more}; give more of it`
  })
})

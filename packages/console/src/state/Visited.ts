import { effect, untracked } from "@preact/signals"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { envOf } from "../routing/Places.js"
import { place, query } from "../routing/Router.js"
import { me } from "./Session.js"
import { storedNames } from "./Stored.js"

/** The addresses that a person has opened in this tab. They name places and keys, and hold nothing that was typed. */
const Visited = Schema.Struct({ who: Schema.String, addresses: Schema.Array(Schema.String) })

const decode = Schema.decodeUnknownOption(Schema.parseJson(Visited))

const kept = 7

const stored = (): typeof Visited.Type | null =>
  Option.getOrNull(decode(Either.getOrNull(Either.try(() => sessionStorage.getItem(storedNames.visited)))))

/** Without a storage: as long as the page is open. */
let last: typeof Visited.Type | null = null

const visitedBy = (who: string): ReadonlyArray<string> => {
  const found = stored() ?? last
  return found?.who === who ? found.addresses : []
}

/** Notes the places that the person opens, the newest first. They are kept over a reload, in this tab. */
export const watchVisited = (): void => {
  effect(() => {
    const who = me.value?.id
    if (who === undefined || place.value === null) return
    const env = untracked(() => envOf(query.value))
    const address = location.pathname + (env === null ? "" : `?env=${env}`)
    const others = visitedBy(who).filter((one) => one.split("?")[0] !== location.pathname)
    const next = { who, addresses: [address, ...others].slice(0, kept) }
    last = next
    Either.try(() => {
      sessionStorage.setItem(storedNames.visited, JSON.stringify(next))
    })
  })
}

/** The addresses that the person had open before the one that is, the newest first. */
export const visitedBefore = (): ReadonlyArray<string> => {
  const who = me.peek()?.id
  return who === undefined ? [] : visitedBy(who).slice(1)
}

/** The next person at this browser does not see them. */
export const forgetVisited = (): void => {
  last = null
  Either.try(() => {
    sessionStorage.removeItem(storedNames.visited)
  })
}

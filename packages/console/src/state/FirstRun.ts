import { signal } from "@preact/signals"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { storedNames, storedText } from "./Stored.js"

export const starts = ["run", "invite", "ci", "backup"] as const
export type Start = (typeof starts)[number]

/** The first organization of a person, made in this browser, and what the person has begun of it since. */
const FirstRun = Schema.Struct({ org: Schema.String, begun: Schema.Array(Schema.Literal(...starts)) })
type FirstRun = typeof FirstRun.Type

const decode = Schema.decodeUnknownOption(Schema.parseJson(FirstRun))

const stored = (): FirstRun | null => Option.getOrNull(decode(storedText(storedNames.firstRun)))

/** Null: the person made none, or has dismissed what follows. */
export const firstRun = signal<FirstRun | null>(stored())

const set = (next: FirstRun | null): void => {
  firstRun.value = next
  Either.try(() => {
    if (next === null) localStorage.removeItem(storedNames.firstRun)
    else localStorage.setItem(storedNames.firstRun, JSON.stringify(next))
  })
}

export const beginFirstRun = (org: string): void => {
  set({ org, begun: [] })
}

export const endFirstRun = (): void => {
  set(null)
}

/** Notes what a person has begun. The last of `shown` ends the first run. */
export const noteBegun = (one: Start, shown: ReadonlyArray<Start>): void => {
  const now = firstRun.peek()
  if (now === null) return
  const begun = [...new Set([...now.begun, one])]
  set(shown.every((each) => begun.includes(each)) ? null : { ...now, begun })
}

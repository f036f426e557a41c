import { inStageOrder } from "@coffer/domain/directory/EnvironmentOrder"
import type { FoundKey, FoundKeyPage } from "@coffer/domain/secrets/FoundKey"
import type { OrgName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { call } from "../client/Calls.js"
import { secretAddress } from "../routing/Places.js"
import type { Command } from "../kit/Commands.js"
import { lastingFailures } from "../kit/Poll.js"
import { to } from "./PlaceCommands.js"

/** Waits for the next letter. */
const pause = "200 millis"
const keysAtOnce = 20
const maxPages = 5

/** The parts of keys that the server accepts as a query; a single letter is in nearly all keys. */
const queryForm = /^[A-Za-z0-9_.-]{2,100}$/

/** More organizations are not searched, unless the person asks for it. */
export const firstOrgs = 8

/** Keys that were found, and what of the person's keys was not searched, as sentences. */
export interface FoundKeys {
  readonly commands: ReadonlyArray<Command>
  readonly notes: ReadonlyArray<string>
  /** Whether a part of the search failed, and may succeed if it is repeated. */
  readonly isCut: boolean
}

const nothing: FoundKeys = { commands: [], notes: [], isCut: false }

/** Keys by project, each at the first of its environments. */
const commandsOf = (org: OrgName, here: OrgName | null, keys: ReadonlyArray<FoundKey>): ReadonlyArray<Command> => {
  const byProject = new Map<string, ReadonlyArray<FoundKey>>()
  for (const key of keys) {
    const name = `${key.project} ${key.key}`
    byProject.set(name, [...(byProject.get(name) ?? []), key])
  }
  return [...byProject.values()].flatMap((found) => {
    const [first] = inStageOrder(found.map((key) => ({ name: key.env, key })))
    if (first === undefined) return []
    const { env, key, project } = first.key
    const hint = org === here ? `key of ${project}` : `key of ${org}/${project}`
    return [to("Keys", key, hint, secretAddress(org, project, env, key))]
  })
}

/** The keys of one organization. A page may be empty before the end: so many are read for a first key. */
const foundIn = (org: OrgName, here: OrgName | null, query: string) =>
  Effect.gen(function* () {
    let after: string | undefined
    for (let pages = 0; pages < maxPages; pages++) {
      const urlParams = { query, limit: keysAtOnce, ...(after !== undefined && { after }) }
      const page: FoundKeyPage = yield* call("keys", (api) => api.find({ path: { org_name: org }, urlParams }))
      const isLast = page.pagination.next_cursor === null
      if (page.data.length > 0) {
        return {
          ...nothing,
          commands: commandsOf(org, here, page.data),
          notes: isLast ? [] : [`More keys of ${org} have this in their name: type more of it.`]
        } satisfies FoundKeys
      }
      if (isLast) return nothing
      after = page.pagination.next_cursor
    }
    return { ...nothing, notes: [`Not all keys of ${org} were searched: type more of the name.`] } satisfies FoundKeys
  }).pipe(
    Effect.catchAll(({ _tag }) => {
      const isCut = !lastingFailures.has(_tag)
      const next = isCut ? " yet; they are searched again" : ": you may not list them"
      return Effect.succeed<FoundKeys>({
        ...nothing,
        isCut,
        notes: [`The keys of ${org} could not be searched${next}.`]
      })
    })
  )

/** The keys of organizations that contain what was typed, wherever the person may list them. */
export const foundKeys = (here: OrgName | null, orgs: ReadonlyArray<OrgName>, typed: string) =>
  Effect.gen(function* () {
    const query = typed.trim()
    if (query === "") return nothing
    if (!queryForm.test(query)) {
      return query.length < 2 ? { ...nothing, notes: ["Keys are found by 2 characters or more."] } : nothing
    }
    yield* Effect.sleep(pause)
    const found = yield* Effect.forEach(orgs, (org) => foundIn(org, here, query), { concurrency: 4 })
    return {
      commands: found.flatMap(({ commands }) => commands),
      notes: found.flatMap(({ notes }) => notes),
      isCut: found.some(({ isCut }) => isCut)
    } satisfies FoundKeys
  })

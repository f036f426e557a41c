import { inStageOrder } from "@coffer/domain/EnvironmentOrder"
import type { FoundKey, FoundKeyPage } from "@coffer/domain/FoundKey"
import type { OrgName } from "@coffer/domain/Names"
import * as Effect from "effect/Effect"
import { call } from "../client/Calls.js"
import { secretAddress } from "../routing/Places.js"
import { navigate } from "../routing/Router.js"
import type { Command } from "./Commands.js"

/** Waits for the next letter. */
const pause = "200 millis"
const keysAtOnce = 20
/** A page may be empty before the end: so many are read for a first key. */
const maxPages = 5

/** What the server takes as a part of a key; a single letter is in nearly all of them. */
const queryForm = /^[A-Za-z0-9_.-]{2,100}$/

/** Keys by project, each at the first of its environments. */
const commandsOf = (org: OrgName, keys: ReadonlyArray<FoundKey>): ReadonlyArray<Command> => {
  const byProject = new Map<string, ReadonlyArray<FoundKey>>()
  for (const key of keys) {
    const name = `${key.project} ${key.key}`
    byProject.set(name, [...(byProject.get(name) ?? []), key])
  }
  return [...byProject.values()].flatMap((found) => {
    const [first] = inStageOrder(found.map((key) => ({ name: key.env, key })))
    if (first === undefined) return []
    const { env, key, project } = first.key
    const run = () => {
      navigate(secretAddress(org, project, env, key))
    }
    return [{ title: key, hint: `key of ${project}`, run }]
  })
}

/** The keys of an organization that contain what was typed, wherever the person may list them. */
export const foundKeys = (org: OrgName | null, typed: string) =>
  Effect.gen(function* () {
    const query = typed.trim()
    if (org === null || !queryForm.test(query)) return []
    yield* Effect.sleep(pause)
    let after: string | undefined
    for (let pages = 0; pages < maxPages; pages++) {
      const urlParams = { query, limit: keysAtOnce, ...(after !== undefined && { after }) }
      const page: FoundKeyPage = yield* call("keys", (api) => api.find({ path: { org_name: org }, urlParams }))
      if (page.data.length > 0) return commandsOf(org, page.data)
      if (page.pagination.next_cursor === null) return []
      after = page.pagination.next_cursor
    }
    return []
  })

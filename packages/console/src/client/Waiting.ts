import type { OrgName } from "@coffer/domain/base/Names"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import { computed, signal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { plainCall } from "./Client.js"
import { start } from "./Run.js"
import { hasUses } from "../state/Server.js"

const pollMillis = 15_000

type Counts = ReadonlyMap<OrgName, number>

/** Uses of secrets, and requests for access and changes, which wait for the person. */
const waitingUses = signal<Counts>(new Map())
const waitingVotes = signal<Counts>(new Map())

/** How many requests wait for the person, by organization. */
export const waiting = computed<Counts>(() => {
  const [uses, votes] = [waitingUses.value, waitingVotes.value]
  return new Map([...uses.keys(), ...votes.keys()].map((org) => [org, (uses.get(org) ?? 0) + (votes.get(org) ?? 0)]))
})

const note = (counts: typeof waitingUses, org: OrgName, count: number) => {
  if ((counts.peek().get(org) ?? 0) !== count) counts.value = new Map([...counts.peek(), [org, count]])
}

export const noteUses = (org: OrgName, approvals: ReadonlyArray<{ readonly state: string }>): void => {
  note(waitingUses, org, approvals.filter(({ state }) => state === "pending").length)
}

export const noteVotes = (org: OrgName, requests: ReadonlyArray<{ readonly may_vote: boolean }>): void => {
  note(waitingVotes, org, requests.filter(({ may_vote }) => may_vote).length)
}

/** Notes how many requests of both kinds wait, until they are counted again. */
export const noteWaiting = (org: OrgName, count: number): void => {
  note(waitingUses, org, 0)
  note(waitingVotes, org, count)
}

const readVotes = (org: OrgName) =>
  Effect.map(
    plainCall("requests", (api) =>
      api.list({ path: { org_name: org }, urlParams: { state: "pending", limit: maxPageSize } })
    ),
    ({ data }) => {
      noteVotes(org, data)
    }
  )

const readUses = (org: OrgName) =>
  Effect.map(
    plainCall("approvals", (api) => api.list({ path: { org_name: org } })),
    ({ data }) => {
      noteUses(org, data)
    }
  )

/** Counts what waits in an organization. A failure shows where the person does something. */
const countWaiting = (org: OrgName): Effect.Effect<void> =>
  Effect.all([Effect.ignore(readVotes(org)), hasUses() ? Effect.ignore(readUses(org)) : Effect.void], {
    concurrency: 2,
    discard: true
  })

/** Counts what waits in an organization, now and again. */
export const watchWaiting = (org: OrgName): (() => void) => {
  let stop = () => {}
  const look = () => {
    if (document.hidden) return
    stop()
    stop = start(countWaiting(org), () => {})
  }
  look()
  const timer = setInterval(look, pollMillis)
  document.addEventListener("visibilitychange", look)
  return () => {
    stop()
    clearInterval(timer)
    document.removeEventListener("visibilitychange", look)
  }
}

import type { OrgName } from "@coffer/domain/Names"
import { signal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { plainCall } from "../client/Client.js"
import { start } from "../client/Run.js"
import { hasUses } from "./Server.js"

const pollMillis = 15_000

/** How many requests with secrets wait for the person, by organization. */
export const waiting = signal<ReadonlyMap<OrgName, number>>(new Map())

export const noteWaiting = (org: OrgName, approvals: ReadonlyArray<{ readonly state: string }>): void => {
  const count = approvals.filter(({ state }) => state === "pending").length
  if ((waiting.peek().get(org) ?? 0) !== count) waiting.value = new Map([...waiting.peek(), [org, count]])
}

/** Counts what waits in an organization, now and again. A failure shows where the person does something. */
export const watchWaiting = (org: OrgName): (() => void) => {
  if (!hasUses()) return () => {}
  let stop = () => {}
  const look = () => {
    if (document.hidden) return
    stop()
    stop = start(
      Effect.ignore(
        Effect.map(
          plainCall("approvals", (api) => api.list({ path: { org_name: org } })),
          ({ data }) => {
            noteWaiting(org, data)
          }
        )
      ),
      () => {}
    )
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

import type { Exchange } from "@coffer/client/internal/Exchange"
import { type EnvNames, listSecrets } from "@coffer/client/internal/SecretCalls"
import type { PlainListed } from "@coffer/client/internal/SecretRecords"
import { dueStateAt } from "@coffer/domain/secrets/DueState"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { momentCell } from "../base/Moments.js"
import { isConfigured } from "../grammar/Configured.js"
import { wideSpec } from "../grammar/Place.js"
import { optionalPlace } from "../grammar/PlaceForm.js"
import { flag } from "../grammar/Specs.js"
import { listView } from "../terminal/View.js"

export const listSpecs = {
  place: optionalPlace,
  removed: flag("removed", "The deleted keys that can be brought back, with who deleted them and when"),
  wide: wideSpec
}

interface DueDate {
  readonly due_at?: string
  readonly turn_at?: string
}

/** When a secret is due, with a word where that has passed or is near, or where its rotation sees to it. */
export const dueText = ({ due_at, turn_at }: DueDate, millis: number): string | undefined => {
  const day = due_at?.slice(0, 10)
  if (day === undefined) return day
  const state = dueStateAt(due_at, millis)
  const words = [state === "due" ? "soon" : state, due_at === turn_at ? "by its rotation" : null]
  return [day, ...words.filter((word) => word !== null)].join(" ")
}

const columns = {
  key: (secret: PlainListed) => secret.key,
  version: (secret: PlainListed) => secret.version,
  updated: (secret: PlainListed) => momentCell(secret.updated_at)
}

/** The keys of an environment, without values. */
export const listKeys = Effect.fnUntraced(function* (exchange: Exchange, path: EnvNames) {
  const secrets = yield* listSecrets(exchange, path)
  const now = yield* Clock.currentTimeMillis
  const due = { due: (secret: PlainListed) => dueText(secret, now) }
  const isAnyDue = secrets.data.some(({ due_at }) => due_at !== undefined)
  const shown = { ...columns, ...(isAnyDue && due) }
  const place = `${path.org_name}/${path.project_name}/${path.env_name}`
  const where = secrets.data.length > 0 || (yield* isConfigured(path)) ? "" : ` -e ${place}`
  return listView(secrets, shown, `there are no secrets; store one with: coffer set KEY${where}`, [
    "key",
    "version",
    "due"
  ])
})

import { OrgName } from "@coffer/domain/base/Names"
import { WebhookDeliveryId } from "@coffer/domain/base/Ids"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { EntryReader, type EntryRow } from "../../audit/EntryReader.js"
import { timestamp } from "../../base/Time.js"
import { uuidV7At } from "../../base/Uuid.js"
import { pacing } from "../../base/EventLoop.js"
import { Fence, isLeaseLost } from "../../database/jobs/Lease.js"
import { type BehindRow, deliveriesRepo, keptMillis, type NewDelivery } from "./DeliveriesRepo.js"
import { eventOf, isWanted, laneOf, type Wanted } from "./Event.js"
import { patternsOf } from "./Webhooks.js"

/** How many entries of a webhook's log one round passes. */
const entriesAtOnce = 500
/** A webhook with this many events does not take more from the log, which keeps them. */
const maxPending = 10_000

/** `more`: the webhook can take more entries at once. `failed` is logged. */
export type Step = "reached" | "more" | "failed"

/** Makes deliveries from the audit logs: the next ones of each webhook, so that a long log holds back no other webhook. */
export const makeFanOut = Effect.gen(function* () {
  const entries = yield* EntryReader
  const repo = yield* deliveriesRepo
  const fenced = yield* Fence

  /** Reads the next entries of a webhook's log, and keeps those that it asks for. */
  const read = Effect.fnUntraced(function* ({ head, org_id, org_name, seq }: BehindRow, wanted: Wanted) {
    const pace = pacing()
    const since = timestamp((yield* Clock.currentTimeMillis) - keptMillis)
    const organization = OrgName.make(org_name)
    const found: Array<{ readonly seq: number; readonly lane: string; readonly body: string }> = []
    const take = (row: EntryRow) => {
      const event = row.created_at < since ? null : eventOf(row, organization)
      if (event === null || !isWanted(wanted, event)) return
      found.push({ seq: row.seq, lane: laneOf(event), body: JSON.stringify(event) })
    }
    let reached = seq
    while (reached < head && reached - seq < entriesAtOnce) {
      const next = yield* entries.following(org_id, reached, head)
      next.rows.forEach(take)
      reached = next.reached
      yield* pace
    }
    return { found, reached }
  })

  const insert = Effect.fnUntraced(function* (
    webhookId: BehindRow["id"],
    found: Effect.Effect.Success<ReturnType<typeof read>>["found"]
  ) {
    const millis = yield* Clock.currentTimeMillis
    const now = timestamp(millis)
    // In their order, so that a list of deliveries is in the order of the events.
    const ids = found.map(() => uuidV7At(millis)).sort()
    const busy = new Set<string>()
    const added: Array<NewDelivery> = []
    for (const [index, { body, lane, seq }] of found.entries()) {
      const waits = busy.has(lane) || (yield* repo.inLane({ webhookId, lane })) !== undefined
      busy.add(lane)
      const id = WebhookDeliveryId.make(ids[index] ?? "")
      added.push({ id, webhookId, kind: "event", lane, seq, body, nextAt: waits ? null : now, now })
    }
    yield* repo.insert(added)
  })

  /** Takes the next entries, unless the webhook has enough. */
  const advance = (behind: BehindRow): Effect.Effect<Step> =>
    Effect.gen(function* () {
      const { head, id, seq } = behind
      // Another program set the log back.
      const from = seq > head ? head : seq
      if ((yield* repo.pending({ webhookId: id })).count >= maxPending) return "reached"
      const wanted = { events: yield* patternsOf(behind.events), environments: yield* patternsOf(behind.environments) }
      const { found, reached } = yield* read({ ...behind, seq: from }, wanted)
      yield* fenced(
        Effect.gen(function* () {
          if ((yield* repo.move({ id, from: seq, to: reached })).length > 0) yield* insert(id, found)
        })
      )
      return reached < head ? "more" : "reached"
    })

  const step = (behind: BehindRow): Effect.Effect<Step> =>
    Effect.catchAllCause(advance(behind), (cause) =>
      Cause.isInterrupted(cause) || isLeaseLost(cause)
        ? Effect.failCause(cause)
        : Effect.as(Effect.logError(`the webhook ${behind.id} cannot be given the entries of its log`, cause), "failed")
    )

  return Effect.flatMap(repo.behind({}), (rows) => Effect.forEach(rows, step))
})

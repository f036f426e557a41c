import { delegationOf } from "@coffer/domain/access/Actor"
import { RequestId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Place } from "../../access/Access.js"
import type { AffectedKey } from "../../access/gate/GateDecision.js"
import { databaseTime, query } from "../../database/Query.js"
import { makeSealedCalls } from "./SealedCalls.js"
import { detailsOf } from "./CallSummary.js"
import type { Target } from "./Repo.js"

const CandidateRow = Schema.Struct({ id: RequestId, bytes: Schema.Number })

/** Small calls are compared with everything of the requester that waits, a large one with about as many bytes as it has. */
const freeBytes = 1024 * 1024

/** As many as an actor may have waiting in an environment. */
const maxCompared = 20

interface AskedChange {
  readonly call: string
  readonly affected: ReadonlyArray<AffectedKey>
  readonly json: unknown
}

/**
 * Finds the request by which an actor asked for the same change before, and that still waits: the same call with the same values, on
 * the same versions and under the same protection. Its reason may be another one.
 */
export const makeRepeated = Effect.gen(function* () {
  const { all } = yield* query
  const bodies = yield* makeSealedCalls

  const candidates = all(CandidateRow)`
    SELECT r.id AS id, r.bytes AS bytes FROM requests r
    JOIN protections t ON t.env_id = r.env_id AND t.removed_at IS NULL AND t.version = r.protection_version
    WHERE r.env_id = ${"envId"} AND r.state = 'pending' AND r.expires_at > ${databaseTime} AND r.kind = 'change'
      AND r.org_id = ${"orgId"} AND r.actor_id = ${"actorId"} AND coalesce(r.delegation_id, '') = ${"delegationId"}
      AND r.call = ${"call"} AND r.keys = ${"keys"} AND r.details = ${"details"}
    ORDER BY r.id DESC LIMIT ${"limit"}`

  return Effect.fnUntraced(function* (
    { actor, org }: Place<"request.create">,
    { env_id: envId, project, project_id: projectId }: Target,
    { call, json, affected }: AskedChange
  ) {
    const found = yield* candidates({
      limit: maxCompared,
      orgId: org.id,
      envId,
      actorId: actor.id,
      delegationId: delegationOf(actor)?.id ?? "",
      call,
      keys: JSON.stringify(affected),
      details: JSON.stringify(detailsOf(json, affected, project))
    })
    let left = freeBytes
    for (const [index, { bytes, id }] of found.entries()) {
      if (index > 0 && bytes > left) continue
      left -= bytes
      const place = { id, orgId: org.id, projectId, envId }
      // One that cannot be opened is not the same.
      if (yield* Effect.orElseSucceed(bodies.holds(place, json), () => false)) return id
    }
    return null
  })
})

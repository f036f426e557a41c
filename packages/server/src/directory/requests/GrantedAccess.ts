import type { Permission } from "@coffer/domain/access/AclRule"
import { type Actor, CurrentCaller, delegationOf } from "@coffer/domain/access/Actor"
import { Conflict } from "@coffer/domain/errors/Errors"
import { RuleId } from "@coffer/domain/base/Ids"
import type { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { allKeys } from "@coffer/domain/secrets/KeyPatterns"
import * as Effect from "effect/Effect"
import { Access, type Place } from "../../access/Access.js"
import type { Requester } from "../../access/caller/Requester.js"
import { couldGain } from "../../access/Rights.js"
import type { AuditSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { timestamp } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { Database } from "../../database/Database.js"
import { ruleLimits } from "../acl/Acl.js"
import { aclRepo } from "../acl/Repo.js"
import { ruleFacts } from "../acl/RuleExpiry.js"
import { makeLacksVoters } from "./LacksVoters.js"
import { Requests } from "./Requests.js"
import { type RequestRow, requestsRepo } from "./Repo.js"

/** The request of a person or an account for access. */
export interface AccessRequest {
  readonly project: ProjectName
  readonly env: EnvName
  readonly permission: Permission
  readonly expires_in: number
  readonly reason: string
}

/** The people who approved a request for access, and who records the rule. */
export interface Approved {
  readonly by: ReadonlyArray<string>
  readonly source: AuditSource
}

/** One message for all: it must not tell whether the environment exists. */
const nothingToAsk = ({ env, permission, project }: AccessRequest, actor: Actor) =>
  new Conflict({
    message: `cannot request ${permission} on ${project}/${env}: it does not exist, you already have it, or your ${delegationOf(actor) === null ? "role" : "delegation"} cannot get it`
  })

/** Requests for access, and the rules that they become: each ends, and stands beside a lasting one. */
export const makeGrantedAccess = Effect.gen(function* () {
  const repo = yield* requestsRepo
  const acl = yield* aclRepo
  const access = yield* Access
  const audit = yield* AuditLog
  const requests = yield* Requests
  const lacksVoters = yield* makeLacksVoters
  const { clock } = yield* Database

  /** Asks for access in the transaction that enters the organization. */
  const ask = Effect.fnUntraced(function* (place: Place<"request.create">, asked: AccessRequest) {
    const { env, permission, project } = asked
    const found = yield* repo.target({ orgId: place.org.id, project, env })
    if (found === undefined || !couldGain(place, found, permission)) return yield* nothingToAsk(asked, place.actor)
    const lacking = yield* lacksVoters(place, found, "access")
    if (lacking !== null) return yield* new Conflict({ message: lacking })
    return yield* requests.store(
      place,
      found,
      { kind: "access", permission, expiresIn: asked.expires_in },
      asked.reason
    )
  })

  const checkRoom = Effect.fnUntraced(function* ({ actor_id: subjectId, org_id: orgId }: RequestRow) {
    if (
      (yield* acl.count({ orgId })).count >= ruleLimits.all.max ||
      (yield* acl.countOf({ orgId, subjectId })).count >= ruleLimits.ofSubject.max
    ) {
      return yield* new Conflict({ message: "the organization or the requester has as many access rules as it may" })
    }
  })

  /** Makes the rule of an approved request; without an approval, only checks that it could be made. */
  const make = Effect.fnUntraced(function* (
    row: RequestRow,
    org: OrgName,
    requester: Requester,
    approved: Approved | null
  ) {
    const { actor_id: subjectId, actor_type: subjectType, expires_in, permission } = row
    if (row.is_live === 0 || permission === null || expires_in === null) {
      return yield* new Conflict({ message: `environment ${row.project}/${row.env} does not exist any more` })
    }
    yield* Effect.provideService(access.org({ org_name: org }, "request.create"), CurrentCaller, requester)
    yield* checkRoom(row)
    if (approved === null) return undefined
    const ruleId = RuleId.make(yield* uuidV7)
    const millis = yield* clock
    const expiresAt = millis + expires_in * 1_000
    yield* repo.insertRule({
      id: row.id,
      ruleId,
      orgId: row.org_id,
      subjectType,
      subjectId,
      project: row.project,
      env: row.env,
      permission,
      expiresAt,
      createdBy: approved.by.join(", "),
      now: timestamp(millis)
    })
    yield* audit.change(approved.source, {
      action: "acl.grant",
      resource_type: "acl_rule",
      resource_id: ruleId,
      metadata: {
        ...ruleFacts({
          subject_type: subjectType,
          subject_id: subjectId,
          email: subjectType === "user" ? row.actor_name : null,
          name: subjectType === "user" ? null : row.actor_name,
          group_name: null,
          project_pattern: row.project,
          env_pattern: row.env,
          permission,
          key_pattern: allKeys,
          denies: 0,
          expires_at: expiresAt
        }),
        request: row.id,
        approved_by: approved.by
      }
    })
    return ruleId
  })

  return { ask, make } as const
})

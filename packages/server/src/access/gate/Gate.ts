import { type Actor, actorName, delegationOf } from "@coffer/domain/access/Actor"
import type { Forbidden } from "@coffer/domain/errors/Errors"
import { ApprovalRequired, Conflict } from "@coffer/domain/errors/Errors"
import { EnvId, type OrgId } from "@coffer/domain/base/Ids"
import { EnvName, type OrgName, ProjectName } from "@coffer/domain/base/Names"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { AuditSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { noticeText } from "../../base/mail/NoticeText.js"
import { timestamp } from "../../base/Time.js"
import { Transaction } from "../../database/Database.js"
import { query } from "../../database/Query.js"
import { freedNamesRepo, type NamedPlace } from "../place/FreedNames.js"
import { liveEnv } from "../place/PlaceRow.js"
import { ChangeMode, type GateDecision } from "./GateDecision.js"
import { VotesMissing } from "./VotesMissing.js"
import { makeOwnerNotices } from "./OwnerNotices.js"
import { makeProtections } from "./Protections.js"
import { refuse } from "../place/RefusedAccess.js"
import { removedRepo } from "../place/RemovedPlaces.js"
import { prospectsOf } from "./Voting.js"
import { makeVotingMembers } from "./VotingMembers.js"

/** Whoever makes a change, with what its entries in the audit log say. */
export interface Changing {
  readonly actor: Actor
  readonly action: string
  readonly source: AuditSource
}

/** A protected environment that a change is about. */
export interface Guarded extends Changing {
  readonly envId: EnvId
  readonly org: { readonly id: OrgId; readonly name: OrgName }
  readonly project: string
  readonly env: string
}

const GuardedRow = Schema.Struct({ env_id: EnvId, project: ProjectName, env: EnvName })
export type GuardedRow = typeof GuardedRow.Type

/** How many protected environments a message names. */
const maxNamed = 3

const kindNames = { org: "organization", project: "project", env: "environment" } as const

/** How long a mail about broken glass is tried. */
const mailLifetime = Duration.hours(24)

const needsVotes = (why: string, { envId, org }: Guarded) =>
  VotesMissing.at(
    { envId, org },
    `${why}, and nothing was changed: send Prefer: respond-async to ask for approval; people whom its protection names may also change it at once, with a reason in X-Coffer-Break-Glass`
  )

const nobodyVotes = (why: string) =>
  new ApprovalRequired({
    message: `${why}, and nobody could give its votes: as a superadmin you may do this at once, with a reason in X-Coffer-Break-Glass (--break-glass)`
  })

/** The actions by which a superadmin ends, brings back or erases what nobody could vote on. */
const ending: ReadonlySet<string> = new Set([
  "protection.set",
  "protection.delete",
  "env.delete",
  "env.restore",
  "env.erase",
  "project.delete",
  "project.restore",
  "project.erase",
  "org.delete"
])

const glassMail = ({ action, actor, env, org, project }: Guarded, reason: string): string =>
  noticeText(
    `${actorName(actor)} changed a protected environment without the votes that it needs.`,
    { Organization: org.name, Environment: `${project}/${env}`, Action: action, Reason: reason },
    "The audit log of the organization has what was changed. You get this mail because you are an owner."
  )

/**
 * The one gate of protected environments. A change passes as a requested one whose votes are there, or by breaking the glass.
 * `Access` asks it whenever somebody enters an environment to change it.
 */
export const makeGate = Effect.gen(function* () {
  const audit = yield* AuditLog
  const mailOwners = yield* makeOwnerNotices
  const protections = yield* makeProtections
  const voting = yield* makeVotingMembers
  const names = yield* freedNamesRepo
  const { all } = yield* query
  const removed = yield* removedRepo

  const below = all(GuardedRow)`
    SELECT x.id AS env_id, y.name AS project, x.name AS env
    FROM (
      SELECT min(t.env_id) AS env_id
      FROM projects p JOIN environments e ON e.project_id = p.id AND ${liveEnv} AND e.protected = 1
      JOIN protections t ON t.env_id = e.id
      WHERE p.org_id = ${"orgId"} AND p.removed_at IS NULL AND (CAST(${"project"} AS TEXT) IS NULL OR p.name = ${"project"})
      GROUP BY t.needed, t.approvers, t.self, t.break_glass, t.passkey) one
    JOIN environments x ON x.id = one.env_id JOIN projects y ON y.id = x.project_id
    ORDER BY y.name, x.name LIMIT ${"limit"}`

  /**
   * The protected environments of an organization or of one of its projects: one for each kind of votes, and the first ones only. The
   * votes of one are those of all that ask for the same.
   */
  const protectedBelow = (orgId: OrgId, project: ProjectName | null) => below({ orgId, project, limit: maxNamed + 1 })

  /** The protected environments that come back with a removed place, or whose values go with it, the first ones only. */
  const protectedInRemoved = (id: string, change: "restore" | "erase") =>
    (change === "restore" ? removed.protectedReturning : removed.protectedGoing)({ id, limit: maxNamed + 1 })

  /** Records that the glass was broken, and mails all owners. Outside of a transaction nothing is changed yet. */
  const recordBreaking = (guarded: Guarded, reason: string): Effect.Effect<void> =>
    Effect.contextWithEffect((context: Context.Context<never>) =>
      Option.match(Context.getOption(context, Transaction), {
        onNone: () => Effect.void,
        onSome: (transaction) =>
          Effect.gen(function* () {
            yield* audit.change(guarded.source, {
              action: "secret.break_glass",
              resource_type: "env",
              resource_id: guarded.envId,
              metadata: { action: guarded.action, reason }
            })
            yield* mailOwners(guarded.org.id, {
              subject: `Protected environment ${guarded.project}/${guarded.env} of ${guarded.org.name} was changed at once`,
              text: glassMail(guarded, reason),
              lifetime: mailLifetime
            })
          }).pipe(Effect.provideService(Transaction, transaction))
      })
    )

  /** Whether a superadmin may end what nobody could vote on. */
  const mayUnlock = Effect.fnUntraced(function* ({ action, actor, envId, org }: Guarded) {
    if (actor.type !== "user" || !actor.superadmin || delegationOf(actor) !== null || !ending.has(action)) return false
    const protection = yield* protections.find(envId)
    return protection !== null && !prospectsOf(protection, yield* voting.members(org.id)).canEnd
  })

  /** Fails with Forbidden, and records it, unless the protection names the person, or nobody could vote and a superadmin ends it. */
  const breakGlass = Effect.fnUntraced(function* (guarded: Guarded, reason: string) {
    const { action, actor, env, envId, project, source } = guarded
    const protection = yield* protections.find(envId)
    const isNamed =
      actor.type === "user" && delegationOf(actor) === null && protection?.break_glass.includes(actor.email) === true
    if (isNamed || (yield* mayUnlock(guarded))) return yield* recordBreaking(guarded, reason)
    return yield* refuse(
      audit,
      source,
      { resource_type: "env", resource_id: envId, metadata: { action } },
      `the protection of ${project}/${env} does not let you change it at once: ask for approval`
    )
  })

  /** Lets a change that needs the votes of a protected environment through, or fails with ApprovalRequired. */
  const admitFor = (guarded: Guarded, why: string): Effect.Effect<GateDecision, ApprovalRequired | Forbidden> =>
    Effect.flatMap(ChangeMode, (mode): Effect.Effect<GateDecision, ApprovalRequired | Forbidden> => {
      switch (mode.kind) {
        case "dryRun":
          return Effect.succeed(mode)
        case "requested":
          if (mode.envId !== guarded.envId) return needsVotes(why, guarded)
          mode.record.entered = true
          return Effect.succeed(mode)
        case "breakGlass":
          return Effect.as(breakGlass(guarded, mode.reason), mode)
        case "direct":
          return Effect.flatMap(mayUnlock(guarded), (may) => (may ? nobodyVotes(why) : needsVotes(why, guarded)))
      }
    })

  /** Lets a change of a protected environment through, or fails with ApprovalRequired. */
  const admit = (guarded: Guarded) => admitFor(guarded, `environment ${guarded.project}/${guarded.env} is protected`)

  /**
   * The same for the removal or another name of what holds protected environments, and for what was removed with some. A request has
   * the votes of one kind of protection, and glass is broken at a few.
   *
   * @param wayOut what helps where one request is not enough, with the names
   */
  const admitAll = Effect.fnUntraced(function* (
    what: string,
    found: ReadonlyArray<GuardedRow>,
    guardedOf: (row: GuardedRow) => Guarded,
    wayOut: (names: string) => string = (names) => `give ${names} the same protection, or end it, first`
  ) {
    const mode = yield* ChangeMode
    // Beyond `maxNamed`, not all of them were read: one of the others may not let the person.
    if (found.length > 1 && (mode.kind !== "breakGlass" || found.length > maxNamed)) {
      const names = found.slice(0, maxNamed).map(({ env, project }) => `${project}/${env}`)
      const more = found.length > maxNamed ? " and more" : ""
      return yield* new ApprovalRequired({
        message: `${what} holds protected environments that need different votes, and nothing was changed: ${wayOut(`${names.join(", ")}${more}`)}`
      })
    }
    for (const row of found) yield* admit(guardedOf(row))
  })

  /** Lets a place take its name, which another protected place may have had. Call it after the statement that takes the name. */
  const admitName = Effect.fnUntraced(function* (changing: Changing, place: NamedPlace) {
    const row = yield* names.find(place, changing.actor.id)
    if (row === undefined) return
    const isKnown = row.is_member === 1 || row.org_id === changing.source.orgId
    const name = `the ${kindNames[place.kind]} name ${place.name}`
    const until = timestamp(row.expires_at)
    if (row.org_id === null || !isKnown) {
      return yield* new Conflict({
        message: `${name} belonged to a place that was protected, and is given out again on ${until}: choose another`
      })
    }
    // Its votes have ended the protection.
    if (row.is_protected === 1) {
      const { env, env_id: envId, org, org_id: orgId, project } = row
      yield* admitFor(
        {
          ...changing,
          envId,
          org: { id: orgId, name: org },
          project,
          env,
          source: { ...changing.source, orgId, project, env }
        },
        `${name} belonged to what is protected as ${project}/${env}, whose votes it needs until ${until}`
      )
    }
    yield* names.forget(place)
  })

  return { admit, admitAll, admitName, protectedBelow, protectedInRemoved } as const
})

export type Gate = Effect.Effect.Success<typeof makeGate>

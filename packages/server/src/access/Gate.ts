import { type Actor, actorName, delegationOf } from "@coffer/domain/Actor"
import type { Forbidden } from "@coffer/domain/Errors"
import { ApprovalRequired } from "@coffer/domain/Errors"
import { EnvId, type OrgId } from "@coffer/domain/Ids"
import { EnvName, ProjectName } from "@coffer/domain/Names"
import type { Action } from "@coffer/domain/Permissions"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { AuditSource } from "../audit/AuditEvent.js"
import { AuditLog } from "../audit/AuditLog.js"
import { Mailer } from "../base/mail/Mailer.js"
import { afterCommit, Transaction } from "../database/Database.js"
import { query } from "../database/Query.js"
import { liveEnv } from "./PlaceRow.js"
import { Passage, type PassageShape } from "./Passage.js"
import { makeProtections } from "./Protections.js"
import { refuse } from "./Refusal.js"

/** A protected environment that a change is about, with what its entries in the audit log say. */
export interface Guarded {
  readonly envId: EnvId
  readonly org: { readonly id: OrgId; readonly name: string }
  readonly project: string
  readonly env: string
  readonly actor: Actor
  readonly action: Action
  readonly source: AuditSource
}

const GuardedRow = Schema.Struct({ env_id: EnvId, project: ProjectName, env: EnvName })

/** How many protected environments a message names. */
const maxNamed = 3

/** How long a mail about broken glass is tried. */
const mailLifetime = Duration.hours(24)

const needsVotes = (names: string) =>
  new ApprovalRequired({
    message: `${names} is protected, and nothing was changed: send Prefer: respond-async to ask for approval; people whom its protection names may also change it at once, with a reason in X-Coffer-Break-Glass`
  })

const glassMail = ({ action, actor, env, org, project }: Guarded, reason: string): string =>
  `${actorName(actor)} changed a protected environment without the votes that it needs.

  Organization: ${org.name}
  Environment:  ${project}/${env}
  Action:       ${action}
  Reason:       ${reason}

The audit log of the organization has what was changed. You get this mail because you are an owner.
`

/**
 * The one gate of protected environments. A change passes as a requested one whose votes are there, or by breaking the glass.
 * `Access` asks it whenever somebody enters an environment to change it.
 */
export const makeGate = Effect.gen(function* () {
  const audit = yield* AuditLog
  const mailer = yield* Mailer
  const protections = yield* makeProtections
  const { all } = yield* query

  const below = all(GuardedRow)`
    SELECT e.id AS env_id, p.name AS project, e.name AS env
    FROM projects p JOIN environments e ON e.project_id = p.id AND ${liveEnv} AND e.protected = 1
    WHERE p.org_id = ${"orgId"} AND p.removed_at IS NULL AND (CAST(${"project"} AS TEXT) IS NULL OR p.name = ${"project"})
    ORDER BY p.name, e.name LIMIT ${"limit"}`

  /** The protected environments of an organization or of one of its projects, the first ones only. */
  const protectedBelow = (orgId: OrgId, project: ProjectName | null) => below({ orgId, project, limit: maxNamed + 1 })

  /** Records that the glass was broken, and mails all owners. Outside of a transaction nothing is changed yet. */
  const recordBreaking = (guarded: Guarded, reason: string): Effect.Effect<void> =>
    Effect.contextWithEffect((context: Context.Context<never>) =>
      Option.match(Context.getOption(context, Transaction), {
        onNone: () => Effect.void,
        onSome: (transaction) =>
          Effect.gen(function* () {
            yield* audit.write(guarded.source, {
              action: "secret.break_glass",
              resource_type: "env",
              resource_id: guarded.envId,
              metadata: { action: guarded.action, reason }
            })
            const owners = yield* protections.votersOf(guarded.org.id, "owners")
            const notice = {
              subject: `Protected environment ${guarded.project}/${guarded.env} of ${guarded.org.name} was changed at once`,
              text: glassMail(guarded, reason),
              lifetime: mailLifetime
            }
            yield* afterCommit(
              Effect.forEach(owners, ({ email }) => mailer.sendNotice({ to: email, ...notice }), { discard: true })
            )
          }).pipe(Effect.provideService(Transaction, transaction))
      })
    )

  /** Fails with Forbidden, and records it, unless the protection names the person. */
  const breakGlass = Effect.fnUntraced(function* (guarded: Guarded, reason: string) {
    const { action, actor, env, envId, project, source } = guarded
    const protection = yield* protections.find(envId)
    const isNamed =
      actor.type === "user" && delegationOf(actor) === null && protection?.break_glass.includes(actor.email) === true
    if (isNamed) return yield* recordBreaking(guarded, reason)
    return yield* refuse(
      audit,
      source,
      { resource_type: "env", resource_id: envId, metadata: { action } },
      `the protection of ${project}/${env} does not let you change it at once: ask for approval`
    )
  })

  /** Lets a change of a protected environment through, or fails with ApprovalRequired. */
  const admit = (guarded: Guarded): Effect.Effect<PassageShape, ApprovalRequired | Forbidden> =>
    Effect.flatMap(Passage, (passage): Effect.Effect<PassageShape, ApprovalRequired | Forbidden> => {
      switch (passage.kind) {
        case "harmless":
          return Effect.succeed(passage)
        case "requested":
          if (passage.envId !== guarded.envId) break
          passage.entered = true
          return Effect.succeed(passage)
        case "glass":
          return Effect.as(breakGlass(guarded, passage.reason), passage)
        case "none":
      }
      return needsVotes(`environment ${guarded.project}/${guarded.env}`)
    })

  /** The same for the removal of what holds protected environments. A request is about one of them, and glass about a few. */
  const admitAll = Effect.fnUntraced(function* (
    what: string,
    found: ReadonlyArray<typeof GuardedRow.Type>,
    guardedOf: (row: typeof GuardedRow.Type) => Guarded
  ) {
    const [first, ...others] = found
    if (first === undefined) return
    const passage = yield* Passage
    // Beyond `maxNamed`, not all of them were read: one of the others may not let the person.
    if (others.length > 0 && (passage.kind !== "glass" || found.length > maxNamed)) {
      const names = found.slice(0, maxNamed).map(({ env, project }) => `${project}/${env}`)
      const more = found.length > maxNamed ? " and more" : ""
      return yield* new ApprovalRequired({
        message: `${what} holds protected environments, and nothing was changed: end the protection of ${names.join(", ")}${more} first`
      })
    }
    for (const row of found) yield* admit(guardedOf(row))
  })

  return { admit, admitAll, protectedBelow } as const
})

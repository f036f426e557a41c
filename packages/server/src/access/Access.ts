import { type Actor, CurrentActor, type UserActor } from "@coffer/domain/Actor"
import type { EnvPath, OrgPath, ProjectPath, SecretPath } from "@coffer/domain/api/Paths"
import type { Permission } from "@coffer/domain/AclRule"
import type { ResourceType } from "@coffer/domain/AuditEntry"
import { Forbidden, type NotFound } from "@coffer/domain/Errors"
import type { EnvId, OrgId, ProjectId } from "@coffer/domain/Ids"
import type { Role } from "@coffer/domain/Member"
import type { EnvName, OrgName, ProjectName } from "@coffer/domain/Names"
import type { Action, ScopeOf } from "@coffer/domain/Permissions"
import { Effect, Either, Option } from "effect"
import { AuditLog } from "../audit/AuditLog.js"
import { actorSource, type AuditSource } from "../audit/AuditEvent.js"
import { Authenticator } from "./Authenticator.js"
import { ServerConfig } from "../base/Config.js"
import { Database } from "../database/Database.js"
import { orgScope, type Scope, userScope } from "../database/Scopes.js"
import type { PlaceNames, PlaceRow } from "./PlaceRow.js"
import { decide, explain, type Grant, type PlaceNames as DecidedNames, type Subject } from "./Decisions.js"
import { notVisible } from "./NotFound.js"
import { AccessRepo } from "./Repo.js"

export interface Named<Id, Name> {
  readonly id: Id
  readonly name: Name
}

class OrgPlace<A extends Action> {
  protected readonly entered = true
  constructor(
    readonly action: A,
    readonly actor: Actor,
    readonly via: "role" | "rule" | "superadmin",
    readonly role: Role | null,
    readonly grants: ReadonlyArray<Grant>,
    readonly org: Named<OrgId, OrgName>
  ) {}
}

class ProjectPlace<A extends Action> extends OrgPlace<A> {
  constructor(
    { action, actor, grants, org, role, via }: OrgPlace<A>,
    readonly project: Named<ProjectId, ProjectName>
  ) {
    super(action, actor, via, role, grants, org)
  }
}

class EnvPlace<A extends Action> extends ProjectPlace<A> {
  constructor(
    place: ProjectPlace<A>,
    readonly env: Named<EnvId, EnvName>
  ) {
    super(place, place.project)
  }
}

/**
 * Proof that a place exists and that the actor may do the action there. Only this module constructs one, so code without
 * authorization does not compile: `Place<"secret.read">` is an environment whose secrets the actor may read.
 */
export type Place<A extends Action> =
  ScopeOf<A> extends "org" ? OrgPlace<A> : ScopeOf<A> extends "project" ? ProjectPlace<A> : EnvPlace<A>

/** Proof that the actor is a superadmin, for actions on the whole server. */
class Everywhere {
  protected readonly entered = true
  constructor(
    readonly actor: UserActor,
    readonly action: string
  ) {}
}

/** Proof that an operator's program is running, which holds the database file and the master key. */
class Operator {
  protected readonly entered = true
}

// Types only: other modules cannot construct one.
export type { EnvPlace, Everywhere, Operator, OrgPlace, ProjectPlace }

/** Dies within an API request: its actor must enter a place. */
export const operator: Effect.Effect<Operator> = Effect.flatMap(
  Effect.serviceOption(CurrentActor),
  Option.match({
    onNone: () => Effect.sync(() => new Operator()),
    onSome: () => Effect.dieMessage("a caller of the API has to enter a place")
  })
)

/** What an actor may do in one environment of a project. */
export interface Within {
  readonly allowed: ReadonlyArray<Permission>
  readonly reveals: boolean
  /** Null if the actor may not compare its secrets. */
  readonly place: EnvPlace<"secret.compare"> | null
}

/** The actions whose scope is a kind of place. */
type ActionOn<S extends "org" | "project" | "env"> = {
  [A in Action]: ScopeOf<A> extends S ? A : never
}[Action]

export interface PathNames extends OrgPath {
  readonly project_name?: ProjectPath["project_name"]
  readonly env_name?: EnvPath["env_name"]
  /** For the audit entry of a refusal only; not looked up. */
  readonly key?: SecretPath["key"]
}

/** The source of an audit event at a place. */
export const sourceOf = (place: OrgPlace<Action>): AuditSource => ({
  ...actorSource(place.actor),
  orgId: place.org.id,
  ...(place instanceof ProjectPlace && { project: place.project.name }),
  ...(place instanceof EnvPlace && { env: place.env.name }),
  via: place.via
})

/** Records a refusal and fails with Forbidden, for checks that go beyond the right to enter the place. */
export const denied = (audit: AuditLog, place: OrgPlace<Action>, message: string): Effect.Effect<never, Forbidden> =>
  Effect.zipRight(
    audit.denied(sourceOf(place), {
      action: "access.denied",
      resource_type: "org",
      resource_id: place.org.id,
      metadata: { action: place.action }
    }),
    new Forbidden({ message })
  )

const grantsOf = (rows: ReadonlyArray<PlaceRow>): ReadonlyArray<Grant> => {
  const grants: Array<Grant> = []
  for (const { env_pattern, permission, project_pattern, rule_id } of rows) {
    if (rule_id !== null && project_pattern !== null && env_pattern !== null && permission !== null) {
      grants.push({ id: rule_id, project_pattern, env_pattern, permission })
    }
  }
  return grants
}

const subjectOf = (actor: Actor, role: Role | null, grants: ReadonlyArray<Grant>): Subject =>
  actor.type === "user"
    ? { superadmin: actor.superadmin, role, account: null, grants }
    : { superadmin: false, role: null, account: { scoped: actor.project !== null, reveal: actor.reveal }, grants }

/** Whether the actor may learn that the organization exists. */
const mayKnow = (actor: Actor, row: PlaceRow): boolean =>
  actor.type === "user" ? actor.superadmin || row.role !== null : actor.orgId === row.org_id

/**
 * Resolves the names on a path to a place and decides with `Permissions.decide`. Fails with NotFound for names that do not
 * exist or that the caller may not know of. Fails with Forbidden, which names the missing right, and records the refusal.
 */
export class Access extends Effect.Service<Access>()("@coffer/server/Access", {
  effect: Effect.gen(function* () {
    const repo = yield* AccessRepo
    const audit = yield* AuditLog
    const { orgOf, revalidate, takePlace } = yield* Authenticator
    const database = yield* Database
    const { orgCreation } = yield* ServerConfig

    const refused = (actor: Actor, row: PlaceRow, path: PathNames, action: Action, missing: string) => {
      const [resource_type, resource_id]: [ResourceType, string] =
        row.env_id !== null
          ? ["env", row.env_id]
          : row.project_id !== null
            ? ["project", row.project_id]
            : ["org", row.org_id]
      const { env_name: env, key, project_name: project } = path
      return Effect.zipRight(
        audit.denied(
          { ...actorSource(actor), orgId: row.org_id },
          {
            action: "access.denied",
            resource_type,
            resource_id,
            metadata: {
              action,
              ...(project !== undefined && { project }),
              ...(env !== undefined && { env }),
              ...(key !== undefined && { key })
            }
          }
        ),
        new Forbidden({ message: missing })
      )
    }

    /** The place may have been read together with the actor. */
    const rowsOf = (actor: Actor, names: PlaceNames): Effect.Effect<ReadonlyArray<PlaceRow>> =>
      Effect.flatMap(takePlace(actor, names), (rows) =>
        rows === undefined ? repo.place({ actorId: actor.id, ...names }) : Effect.succeed(rows)
      )

    /** Resolves and authorizes a place, then builds the result of `make` from it. */
    const enter = <A extends Action, P>(
      path: PathNames,
      action: A,
      make: (place: OrgPlace<A>, row: PlaceRow) => Effect.Effect<P>
    ): Effect.Effect<P, NotFound | Forbidden, CurrentActor> =>
      Effect.flatMap(CurrentActor, (actor): Effect.Effect<P, NotFound | Forbidden> => {
        const { env_name = null, org_name, project_name = null } = path
        return Effect.flatMap(
          rowsOf(actor, { org: org_name, project: project_name, env: env_name }),
          (rows): Effect.Effect<P, NotFound | Forbidden> => {
            const row = rows[0]
            if (row === undefined || !mayKnow(actor, row)) return notVisible(`organization ${org_name}`)
            const scopedElsewhere =
              actor.type === "service_account" && actor.project !== null && actor.project.id !== row.project_id
            if (project_name !== null && (row.project_id === null || scopedElsewhere)) {
              return notVisible(`project ${project_name}`)
            }
            if (env_name !== null && row.env_id === null) return notVisible(`environment ${env_name}`)

            const grants = grantsOf(rows)
            const decision = decide(action, subjectOf(actor, row.role, grants), {
              org: org_name,
              project: project_name ?? undefined,
              env: env_name ?? undefined
            })
            if (!decision.allowed) return refused(actor, row, path, action, decision.missing)
            const org = { id: row.org_id, name: row.org_name }
            return make(new OrgPlace(action, actor, decision.via, row.role, grants, org), row)
          }
        )
      })

    const org = <A extends ActionOn<"org">>({ org_name }: OrgPath, action: A) =>
      enter({ org_name }, action, (place) => Effect.succeed(place))

    const inProject = <A extends Action, P>(
      place: OrgPlace<A>,
      { project_id, project_name }: PlaceRow,
      make: (entered: ProjectPlace<A>) => Effect.Effect<P>
    ): Effect.Effect<P> =>
      project_id === null || project_name === null
        ? Effect.dieMessage("a project was entered that has no row")
        : make(new ProjectPlace(place, { id: project_id, name: project_name }))

    const project = <A extends ActionOn<"project">>({ org_name, project_name }: ProjectPath, action: A) =>
      enter({ org_name, project_name }, action, (place, row) =>
        inProject(place, row, (entered) => Effect.succeed(entered))
      )

    const env = <A extends ActionOn<"env">>(path: EnvPath | SecretPath, action: A) =>
      enter(path, action, (place, row) =>
        inProject(place, row, (entered) =>
          row.env_id === null || row.env_name === null
            ? Effect.dieMessage("an environment was entered that has no row")
            : Effect.succeed(new EnvPlace(entered, { id: row.env_id, name: row.env_name }))
        )
      )

    /** The proof for an action in another environment of the project; null without the right. Records no refusal. */
    const alongside = <A extends ActionOn<"env">>(
      { actor, grants, org, project, role }: ProjectPlace<Action>,
      env: Named<EnvId, EnvName>,
      action: A
    ): EnvPlace<A> | null => {
      const names = { org: org.name, project: project.name, env: env.name }
      const decision = decide(action, subjectOf(actor, role, grants), names)
      return decision.allowed
        ? new EnvPlace(new ProjectPlace(new OrgPlace(action, actor, decision.via, role, grants, org), project), env)
        : null
    }

    /**
     * What the actor may do in an environment of a project, and the proof for comparing its secrets; null without that
     * right. This is no attempt to enter it, so it records no refusal.
     */
    const within = (place: ProjectPlace<"env.list" | "declared.list">, env: Named<EnvId, EnvName>): Within => {
      const { actor, grants, org, project, role } = place
      const subject = subjectOf(actor, role, grants)
      const names = { org: org.name, project: project.name, env: env.name }
      const { allowed } = explain(subject, names)
      return {
        allowed,
        reveals: decide("secret.read", subject, names).allowed,
        place: alongside(place, env, "secret.compare")
      }
    }

    const refusedHere = (actor: Actor, action: string, message: string) =>
      Effect.zipRight(
        audit.denied(actorSource(actor), {
          action: "access.denied",
          resource_type: "server",
          resource_id: null,
          metadata: { action }
        }),
        new Forbidden({ message })
      )

    /** Admits superadmins only. */
    const everywhere = Effect.fnUntraced(function* (action: string) {
      const actor = yield* CurrentActor
      if (actor.type === "user" && actor.superadmin) return new Everywhere(actor, action)
      return yield* refusedHere(actor, action, "this needs a superadmin: their e-mails are in the server's settings")
    })

    /** Admits actors that may create organizations. */
    const founder = Effect.fnUntraced(function* () {
      const actor = yield* CurrentActor
      if (actor.type === "service_account") {
        const message = "a service account cannot create organizations: a person has to"
        return yield* refusedHere(actor, "org.create", message)
      }
      if (orgCreation === "superadmin" && !actor.superadmin) {
        const message = "only superadmins create organizations on this server: ask one of them"
        return yield* refusedHere(actor, "org.create", message)
      }
      return actor
    })

    /** The scope of the caller's changes: an account's organization, the one on the path, or else the person's own. */
    const scopeOf = (actor: Actor): Scope => {
      if (actor.type === "service_account") return orgScope(actor.orgId)
      const org = orgOf(actor)
      return org === null ? userScope(actor.id) : orgScope(org)
    }

    /**
     * Runs a change as one transaction with its authorization. It locks the scope of the caller's changes and `also` before
     * anything is read. The credential, the place and the rights are then read again, so a caller who was revoked, removed or
     * demoted until then cannot change anything.
     */
    const change = <P, E1, R1, A, E2, R2>(
      entering: Effect.Effect<P, E1, R1>,
      step: (place: P) => Effect.Effect<A, E2, R2>,
      also: ReadonlyArray<Scope> = []
    ) => {
      /** Returns the place instead of changing it, if its organization is not locked: its name was another one's before. */
      const attempt = (actor: Actor, scope: Scope) =>
        database.change(
          [scope, ...also],
          Effect.flatMap(revalidate(actor), (again) =>
            Effect.provideService(
              Effect.flatMap(entering, (place): Effect.Effect<Either.Either<A, Scope>, E2, R2> =>
                place instanceof OrgPlace && place.org.id !== scope.id
                  ? Effect.succeed(Either.left(orgScope(place.org.id)))
                  : Effect.map(step(place), Either.right)
              ),
              CurrentActor,
              again
            )
          )
        )
      return Effect.gen(function* () {
        const actor = yield* CurrentActor
        const made = yield* attempt(actor, scopeOf(actor))
        const again = Either.isRight(made) ? made : yield* attempt(actor, made.left)
        return Either.isRight(again)
          ? again.right
          : yield* Effect.dieMessage("the organization of a change was renamed twice while it waited")
      })
    }

    /** Whether the actor of a place in an organization may do an action elsewhere in it. Records nothing. */
    const mayAlso = (
      { actor, grants, role }: OrgPlace<Action>,
      action: Action,
      names: Required<DecidedNames>
    ): boolean =>
      actor.type === "user" &&
      decide(action, { superadmin: actor.superadmin, role, account: null, grants }, names).allowed

    /** Whether the actor of a place in an organization may list the keys of an environment of it. Records nothing. */
    const mayList = (
      { actor, grants, org, role }: OrgPlace<Action>,
      projectId: ProjectId | null,
      { env, project }: { readonly project: ProjectName; readonly env: EnvName }
    ): boolean =>
      (actor.type === "user" || actor.project === null || actor.project.id === projectId) &&
      decide("secret.list", subjectOf(actor, role, grants), { org: org.name, project, env }).allowed

    /** Checks the right to an action without entering the place. */
    const check = (path: PathNames, action: Action): Effect.Effect<void, NotFound | Forbidden, CurrentActor> =>
      enter(path, action, () => Effect.void)

    return { org, project, env, within, alongside, everywhere, founder, check, mayAlso, mayList, change } as const
  }),
  dependencies: [AccessRepo.Default, Authenticator.Default]
}) {}

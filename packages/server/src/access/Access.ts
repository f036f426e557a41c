import { type Actor, actorName, CurrentActor, type UserActor } from "@coffer/domain/Actor"
import type { EnvPath, OrgPath, ProjectPath, SecretPath } from "@coffer/domain/api/Paths"
import type { ResourceType } from "@coffer/domain/AuditEntry"
import { Forbidden, NotFound } from "@coffer/domain/Errors"
import type { EnvId, OrgId, ProjectId } from "@coffer/domain/Ids"
import type { Role } from "@coffer/domain/Member"
import type { EnvName, OrgName, ProjectName } from "@coffer/domain/Names"
import { type Action, decide, type Grant, type ScopeOf, type Subject } from "@coffer/domain/Permissions"
import { Effect, Option } from "effect"
import { AuditLog } from "../audit/AuditLog.js"
import type { AuditSource } from "../audit/Told.js"
import { Authenticator } from "../auth/Authenticator.js"
import { ServerConfig } from "../Config.js"
import { Database } from "../database/Database.js"
import { AccessRepo, type PlaceRow } from "./Repo.js"

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
 * A place that someone has entered to do an action: the proof that it exists and that the action is allowed there. Only
 * this module makes one, and services ask for one by its action, so that unauthorized access does not compile:
 * `Place<"secret.read">` is an environment whose secrets the actor may read.
 */
export type Place<A extends Action> =
  ScopeOf<A> extends "org" ? OrgPlace<A> : ScopeOf<A> extends "project" ? ProjectPlace<A> : EnvPlace<A>

/** The proof that a superadmin asks for what concerns the whole server. */
class Everywhere {
  protected readonly entered = true
  constructor(
    readonly actor: UserActor,
    readonly action: string
  ) {}
}

/** The proof that a program of the operator asks, and no caller of the API: it was given the file and the master key. */
class Operator {
  protected readonly entered = true
}

// The types alone: nobody else makes one.
export type { EnvPlace, Everywhere, Operator, OrgPlace, ProjectPlace }

/** Dies where somebody asks by the API: an actor enters a place. */
export const operator: Effect.Effect<Operator> = Effect.flatMap(
  Effect.serviceOption(CurrentActor),
  Option.match({
    onNone: () => Effect.sync(() => new Operator()),
    onSome: () => Effect.dieMessage("a caller of the API has to enter a place")
  })
)

/** The actions that happen at a kind of place. */
type ActionOn<S extends "org" | "project" | "env"> = {
  [A in Action]: ScopeOf<A> extends S ? A : never
}[Action]

export interface PathNames extends OrgPath {
  readonly project_name?: ProjectPath["project_name"]
  readonly env_name?: EnvPath["env_name"]
  /** Only for the record of a refusal: which keys exist is not looked up. */
  readonly key?: SecretPath["key"]
}

const notFound = (what: string) => new NotFound({ message: `${what} is not there, or not yours to see` })

/** Who an entry of the audit log names, for what happens at a place. */
export const sourceOf = (place: OrgPlace<Action>): AuditSource => ({
  actor: { type: place.actor.type, id: place.actor.id, name: actorName(place.actor) },
  orgId: place.org.id,
  ...(place instanceof ProjectPlace && { project: place.project.name }),
  ...(place instanceof EnvPlace && { env: place.env.name }),
  via: place.via
})

/** Fails with Forbidden, and records it, where a rule about the thing asked for refuses what the place allows. */
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

const subjectOf = (actor: Actor, row: PlaceRow, grants: ReadonlyArray<Grant>): Subject =>
  actor.type === "user"
    ? { superadmin: actor.superadmin, role: row.role, account: null, grants }
    : { superadmin: false, role: null, account: { scoped: actor.project !== null, reveal: actor.reveal }, grants }

/** Whether an actor may know of an organization at all. */
const mayKnow = (actor: Actor, row: PlaceRow): boolean =>
  actor.type === "user" ? actor.superadmin || row.role !== null : actor.orgId === row.org_id

/**
 * The one way from the names on a path to a place: resolves them, asks `Permissions.decide`, and answers the proof. Names
 * that are not there, or not the caller's to know, fail with NotFound; what is not allowed fails with Forbidden, which
 * says what is missing, and is recorded.
 */
export class Access extends Effect.Service<Access>()("@coffer/server/Access", {
  effect: Effect.gen(function* () {
    const repo = yield* AccessRepo
    const audit = yield* AuditLog
    const { again } = yield* Authenticator
    const { transaction } = yield* Database
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
          { actor: { type: actor.type, id: actor.id, name: actorName(actor) }, orgId: row.org_id },
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

    /** Decides about a place, and makes of it what the action happens at. */
    const enter = <A extends Action, P>(
      path: PathNames,
      action: A,
      make: (place: OrgPlace<A>, row: PlaceRow) => Effect.Effect<P>
    ): Effect.Effect<P, NotFound | Forbidden, CurrentActor> =>
      Effect.flatMap(CurrentActor, (actor): Effect.Effect<P, NotFound | Forbidden> => {
        const { env_name = null, org_name, project_name = null } = path
        return Effect.flatMap(
          repo.place({ actorId: actor.id, org: org_name, project: project_name, env: env_name }),
          (rows): Effect.Effect<P, NotFound | Forbidden> => {
            const row = rows[0]
            if (row === undefined || !mayKnow(actor, row)) return notFound(`organization ${org_name}`)
            const scopedElsewhere =
              actor.type === "service_account" && actor.project !== null && actor.project.id !== row.project_id
            if (project_name !== null && (row.project_id === null || scopedElsewhere)) {
              return notFound(`project ${project_name}`)
            }
            if (env_name !== null && row.env_id === null) return notFound(`environment ${env_name}`)

            const grants = grantsOf(rows)
            const decision = decide(action, subjectOf(actor, row, grants), {
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

    /** Enters an organization. */
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

    /** Enters a project. */
    const project = <A extends ActionOn<"project">>({ org_name, project_name }: ProjectPath, action: A) =>
      enter({ org_name, project_name }, action, (place, row) =>
        inProject(place, row, (entered) => Effect.succeed(entered))
      )

    /** Enters an environment. */
    const env = <A extends ActionOn<"env">>(path: EnvPath | SecretPath, action: A) =>
      enter(path, action, (place, row) =>
        inProject(place, row, (entered) =>
          row.env_id === null || row.env_name === null
            ? Effect.dieMessage("an environment was entered that has no row")
            : Effect.succeed(new EnvPlace(entered, { id: row.env_id, name: row.env_name }))
        )
      )

    const refusedHere = (actor: Actor, action: string, message: string) =>
      Effect.zipRight(
        audit.denied(
          { actor: { type: actor.type, id: actor.id, name: actorName(actor) }, orgId: null },
          { action: "access.denied", resource_type: "server", resource_id: null, metadata: { action } }
        ),
        new Forbidden({ message })
      )

    /** Lets superadmins through, to what belongs to no place. */
    const everywhere = Effect.fnUntraced(function* (action: string) {
      const actor = yield* CurrentActor
      if (actor.type === "user" && actor.superadmin) return new Everywhere(actor, action)
      return yield* refusedHere(actor, action, "this needs a superadmin: their e-mails are in the server's settings")
    })

    /** Lets those through who may create organizations. */
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

    /**
     * Changes something at a place, as one transaction with the decision that it may: the caller's credential, the place and
     * the rights are read anew in it. What was revoked, removed or demoted since the request came in changes nothing.
     */
    const change = <P, E1, R1, A, E2, R2>(
      entering: Effect.Effect<P, E1, R1>,
      step: (place: P) => Effect.Effect<A, E2, R2>
    ) =>
      transaction(
        Effect.flatMap(Effect.flatMap(CurrentActor, again), (actor) =>
          Effect.provideService(Effect.flatMap(entering, step), CurrentActor, actor)
        )
      )

    /** Checks whether the caller may do an action at a place, and nothing more: the handler enters the place again. */
    const check = (path: PathNames, action: Action): Effect.Effect<void, NotFound | Forbidden, CurrentActor> =>
      enter(path, action, () => Effect.void)

    return { org, project, env, everywhere, founder, check, change } as const
  }),
  dependencies: [AccessRepo.Default, Authenticator.Default]
}) {}

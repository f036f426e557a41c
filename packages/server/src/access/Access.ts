import {
  type Actor,
  type Caller,
  currentActor,
  CurrentCaller,
  delegationOf,
  type ServiceAccountActor,
  type UserActor
} from "@coffer/domain/access/Actor"
import type { EnvPath, OrgPath, ProjectPath, SecretPath } from "@coffer/domain/api/Paths"
import type { Permission } from "@coffer/domain/access/AclRule"
import type { ApprovalRequired, Forbidden, NotFound } from "@coffer/domain/errors/Errors"
import {
  type EnvId,
  type ConnectionId,
  type LeaseId,
  type OrgId,
  type ProjectId,
  type RemovedId,
  type RotationId,
  type ScimTokenId,
  ServiceAccountId,
  UserId
} from "@coffer/domain/base/Ids"
import type { Role } from "@coffer/domain/directory/Member"
import {
  type EnvName,
  type ConnectionName,
  type LeaseRoleName,
  type OrgName,
  type ProjectName,
  type RotationName,
  ServiceAccountName
} from "@coffer/domain/base/Names"
import type { Action, GuardedAction, ScopeOf } from "@coffer/domain/access/Permissions"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { AuditLog } from "../audit/AuditLog.js"
import { actorSource, type AuditSource } from "../audit/AuditEvent.js"
import { makeAcceptances } from "./Acceptances.js"
import { AuthenticatedCaller } from "./caller/AuthenticatedCaller.js"
import { Authenticator } from "./caller/Authenticator.js"
import { makeChange } from "./Change.js"
import { Mailer } from "../base/mail/Mailer.js"
import { withService } from "../base/WithService.js"
import { RequestInfo } from "../base/RequestInfo.js"
import type { Extent, FoundPlace, Named, PlaceNames } from "./place/PlaceRow.js"
import {
  beyondDelegation,
  decide,
  type Decision,
  explain,
  type Grant,
  type KeyScope,
  widerScope
} from "./place/Decisions.js"
import type { KeyReach } from "./place/KeyReach.js"
import { makeServerRights } from "./ServerPlace.js"
import type { NamedPlace } from "./place/FreedNames.js"
import { type Changing, type Guarded, makeGate } from "./gate/Gate.js"
import { notVisible } from "./place/NotFound.js"
import type { GateDecision } from "./gate/GateDecision.js"
import { type HolderChange, makeRemovalVotes } from "./gate/RemovalVotes.js"
import { makePlaceRefusals, type PathNames } from "./place/PlaceRefusals.js"
import { type Asked, isPreviewAction, makePreviews } from "./place/Previews.js"
import { refuse } from "./place/RefusedAccess.js"
import { removedRepo } from "./place/RemovedPlaces.js"
import { Requester } from "./caller/Requester.js"
import { accessRepo } from "./place/Repo.js"
import { mayKnow, subjectOf } from "./caller/Subject.js"

/** By this name the log has what a directory did. */
const directoryName = ServiceAccountName.make("SCIM")

class OrgPlace<A extends Action> {
  protected readonly entered = true
  constructor(
    readonly action: A,
    readonly actor: Actor,
    readonly via: "role" | "rule" | "superadmin",
    readonly role: Role | null,
    readonly grants: ReadonlyArray<Grant>,
    readonly org: Named<OrgId, OrgName>,
    /** The only keys that the action is allowed for, by the rules of the actor; null: all. */
    readonly reach: KeyReach | null = null
  ) {}
}

class ProjectPlace<A extends Action> extends OrgPlace<A> {
  constructor(
    { action, actor, grants, org, reach, role, via }: OrgPlace<A>,
    readonly project: Named<ProjectId, ProjectName>
  ) {
    super(action, actor, via, role, grants, org, reach)
  }
}

class EnvPlace<A extends Action> extends ProjectPlace<A> {
  constructor(
    place: ProjectPlace<A>,
    readonly env: Named<EnvId, EnvName>,
    /** By what the gate of a protected environment let the caller through; null if nothing guards it. */
    readonly decision: GateDecision | null = null,
    /** How much it held when the caller entered by its name; null otherwise. */
    readonly extent: Extent | null = null
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

// Types only: other modules cannot construct one.
export type { EnvPlace, OrgPlace, ProjectPlace }

/** The rights of an actor in one environment of a project. */
export interface Within {
  readonly allowed: ReadonlyArray<Permission>
  /** Those for some keys, and not for all. */
  readonly allowedForSome: ReadonlyArray<Permission>
  readonly reveals: boolean
  /** For the keys of its `reach`. Null if the actor may not compare its secrets. */
  readonly place: EnvPlace<"secret.compare"> | null
}

/** The names and ids of a rotation, or a lease, and its place. */
interface RenewedPlace {
  readonly id: ConnectionId | RotationId | LeaseId
  readonly name: ConnectionName | RotationName | LeaseRoleName
  readonly org_id: OrgId
  readonly org: OrgName
  readonly project_id: ProjectId
  readonly project: ProjectName
  readonly env_id: EnvId
  readonly env: EnvName
}

/** The actor and the place of a rotation's own writes, or of a lease's end: an admin made them, with the votes of a protected environment. */
const renewing = (
  of: RenewedPlace,
  what: "connection" | "lease" | "rotation" = "rotation"
): EnvPlace<"secret.write"> => {
  const actor: ServiceAccountActor = {
    type: "service_account",
    id: ServiceAccountId.make(of.id),
    name: ServiceAccountName.make(`${what} ${of.name}`),
    orgId: of.org_id,
    orgName: of.org,
    project: null,
    reveal: true,
    credential: { type: "rotation", id: of.id, sessionId: null }
  }
  const org = new OrgPlace("secret.write", actor, "rule", null, [], { id: of.org_id, name: of.org })
  const project = new ProjectPlace(org, { id: of.project_id, name: of.project })
  return new EnvPlace(project, { id: of.env_id, name: of.env })
}

/** The actions of a directory, by SCIM. */
type DirectoryAction =
  | "member.invite"
  | "member.update"
  | "member.remove"
  | "group.create"
  | "group.update"
  | "group.delete"
  | "group.members"

/** The actor and the place of a directory's changes: an owner gave it a token, which the change has read. */
const provisioning = <A extends DirectoryAction>(
  { id, org }: { readonly id: ScimTokenId; readonly org: Named<OrgId, OrgName> },
  action: A
): OrgPlace<A> => {
  const actor: ServiceAccountActor = {
    type: "service_account",
    id: ServiceAccountId.make(id),
    name: directoryName,
    orgId: org.id,
    orgName: org.name,
    project: null,
    reveal: false,
    credential: { type: "scim", id, sessionId: null }
  }
  return new OrgPlace(action, actor, "rule", null, [], org)
}

/** The actions in an environment. */
export type EnvAction = { [A in Action]: ScopeOf<A> extends "env" ? A : never }[Action]

/** The actions whose scope is a kind of place, and that need no votes. */
type ActionOn<S extends "org" | "project" | "env"> = {
  [A in Exclude<Action, GuardedAction>]: ScopeOf<A> extends S ? A : never
}[Exclude<Action, GuardedAction>]

/** The actions on a removed project or environment, at the place from which it was removed. */
export type RemovedAction = "project.restore" | "project.erase" | "env.restore" | "env.erase"

const approvalIn = (decision: GateDecision | null): Pick<AuditSource, "approval"> =>
  decision?.kind === "requested" && decision.approval !== null ? { approval: decision.approval } : {}

/** The source of an audit event at a place. */
export const sourceOf = (place: OrgPlace<Action>): AuditSource => ({
  ...actorSource(place.actor),
  orgId: place.org.id,
  ...(place instanceof ProjectPlace && { project: place.project.name }),
  ...(place instanceof EnvPlace && { env: place.env.name, ...approvalIn(place.decision) }),
  via: place.via
})

/** Records a refusal and fails with Forbidden, for checks that go beyond the right to enter the place. */
export const denied = (audit: AuditLog, place: OrgPlace<Action>, message: string): Effect.Effect<never, Forbidden> =>
  refuse(
    audit,
    sourceOf(place),
    { resource_type: "org", resource_id: place.org.id, metadata: { action: place.action } },
    message
  )

const changingAt = (place: OrgPlace<Action>): Changing => ({
  actor: place.actor,
  action: place.action,
  source: sourceOf(place)
})

/** The organization of a place, or of places of one organization; null for anything else. */
const orgIdIn = (entered: unknown): OrgId | null => {
  const place: unknown = Array.isArray(entered) ? entered[0] : entered
  return place instanceof OrgPlace ? place.org.id : null
}

const holderAt = (place: OrgPlace<Action>): HolderChange => ({
  ...changingAt(place),
  org: place.org,
  project: place instanceof ProjectPlace ? place.project.name : null
})

const guardedOf = (place: EnvPlace<Action>): Guarded => ({
  ...changingAt(place),
  org: place.org,
  envId: place.env.id,
  project: place.project.name,
  env: place.env.name
})

/** Whether a person acts as a member of an organization: not an agent or a requester's change, nor by a right of the server. */
const isOwnAct = (caller: Caller, action: Action, via: "role" | "rule" | "superadmin"): boolean =>
  via !== "superadmin" &&
  action !== "member.leave" &&
  delegationOf(caller.actor) === null &&
  !(caller instanceof Requester)

/**
 * Resolves the names on a path to a place and decides with `Permissions.decide`. Fails with NotFound for names that do not
 * exist or that the caller may not know of. Fails with Forbidden, which names the missing right, and records the refusal.
 */
export class Access extends Effect.Service<Access>()("@coffer/server/Access", {
  effect: Effect.gen(function* () {
    const repo = yield* accessRepo
    const { serverPlace, founder, person } = yield* makeServerRights
    const accept = yield* makeAcceptances
    const gate = yield* makeGate
    const votes = makeRemovalVotes(gate)
    const removed = yield* removedRepo
    const { refuseAt, refuseDelegation } = yield* makePlaceRefusals
    const decideByPreviews = yield* makePreviews
    const change = yield* makeChange(orgIdIn)

    /** Reads a place, unless it was read together with the caller. */
    const find = (caller: Caller, names: PlaceNames): Effect.Effect<FoundPlace | null> => {
      const found = caller instanceof AuthenticatedCaller ? caller.takePlace(names) : undefined
      return found === undefined ? repo.place({ actorId: caller.actor.id, ...names }) : Effect.succeed(found)
    }

    /**
     * Resolves and authorizes a place, then builds the result of `make` from it. With `asked`, the previews of a project may admit
     * callers without the right: by what they ask for or, before that was read, if they may ask for anything.
     * Rules for some keys admit to a path that names one of these, or with `keys` to the part that they give.
     */
    const enterAs = <A extends Action, P>(
      caller: Caller,
      path: PathNames,
      action: A,
      make: (place: OrgPlace<A>, found: FoundPlace) => P | null,
      asked: Asked | "unread" | null = null,
      keys: "all" | "some" = "all"
    ): Effect.Effect<P, NotFound | Forbidden> => {
      const { actor } = caller
      const { env_name = null, org_name, project_name = null } = path
      const keyScope: KeyScope = path.key === undefined ? keys : { key: path.key }
      const names = { org: org_name, project: project_name ?? undefined, env: env_name ?? undefined }
      const delegation = delegationOf(actor)
      if (delegation !== null) {
        const missing = beyondDelegation(delegation, action, names, path.key)
        if (missing !== null) {
          const asked = [org_name, project_name, env_name, path.key].filter(Predicate.isString).join("/")
          const refused = (scope?: string) => refuseDelegation(actor, delegation, action, missing, asked, scope)
          const scope = widerScope(delegation, action, names, path.key)
          if (scope === null) return refused()
          return Effect.flatMap(find(caller, { org: org_name, project: project_name, env: env_name }), (found) => {
            if (found === null || !mayKnow(actor, found)) return refused()
            const { grants, role } = found
            const person = { ...subjectOf({ actor, grants, role }), delegation: null }
            return refused(decide(action, person, names, keyScope).allowed ? scope : undefined)
          })
        }
      }
      return Effect.flatMap(
        find(caller, { org: org_name, project: project_name, env: env_name }),
        (found): Effect.Effect<P, NotFound | Forbidden> => {
          if (found === null || !mayKnow(actor, found)) return notVisible(`organization ${org_name}`)
          const { env, grants, invitation, org, project, role } = found
          const scopedElsewhere =
            actor.type === "service_account" && actor.project !== null && actor.project.id !== project?.id
          if (project_name !== null && (project === null || scopedElsewhere)) {
            return notVisible(`project ${project_name}`)
          }
          const isNamesake = delegation !== null && delegation.places.every((own) => own.env.id !== env?.id)
          if (env_name !== null && (env === null || isNamesake)) return notVisible(`environment ${env_name}`)

          const subject = subjectOf({ actor, grants, role })
          const finish = (decision: Decision): Effect.Effect<P, Forbidden> => {
            if (!decision.allowed) return refuseAt(actor, found, path, action, decision.missing)
            const { reach = null, via } = decision
            const place = make(new OrgPlace(action, actor, via, role, grants, org, reach), found)
            if (place === null) return Effect.dieMessage("a place was entered that has no row")
            return invitation !== null && isOwnAct(caller, action, via)
              ? Effect.as(accept({ membership: invitation, orgId: org.id, userId: UserId.make(actor.id) }), place)
              : Effect.succeed(place)
          }
          const decided = () => {
            const decision = decide(action, subject, names, keyScope)
            return decision.allowed || asked === null || project === null || !isPreviewAction(action)
              ? finish(decision)
              : Effect.flatMap(
                  decideByPreviews(subject, names, project, env?.id ?? null, asked === "unread" ? undefined : asked),
                  (other) => finish(other ?? decision)
                )
          }
          // A page that reads ahead is no act of its person, who may want to decline.
          return invitation === null
            ? decided()
            : Effect.flatMap(RequestInfo, ({ isPrefetch }): Effect.Effect<P, NotFound | Forbidden> =>
                isPrefetch === true ? notVisible(`organization ${org_name}`) : decided()
              )
        }
      )
    }

    const enter = <A extends Action, P>(
      path: PathNames,
      action: A,
      make: (place: OrgPlace<A>, found: FoundPlace) => P | null,
      asked: Asked | null = null,
      keys: "all" | "some" = "all"
    ): Effect.Effect<P, NotFound | Forbidden, CurrentCaller> =>
      withService(CurrentCaller, (caller) => enterAs(caller, path, action, make, asked, keys))

    const org = <A extends ActionOn<"org">>({ org_name }: OrgPath, action: A) =>
      enter({ org_name }, action, (place) => place)

    const project = <A extends ActionOn<"project">>({ org_name, project_name }: ProjectPath, action: A) =>
      enter({ org_name, project_name }, action, (place, { project }) => project && new ProjectPlace(place, project))

    /** Enters a project to create an environment in it, by the right to it or as a preview. */
    const creating = ({ org_name, project_name }: ProjectPath, asked: Required<Asked>) =>
      enter(
        { org_name, project_name },
        "env.create",
        (place, { project }) => project && new ProjectPlace(place, project),
        asked
      )

    /** The place of an environment that its caller creates: nobody else has the id, and nothing protects it yet. */
    const created = (
      { actor, grants, org, project, role, via }: Place<"env.create">,
      env: Named<EnvId, EnvName>
    ): Place<"secret.write"> =>
      new EnvPlace(new ProjectPlace(new OrgPlace("secret.write", actor, via, role, grants, org), project), env)

    /**
     * Enters an environment with the right alone: for what changes nothing in it. With `some`, rules for some keys are enough: show,
     * count and change only those of `place.reach`.
     */
    const right = <A extends EnvAction>(path: EnvPath | SecretPath, action: A, keys: "all" | "some" = "all") =>
      enter(
        path,
        action,
        (place, { env, extent, project }) =>
          project && env && new EnvPlace(new ProjectPlace(place, project), env, null, extent),
        null,
        keys
      )

    const env = <A extends ActionOn<"env">>(path: EnvPath | SecretPath, action: A, keys: "all" | "some" = "all") =>
      right(path, action, keys)

    /**
     * Enters an environment to change it, by the right to it or, with `asked`, as a preview. If it is protected,
     * the gate decides. For `keys`, see `right`.
     */
    const guarded = <A extends GuardedAction>(
      path: EnvPath | SecretPath,
      action: A,
      asked: Asked | null = null,
      keys: "all" | "some" = "all"
    ) =>
      Effect.flatten(
        enter(
          path,
          action,
          (place, { env, isProtected, project }) => {
            if (project === null || env === null) return null
            const entered = new ProjectPlace(place, project)
            const found: Effect.Effect<EnvPlace<A>, ApprovalRequired | Forbidden> = isProtected
              ? Effect.map(
                  gate.admit(guardedOf(new EnvPlace(entered, env))),
                  (decision) => new EnvPlace(entered, env, decision)
                )
              : Effect.succeed(new EnvPlace(entered, env))
            return found
          },
          asked,
          keys
        )
      )

    /** Lets the removal of an organization or a project, or another name of it, through: with the votes of what it protects. */
    const admitRemoval = (
      place: OrgPlace<"org.delete" | "org.update"> | ProjectPlace<"project.delete" | "project.update">
    ) => votes.admitRemoval(holderAt(place))

    /** Lets a place take its name, which another protected place may have had. Call it after the statement that takes the name. */
    const admitName = (place: OrgPlace<Action>, named: NamedPlace) => gate.admitName(changingAt(place), named)

    /** The same for a new organization. */
    const admitOrganization = (founder: UserActor, org: Named<OrgId, OrgName>) =>
      gate.admitName(
        { actor: founder, action: "org.create", source: { ...actorSource(founder), orgId: org.id } },
        { kind: "org", ...org }
      )

    /** The same for the restoration or the erasure of what was removed from a place. */
    const admitRemoved = (
      from: OrgPlace<RemovedAction>,
      change: "restore" | "erase",
      what: { readonly id: string; readonly named: string }
    ) => votes.admitRemoved(holderAt(from), change, what)

    /**
     * Enters an organization that was removed and can be restored. Fails with NotFound for who is neither an owner of it nor a
     * superadmin.
     */
    const removedOrg = <A extends "org.restore" | "org.erase">(id: RemovedId, action: A) =>
      Effect.flatMap(currentActor, (actor) =>
        Effect.flatMap(removed.org({ id, actorId: actor.id }), (found): Effect.Effect<OrgPlace<A>, NotFound> => {
          const hidden = notVisible(`removed organization ${id}`)
          if (found === undefined) return hidden
          const { id: orgId, name, role } = found
          const decision = decide(action, subjectOf({ actor, grants: [], role }), { org: name })
          return decision.allowed
            ? Effect.succeed(new OrgPlace(action, actor, decision.via, role, [], { id: orgId, name }))
            : hidden
        })
      )

    /** Checks a caller's right to an action before what it asks for is read, without entering the place: the keys are not known yet. */
    const check = (caller: Caller, path: PathNames, action: Action): Effect.Effect<void, NotFound | Forbidden> =>
      enterAs(caller, path, action, () => undefined, "unread", "some")

    /** The proof for another action in the organization; null without the right. Records no refusal. */
    const beside = <A extends ActionOn<"org">>(place: OrgPlace<Action>, action: A): OrgPlace<A> | null => {
      const { actor, grants, org, role } = place
      const decision = decide(action, subjectOf(place), { org: org.name })
      return decision.allowed ? new OrgPlace(action, actor, decision.via, role, grants, org) : null
    }

    /**
     * The proof for an action in another environment of the project; null without the right to the keys. Records no refusal. For
     * `some`, see `right`.
     */
    const alongside = <A extends ActionOn<"env">>(
      place: ProjectPlace<Action>,
      env: Named<EnvId, EnvName>,
      action: A,
      keys: KeyScope = "all"
    ): EnvPlace<A> | null => {
      const { actor, grants, org, project, role } = place
      const names = { org: org.name, project: project.name, env: env.name }
      const decision = decide(action, subjectOf(place), names, keys)
      if (!decision.allowed) return null
      const { reach = null, via } = decision
      return new EnvPlace(new ProjectPlace(new OrgPlace(action, actor, via, role, grants, org, reach), project), env)
    }

    /**
     * The proof for an action by the rights that a person has now; null without them. The person does nothing then: no invitation
     * is accepted, and no refusal recorded.
     */
    const standing = <A extends ActionOn<"env">>(
      actor: UserActor,
      { env_name, org_name, project_name }: EnvPath,
      action: A
    ): Effect.Effect<EnvPlace<A> | null> =>
      Effect.map(
        repo.place({ actorId: actor.id, org: org_name, project: project_name, env: env_name }),
        (found): EnvPlace<A> | null => {
          if (found === null || found.invitation !== null || found.project === null || found.env === null) return null
          const { env, grants, org, project, role } = found
          const names = { org: org.name, project: project.name, env: env.name }
          const decision = decide(action, subjectOf({ actor, grants, role }), names)
          return decision.allowed
            ? new EnvPlace(new ProjectPlace(new OrgPlace(action, actor, decision.via, role, grants, org), project), env)
            : null
        }
      )

    /**
     * Returns the actor's rights in an environment of a project, with the proof for comparing its secrets: null without that
     * right. This is no attempt to enter the environment, so it records no refusal.
     */
    const within = (place: ProjectPlace<"env.list" | "declared.list">, env: Named<EnvId, EnvName>): Within => {
      const subject = subjectOf(place)
      const names = { org: place.org.name, project: place.project.name, env: env.name }
      const { allowed, allowed_for_some: allowedForSome } = explain(subject, names)
      return {
        allowed,
        allowedForSome,
        reveals: decide("secret.read", subject, names, "some").allowed,
        place: alongside(place, env, "secret.compare", "some")
      }
    }

    /** Lets a change through that needs votes though its action does not always. */
    const admit = (place: EnvPlace<Action>) => gate.admit(guardedOf(place))

    return {
      org,
      project,
      env,
      creating,
      created,
      guarded,
      right,
      admit,
      admitRemoval,
      admitName,
      admitOrganization,
      admitRemoved,
      removedOrg,
      refuseProtected: votes.refuseProtected,
      renewing,
      provisioning,
      standing,
      within,
      alongside,
      beside,
      serverPlace,
      founder,
      person,
      check,
      refuseDelegation,
      change
    } as const
  }),
  dependencies: [Authenticator.Default, Mailer.Default]
}) {}

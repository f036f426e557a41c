import { createHash } from "node:crypto"
import { type Actor, actorName, delegationOf } from "@coffer/domain/access/Actor"
import { LeaseId } from "@coffer/domain/base/Ids"
import type { LeaseRoleName } from "@coffer/domain/base/Names"
import { spanMillis } from "@coffer/domain/base/Span"
import { Conflict, UpstreamFailed, ValidationError } from "@coffer/domain/errors/Errors"
import { isIdempotencyKey, type IssuedLease, type Lease } from "@coffer/domain/secrets/Lease"
import { rotationDefaults } from "@coffer/domain/secrets/Rotation"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Access, type Place, sourceOf } from "../../access/Access.js"
import { notFound } from "../../access/place/NotFound.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { ServerConfig } from "../../base/Config.js"
import { recordLimit } from "../../base/Limit.js"
import { timestamp } from "../../base/Time.js"
import { method, traced } from "../../base/tracing/Traced.js"
import { uuidV7 } from "../../base/Uuid.js"
import { Database } from "../../database/Database.js"
import { orgScope } from "../../database/Scopes.js"
import { kinds, makeTargets } from "../connections/DatabaseAddresses.js"
import { DatabaseSlots } from "../connections/DatabaseSlots.js"
import { type ConnectionFailed, leasedUser } from "../connections/Kind.js"
import { makePasswords } from "../connections/Passwords.js"
import { type ConnectionRow, connectionsRepo } from "../connections/Repo.js"
import { drawPassword, sealedPasswords } from "../rotations/DrawnPasswords.js"
import { Versions } from "../stored/Versions.js"
import { statementsOf } from "./LeaseRoles.js"
import { type LeaseRow, leasesRepo } from "./Repo.js"
import { leaseRolesRepo } from "./RolesRepo.js"

/** How long the making of a user takes at most: afterwards, the job removes it. */
const makingMillis = 60_000
/** How long a repeated call returns the first lease. */
const repeatableMillis = 600_000

export const leasePasswords = sealedPasswords((id: LeaseId) => `lease/${id}`)

const secondsLeft = (until: number, millis: number): number => Math.max(0, Math.floor((until - millis) / 1_000))

const shared = (row: LeaseRow, millis: number) => ({
  ...{ id: row.id, role: row.role, username: row.username },
  ...{ expires_at: timestamp(row.expires_at), expires_in: secondsLeft(row.expires_at, millis) },
  ...{ renewable_until: timestamp(row.renewable_until), renewable_for: secondsLeft(row.renewable_until, millis) }
})

const leaseOf = (row: LeaseRow, millis: number): Lease => ({
  ...shared(row, millis),
  ...{ state: row.state, holder: row.actor_name, delegation: row.delegation_id },
  ...{ ended: row.ended, problem: row.problem, created_at: row.created_at }
})

/** The columns of a caller's credential. The lease of a person lasts beyond a session. */
const holderOf = (actor: Actor) => ({
  actor_type: actor.type,
  actor_id: actor.id,
  actor_name: actorName(actor),
  delegation_id: delegationOf(actor)?.id ?? null,
  key_id: actor.type === "service_account" && actor.credential.type === "key" ? actor.credential.id : null,
  federation_id:
    actor.type === "service_account" && actor.credential.type === "federation" ? actor.credential.federation : null
})

/** Whether a lease is the actor's own: a person's are those of delegations too. */
const isOwn = (actor: Actor, { actor_id, delegation_id }: LeaseRow): boolean => {
  const delegation = delegationOf(actor)
  return actor_id === actor.id && (delegation === null || delegation.id === delegation_id)
}

const failedAt = ({ name }: ConnectionRow, { message }: ConnectionFailed) =>
  new UpstreamFailed({ message: `connection ${name}: ${message}` })

const ends = (id: LeaseId) => new Conflict({ message: `lease ${id} ends already: make another one` })

/** The leases of an environment: users of databases, each made for one caller. A job removes them. */
export class Leases extends Effect.Service<Leases>()("@coffer/server/Leases", {
  effect: Effect.gen(function* () {
    const access = yield* Access
    const audit = yield* AuditLog
    const repo = yield* leasesRepo
    const roles = yield* leaseRolesRepo
    const connections = yield* connectionsRepo
    const passwordOf = yield* makePasswords
    const sealed = yield* leasePasswords
    const { targetOf } = yield* makeTargets
    const { inSlotSoon } = yield* DatabaseSlots
    const { leasesOfCaller, leasesOfEnvironment } = yield* ServerConfig
    const { change, clock } = yield* Database
    const ofEnvironment = recordLimit(
      leasesOfEnvironment,
      (max) => `an environment has at most ${max} leases (SERVICE_LEASES_PER_ENVIRONMENT)`
    )
    const ofCaller = recordLimit(
      leasesOfCaller,
      (max) => `a caller has at most ${max} leases in an environment (SERVICE_LEASES_PER_CALLER): end one first`
    )

    const record = (
      place: Place<"lease.create" | "lease.renew" | "lease.revoke">,
      { id, role, username }: Pick<LeaseRow, "id" | "role" | "username">,
      metadata: Readonly<Record<string, unknown>> = {}
    ) =>
      audit.change(sourceOf(place), {
        action: place.action,
        resource_type: "lease",
        resource_id: id,
        metadata: { role, username, ...metadata }
      })

    /** Reads the login of a connection. */
    const loginOf = (place: Place<"lease.create" | "lease.renew">, connection: ConnectionRow) =>
      Effect.catchTag(passwordOf(place, connection), "ConnectionFailed", (failure) => failedAt(connection, failure))

    const connectionBy = (connectionId: LeaseRow["connection_id"]) =>
      Effect.flatMap(connections.byId({ id: connectionId }), (row) =>
        row === undefined ? Effect.dieMessage("a role has no connection") : Effect.succeed(row)
      )

    const spanIn = (ttl: string, max: string) =>
      spanMillis(ttl) <= spanMillis(max)
        ? Effect.succeed(spanMillis(ttl))
        : new ValidationError({ message: `ttl: the role allows at most ${max}` })

    const list = traced("Leases.list")((place: Place<"lease.list">) => {
      const envId = place.env.id
      const isAdmin = access.alongside(place, place.env, "lease_role.list") !== null
      const rows = isAdmin ? repo.ofEnv({ envId }) : repo.ofCaller({ envId, actorId: place.actor.id })
      return Effect.zipWith(rows, clock, (found, millis) =>
        found.filter((row) => isAdmin || isOwn(place.actor, row)).map((row) => leaseOf(row, millis))
      )
    })

    const issued = (row: LeaseRow, connection: ConnectionRow, password: Redacted.Redacted) =>
      Effect.map(clock, (millis): IssuedLease => ({
        ...shared(row, millis),
        password,
        url: kinds[connection.kind].urlOf(connection, { user: row.username, password })
      }))

    /** The first lease that was made with a key; undefined if there is none. */
    const repeated = Effect.fnUntraced(function* (
      place: Place<"lease.create">,
      role: LeaseRoleName,
      idempotency: string
    ) {
      const row = yield* repo.byIdempotency({ envId: place.env.id, actorId: place.actor.id, idempotency })
      if (row === undefined) return undefined
      if (row.role !== role) {
        return yield* new Conflict({
          message: `the idempotency-key made a lease of role ${row.role}: choose another key`
        })
      }
      if (row.state === "making") {
        return yield* new Conflict({ message: `lease ${row.id} is being made: try again in 1 second` })
      }
      if (row.state === "ending") return yield* ends(row.id)
      return yield* issued(row, yield* connectionBy(row.connection_id), yield* sealed.read(row.id))
    })

    /** Begins a lease in a transaction: the database sees its user's name only after the commit. */
    const begin = method(
      "Leases.begin",
      function* (
        place: Place<"lease.create">,
        name: LeaseRoleName,
        { key, ttl }: { readonly ttl?: string | undefined; readonly key?: string | undefined }
      ) {
        const { actor, env, org } = place
        const role = yield* roles.find({ envId: env.id, name })
        if (role === undefined) return yield* notFound(`role ${name}`)
        if (key !== undefined && !isIdempotencyKey(key)) {
          return yield* new ValidationError({
            message: "the header idempotency-key: must be 1 to 100 printable characters of ASCII"
          })
        }
        const delegation = delegationOf(actor)?.id ?? ""
        const idempotency =
          key === undefined ? null : createHash("sha256").update(`${delegation} ${key}`).digest("base64url")
        const first = idempotency === null ? undefined : yield* repeated(place, name, idempotency)
        if (first !== undefined) return { first } as const
        const span = yield* spanIn(ttl ?? role.default_ttl, role.max_ttl)
        yield* ofEnvironment.room(yield* repo.count({ envId: env.id }))
        yield* ofCaller.room(yield* repo.countOfCaller({ envId: env.id, actorId: actor.id }))
        const connection = yield* connectionBy(role.connection_id)
        const login = yield* loginOf(place, connection)
        const id = LeaseId.make(yield* uuidV7)
        const millis = yield* clock
        const password = Redacted.make(drawPassword(rotationDefaults.alphabet, rotationDefaults.length))
        const holder = holderOf(actor)
        const row: LeaseRow = {
          ...{ id, role_id: role.id, role: role.name, connection_id: connection.id, username: leasedUser(id) },
          ...{ actor_id: actor.id, actor_name: holder.actor_name, delegation_id: holder.delegation_id },
          ...{ state: "making", ended: null, failures: 0, problem: null, created_at: timestamp(millis) },
          ...{ expires_at: millis + span, renewable_until: millis + spanMillis(role.max_ttl) },
          due_at: millis + makingMillis
        }
        yield* repo.insert([
          {
            ...{ id, org_id: org.id, env_id: env.id, role_id: role.id, ...holder, idempotency },
            ...{ username: row.username, state: row.state, expires_at: row.expires_at },
            ...{ renewable_until: row.renewable_until, due_at: row.due_at, failures: 0, created_at: row.created_at }
          }
        ])
        if (idempotency !== null) yield* sealed.keep(id, Redacted.value(password))
        const used = { key: connection.password_key, version: login.version }
        yield* record(place, row, { until: timestamp(row.expires_at), connection: connection.name, ...used })
        const statements = yield* statementsOf(role.create_sql)
        return { row, connection, login, password, statements, isRepeatable: idempotency !== null } as const
      }
    )

    const inOrganization = (place: Place<"lease.create" | "lease.renew">) => [orgScope(place.org.id)]

    const orEnds = (id: LeaseId) => (rows: ReadonlyArray<unknown>) => (rows.length === 0 ? ends(id) : Effect.void)

    /** Makes the user. Fails, and lets the job remove whatever there is, unless the row still waits for it. */
    const finish = (place: Place<"lease.create">, begun: Effect.Effect.Success<ReturnType<typeof begin>>) => {
      if ("first" in begun) return Effect.succeed(begun.first)
      const { connection, isRepeatable, login, password, row, statements } = begun
      const { expires_at, id, username: name } = row
      return Effect.gen(function* () {
        const target = yield* targetOf(connection, { user: connection.login, password: login.password })
        const millis = expires_at - (yield* clock)
        const dueAt = isRepeatable ? Math.min(expires_at, (yield* clock) + repeatableMillis) : expires_at
        const confirm = Effect.flatMap(change(inOrganization(place), repo.made({ id, dueAt })), orEnds(id))
        const isWanted = Effect.flatMap(repo.find({ envId: place.env.id, id }), (found) =>
          found?.state === "making" ? Effect.void : ends(id)
        )
        yield* inSlotSoon(connection)(
          kinds[connection.kind].create(target, { name, password, millis }, statements, { isWanted, confirm })
        )
        return yield* issued(row, connection, password)
      }).pipe(
        Effect.catchTag("ConnectionFailed", (failure) => failedAt(connection, failure)),
        Effect.onError(() =>
          Effect.ignore(change(inOrganization(place), repo.end({ id, reason: "its user could not be made" })))
        )
      )
    }

    const find = (place: Place<"lease.renew" | "lease.revoke">, id: LeaseId, isAdmin = false) =>
      Effect.flatMap(repo.find({ envId: place.env.id, id }), (row) =>
        row === undefined || (!isAdmin && !isOwn(place.actor, row)) ? notFound(`lease ${id}`) : Effect.succeed(row)
      )

    const beginRenewal = method(
      "Leases.beginRenewal",
      function* (place: Place<"lease.renew">, id: LeaseId, request: { readonly ttl?: string | undefined }) {
        const row = yield* find(place, id)
        if (row.state !== "live") return yield* ends(id)
        const role = yield* roles.find({ envId: place.env.id, name: row.role })
        if (role === undefined) return yield* notFound(`role ${row.role}`)
        const span = yield* spanIn(request.ttl ?? role.default_ttl, role.max_ttl)
        const expiresAt = Math.max(row.expires_at, Math.min((yield* clock) + span, row.renewable_until))
        const connection = yield* connectionBy(row.connection_id)
        return { row: { ...row, expires_at: expiresAt }, connection, login: yield* loginOf(place, connection) }
      }
    )

    /** Lets the user last for longer: in the database first, which makes it durable once the row has it too. */
    const finishRenewal = (
      place: Place<"lease.renew">,
      { connection, login, row }: Effect.Effect.Success<ReturnType<typeof beginRenewal>>
    ) =>
      Effect.gen(function* () {
        const { expires_at: expiresAt, id, username: name } = row
        const target = yield* targetOf(connection, { user: connection.login, password: login.password })
        const millis = expiresAt - (yield* clock)
        const used = { key: connection.password_key, version: login.version }
        const confirm = change(
          inOrganization(place),
          Effect.zipRight(
            Effect.flatMap(repo.renew({ id, expiresAt }), orEnds(id)),
            record(place, row, { until: timestamp(expiresAt), ...used })
          )
        )
        yield* inSlotSoon(connection)(kinds[connection.kind].extend(target, { name, millis }, confirm))
        return leaseOf(row, yield* clock)
      }).pipe(Effect.catchTag("ConnectionFailed", (failure) => failedAt(connection, failure)))

    const revoke = method("Leases.revoke", function* (place: Place<"lease.revoke">, id: LeaseId) {
      const isAdmin = access.alongside(place, place.env, "lease_role.list") !== null
      const row = yield* find(place, id, isAdmin)
      const ended = yield* repo.end({ id, reason: `revoked by ${actorName(place.actor)}` })
      if (ended.length > 0) yield* record(place, row, { holder: row.actor_name })
    })

    return { list, begin, finish, beginRenewal, finishRenewal, revoke } as const
  }),
  dependencies: [Versions.Default, DatabaseSlots.Default]
}) {}

import type { ScimUserId } from "@coffer/domain/base/Ids"
import { ScimUserId as PersonId } from "@coffer/domain/base/Ids"
import type { Email } from "@coffer/domain/base/Names"
import { maxGroupMembers } from "@coffer/domain/directory/Group"
import type { Role } from "@coffer/domain/directory/Member"
import { Conflict, type Forbidden, type LastOwner, type LimitExceeded, NotFound } from "@coffer/domain/errors/Errors"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Access, denied } from "../../access/Access.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { now } from "../../base/Time.js"
import { method } from "../../base/tracing/Traced.js"
import { uuidV7 } from "../../base/Uuid.js"
import type { Transaction } from "../../database/Database.js"
import { etagOfAll } from "../../http/ETag.js"
import type { Departure } from "../members/Departures.js"
import { memberLimit, Members } from "../members/Members.js"
import { checkETag, type OutdatedRecord } from "./OutdatedRecord.js"
import { type PersonRow, peopleRepo } from "./PeopleRepo.js"
import { type DirectoryToken, ScimTokens } from "./ScimTokens.js"

/** How long a directory can bring back what a membership had. */
export const keptMillis = 30 * 24 * 60 * 60 * 1000

const EmailValue = Schema.Struct({
  value: Schema.String,
  type: Schema.optional(Schema.String),
  primary: Schema.optional(Schema.Boolean)
})

/** The attributes of a person in the directory, as they are stored. They change nothing of the account on this server. */
export const PersonAttributes = Schema.Struct({
  userName: Schema.String,
  displayName: Schema.optional(Schema.String),
  name: Schema.optional(
    Schema.Struct({
      formatted: Schema.optional(Schema.String),
      givenName: Schema.optional(Schema.String),
      familyName: Schema.optional(Schema.String)
    })
  ),
  emails: Schema.optional(Schema.Array(EmailValue)),
  /** The role that the directory gave last. It counts from the beginning of a membership on. */
  role: Schema.optional(Schema.Literal("member", "developer", "admin"))
})
export type PersonAttributes = typeof PersonAttributes.Type

const stored = Schema.parseJson(PersonAttributes)
const encode = Schema.encodeSync(stored)
const decode = Schema.decodeSync(stored)
const idsOf = Schema.decodeSync(Schema.parseJson(Schema.Array(Schema.String)))

/** The state of a person that a directory wants. */
export interface WantedPerson {
  readonly attributes: PersonAttributes
  readonly email: Email
  readonly externalId: string | null
  readonly active: boolean
  /** Undefined: as it is. */
  readonly role: Exclude<Role, "owner"> | undefined
}

/** A person whom a directory has listed. */
export interface Person {
  readonly id: ScimUserId
  readonly email: Email
  readonly externalId: string | null
  readonly attributes: PersonAttributes
  readonly createdAt: string
  readonly updatedAt: string
  /** Null unless the person is a member. */
  readonly role: Role | null
  readonly etag: string
}

/** A change of one transaction; call again if it has more. */
export type PersonChange =
  | { readonly hasMore: true }
  | { readonly hasMore: false; readonly person: Person | null; readonly departure: Departure | null }

/** A membership that must not end: the organization would have no owner, or nobody who votes. */
export class StillNeeded extends Data.TaggedError("StillNeeded")<{ readonly email: Email; readonly message: string }> {}

type Refusal = Conflict | Forbidden | LastOwner | LimitExceeded | NotFound | OutdatedRecord | StillNeeded

const personOf = ({
  attributes,
  created_at,
  email,
  external_id,
  id,
  revision,
  role,
  updated_at
}: PersonRow): Person => ({
  ...{ id, email, role, externalId: external_id, createdAt: created_at, updatedAt: updated_at },
  attributes: decode(attributes),
  etag: etagOfAll(id, revision, role)
})

const keyOf = (name: string): string => name.toLowerCase()

/** Comes back as an admin who was an owner: owners are made by owners. */
const comingBackAs = (role: Role): Role => (role === "owner" ? "admin" : role)

/** The people of an organization whom a directory manages: each speaks for the membership of its address. */
export class ScimPeople extends Effect.Service<ScimPeople>()("@coffer/server/ScimPeople", {
  effect: Effect.gen(function* () {
    const { provisioning } = yield* Access
    const repo = yield* peopleRepo
    const members = yield* Members
    const audit = yield* AuditLog
    const { domainsOf } = yield* ScimTokens

    /** Fails unless the directory may manage the person: by the domain of the address, and never a superadmin. */
    const checkManaged = Effect.fnUntraced(function* (token: DirectoryToken, email: Email) {
      const domains = domainsOf(token.org.name)
      const domain = email.slice(email.lastIndexOf("@") + 1)
      const place = provisioning(token, "member.invite")
      if (!domains.includes("*") && !domains.includes(domain)) {
        return yield* denied(
          audit,
          place,
          `the directory of ${token.org.name} may not manage people of ${domain}: the server's operator can add it to SERVICE_SCIM_DOMAINS`
        )
      }
      const standing = yield* repo.standing({ email })
      if (standing?.superadmin === 1) {
        return yield* denied(audit, place, `${email} is a superadmin of the server, whom no directory manages`)
      }
    })

    /** Fails if another person of the directory has the name or the address. */
    const checkFree = Effect.fnUntraced(function* (token: DirectoryToken, wanted: WantedPerson, id: string | null) {
      const orgId = token.org.id
      const { userName } = wanted.attributes
      const named = yield* repo.byName({ orgId, key: keyOf(userName) })
      if (named.some((one) => one.id !== id)) {
        return yield* new Conflict({ message: `userName: ${userName} is another user's` })
      }
      const addressed = yield* repo.byEmail({ orgId, email: wanted.email })
      if (addressed.some((one) => one.id !== id)) {
        return yield* new Conflict({ message: `emails: ${wanted.email} is another user's` })
      }
    })

    /** Begins a membership, with what the last one had if the directory ended it. */
    const begin = Effect.fnUntraced(function* (token: DirectoryToken, { attributes, email, role }: WantedPerson) {
      const orgId = token.org.id
      const kept = yield* repo.ending({ orgId, email })
      const by = "SCIM"
      return yield* members.provision(
        provisioning(token, "member.invite"),
        email,
        role ?? (kept === undefined ? (attributes.role ?? "member") : comingBackAs(kept.role)),
        (userId) =>
          Effect.gen(function* () {
            const at = yield* now
            yield* repo.joinListed({ orgId, email, userId, by, now: at })
            if (kept === undefined) return {}
            const rules = yield* Effect.forEach(idsOf(kept.rules), (id) =>
              repo.restoreRule({ id, orgId, userId, endedAt: kept.ended_at })
            )
            const groups = yield* Effect.forEach(idsOf(kept.groups), (groupId) =>
              repo.rejoin({ groupId, orgId, userId, by, now: at, max: maxGroupMembers })
            )
            yield* repo.forget({ orgId, email })
            return { rules_restored: rules.flat().length, groups_restored: groups.flat().length }
          })
      )
    })

    /** Ends a membership, and keeps what it had. */
    const end = Effect.fnUntraced(function* (token: DirectoryToken, { email, user_id }: PersonRow) {
      if (user_id === null) return null
      const { departure, ended } = yield* members
        .deprovision(provisioning(token, "member.remove"), user_id)
        .pipe(Effect.catchTag("Conflict", "LastOwner", ({ message }) => new StillNeeded({ email, message })))
      yield* repo.keep({
        ...{ orgId: token.org.id, email, role: ended.role, endedAt: ended.endedAt, lifetime: keptMillis },
        ...{ rules: JSON.stringify(ended.rules), groups: JSON.stringify(ended.groups) }
      })
      return departure
    })

    /** Gives a member the role that the directory wants. It makes no owners, and takes no owner's role. */
    const settleRole = Effect.fnUntraced(function* (token: DirectoryToken, row: PersonRow, role: Role | undefined) {
      const { role: before, user_id } = row
      if (role === undefined || user_id === null || before === null || before === "owner" || before === role) return
      yield* members.setRole(provisioning(token, "member.update"), user_id, role)
    })

    const find = (token: DirectoryToken, id: string) =>
      Effect.flatMap(repo.find({ orgId: token.org.id, id }), (row): Effect.Effect<PersonRow, NotFound> =>
        row === undefined ? new NotFound({ message: `user ${id} does not exist` }) : Effect.succeed(row)
      )

    const get = (token: DirectoryToken, id: string): Effect.Effect<Person, NotFound> =>
      Effect.map(find(token, id), personOf)

    const changed = (
      token: DirectoryToken,
      id: string,
      departure: Departure | null
    ): Effect.Effect<PersonChange, NotFound> =>
      Effect.map(get(token, id), (person) => ({ hasMore: false, person, departure }))

    const create = method(
      "ScimPeople.create",
      function* (token: DirectoryToken, wanted: WantedPerson): Effect.fn.Return<PersonChange, Refusal, Transaction> {
        const { active, attributes, email, externalId, role } = wanted
        const orgId = token.org.id
        yield* checkManaged(token, email)
        yield* checkFree(token, wanted, null)
        yield* memberLimit.room(yield* repo.count({ orgId }))
        const created_at = yield* now
        const id = PersonId.make(yield* uuidV7)
        yield* repo.insert([
          {
            ...{ id, org_id: orgId, email, name_key: keyOf(attributes.userName), external_id: externalId },
            ...{ attributes: encode(attributes), revision: 1, created_at, updated_at: created_at }
          }
        ])
        const row = yield* find(token, id)
        if (!active) return yield* changed(token, id, row.role === null ? null : yield* end(token, row))
        if (row.role === null) {
          const { hasMore } = yield* begin(token, wanted)
          if (hasMore) {
            // The next transaction begins again.
            yield* repo.remove({ id })
            return { hasMore }
          }
        } else {
          if (row.user_id !== null) yield* repo.accept({ orgId, userId: row.user_id, now: created_at })
          yield* settleRole(token, row, role)
        }
        return yield* changed(token, id, null)
      }
    )

    const isSame = (row: PersonRow, { attributes, email, externalId }: WantedPerson): boolean =>
      row.email === email && row.external_id === externalId && row.attributes === encode(attributes)

    /** Changes a person. `change` says what is wanted, by what the person is. */
    const update = method("ScimPeople.update", function* <
      E
    >(token: DirectoryToken, id: string, ifMatch: string | undefined, change: (person: Person) => Effect.Effect<WantedPerson, E>): Effect.fn.Return<
      PersonChange,
      E | Refusal,
      Transaction
    > {
      const row = yield* find(token, id)
      const person = personOf(row)
      yield* checkETag(`user ${id}`, ifMatch, person.etag)
      const wanted = yield* change(person)
      yield* checkManaged(token, row.email)
      if (!isSame(row, wanted)) yield* checkFree(token, wanted, id)
      const isMoved = wanted.email !== row.email
      if (isMoved) yield* checkManaged(token, wanted.email)
      const departure = row.role !== null && (isMoved || !wanted.active) ? yield* end(token, row) : null
      if (!isSame(row, wanted)) {
        const { attributes, email, externalId } = wanted
        const key = keyOf(attributes.userName)
        yield* repo.update({ id, email, key, externalId, attributes: encode(attributes), now: yield* now })
      }
      const after = isMoved || departure !== null ? yield* find(token, id) : row
      if (wanted.active) {
        if (after.role === null) {
          const { hasMore } = yield* begin(token, wanted)
          if (hasMore) return { hasMore }
        } else yield* settleRole(token, after, wanted.role)
      }
      return yield* changed(token, id, departure)
    })

    /** Ends the membership of a person, and forgets the person. */
    const remove = method(
      "ScimPeople.remove",
      function* (
        token: DirectoryToken,
        id: string,
        ifMatch: string | undefined
      ): Effect.fn.Return<PersonChange, Refusal, Transaction> {
        const row = yield* find(token, id)
        yield* checkETag(`user ${id}`, ifMatch, personOf(row).etag)
        yield* checkManaged(token, row.email)
        const departure = row.role === null ? null : yield* end(token, row)
        yield* repo.removeFromGroups({ id })
        yield* repo.remove({ id })
        return { hasMore: false, person: null, departure }
      }
    )

    const { all, byEmail, byExternalId, byName, count, slice } = repo
    const several = Effect.map((rows: ReadonlyArray<PersonRow>) => rows.map(personOf))

    return {
      get,
      create,
      update,
      remove,
      count: ({ org }: DirectoryToken) => Effect.map(count({ orgId: org.id }), (row) => row.count),
      all: ({ org }: DirectoryToken) => several(all(org.id)),
      slice: ({ org }: DirectoryToken, skipped: number, limit: number) =>
        several(slice({ orgId: org.id, skipped, limit })),
      named: ({ org }: DirectoryToken, name: string) => several(byName({ orgId: org.id, key: keyOf(name) })),
      addressed: ({ org }: DirectoryToken, email: string) => several(byEmail({ orgId: org.id, email })),
      external: ({ org }: DirectoryToken, externalId: string) => several(byExternalId({ orgId: org.id, externalId }))
    } as const
  }),
  dependencies: [Members.Default, ScimTokens.Default]
}) {}

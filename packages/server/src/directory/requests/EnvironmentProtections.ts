import { actorName } from "@coffer/domain/access/Actor"
import { Conflict } from "@coffer/domain/errors/Errors"
import type { Email } from "@coffer/domain/base/Names"
import type { Protection } from "@coffer/domain/access/Protection"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import { type Place, sourceOf } from "../../access/Access.js"
import { notFound } from "../../access/place/NotFound.js"
import { ApprovalMails } from "../../access/gate/ApprovalMails.js"
import { approversText, makeProtections, type StoredProtection } from "../../access/gate/Protections.js"
import { makeApprovers } from "../../access/gate/Approvers.js"
import { prospectsOf, type VotingMember } from "../../access/gate/Voting.js"
import { makeVotingMembers, namesOf } from "../../access/gate/VotingMembers.js"
import { makeVotingNotices } from "../../access/gate/VotingNotices.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { now, timestamp } from "../../base/Time.js"
import { method } from "../../base/tracing/Traced.js"
import { afterCommit } from "../../database/Database.js"
import { query } from "../../database/Query.js"
import { checkRecord } from "../../http/ETag.js"
import { environmentsRepo } from "../environments/Repo.js"
import { isStricter, type ProtectionRequest, type Terms, termsOf } from "./ProtectionTerms.js"

const shown = (found: StoredProtection, alone: ReadonlyArray<Email>, canEnd: boolean): Protection => ({
  ...found,
  ...(alone.length > 0 && { without_voters: alone }),
  ...(!canEnd && { stuck: true })
})

/** The protections of environments. */
export class EnvironmentProtections extends Effect.Service<EnvironmentProtections>()(
  "@coffer/server/EnvironmentProtections",
  {
    effect: Effect.gen(function* () {
      const audit = yield* AuditLog
      const protections = yield* makeProtections
      const environments = yield* environmentsRepo
      const voting = yield* makeVotingMembers
      const notify = yield* makeVotingNotices
      const decidersOf = yield* makeApprovers
      const { write } = yield* query

      const store = write`
        INSERT INTO protections (env_id, org_id, needed, approvers, self, break_glass, expires_after, passkey, version,
          updated_by, updated_at)
        VALUES (${"envId"}, ${"orgId"}, ${"needed"}, ${"approvers"}, ${"self"}, ${"breakGlass"}, ${"expiresAfter"},
          ${"passkey"}, 1, ${"by"}, ${"now"})
        ON CONFLICT (env_id) DO UPDATE SET needed = excluded.needed, approvers = excluded.approvers, self = excluded.self,
          break_glass = excluded.break_glass, expires_after = excluded.expires_after, passkey = excluded.passkey,
          version = protections.version + 1, removed_at = NULL, updated_by = excluded.updated_by,
          updated_at = excluded.updated_at`
      const end = write`
        UPDATE protections SET removed_at = ${"now"}, version = version + 1, updated_by = ${"by"}, updated_at = ${"now"}
        WHERE env_id = ${"envId"}`
      const mark = write`UPDATE environments SET protected = ${"protected"}, updated_at = ${"now"} WHERE id = ${"envId"}`

      const missing = (name: string) => notFound(`the protection of environment ${name}`)

      /** Returns the prospects of changes under these terms. Rules are read only where somebody could be left alone. */
      const prospects = Effect.fnUntraced(function* (
        { env, org, project }: Place<"protection.read" | "protection.set">,
        terms: Terms
      ) {
        const members = yield* voting.members(org.id)
        const found = prospectsOf(terms, members)
        if (found.alone.length === 0) return found
        const place = { org: org.name, project: project.name, env: env.name }
        const writers = new Set((yield* decidersOf("secret.write", org.id, place)).map(({ id }) => id))
        return prospectsOf(
          terms,
          members.map((member): VotingMember => ({ ...member, writes: writers.has(member.id) }))
        )
      })

      const get = method("EnvironmentProtections.get", function* (place: Place<"protection.read">) {
        const found = (yield* protections.find(place.env.id)) ?? (yield* missing(place.env.name))
        const { alone, canEnd } = yield* prospects(place, found)
        return shown(found, place.role === "owner" ? alone : [], canEnd)
      })

      /** Fails with Conflict if a change was made for another state of the protection. */
      const checkState = Effect.fnUntraced(function* (
        { env }: Place<"protection.set" | "protection.delete">,
        ifMatch?: string
      ) {
        if (ifMatch === undefined) return
        const before = yield* protections.find(env.id)
        yield* checkRecord(`the protection of environment ${env.name}`, ifMatch, before?.etag)
      })

      /** Whether a request makes a protection anything but stricter, which needs its votes. */
      const isWeakening = (place: Place<"protection.set">, request: ProtectionRequest) =>
        Effect.map(protections.find(place.env.id), (before) => before !== null && !isStricter(before, termsOf(request)))

      /**
       * Fails with Conflict if fewer people could vote than are needed, or if nobody could end the protection again. Returns those
       * whose own changes could not get the votes.
       */
      const checkVoters = Effect.fnUntraced(function* (place: Place<"protection.set">, terms: Terms) {
        const { approvers, break_glass, needed } = terms
        const [voters, invited] = Array.partition(
          yield* protections.candidatesOf(place.org.id, approvers),
          ({ accepted_at }) => accepted_at === null
        )
        const waiting =
          invited.length === 0
            ? ""
            : `. Not counted until they have accepted the invitation: ${namesOf(invited.map(({ email }) => email))}`
        if (voters.length < needed) {
          const who = typeof approvers === "string" ? approvers : "members with these addresses"
          return yield* new Conflict({
            message: `${needed} people have to approve, and organization ${place.org.name} has ${voters.length} ${who}: nobody could change the environment${waiting}`
          })
        }
        const known = yield* protections.candidatesOf(place.org.id, break_glass)
        const unknown = break_glass.filter((email) => !known.some((voter) => voter.email === email))
        if (unknown.length > 0) {
          return yield* new Conflict({
            message: `break_glass: organization ${place.org.name} has no member ${unknown.join(", ")}`
          })
        }
        const { alone, canChange, canEnd } = yield* prospects(place, terms)
        if (canEnd && canChange) return alone
        return yield* new Conflict({
          message: `nobody could end the protection of ${place.project.name}/${place.env.name} again: what an owner asks for needs ${needed === 1 ? "the vote" : `${needed} votes`} of others. Invite somebody who votes, count the requester's own vote (self: true, or --self), or name an owner who may change it at once (break_glass, or --may-break-glass)${waiting}`
        })
      })

      const set = method(
        "EnvironmentProtections.set",
        function* (place: Place<"protection.set">, request: ProtectionRequest) {
          const terms = termsOf(request)
          const alone = yield* checkVoters(place, terms)
          const before = yield* protections.find(place.env.id)
          const at = yield* now
          const { env, org } = place
          const ends = (yield* environments.find({ id: env.id }))?.expires_at ?? null
          if (ends !== null) {
            return yield* new Conflict({
              message: `environment ${env.name} ends at ${timestamp(ends)} and cannot be protected: let it last first`
            })
          }
          yield* store({
            envId: env.id,
            orgId: org.id,
            needed: terms.needed,
            approvers: approversText(terms.approvers),
            self: terms.self ? 1 : 0,
            breakGlass: JSON.stringify(terms.break_glass),
            expiresAfter: terms.expires_after,
            passkey: terms.passkey ? 1 : 0,
            by: actorName(place.actor),
            now: at
          })
          yield* mark({ envId: env.id, protected: 1, now: at })
          yield* audit.change(sourceOf(place), {
            action: "protection.set",
            resource_type: "protection",
            resource_id: env.id,
            metadata: { ...terms, ...(before !== null && { before: termsOf(before) }) }
          })
          yield* afterCommit(notify(org))
          return shown((yield* protections.find(env.id)) ?? (yield* missing(env.name)), alone, true)
        }
      )

      const remove = method("EnvironmentProtections.remove", function* (place: Place<"protection.delete">) {
        const { env } = place
        const before = (yield* protections.find(env.id)) ?? (yield* missing(env.name))
        const at = yield* now
        yield* end({ envId: env.id, by: actorName(place.actor), now: at })
        yield* mark({ envId: env.id, protected: 0, now: at })
        yield* audit.change(sourceOf(place), {
          action: "protection.delete",
          resource_type: "protection",
          resource_id: env.id,
          metadata: { before: termsOf(before) }
        })
      })

      return { checkState, get, isWeakening, set, remove } as const
    }),
    dependencies: [ApprovalMails.Default]
  }
) {}

import type { UserActor } from "@coffer/domain/access/Actor"
import { EnvId, OrgId, ProjectId, RequestId, UserId } from "@coffer/domain/base/Ids"
import { roles } from "@coffer/domain/directory/Member"
import { Email, EnvName, ProjectName } from "@coffer/domain/base/Names"
import { decide, type Grant } from "@coffer/server/access/place/Decisions"
import { prospectsOf } from "@coffer/server/access/gate/Voting"
import type { RequestRow } from "@coffer/server/directory/requests/Repo"
import { voteRefusal } from "@coffer/server/directory/requests/RequestViews"
import { Schema } from "effect"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { runs } from "../../../domain/test/support/Runs.js"

// Possible voters, against an oracle that lets everybody ask and every set of people vote, by the rules of real votes.

const email = Schema.decodeSync(Email)
const place = { org: "acme", project: "webshop", env: "prod" }
const addresses = Array.from({ length: 5 }, (_, index) => email(`user-${index}@example.com`))

const grant = fc.record({
  id: fc.constant("rule"),
  project_pattern: fc.constantFrom("webshop", "other", "*"),
  env_pattern: fc.constantFrom("prod", "p*"),
  permission: fc.constantFrom("read", "write", "admin")
}) satisfies fc.Arbitrary<Grant>

const person = (address: Email) =>
  fc.record({
    email: fc.constant(address),
    id: fc.constant(UserId.make(`0192f0c1-5b7e-4c3a-9d2e-4f6a8b0c1d0${address.slice(5, 6)}`)),
    role: fc.constantFrom(...roles),
    disabled: fc.boolean(),
    rules: fc.array(grant, { maxLength: 1 }),
    rulesOfGroups: fc.array(grant, { maxLength: 1 })
  })
type Person = typeof person extends (email: Email) => fc.Arbitrary<infer P> ? P : never

const people = fc.tuple(...addresses.map(person)).chain((all) => fc.subarray(all))
const emails = fc.subarray([...addresses, email("stranger@example.com")])
const terms = fc.record({
  needed: fc.constantFrom(1, 2, 3),
  approvers: fc.oneof(fc.constantFrom("owners" as const, "admins" as const), emails),
  self: fc.boolean(),
  break_glass: emails
})
type Terms = typeof terms extends fc.Arbitrary<infer T> ? T : never

const writes = ({ role, rules, rulesOfGroups }: Person): boolean =>
  decide("secret.write", { superadmin: false, role, account: null, grants: [...rules, ...rulesOfGroups] }, place)
    .allowed

const actorOf = ({ email, id }: Person): UserActor => ({
  ...{
    type: "user",
    id,
    email,
    name: "Ada",
    superadmin: false,
    sessionId: null,
    sessionKind: null,
    loginIsRecent: true
  },
  ...{ mayRecover: false, hasPasskey: false, passkeyIsRecent: false, delegation: null }
})

const requestOf = (asker: Person, { approvers, needed, self }: Terms): RequestRow => ({
  ...{ id: RequestId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"), kind: "change", state: "pending" },
  ...{ org_id: OrgId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e") },
  ...{ project_id: ProjectId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"), project: ProjectName.make("webshop") },
  ...{ env_id: EnvId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"), env: EnvName.make("prod"), is_live: 1 },
  ...{ actor_type: "user", actor_id: asker.id, actor_name: asker.email, delegation_id: null },
  ...{ reason: null, call: "secrets.set", keys: "[]", details: null, named: null, permission: null, expires_in: null },
  ...{ rule_id: null, revision: null, outdated: null, protection_version: 1, needed, created_at: "", expires_at: 0 },
  ...{
    decided_at: null,
    votes: null,
    approvers: typeof approvers === "string" ? approvers : JSON.stringify(approvers)
  },
  ...{ self: self ? 1 : 0, passkey: 0, version: 1 }
})

const subsets = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  all.reduce<ReadonlyArray<ReadonlyArray<A>>>(
    (before, one) => [...before, ...before.map((some) => [...some, one])],
    [[]]
  )

/** Whether some set of people can make a change of a person: each of them tries to vote. */
const isPossible = (asker: Person, all: ReadonlyArray<Person>, asked: Terms): boolean => {
  if (asker.disabled) return false
  if (asked.break_glass.includes(asker.email)) return true
  const row = requestOf(asker, asked)
  return subsets(all).some((some) => {
    const votes = some.filter((voter) => !voter.disabled && voteRefusal(actorOf(voter), voter.role, row) === null)
    return votes.length >= asked.needed
  })
}

describe("the prospects of a protection", () => {
  it("are what asking and voting in every way comes to", () => {
    fc.assert(
      fc.property(people, terms, (all, asked) => {
        const members = all.filter(({ disabled }) => !disabled).map((one) => ({ ...one, writes: writes(one) }))
        const writers = all.filter((one) => !one.disabled && writes(one))
        assert.deepStrictEqual(prospectsOf(asked, members), {
          canEnd: all.some((one) => one.role === "owner" && isPossible(one, all, asked)),
          canChange: writers.some((one) => isPossible(one, all, asked)),
          alone: writers.filter((one) => !isPossible(one, all, asked)).map(({ email }) => email)
        })
      }),
      { numRuns: runs(1_000) }
    )
  })

  it("of changes are never worse than those of its end, since owners write, with and without rules and groups", () => {
    fc.assert(
      fc.property(people, terms, (all, asked) => {
        const members = all.filter(({ disabled }) => !disabled).map((one) => ({ ...one, writes: writes(one) }))
        const { canChange, canEnd } = prospectsOf(asked, members)
        assert.isTrue(canChange || !canEnd)
      }),
      { numRuns: runs(1_000) }
    )
  })
})

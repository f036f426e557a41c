import { ApprovalId, ExportId, RequestId } from "@coffer/domain/base/Ids"
import { MachineName } from "@coffer/domain/directory/ClientLogin"
import { decisions, ends } from "@coffer/server/access/gate/RequestStates"
import { systemSource } from "@coffer/server/audit/AuditEvent"
import { timestamp } from "@coffer/server/base/Time"
import { Database, type Transaction } from "@coffer/server/database/Database"
import { query, sql } from "@coffer/server/database/Query"
import { exportsRepo } from "@coffer/server/directory/exports/Repo"
import { clientLoginsRepo } from "@coffer/server/directory/login/ClientLoginsRepo"
import { requestsRepo } from "@coffer/server/directory/requests/Repo"
import { makeRequestEnds } from "@coffer/server/directory/requests/RequestEnds"
import { requestExpiry } from "@coffer/server/directory/requests/RequestExpiry"
import { beginEpoch } from "@coffer/server/operations/rotation/BeginEpoch"
import { useRepo } from "@coffer/server/secrets/use-rules/Repo"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, TestClock } from "effect"
import { readFileSync } from "node:fs"
import fc from "fast-check"
import { runs } from "../../../domain/test/support/Runs.js"
import { enter, onDatabase, organization, transaction } from "../support/Services.js"

const transitions = { ...decisions, ...ends }
type Event = keyof typeof transitions
type State = "pending" | (typeof transitions)[Event]["to"]

const isDecision = (event: Event): event is keyof typeof decisions => event in decisions

/** The state after an event, as the transitions say. */
const after = (state: State, event: Event, isOver: boolean): State => {
  const { from, to }: { readonly from: ReadonlyArray<State>; readonly to: State } = transitions[event]
  return from.includes(state) && !(isOver && isDecision(event)) ? to : state
}

const open: ReadonlyArray<State> = ["pending", "approved"]
const events = Object.keys(transitions) as ReadonlyArray<Event>

describe("the states of a request", () => {
  it("an ended request never changes, and is used or applied once at most, after somebody approved it in time", () => {
    const steps = fc.array(fc.record({ event: fc.constantFrom(...events), isLate: fc.boolean() }), { maxLength: 12 })
    fc.assert(
      fc.property(steps, (all) => {
        let state: State = "pending"
        let isOver = false
        let approvals = 0
        let uses = 0
        for (const { event, isLate } of all) {
          isOver ||= isLate
          const next = after(state, event, isOver)
          if (next === state) continue
          assert.include(open, state)
          if (isDecision(event)) assert.isFalse(isOver)
          if (next === "approved") approvals++
          if (next === "used") assert.strictEqual(approvals, 1)
          if (next === "used" || next === "done") uses++
          state = next
        }
        assert.isAtMost(uses, 1)
      }),
      { numRuns: runs(1_000) }
    )
  })

  it("architecture.md has each event, with the states that it leads from and to", () => {
    const text = readFileSync(new URL("../../../../docs/internals/architecture.md", import.meta.url), "utf8")
    const rows = [...text.matchAll(/^\| (\w+) +\| ([a-z, ]+?) +\| `(\w+)` +\|/gm)]
    const expected = Object.entries<{ readonly from: ReadonlyArray<string>; readonly to: string }>(transitions)
    assert.deepStrictEqual(
      rows.map(([, event, from, to]) => [event, from, to]).sort(),
      expected.map(([event, { from, to }]) => [event, from.join(", "), to]).sort()
    )
  })

  it("every state can be reached, and each open state has an end that needs no decision", () => {
    const reached = new Set<State>(["pending"])
    for (let size = 0; size !== reached.size;) {
      size = reached.size
      for (const state of [...reached]) for (const event of events) reached.add(after(state, event, false))
    }
    assert.sameMembers([...reached], ["pending", ...new Set(events.map((event) => transitions[event].to))])
    for (const state of open) {
      assert.isTrue(events.some((event) => !isDecision(event) && !open.includes(after(state, event, true))))
    }
  })
})

const StateRow = Schema.Struct({ state: Schema.String })

/** Tries each event on each state of a table's row, before and after its time, and compares what the statements do. */
const comparing = Effect.fnUntraced(function* (
  id: string,
  table: string,
  states: ReadonlyArray<State>,
  does: Partial<Record<Event, Effect.Effect<unknown, never, Transaction>>>,
  set: (state: State, isOver: boolean) => string,
  stored = "state"
) {
  const { run } = yield* query
  const differences: Array<string> = []
  for (const state of states)
    for (const isOver of [false, true])
      for (const [event, effect] of Object.entries(does) as ReadonlyArray<
        [Event, Effect.Effect<unknown, never, Transaction>]
      >) {
        const row = yield* transaction(
          Effect.gen(function* () {
            const { write } = yield* query
            yield* write`${sql([`UPDATE ${table} SET ${set(state, isOver)} WHERE id = '${id}'`])}`({})
            yield* effect
            return yield* run(StateRow)(sql([`SELECT ${stored} AS state FROM ${table} WHERE id = '${id}'`]), {})
          })
        )
        // The end of a request is due once its time is over.
        const expected = event === "expire" && !isOver ? state : after(state, event, isOver)
        const found = row[0]?.state
        if (found !== expected)
          differences.push(`${event} of ${state}${isOver ? ", late" : ""}: ${String(found)}, not ${expected}`)
      }
  assert.deepStrictEqual(differences, [], table)
})

const past = "2000-01-01T00:00:00.000Z"
const future = "2999-01-01T00:00:00.000Z"
const millisOf = (isOver: boolean) => Date.parse(isOver ? past : future)

describe("the statements of", () => {
  it.effect("uses, exports, logins of programs and requests of environments change states as the transitions say", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.UTC(2026, 0, 31, 12))
      const ada = yield* organization()
      const { env, org } = yield* enter(ada, "secret.list")
      const database = yield* Database
      const revoke = Effect.provideService(beginEpoch, Database, database)
      const now = timestamp(yield* database.clock)
      const both = { id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d01", orgId: org.id, envId: env.id, actorId: ada.id, now }
      const asked = { ...both, actorName: ada.email }
      const text = (state: State, isOver: boolean) => `state = '${state}', expires_at = '${isOver ? past : future}'`

      const use = yield* useRepo
      yield* transaction(use.insertApproval({ ...asked, hash: "h", request: "{}", expiresAt: future }))
      const approval = ApprovalId.make(both.id)
      const approving = { id: approval, by: ada.email, now, expiresAt: future }
      yield* comparing(
        approval,
        "approvals",
        ["pending", "approved", "refused", "used"],
        {
          approve: use.approve(approving),
          refuse: use.refuse(approving),
          use: use.spend({ id: approval, now }),
          revoke
        },
        text
      )

      const logins = yield* clientLoginsRepo
      const login = {
        id: both.id,
        hash: "h",
        start: Buffer.from("s"),
        mac: Buffer.from("m"),
        machine: MachineName.make("m"),
        ip: null,
        network: "n",
        now,
        expiresAt: future
      }
      yield* transaction(logins.insertDevice(login))
      const deciding = { id: both.id, userId: ada.id, provenAt: null, now }
      yield* comparing(
        both.id,
        "client_logins",
        ["pending", "approved", "refused", "used"],
        {
          approve: logins.approve(deciding),
          refuse: logins.refuse(deciding),
          use: logins.claim(both.id, now),
          revoke
        },
        (state, isOver) => `${text(state, isOver)}, user_id = '${ada.id}'`
      )

      const exports = yield* exportsRepo
      const exported = ExportId.make(both.id)
      yield* transaction(
        exports.insert({
          id: exported,
          orgId: org.id,
          userId: ada.id,
          versions: 0,
          createdBy: ada.email,
          now,
          lifetime: 1
        })
      )
      const stored = "CASE WHEN approved_by IS NULL THEN 'pending' ELSE 'approved' END"
      yield* comparing(
        exported,
        "exports",
        open,
        { approve: exports.approve({ id: exported, by: ada.email }) },
        (state, isOver) => `approved_by = ${state === "pending" ? "NULL" : "'x'"}, expires_at = ${millisOf(isOver)}`,
        stored
      )

      const requests = yield* requestsRepo
      const end = yield* makeRequestEnds
      const id = RequestId.make(both.id)
      const none = {
        delegationId: null,
        reason: null,
        call: null,
        keys: null,
        details: null,
        named: null,
        expiresIn: 60
      }
      yield* transaction(
        requests.insert({
          ...asked,
          ...none,
          id,
          kind: "access",
          actorType: "user",
          permission: "read",
          protectionVersion: 0,
          needed: 1,
          bytes: 0,
          expiresAt: millisOf(false)
        })
      )
      const ending = { id, project: "webshop", env: "prod", actor_name: ada.email }
      const by = systemSource("trash", org.id)
      const early = ["apply", "refuse", "withdraw", "outdate"] as const
      const { expire } = yield* requestExpiry
      yield* comparing(
        id,
        "requests",
        ["pending", "done", "refused", "withdrawn", "expired", "outdated"],
        {
          ...Object.fromEntries(early.map((event) => [event, end(ending, by, event)])),
          expire: Effect.forEach([false, true], (isOver) =>
            expire({ ...ending, org_id: org.id, expires_at: millisOf(isOver) })
          )
        },
        (state, isOver) => `state = '${state}', expires_at = ${millisOf(isOver)}`
      )
    }).pipe(onDatabase())
  )
})

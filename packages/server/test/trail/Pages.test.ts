import { AuditApi } from "@coffer/domain/api/AuditApi"
import type { AuditEntry, AuditPage } from "@coffer/domain/audit/AuditEntry"
import { Access } from "@coffer/server/access/Access"
import { AuditLog } from "@coffer/server/audit/AuditLog"
import type { PageRequest } from "@coffer/server/edges/trail/Trail"
import { Organizations } from "@coffer/server/directory/organizations/Organizations"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import fc from "fast-check"
import { hasty, holds, onEverything } from "../model/Support.js"
import { orgPath, person, transaction } from "../support/Services.js"
import { by, list, listAll, newOrganization, write } from "./Support.js"
import { isSoak, runs } from "../../../domain/test/support/Runs.js"

const actors = ["ada", "bob"]
const actions = ["secret.set", "secret.delete", "acl.grant"] as const
const resources = ["secret", "acl_rule"] as const

const happening = fc.record({
  actor: fc.constantFrom(...actors),
  action: fc.constantFrom(...actions),
  resource_type: fc.constantFrom(...resources)
})
const filter = fc.record(
  {
    actor_id: fc.constantFrom(...actors, "nobody"),
    action: fc.constantFrom(...actions, "org.create"),
    resource_type: fc.constantFrom(...resources, "org")
  },
  { requiredKeys: [] }
)

const fits =
  (request: Readonly<Record<string, unknown>>) =>
  (entry: AuditEntry): boolean =>
    Object.entries(request).every(([name, word]) => entry[name as keyof AuditEntry] === word)

/** Follows the cursor from the newest entry to the oldest, with something done between pages. */
const walk = <E, R>(
  page: (request: PageRequest) => Effect.Effect<AuditPage, E, R>,
  request: PageRequest,
  between: Effect.Effect<void> = Effect.void
) =>
  Effect.gen(function* () {
    const found: Array<AuditEntry> = []
    let after: string | null = null
    do {
      const { data, pagination }: AuditPage = yield* page({ ...request, ...(after !== null && { after }) })
      found.push(...data)
      assert.strictEqual(pagination.has_next, pagination.next_cursor !== null)
      after = pagination.next_cursor
      yield* between
    } while (after !== null)
    return found
  })

const seqs = (entries: ReadonlyArray<AuditEntry>) => entries.map(({ seq }) => seq)

describe("a page of the audit log", () => {
  it.live("ends before its limit where entries are long, and the next one goes on behind it", () =>
    Effect.gen(function* () {
      yield* hasty
      const acme = yield* newOrganization("acme")
      const audit = yield* AuditLog
      const source = { actor: { type: "user", id: "ada", name: "ada" }, orgId: acme.id } as const
      const event = { action: "secret.read", resource_type: "env", resource_id: "prod" } as const
      for (let n = 2; n <= 100; n++) {
        yield* audit.seen(source, { ...event, metadata: { keys: "x".repeat(60_000) } })
        if (n % 10 === 0) yield* audit.flush
      }
      const first = yield* list(acme, { limit: 100 })
      assert.isBelow(first.data.length, 80)
      assert.isAbove(first.data.length, 60)
      assert.deepInclude(first.pagination, { total: 100, limit: 100, has_next: true })
      const all = yield* walk((request) => list(acme, request), { limit: 100 })
      assert.deepStrictEqual(
        seqs(all),
        Array.from({ length: 100 }, (_, n) => 100 - n)
      )
    }).pipe(onEverything)
  )

  it.live("shows the newest first, by seq, twenty unless told, and its last has no cursor", () =>
    Effect.gen(function* () {
      yield* hasty
      const acme = yield* newOrganization("acme")
      for (let n = 2; n <= 45; n++) yield* write(acme.id, { n })
      const first = yield* list(acme)
      assert.deepStrictEqual(
        seqs(first.data),
        Array.from({ length: 20 }, (_, n) => 45 - n)
      )
      assert.deepInclude(first.pagination, { total: 45, limit: 20, has_next: true })
      const second = yield* list(acme, { limit: 25, after: first.pagination.next_cursor! })
      assert.deepStrictEqual(
        seqs(second.data),
        Array.from({ length: 25 }, (_, n) => 25 - n)
      )
      assert.deepStrictEqual(second.pagination, { total: 45, limit: 25, has_next: false, next_cursor: null })
      const one = yield* list(acme, { limit: 1 })
      assert.deepStrictEqual(seqs(one.data), [45])
      const all = yield* list(acme, { limit: 100 })
      assert.deepStrictEqual(all.pagination, { total: 45, limit: 100, has_next: false, next_cursor: null })
      assert.strictEqual(all.data.at(-1)!.action, "org.create")
    }).pipe(onEverything)
  )

  it("takes a limit from 1 to 100, whole, and a cursor that a page gave", () => {
    const decode = Schema.decodeUnknownEither(
      Option.getOrThrow(AuditApi.endpoints["list"]!.urlParamsSchema as Option.Option<never>)
    )
    for (const limit of ["1", "20", "100"]) assert.strictEqual(decode({ limit })._tag, "Right", limit)
    for (const limit of ["0", "101", "-1", "1.5", "", "ten", "1e1"])
      assert.strictEqual(decode({ limit })._tag, "Left", limit)
    for (const after of ["", "0", "s0", "s-1", "g5", "x", "g1.5"])
      assert.strictEqual(decode({ after })._tag, "Left", after)
  })

  it("of all logs takes only a cursor of all logs, and with an org_id only a cursor of one log", () => {
    const decode = Schema.decodeUnknownEither(
      Option.getOrThrow(AuditApi.endpoints["listAll"]!.urlParamsSchema as Option.Option<never>)
    )
    const org_id = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"
    for (const [query, taken] of [
      [{ after: "g5" }, "Right"],
      [{ after: "s5" }, "Left"],
      [{ org_id, after: "s5" }, "Right"],
      [{ org_id, after: "g5" }, "Left"]
    ] as const) {
      assert.strictEqual(decode(query)._tag, taken, JSON.stringify(query))
    }
  })

  it.live(
    "of random filters and limits: the cursor walks exactly what fits, and total is its count",
    () =>
      Effect.gen(function* () {
        yield* hasty
        let begun = 0
        const property = ({
          happenings,
          limit,
          request
        }: {
          happenings: ReadonlyArray<object>
          limit: number
          request: object
        }) =>
          Effect.gen(function* () {
            const acme = yield* newOrganization(`acme-${++begun}`)
            const other = yield* newOrganization(`other-${begun}`)
            for (const [n, one] of happenings.entries()) {
              yield* write(acme.id, { ...one, n })
              if (n % 2 === 0) yield* write(other.id, { ...one, n })
            }
            const everything = yield* walk((page) => list(acme, page), { limit: 100 })
            assert.deepStrictEqual(
              seqs(everything),
              Array.from({ length: happenings.length + 1 }, (_, n) => happenings.length + 1 - n)
            )
            assert.isTrue(everything.every(({ org_id }) => org_id === acme.id))
            const wanted = everything.filter(fits({ ...request }))
            assert.deepStrictEqual(yield* walk((page) => list(acme, page), { ...request, limit }), wanted)
            assert.strictEqual((yield* list(acme, request)).pagination.total, wanted.length)
            const asRoot = yield* walk((page) => listAll(page, acme.id), { ...request, limit })
            assert.deepStrictEqual(asRoot, wanted)
          })
        yield* holds(
          fc.record({
            happenings: fc.array(happening, { maxLength: 25 }),
            limit: fc.integer({ min: 1, max: 7 }),
            request: filter
          }),
          property,
          { numRuns: runs(20) }
        )
      }).pipe(onEverything),
    isSoak ? 600_000 : 300_000
  )

  it.live("walks what was there exactly once while new entries keep arriving", () =>
    Effect.gen(function* () {
      yield* hasty
      const acme = yield* newOrganization("acme")
      const other = yield* newOrganization("other")
      for (let n = 0; n < 40; n++) yield* write(n % 3 === 0 ? other.id : acme.id, { n })
      const arriving = Effect.zipRight(write(acme.id, { n: 99 }), write(other.id)).pipe(
        Effect.provide(yield* Effect.context<Effect.Effect.Context<ReturnType<typeof write>>>())
      )
      const before = yield* list(acme, { limit: 100 })
      const walked = yield* walk((page) => list(acme, page), { limit: 3 }, arriving)
      assert.deepStrictEqual(walked, [...before.data])
      const all = yield* walk((page) => listAll(page), { limit: 100 })
      assert.deepStrictEqual(yield* walk((page) => listAll(page), { limit: 7 }, arriving), all)
      assert.strictEqual(new Set(all.map(({ id }) => id)).size, all.length)
    }).pipe(onEverything)
  )
})

describe("a superadmin's audit log", () => {
  it.live("shows every organization's entries in the order of commit, removed ones' and the system's too", () =>
    Effect.gen(function* () {
      const acme = yield* newOrganization("acme")
      const gone = yield* newOrganization("gone")
      yield* write(null, { action: "auth.login", resource_type: "user" })
      const place = yield* (yield* Access).org(orgPath("gone"), "org.delete").pipe(by(gone.actor))
      yield* transaction((yield* Organizations).remove(place))
      yield* write(acme.id)
      const told = (entries: ReadonlyArray<AuditEntry>) =>
        entries.map(
          ({ action, org_id }) => `${org_id === null ? "system" : org_id === acme.id ? "acme" : "gone"} ${action}`
        )
      const page = yield* listAll()
      assert.deepStrictEqual(told(page.data), [
        "acme secret.set",
        "gone org.delete",
        "system auth.login",
        "gone org.create",
        "acme org.create"
      ])
      assert.strictEqual(page.pagination.total, 5)
      const ofGone = yield* listAll({}, gone.id)
      assert.deepStrictEqual(told(ofGone.data), ["gone org.delete", "gone org.create"])
      assert.strictEqual(ofGone.pagination.total, 2)
      assert.strictEqual((yield* listAll({ action: "auth.login" })).pagination.total, 1)
      assert.strictEqual((yield* Effect.flip(list(gone)))._tag, "NotFound")
    }).pipe(onEverything)
  )

  it.live("is refused to everyone else, and the refusal is in the system's log", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const refused = yield* Effect.flip(by(yield* person("ada@example.com"))(access.serverPlace("audit.read")))
      assert.strictEqual(refused._tag, "Forbidden")
      yield* (yield* AuditLog).flush
      const [entry] = (yield* listAll()).data
      assert.deepInclude(entry, { action: "access.denied", actor_name: "ada@example.com", org_id: null })
    }).pipe(onEverything)
  )
})

import type { UserActor } from "@coffer/domain/access/Actor"
import { AuditIndex } from "@coffer/server/audit/AuditIndex"
import { cursorOf } from "@coffer/domain/audit/AuditCursor"
import { CurrentCaller } from "@coffer/domain/access/Actor"
import { OrgId, WebhookDeliveryId, WebhookId } from "@coffer/domain/base/Ids"
import { Access } from "@coffer/server/access/Access"
import { makeRecentUses } from "@coffer/server/audit/RecentUses"
import { makeApprovers } from "@coffer/server/access/gate/Approvers"
import { type PageRequest, Trail } from "@coffer/server/edges/trail/Trail"
import { Mailer } from "@coffer/server/base/mail/Mailer"
import { Database, Transaction } from "@coffer/server/database/Database"
import { orgScope } from "@coffer/server/database/Scopes"
import { makeDepartures } from "@coffer/server/directory/members/Departures"
import { overviewRepo } from "@coffer/server/secrets/overview/Repo"
import { environmentExpiry, environmentNotice } from "@coffer/server/secrets/environments/EnvironmentExpiry"
import { ruleExpiry } from "@coffer/server/directory/acl/RuleExpiry"
import { projectHistoryRepo } from "@coffer/server/secrets/project-history/Repo"
import { KeySearch } from "@coffer/server/secrets/key-search/KeySearch"
import { RemovedSecrets } from "@coffer/server/secrets/services/RemovedSecrets"
import { Revisions } from "@coffer/server/secrets/services/Revisions"
import { UserDirectory } from "@coffer/server/directory/users/UserDirectory"
import { uuidV7 } from "@coffer/server/base/Uuid"
import { deliveriesRepo } from "@coffer/server/edges/webhooks/DeliveriesRepo"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { envPath, freshPath, orgPath, person, raw } from "../support/Services.js"
import { driver, people } from "./Driver.js"
import type { Account, Key, Org, User } from "./Model.js"
import { everythingAt, setSuperadmin } from "./Support.js"

interface Seen {
  readonly statement: string
  readonly parameters: ReadonlyArray<unknown>
  rows: number
}

const path = { org: "acme", project: "web", env: "prod" }

/** Runs calls with a reader that notes the statements it is given, and answers their plans as SQLite tells them. */
const onWatchedFile = <A, E, R>(
  test: (
    plans: <B, E2, R2>(call: Effect.Effect<B, E2, R2>) => Effect.Effect<ReadonlyArray<Plan>, E2, R2>
  ) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const seen: Array<Seen> = []
    const Watched = Layer.effect(
      Database,
      Effect.map(Database, (database) => {
        const { reading } = database
        const watched =
          (name: "execute" | "executeUnprepared"): typeof reading.execute =>
          (statement, parameters, transform) => {
            const one: Seen = { statement, parameters, rows: 0 }
            seen.push(one)
            return Effect.tap(reading[name](statement, parameters, transform), ({ length }) => void (one.rows = length))
          }
        return {
          ...database,
          reading: { ...reading, execute: watched("execute"), executeUnprepared: watched("executeUnprepared") }
        }
      })
    )
    const file = yield* freshPath
    return yield* Effect.gen(function* () {
      const db = yield* raw
      return yield* test((call) =>
        Effect.map(
          Effect.zipRight(
            Effect.sync(() => seen.splice(0)),
            call
          ),
          () =>
            seen.splice(0).map(({ parameters, rows, statement }) => ({
              statement,
              rows,
              steps: db
                .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${statement}`)
                .all(...parameters)
                .map(({ detail }) => detail)
            }))
        )
      )
    }).pipe(Effect.scoped, Effect.provide(everythingAt(file, Watched)))
  }).pipe(Effect.scoped)

interface Plan {
  readonly statement: string
  /** How many rows the statement returned. */
  readonly rows: number
  readonly steps: ReadonlyArray<string>
}

/** A person's groups are merged: at most 200 that the person was put into, and 200 that a login brought. */
const merging = ["MERGE (UNION)", "USE TEMP B-TREE FOR ORDER BY", "SCAN mine"]

const withoutMerging = (steps: ReadonlyArray<string>): ReadonlyArray<string> =>
  steps.includes("MERGE (UNION)") ? steps.filter((step) => !merging.includes(step)) : steps

/** That each step of a plan searches by an index, and none sorts but the merge of a person's groups. */
const assertSearches = ({ statement, steps: all }: Plan) => {
  const steps = withoutMerging(all)
  const slow = steps.filter((step) => /^SCAN (?!CONSTANT ROW|\w+ VIRTUAL TABLE)|TEMP B-TREE|AUTOMATIC/.test(step))
  assert.deepStrictEqual(slow, [], `${statement}\n${steps.join("\n")}`)
}

/** That entries are found by numbers that are given, or in a run of one kind: none is looked at that does not fit. */
const assertPage = ({ steps }: Plan) => {
  const entries = steps.filter((step) => /^(SEARCH|SCAN) (audit_entries|[ef])\b/.test(step))
  const run = /^SEARCH e USING PRIMARY KEY \(run=\?/
  for (const step of entries) assert.isTrue(/\(rowid(=|<)\?\)$/.test(step) || run.test(step), step)
  // The runs of the page are at most as many as its entries.
  assert.deepStrictEqual(
    steps.filter((step) => /^SCAN (?!k$)|AUTOMATIC/.test(step)),
    []
  )
}

/**
 * A page is read as positions, then as the entries there, a few at a time; last comes how many there are in all. Before a page
 * with filters, the search index is compared with the heads, and a number is looked up in the log that the page is to follow.
 */
const partsOf = (all: ReadonlyArray<Plan>) => {
  // How many entries left for archives: a row for each log.
  const plans = all.filter(({ statement }) => !/FROM audit_starts(?: WHERE log = \?)?$/.test(statement))
  const index = plans.filter(({ statement }) =>
    /audit_indexed|SELECT position FROM audit_entries WHERE log/.test(statement)
  )
  const [page, ...rest] = plans.slice(index.length)
  return { index, page, entries: rest.slice(0, -1), total: rest.at(-1) }
}

const scene = Effect.gen(function* () {
  const persons = yield* people(3)
  const service = yield* driver(persons)
  const users = persons.map((_, n): User => ({ type: "user", n, superadmin: false })) as [User, User, User]
  const [ada, bob] = users
  yield* service.createOrg(ada, "acme")
  yield* service.createProject(ada, "acme", "web")
  yield* service.setSecret(ada, path, "A", "one")
  yield* service.invite(ada, "acme", bob, "developer")
  const org: Org = { name: "acme", alive: true, members: [], projects: [] }
  const account: Account = { type: "account", org, name: "ci", project: null, reveal: true, alive: true }
  const key: Key = { account, good: true }
  service.keepAccount(
    account,
    key,
    yield* service.createAccount(ada, "acme", { name: "ci", project: undefined, reveal: true })
  )
  for (const subject of [bob, account]) {
    yield* service.grant(ada, "acme", { subject, project: "*", env: "*", level: "write" })
  }
  yield* (yield* AuditIndex).catchUpAll
  return { service, users, key, persons }
})

describe("a statement's plan", () => {
  it.live("finds a decision's place and the subject's own rules by index, whatever rules others have", () =>
    onWatchedFile((plans) =>
      Effect.gen(function* () {
        const { key, service, users } = yield* scene
        for (const caller of [users[1], key]) {
          const [actor, place, ...rest] = yield* plans(service.reaches(caller, path, "write"))
          assert.strictEqual(rest.length, 0)
          for (const plan of [actor!, place!]) assertSearches(plan)
          const parts = /^(SEARCH|CORRELATED SCALAR SUBQUERY|CO-ROUTINE) |^(LEFT|RIGHT)$/
          assert.isTrue(withoutMerging(actor!.steps).every((step) => parts.test(step)))
          const rules = place!.steps.filter((step) => step.includes("SEARCH r "))
          // Their own, and those of their groups.
          assert.deepStrictEqual(
            rules,
            Array(2).fill("SEARCH r USING INDEX acl_rules_live (subject_id=? AND org_id=?)")
          )
          const groups = place!.steps.filter((step) => /SEARCH (?:gm|lg|gx|pg) /.test(step))
          assert.deepStrictEqual(groups, [
            "SEARCH gm USING PRIMARY KEY (user_id=? AND org_id=?)",
            "SEARCH lg USING PRIMARY KEY (user_id=? AND org_id=?)",
            "SEARCH gx USING COVERING INDEX group_mappings_by_name (provider_group=? AND org_id=?)",
            "SEARCH pg EXISTS USING PRIMARY KEY (user_id=? AND provider_group=?)"
          ])
          assert.strictEqual(place!.steps.length, 18)
        }
      })
    )
  )

  it.live("finds the rules that have ended by their end", () =>
    onWatchedFile((plans) =>
      Effect.gen(function* () {
        yield* scene
        const { run } = yield* ruleExpiry
        const { transaction } = yield* Database
        const [ended, ...rest] = yield* plans(run(transaction))
        assert.deepStrictEqual(rest, [])
        assert.match(ended!.steps.join(), /SEARCH acl_rules USING INDEX acl_rules_ending \(expires_at/)
        assert.notInclude(ended!.steps.join(), "TEMP B-TREE")
      })
    )
  )

  it.live("finds the environments that end by index, and nothing else", () =>
    onWatchedFile((plans) =>
      Effect.gen(function* () {
        yield* scene
        const [notice, expiry] = yield* Effect.all([environmentNotice, environmentExpiry])
        const { transaction } = yield* Database
        const found = yield* plans(Effect.zipRight(notice.run(transaction), expiry.run(transaction)))
        assert.strictEqual(found.length, 2)
        for (const { steps } of found) {
          assert.match(steps.join(), /SEARCH environments USING INDEX environments_ending \(expires_at/)
          assert.notInclude(steps.join(), "TEMP B-TREE")
        }
      })
    )
  )

  it.live("reads a secret and a list in three statements, and those and a bundle by index", () =>
    onWatchedFile((plans) =>
      Effect.gen(function* () {
        const { key, service } = yield* scene
        const read = yield* plans(service.readSecret(key, path, "A"))
        const list = yield* plans(service.listSecrets(key, path))
        const bundle = yield* plans(service.readAll(key, path))
        assert.deepStrictEqual([read.length, list.length], [3, 3])
        for (const plan of [...read, ...list, ...bundle]) assertSearches(plan)
      })
    )
  )

  it.live("finds the deliveries of webhooks by index, whatever was delivered and whatever waits", () =>
    onWatchedFile((plans) =>
      Effect.gen(function* () {
        const repo = yield* deliveriesRepo
        const [webhookId, id] = [WebhookId.make(yield* uuidV7), WebhookDeliveryId.make(yield* uuidV7)]
        const now = "2026"
        const calls = [
          repo.oldest({}),
          repo.dueWebhooks({ now }),
          repo.due({ webhookId, now, limit: 4 }),
          repo.toSend({ id, now }),
          repo.pending({ webhookId }),
          repo.inLane({ webhookId, lane: "web/prod" })
        ]
        const found = yield* plans(Effect.all(calls, { discard: true }))
        assert.deepStrictEqual(
          found.map(({ steps }) => steps.find((step) => /SEARCH (?:d|webhook_deliveries) /.test(step))),
          [
            "SEARCH d USING INDEX webhook_deliveries_due (next_at>?)",
            "SEARCH d USING INDEX webhook_deliveries_due (next_at<?)",
            "SEARCH d USING INDEX webhook_deliveries_next (webhook_id=? AND next_at<?)",
            "SEARCH d USING INDEX sqlite_autoindex_webhook_deliveries_1 (id=?)",
            "SEARCH webhook_deliveries USING COVERING INDEX webhook_deliveries_in_lane (webhook_id=?)",
            "SEARCH webhook_deliveries USING INDEX webhook_deliveries_in_lane (webhook_id=? AND lane=?)"
          ]
        )
      })
    )
  )

  it.live("pages through the revisions of an environment in the order of an index, and reads no others", () =>
    onWatchedFile((plans) =>
      Effect.gen(function* () {
        const { service, users } = yield* scene
        for (const value of ["two", "three"]) yield* service.setSecret(users[0], path, "A", value)
        const actor = yield* person("user-0@example.com")
        const place = yield* Effect.flatMap(Access, (access) => access.env(envPath("prod", "web"), "secret.list")).pipe(
          Effect.provideService(CurrentCaller, { actor })
        )
        const { list } = yield* Effect.provide(Revisions, Revisions.Default)
        const pages = [
          [{}, 3],
          [{ limit: 2 }, 2],
          [{ limit: 1, before: 3 }, 1],
          [{ before: 1 }, 0]
        ] as const
        for (const [page, revisions] of pages) {
          const [plan, notes, approvals, ...rest] = yield* plans(list(place, page))
          assert.strictEqual(rest.length, 0)
          for (const more of [notes, approvals]) if (more !== undefined) assertSearches(more)
          assert.strictEqual(approvals === undefined, revisions === 0)
          assert.strictEqual(plan!.rows, revisions)
          // The numbers of the page's revisions, each found by index.
          assertSearches({ ...plan!, steps: plan!.steps.filter((step) => step !== "SCAN page") })
          assert.include(
            plan!.steps,
            "SEARCH secret_changes USING PRIMARY KEY (env_id=? AND revision>? AND revision<?)"
          )
        }
      })
    )
  )

  it.live("finds keys in ranges of an index, and the environments to search in the order of names", () =>
    onWatchedFile((plans) =>
      Effect.gen(function* () {
        yield* scene
        const actor = yield* person("user-0@example.com")
        const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "key.find")).pipe(
          Effect.provideService(CurrentCaller, { actor })
        )
        const { find } = yield* Effect.provide(KeySearch, KeySearch.Default)
        const [places, prefixes, again, parts, ...rest] = yield* plans(find(place, { query: "A" }))
        assert.lengthOf(rest, 0)
        for (const plan of [places!, again!]) assertSearches(plan)
        assert.include(places!.steps.join(), "projects_live (org_id=? AND name>?)")
        for (const plan of [prefixes!, parts!]) {
          // The rows of a range are a page at most.
          assertSearches({ ...plan, steps: plan.steps.filter((step) => !/^SCAN range_\d+$/.test(step)) })
          const ranges = plan.steps.filter((step) => / s USING /.test(step))
          assert.deepStrictEqual(
            [...new Set(ranges)],
            ["SEARCH s USING INDEX secrets_live (env_id=? AND key>? AND key<?)"]
          )
        }
      })
    )
  )

  it.live("steps through removed keys by an index, however often each was removed", () =>
    onWatchedFile((plans) =>
      Effect.gen(function* () {
        yield* scene
        const actor = yield* person("user-0@example.com")
        const place = yield* Effect.flatMap(Access, (access) => access.env(envPath("prod", "web"), "secret.list")).pipe(
          Effect.provideService(CurrentCaller, { actor })
        )
        const { list } = yield* Effect.provide(RemovedSecrets, RemovedSecrets.Default)
        const [plan, ...rest] = yield* plans(list(place, {}))
        assert.lengthOf(rest, 0)
        // The keys of a page are gone through, and sorted.
        const steps = plan!.steps.filter((step) => !/^SCAN (?:keys|k)$|FOR ORDER BY$/.test(step))
        assertSearches({ ...plan!, steps })
        assert.include(plan!.steps.join(), "secrets_removed (env_id=? AND key>?)")
      })
    )
  )

  it.live("merges the revisions of a project by an index of each environment", () =>
    onWatchedFile((plans) =>
      Effect.gen(function* () {
        yield* scene
        const repo = yield* projectHistoryRepo
        const reads = Effect.zip(
          repo.heads({ envId: "e", before: 9, limit: 10 }),
          repo.keys({ envId: "e", revision: 1 })
        )
        const [heads, keys] = yield* plans(reads)
        // The revisions of a page are gone through, and sorted.
        const steps = heads!.steps.filter((step) => !/^SCAN (?:heads|h)$|FOR ORDER BY$/.test(step))
        for (const plan of [{ ...heads!, steps }, keys!]) {
          assertSearches(plan)
          const searches = plan.steps.filter((step) => step.startsWith("SEARCH "))
          assert.isTrue(
            searches.every((step) => / USING PRIMARY KEY \(env_id=\? AND revision[=<]\?/.test(step)),
            searches.join()
          )
        }
      })
    )
  )

  it.live("finds what was used lately by the names of places, without the entries of the log", () =>
    onWatchedFile((plans) =>
      Effect.gen(function* () {
        yield* scene
        const recent = yield* makeRecentUses
        const window = yield* recent.window("log")
        const places = [
          { project: "web", env: "prod" },
          { project: "web", env: "dev" }
        ]
        const [uses] = yield* plans(recent.at(window, places))
        assert.deepStrictEqual(
          uses!.steps.filter((step) => step.startsWith("SEARCH ")),
          [
            "SEARCH p USING COVERING INDEX sqlite_autoindex_audit_places_1 (log=? AND project=? AND env=? AND keys=? AND actor_name=?)",
            "SEARCH k USING COVERING INDEX sqlite_autoindex_audit_place_counters_1 (place=?)",
            "SEARCH e USING PRIMARY KEY (run=? AND position>?)"
          ]
        )
      })
    )
  )

  it.live("reads the overview in the order of names, and the last change of each environment by index", () =>
    onWatchedFile((plans) =>
      Effect.gen(function* () {
        yield* scene
        const repo = yield* overviewRepo
        const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "project.list")).pipe(
          Effect.provideService(CurrentCaller, { actor: yield* person("user-0@example.com") })
        )
        const of = { orgId: place.org.id, onlyId: null, limit: 200 }
        const reads = Effect.all([
          repo.count(of),
          repo.projects({ ...of, after: "" }),
          repo.environments({ ...of, project: "web", env: "", last: "web" }),
          repo.failingWebhooks(of)
        ])
        const [count, projects, environments, webhooks, ...rest] = yield* plans(reads)
        assert.lengthOf(rest, 0)
        for (const plan of [count!, projects!, environments!, webhooks!]) assertSearches(plan)
        assert.include(webhooks!.steps, "SEARCH d USING INDEX webhook_deliveries_next (webhook_id=? AND next_at>?)")
        assert.deepStrictEqual(environments!.steps, [
          "SEARCH p USING INDEX projects_live (org_id=? AND name>? AND name<?)",
          "SEARCH e USING INDEX environments_live (project_id=?)",
          "SEARCH c USING PRIMARY KEY (env_id=? AND revision=? AND key=?) LEFT-JOIN",
          "CORRELATED SCALAR SUBQUERY 1",
          "SEARCH secret_changes USING PRIMARY KEY (env_id=? AND revision=?)"
        ])
      })
    )
  )

  it.live("finds who may decide a request in the order of members, and the rules of each by index", () =>
    onWatchedFile((plans) =>
      Effect.gen(function* () {
        yield* scene
        const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "approval.list")).pipe(
          Effect.provideService(CurrentCaller, { actor: yield* person("user-0@example.com") })
        )
        const decidersOf = yield* makeApprovers
        const names = { org: path.org, project: path.project, env: path.env }
        const [members, ...rest] = yield* plans(decidersOf("approval.decide", place.org.id, names))
        assert.lengthOf(rest, 0)
        assertSearches(members!)
        const searches = members!.steps.filter((step) => step.startsWith("SEARCH "))
        assert.include(searches, "SEARCH m USING INDEX members_live (org_id=? AND user_id>?)")
        assert.include(searches, "SEARCH r USING INDEX acl_rules_live (subject_id=? AND org_id=?)")
      })
    )
  )

  it.live("finds the votes that end with a membership by the requests that wait, however many were decided", () =>
    onWatchedFile(() =>
      Effect.gen(function* () {
        const { change } = yield* Database
        const { endSome } = yield* makeDepartures
        const db = yield* raw
        const [orgId, subjectId] = [OrgId.make(yield* uuidV7), yield* uuidV7]
        const asked: Array<readonly [text: string, values: ReadonlyArray<unknown>]> = []
        const ended = Effect.flatMap(Transaction, ([open]) => {
          const { ask } = open
          Object.assign(open, {
            ask: (...statement: Parameters<typeof ask>) => {
              asked.push(statement)
              return ask(...statement)
            }
          })
          return endSome({ orgId, subjectId })
        })
        yield* change([orgScope(orgId)], ended)
        const votes = asked.filter(([text]) => text.includes("DELETE FROM request_votes"))
        assert.lengthOf(votes, 1)
        for (const [text, values] of votes) {
          const plan = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`).all(...values)
          const found = plan.map(({ detail }) => detail).filter((detail) => /^(?:SEARCH|SCAN) [rv]\b/.test(detail))
          assert.deepStrictEqual(found, [
            "SEARCH r USING COVERING INDEX requests_waiting (org_id=?)",
            "SEARCH v USING PRIMARY KEY (request_id=? AND user_id=?)"
          ])
        }
      })
    )
  )

  it.live("pages through access rules, service accounts and users in the order of an index", () =>
    onWatchedFile((plans) =>
      Effect.gen(function* () {
        const { persons, service, users } = yield* scene
        const [ada] = users
        // The decision's own statements are held above.
        const last = (all: ReadonlyArray<Plan>) => all.at(-1)!
        const rules = last(yield* plans(service.listRules(ada, "acme")))
        const accounts = last(yield* plans(service.listAccounts(ada, "acme")))
        for (const plan of [rules, accounts]) assertSearches(plan)
        assert.include(rules.steps.join(), "acl_rules_by_org (org_id=? AND id>?)")
        assert.include(accounts.steps.join(), "service_accounts_live (org_id=? AND name>?)")

        yield* setSuperadmin(persons[2]!.id, true)
        const actor: UserActor = { ...(yield* person("user-2@example.com")), superadmin: true }
        const serverPlace = yield* Effect.flatMap(Access, (access) => access.serverPlace("user.list")).pipe(
          Effect.provideService(CurrentCaller, { actor })
        )
        const directory = yield* Effect.provide(UserDirectory, Layer.provide(UserDirectory.Default, Mailer.Default))
        const filters = [{}, { email: "user" }, { disabled: "true" }, { email: "user", disabled: "false" }] as const
        for (const filter of filters) {
          const [page, ...rest] = yield* plans(directory.list(serverPlace, filter))
          assert.strictEqual(rest.length, 0)
          // The count covers a hundred rows at most, which are found by index and then scanned.
          assertSearches({ ...page!, steps: page!.steps.filter((step) => step !== "SCAN few") })
          assert.match(page!.steps.join(), /SEARCH u USING INDEX \w+ \(email>\? AND email<\?\)/)
        }
      })
    )
  )

  const filters = { action: "secret.set", actor_id: "someone", resource_type: "secret" }
  const requests = Object.entries(filters)
    .reduce<ReadonlyArray<object>>((all, [name, word]) => all.flatMap((one) => [one, { ...one, [name]: word }]), [{}])
    .flatMap((request): ReadonlyArray<PageRequest> => [request, { ...request, after: cursorOf("one", 5) }])

  const isWhole = ({ after: _after, ...filters }: PageRequest) => Object.keys(filters).length === 0

  it.live("pages through a log in the order of an index, for each filter and combination", () =>
    onWatchedFile((plans) =>
      Effect.gen(function* () {
        yield* scene
        const trail = yield* Trail
        const actor = yield* person("user-0@example.com")
        const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "audit.read")).pipe(
          Effect.provideService(CurrentCaller, { actor })
        )
        assert.strictEqual(requests.length, 16)
        for (const request of requests) {
          const { entries, index, page, total } = partsOf(yield* plans(trail.list(place, request)))
          for (const plan of [...index, ...entries, total!]) assertSearches(plan)
          assert.strictEqual(index.length, isWhole(request) ? 0 : request.after === undefined ? 1 : 2)
          assert.match(total!.steps.join(), /\(log=\?/)
          if (isWhole(request)) assertSearches(page!)
          else assertPage(page!)
        }
        for (const request of [{}, { from_seq: 2 }, { seq: 1, chain: "0".repeat(64) }]) {
          const verify = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "audit.verify")).pipe(
            Effect.provideService(CurrentCaller, { actor })
          )
          for (const plan of yield* plans(trail.verify(verify, request))) assertSearches(plan)
        }
      })
    )
  )

  it.live("reads the names that an unknown actor is compared with in the order of an index", () =>
    onWatchedFile((plans) =>
      Effect.gen(function* () {
        const { persons } = yield* scene
        const trail = yield* Trail
        yield* setSuperadmin(persons[2]!.id, true)
        const actor: UserActor = { ...(yield* person("user-2@example.com")), superadmin: true }
        const serverPlace = yield* Effect.flatMap(Access, (access) => access.serverPlace("audit.read")).pipe(
          Effect.provideService(CurrentCaller, { actor })
        )
        const org = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "audit.read")).pipe(
          Effect.provideService(CurrentCaller, { actor })
        )
        const request = { actor: "user-00@example.com" }
        for (const call of [trail.listAll(serverPlace, undefined, request), trail.list(org, request)]) {
          const names = (yield* plans(Effect.flip(call))).slice(-3)
          assert.isTrue(names.every(({ statement }) => statement.includes("AS cursor")))
          for (const plan of names) assertSearches(plan)
        }
      })
    )
  )

  it.live("pages through all logs in the order of an index, and never walks the entries or the counters", () =>
    onWatchedFile((plans) =>
      Effect.gen(function* () {
        const { persons } = yield* scene
        const trail = yield* Trail
        yield* setSuperadmin(persons[2]!.id, true)
        const actor: UserActor = { ...(yield* person("user-2@example.com")), superadmin: true }
        const serverPlace = yield* Effect.flatMap(Access, (access) => access.serverPlace("audit.read")).pipe(
          Effect.provideService(CurrentCaller, { actor })
        )
        for (const request of requests) {
          const { entries, page, total } = partsOf(yield* plans(trail.listAll(serverPlace, undefined, request)))
          for (const plan of entries) assertSearches(plan)
          // Without a filter the newest are read off the end of the table itself, which is in the order of position.
          if (request.after === undefined && isWhole(request)) {
            assert.deepStrictEqual([...page!.steps], ["SCAN e"])
          } else {
            assertPage(page!)
          }
          if (isWhole(request)) assert.deepStrictEqual([...total!.steps], ["SCAN audit_heads"])
          else assertSearches(total!)
          assert.notInclude(total!.steps.join(), "audit_entries")
        }
      })
    )
  )
})

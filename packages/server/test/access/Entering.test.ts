import type { Actor, Delegated, UserActor } from "@coffer/domain/access/Actor"
import { CurrentCaller } from "@coffer/domain/access/Actor"
import { DelegationId, EnvId, ProjectId, RemovedId, RequestId } from "@coffer/domain/base/Ids"
import { EnvName, OrgName, SecretKey } from "@coffer/domain/base/Names"
import { Access, denied, type EnvPlace, type Place, sourceOf } from "@coffer/server/access/Access"
import { Requester } from "@coffer/server/access/caller/Requester"
import { ChangeMode, type GateDecision, type RequestedChange } from "@coffer/server/access/gate/GateDecision"
import { VotesMissing } from "@coffer/server/access/gate/VotesMissing"
import { freedNamesRepo, type NamedPlace } from "@coffer/server/access/place/FreedNames"
import { AuditLog } from "@coffer/server/audit/AuditLog"
import { RequestInfo } from "@coffer/server/base/RequestInfo"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { authenticate, session } from "../model/Support.js"
import { protect } from "../support/Protecting.js"
import {
  account,
  asActor,
  entries,
  envPath,
  grant,
  member,
  newProject,
  onDatabase,
  organization,
  orgPath,
  person,
  projectPath,
  transaction,
  uuid
} from "../support/Services.js"

/** How a step ends: "done", or its error's tag and message. */
const said = <A, E extends { readonly _tag: string; readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.match(effect, { onSuccess: () => "done", onFailure: ({ _tag, message }) => `${_tag}: ${message}` })

const inMode = (mode: GateDecision) => Effect.provideService(ChangeMode, mode)
const dryRun: GateDecision = { kind: "dryRun" }
const glass: GateDecision = { kind: "breakGlass", reason: "INC-12" }
const requested = (envId: EnvId, approval: RequestedChange["approval"]): RequestedChange => ({
  ...{ kind: "requested", envId, approval },
  record: { entered: false, affected: [], revision: null }
})

const scene = Effect.gen(function* () {
  const ada = yield* organization()
  const dev = yield* member("dev@example.com", "developer")
  yield* grant(dev, "write", { env: "{prod,pr-*}" })
  const root = yield* person("root@example.com", { superadmin: true })
  const access = yield* Access
  const prod = yield* access.right(envPath(), "secret.list").pipe(asActor(ada))
  return { access, ada, dev, prod, root, sql: yield* SqlClient.SqlClient }
})

const delegated = (actor: UserActor, { env, org, project }: Place<"secret.list">): UserActor => {
  const delegation: Delegated = {
    ...{ id: DelegationId.make(uuid()), name: "agent", org, places: [{ project, env }] },
    ...{ permission: "write", reveal: true, keys: null, ofSuperadmin: false, isConnected: false },
    ...{ createdAt: "2026-01-01T00:00:00.000Z", expiresAt: "2999-01-01T00:00:00.000Z" }
  }
  return { ...actor, delegation }
}

/** The entries that came since `before`, in what they say of a refusal. */
const refusalsSince = (before: number) =>
  Effect.map(entries(), (all) =>
    all.slice(before).map(({ action, actor, metadata, resource }) => [action, actor, resource, metadata])
  )

describe("the source of an entry", () => {
  it.effect("names the place as far as it was entered, the right, and the votes of a change", () =>
    Effect.gen(function* () {
      const { access, ada, prod } = yield* scene
      const actor = { type: "user" as const, id: ada.id, name: ada.email }
      const at = { actor, orgId: prod.org.id }
      assert.deepStrictEqual(sourceOf(yield* asActor(ada)(access.org(orgPath(), "org.read"))), { ...at, via: "role" })
      assert.deepStrictEqual(sourceOf(yield* asActor(ada)(access.project(projectPath(), "env.list"))), {
        ...{ ...at, project: "webshop", via: "role" }
      })
      const inEnv = { ...at, project: "webshop", env: "prod", via: "role" }
      assert.deepStrictEqual(sourceOf(prod), inEnv)

      yield* protect()
      const approval = { id: RequestId.make(uuid()), by: ["bob@example.com"] }
      for (const [mode, expected] of [
        [dryRun, inEnv],
        [requested(prod.env.id, null), inEnv],
        [requested(prod.env.id, approval), { ...inEnv, approval }]
      ] as const) {
        const place = yield* access.guarded(envPath(), "secret.write").pipe(asActor(ada), inMode(mode))
        assert.strictEqual(place.decision, mode)
        assert.deepStrictEqual(sourceOf(place), expected)
      }
    }).pipe(onDatabase())
  )

  it.effect("is that of a refusal within a place, which is recorded for its organization", () =>
    Effect.gen(function* () {
      const { ada, prod } = yield* scene
      const before = (yield* entries()).length
      assert.strictEqual(yield* said(denied(yield* AuditLog, prod, "not this")), "Forbidden: not this")
      const place = { project: "webshop", env: "prod" }
      assert.deepStrictEqual(yield* refusalsSince(before), [
        ["access.denied", ada.email, ["org", prod.org.id], { ...place, action: "secret.list" }]
      ])
    }).pipe(onDatabase())
  )
})

describe("a refusal to enter a place", () => {
  it.effect("is recorded for what was found, with the names of the path and the action", () =>
    Effect.gen(function* () {
      const { access, dev, prod } = yield* scene
      const key = SecretKey.make("API_KEY")
      const before = (yield* entries()).length
      const caller = { actor: dev }
      for (const [path, action] of [
        [orgPath(), "org.update"],
        [projectPath(), "project.update"],
        [envPath(), "env.extend"],
        [{ ...envPath(), key }, "env.extend"]
      ] as const) {
        assert.match(yield* said(access.check(caller, path, action)), /^Forbidden: /)
      }
      const at = { project: "webshop", env: "prod", action: "env.extend" }
      assert.deepStrictEqual(
        yield* refusalsSince(before),
        [
          [["org", prod.org.id], { action: "org.update" }],
          [["project", prod.project.id], { action: "project.update", project: "webshop" }],
          [["env", prod.env.id], at],
          [["env", prod.env.id], { ...at, key: "API_KEY" }]
        ].map(([resource, metadata]) => ["access.denied", dev.email, resource, metadata])
      )
    }).pipe(onDatabase())
  )
})

describe("a person who is invited", () => {
  const acceptance = (sql: SqlClient.SqlClient, { id }: UserActor) =>
    Effect.map(
      sql<{ accepted_at: string | null }>`SELECT accepted_at FROM members WHERE user_id = ${id}`,
      ([row]) => row?.accepted_at ?? null
    )
  const ahead = Effect.provideService(RequestInfo, {
    ...{ id: "", ip: null, client: null, route: null, actor: null, isPrefetch: true }
  })

  it.effect("accepts by the first allowed call, and by no page reading ahead", () =>
    Effect.gen(function* () {
      const { access, dev, sql } = yield* scene
      yield* sql`UPDATE members SET accepted_at = NULL WHERE user_id = ${dev.id}`
      const list = access.org(orgPath(), "member.list").pipe(asActor(dev))
      assert.strictEqual(yield* said(ahead(list)), "NotFound: organization acme does not exist, or is not yours to see")
      assert.match(yield* said(access.org(orgPath(), "org.update").pipe(asActor(dev))), /^Forbidden/)
      assert.strictEqual(yield* said(access.org(orgPath(), "member.leave").pipe(asActor(dev))), "done")
      assert.isNull(yield* acceptance(sql, dev))
      assert.strictEqual(yield* said(list), "done")
      assert.isNotNull(yield* acceptance(sql, dev))
      assert.strictEqual(yield* said(ahead(list)), "done")
    }).pipe(onDatabase())
  )

  it.effect("does not accept by an agent, by a request, or by a right of the server", () =>
    Effect.gen(function* () {
      const { access, prod, root, sql } = yield* scene
      const stamp = "2026-01-01T00:00:00.000Z"
      const row = { id: uuid(), org_id: prod.org.id, user_id: root.id, role: "member", created_at: stamp }
      yield* sql`INSERT INTO members ${sql.insert({ ...row, updated_at: stamp })}`
      const update = access.org(orgPath(), "org.update")
      assert.strictEqual(yield* said(asActor(root)(update)), "done", "as a superadmin")
      const agent = delegated(root, prod)
      assert.strictEqual(yield* said(asActor(agent)(access.right(envPath(), "secret.list"))), "done")
      const requester = new Requester(root, prod.org.id)
      const asRequester = Effect.provideService(CurrentCaller, requester)
      assert.strictEqual(yield* said(asRequester(access.org(orgPath(), "member.list"))), "done")
      assert.isNull(yield* acceptance(sql, root))
    }).pipe(onDatabase())
  )
})

describe("a right beside the one that was entered by", () => {
  it.effect("is the caller's own, and its lack is no refusal", () =>
    Effect.gen(function* () {
      const { access, ada, dev, prod } = yield* scene
      const before = (yield* entries()).length
      for (const [actor, may] of [
        [ada, true],
        [dev, false]
      ] as const) {
        const place = yield* asActor(actor)(access.org(orgPath(), "member.list"))
        const beside = access.beside(place, "member.invite")
        assert.strictEqual(beside !== null, may, actor.email)
        if (beside !== null) assert.deepStrictEqual([beside.action, beside.org], ["member.invite", prod.org])
      }
      assert.lengthOf(yield* entries(), before)
    }).pipe(onDatabase())
  )
})

describe("a change", () => {
  it.effect("runs at the place that it enters", () =>
    Effect.gen(function* () {
      const { access, ada, prod } = yield* scene
      const caller = yield* authenticate(yield* session(ada.id))
      const changed = access.change(access.org(orgPath(), "org.read"), (place) => Effect.succeed(place.org.id))
      assert.strictEqual(yield* Effect.provideService(changed, CurrentCaller, caller), prod.org.id)
    }).pipe(onDatabase())
  )
})

describe("a change whose path names no organization", () => {
  it.effect("is entered again under the scope of the organization of its place, or of its places", () =>
    Effect.gen(function* () {
      const { access, ada } = yield* scene
      const caller = yield* authenticate(yield* session(ada.id))
      let entered = 0
      const enter = Effect.tap(access.org(orgPath(), "org.read"), () => Effect.sync(() => (entered += 1)))
      const count = () => Effect.succeed(entered)
      for (const changed of [access.change(enter, count), access.change(Effect.all([enter]), count)]) {
        entered = 0
        assert.strictEqual(yield* Effect.provideService(changed, CurrentCaller, caller), 2)
      }
    }).pipe(onDatabase())
  )
})

describe("entering an environment to change it", () => {
  it.effect("needs the right, and nothing else unless the environment is protected", () =>
    Effect.gen(function* () {
      const { access, ada, dev } = yield* scene
      const { decision, env, extent, project } = yield* asActor(dev)(access.guarded(envPath(), "secret.write"))
      assert.deepStrictEqual([decision, env.name, extent, project.name], [null, "prod", null, "webshop"])
      assert.match(yield* said(asActor(dev)(access.guarded(envPath("dev"), "secret.write"))), /^Forbidden/)

      yield* protect()
      const refused = yield* Effect.flip(asActor(ada)(access.guarded(envPath(), "secret.write")))
      assert.instanceOf(refused, VotesMissing)
      assert.include(refused.message, "environment webshop/prod is protected")
      assert.strictEqual(yield* said(asActor(ada)(access.guarded(envPath("dev"), "secret.write"))), "done")
    }).pipe(onDatabase())
  )

  it.effect("by breaking the glass records the person, the action and the place", () =>
    Effect.gen(function* () {
      const { access, ada, prod } = yield* scene
      yield* protect({ break_glass: [ada.email] })
      const before = (yield* entries()).length
      yield* transaction(access.guarded(envPath(), "secret.destroy").pipe(asActor(ada), inMode(glass)))
      yield* transaction(access.admit(prod).pipe(inMode(glass)))
      const facts = { project: "webshop", env: "prod", reason: "INC-12" }
      assert.deepStrictEqual(yield* refusalsSince(before), [
        ["secret.break_glass", ada.email, ["env", prod.env.id], { ...facts, action: "secret.destroy" }],
        ["secret.break_glass", ada.email, ["env", prod.env.id], { ...facts, action: "secret.list" }]
      ])
    }).pipe(onDatabase())
  )

  it.effect("is possible as its preview, for those who write in it alone, and where the call may ask for it", () =>
    Effect.gen(function* () {
      const { access, ada, dev, prod, sql } = yield* scene
      const preview = { id: uuid(), project_id: prod.project.id, name: "pr-1", source_id: prod.env.id }
      const stamps = { created_at: "1970-01-01T00:00:00.000Z", updated_at: "1970-01-01T00:00:00.000Z" }
      yield* sql`INSERT INTO environments ${sql.insert({ ...preview, ...stamps, expires_at: 4_000_000_000_000 })}`
      const terms = { pattern: "pr-*", max: 3, longest: "7d", updated_by: ada.email, updated_at: stamps.updated_at }
      const remove = (actor: Actor, env: string, asked: object | null = {}) =>
        said(asActor(actor)(access.guarded(envPath(env), "env.delete", asked)))
      const needsAdmin = /^Forbidden: this needs .*admin/
      assert.match(yield* remove(dev, "pr-1"), needsAdmin, "the project has no previews")

      yield* sql`INSERT INTO previews ${sql.insert({ ...terms, project_id: prod.project.id, source_id: prod.env.id })}`
      assert.strictEqual(yield* remove(dev, "pr-1"), "done")
      assert.match(yield* remove(dev, "pr-1", null), needsAdmin)
      assert.match(yield* remove(dev, "prod"), needsAdmin)
      const reader = yield* member("reader@example.com", "developer")
      yield* grant(reader, "read")
      assert.match(yield* remove(reader, "pr-1"), needsAdmin)
      // Another action than those of previews needs its right, whatever the call asks for.
      assert.match(
        yield* said(asActor(dev)(access.guarded(envPath("dev"), "secret.write", {}))),
        /^Forbidden: this needs a rule with permission write/
      )
    }).pipe(onDatabase())
  )

  it.effect(
    "to create another one is possible as a preview of its source, with an end, before and after the body is read",
    () =>
      Effect.gen(function* () {
        const { access, ada, dev, prod, sql } = yield* scene
        const terms = { pattern: "pr-*", max: 3, longest: "7d", updated_by: ada.email, updated_at: "" }
        yield* sql`INSERT INTO previews ${sql.insert({ ...terms, project_id: prod.project.id, source_id: prod.env.id })}`
        const asked = (name: string, from: string | undefined, end: number | null) =>
          ({ name: EnvName.make(name), from: from === undefined ? undefined : EnvName.make(from), end }) as const
        const create = (actor: Actor, ...values: Parameters<typeof asked>) =>
          said(asActor(actor)(access.creating(projectPath(), asked(...values))))
        assert.strictEqual(yield* create(dev, "pr-7", "prod", 60_000), "done")
        assert.match(yield* create(dev, "other", "prod", 60_000), /are named pr-\*$/)
        assert.match(yield* create(dev, "pr-7", "dev", 60_000), /is a copy of prod$/)
        assert.match(yield* create(dev, "pr-7", "prod", null), /ends at most 7d from now$/)
        assert.strictEqual(yield* create(ada, "other", undefined, null), "done")

        const caller = new Requester(dev, prod.org.id)
        assert.strictEqual(yield* said(access.check(caller, projectPath(), "env.create")), "done", "not read yet")
        assert.match(yield* said(access.check(caller, projectPath(), "project.delete")), /^Forbidden/)
        assert.strictEqual(yield* said(access.check(caller, envPath(), "secret.write")), "done")
        assert.match(yield* said(access.check(caller, envPath("dev"), "secret.write")), /^Forbidden/)

        const place = yield* asActor(ada)(access.creating(projectPath(), asked("new", undefined, null)))
        const made = access.created(place, { id: EnvId.make(uuid()), name: EnvName.make("new") })
        assert.deepStrictEqual(
          [made.action, made.actor, made.via, made.role, made.org, made.project, made.env.name, made.decision],
          ["secret.write", ada, "role", "owner", prod.org, prod.project, "new", null] as never
        )
      }).pipe(onDatabase())
  )
})

describe("a delegation", () => {
  it.effect("enters its own environment alone: other names are refused, and recorded where it belongs", () =>
    Effect.gen(function* () {
      const { access, dev, prod, sql } = yield* scene
      const agent = delegated(dev, prod)
      const before = (yield* entries()).length
      const reading = (path = envPath()) => said(asActor(agent)(access.env(path, "secret.read")))
      assert.strictEqual(yield* reading(), "done")
      assert.strictEqual(yield* said(asActor(agent)(access.org(orgPath(), "request.create"))), "done")
      const elsewhere = /^Forbidden: the delegation agent is for environment webshop\/prod of organization acme alone$/
      assert.match(yield* reading(envPath("dev")), elsewhere)
      assert.match(yield* said(asActor(agent)(access.org(orgPath("other"), "org.read"))), elsewhere)
      const asked = { ...envPath("dev"), key: "A" }
      assert.match(yield* said(asActor(agent)(access.env(asked as never, "secret.read"))), elsewhere)
      const delegation = { id: agent.delegation?.id, name: "agent" }
      const at = { project: "webshop", env: "prod", delegation }
      assert.deepStrictEqual(
        yield* refusalsSince(before),
        [
          { action: "secret.read", asked: "acme/webshop/dev" },
          { action: "org.read", asked: "other" },
          { action: "secret.read", asked: "acme/webshop/dev/A" }
        ].map((facts) => ["access.denied", dev.email, ["env", prod.env.id], { ...at, ...facts }])
      )

      yield* sql`UPDATE environments SET name = 'before' WHERE id = ${prod.env.id}`
      yield* sql`UPDATE environments SET name = 'prod' WHERE name = 'dev'`
      assert.strictEqual(yield* reading(), "NotFound: environment prod does not exist, or is not yours to see")
    }).pipe(onDatabase())
  )
})

describe("a membership", () => {
  it.effect("is accepted by the person's first own call, unless it is refused, and by no other", () =>
    Effect.gen(function* () {
      const { access, prod, sql } = yield* scene
      const eve = yield* member("eve@example.com", "admin")
      const accepts = (actor: Actor, step: Effect.Effect<unknown, unknown, CurrentCaller>, isOwn = true) =>
        Effect.gen(function* () {
          yield* sql`UPDATE members SET accepted_at = NULL WHERE user_id = ${eve.id}`
          const caller = isOwn ? { actor } : new Requester(actor, prod.org.id)
          yield* Effect.exit(Effect.provideService(step, CurrentCaller, caller))
          const rows = yield* sql`SELECT accepted_at FROM members WHERE user_id = ${eve.id} AND accepted_at IS NOT NULL`
          return rows.length === 1
        })
      const list = access.env(envPath(), "secret.list")
      assert.isTrue(yield* accepts(eve, list))
      assert.isTrue(yield* accepts(eve, access.org(orgPath(), "org.read")))
      assert.isFalse(yield* accepts(eve, access.org(orgPath(), "member.leave")), "who leaves declines")
      assert.isFalse(yield* accepts(eve, access.org(orgPath(), "org.update")), "it was refused")
      assert.isFalse(yield* accepts(delegated(eve, prod), list), "an agent's")
      assert.isFalse(yield* accepts(eve, list, false), "a vote made it")
      const root = { ...eve, superadmin: true }
      assert.isFalse(yield* accepts(root, access.org(orgPath(), "org.update")), "by a right of the server")
      assert.isTrue(yield* accepts(root, list))
    }).pipe(onDatabase())
  )
})

describe("what holds protected environments", () => {
  const removal = { "org.delete": "organization acme", "project.delete": "project webshop" } as const

  it.effect("is removed or renamed with their votes: the organization with all, a project with its own", () =>
    Effect.gen(function* () {
      const { access, ada, prod } = yield* scene
      yield* newProject(ada, "api")
      const org = yield* asActor(ada)(access.org(orgPath(), "org.delete"))
      const webshop = yield* asActor(ada)(access.project(projectPath(), "project.delete"))
      const api = yield* asActor(ada)(access.project(projectPath("api"), "project.delete"))
      for (const place of [org, webshop, api]) assert.strictEqual(yield* said(access.admitRemoval(place)), "done")

      yield* protect({ break_glass: [ada.email] })
      for (const place of [org, webshop]) {
        const refused = yield* Effect.flip(access.admitRemoval(place))
        assert.deepStrictEqual(refused instanceof VotesMissing && refused.at, { envId: prod.env.id, org: prod.org })
      }
      assert.strictEqual(yield* said(access.admitRemoval(api)), "done")
      const before = (yield* entries()).length
      for (const place of [org, webshop]) yield* transaction(access.admitRemoval(place).pipe(inMode(glass)))
      const at = { project: "webshop", env: "prod", reason: "INC-12" }
      assert.deepStrictEqual(
        yield* refusalsSince(before),
        Object.keys(removal).map((action) => [
          ...["secret.break_glass", ada.email, ["env", prod.env.id], { ...at, action }]
        ])
      )

      yield* protect({ needed: 2 }, envPath("dev"))
      for (const [place, what] of [
        [org, removal["org.delete"]],
        [webshop, removal["project.delete"]]
      ] as const) {
        const words = `${what} holds protected environments that need different votes, and nothing was changed`
        assert.include(yield* said(access.admitRemoval(place)), words)
      }
    }).pipe(onDatabase())
  )

  it.effect("comes back or is erased with their votes, if one request has them", () =>
    Effect.gen(function* () {
      const { access, ada, prod, sql } = yield* scene
      const place = yield* asActor(ada)(access.org(orgPath(), "project.restore"))
      const removed = { id: prod.project.id, named: "project webshop" }
      yield* sql`UPDATE projects SET removed_at = 'now'`
      for (const change of ["restore", "erase"] as const) {
        assert.strictEqual(yield* said(access.admitRemoved(place, change, removed)), "done")
      }
      yield* sql`UPDATE projects SET removed_at = NULL`
      yield* protect({ break_glass: [ada.email] })
      yield* sql`UPDATE projects SET removed_at = 'now'`
      for (const change of ["restore", "erase"] as const) {
        const refused = yield* Effect.flip(access.admitRemoved(place, change, removed))
        assert.deepStrictEqual(refused instanceof VotesMissing && refused.at, { envId: prod.env.id, org: prod.org })
      }
      const before = (yield* entries()).length
      yield* transaction(access.admitRemoved(place, "restore", removed).pipe(inMode(glass)))
      const at = { project: "webshop", env: "prod", reason: "INC-12", action: "project.restore" }
      assert.deepStrictEqual(yield* refusalsSince(before), [
        ["secret.break_glass", ada.email, ["env", prod.env.id], at]
      ])
      yield* protect({ needed: 2 }, envPath("dev"))
      const words =
        "ApprovalRequired: the removed project webshop holds protected environments that need different votes"
      for (const [change, wayOut] of [
        ["restore", "one whom the protections of webshop/dev, webshop/prod name may restore it at once"],
        ["erase", "restore it, and end the protection of webshop/dev, webshop/prod first"]
      ] as const) {
        const message = yield* said(access.admitRemoved(place, change, removed))
        assert.isTrue(message.startsWith(words), message)
        assert.include(message, wayOut)
      }
    }).pipe(onDatabase())
  )

  it.effect("goes with nothing where nobody votes any more", () =>
    Effect.gen(function* () {
      const { access, prod, sql } = yield* scene
      const erase = said(access.refuseProtected(RemovedId.make(prod.project.id), "project webshop"))
      assert.strictEqual(yield* erase, "done")
      for (const env of ["prod", "dev"]) yield* protect({ needed: env === "dev" ? 1 : 2 }, envPath(env))
      yield* sql`UPDATE projects SET removed_at = 'now'`
      assert.strictEqual(
        yield* erase,
        "ApprovalRequired: project webshop holds protected environments, and nothing was changed: restore it, and end the protection of webshop/dev, webshop/prod first"
      )
    }).pipe(onDatabase())
  )

  it.effect("keeps its name for a while: another project or organization takes it with the votes", () =>
    Effect.gen(function* () {
      const { access, ada, prod } = yield* scene
      yield* protect({ break_glass: [ada.email] })
      const names = yield* freedNamesRepo
      const project = { kind: "project", orgId: prod.org.id, name: prod.project.name } as const
      const org = { kind: "org", name: OrgName.make("acme") } as const
      yield* transaction(names.free({ ...project, id: prod.project.id }))
      yield* transaction(names.free({ ...org, id: prod.org.id }))
      const taking: NamedPlace = { ...project, id: ProjectId.make(uuid()) }
      const place = yield* asActor(ada)(access.org(orgPath(), "project.create"))
      assert.include(yield* said(transaction(access.admitName(place, taking))), "the project name webshop belonged to")
      const founding = { id: prod.org.id, name: org.name }
      const found = (id: string) => access.admitOrganization(ada, { ...founding, id: id as never })
      assert.strictEqual(yield* said(transaction(found(prod.org.id))), "done", "its own name")
      assert.include(
        yield* said(transaction(found(uuid()))),
        "the organization name acme belonged to what is protected"
      )

      const before = (yield* entries()).length
      yield* transaction(access.admitName(place, taking).pipe(inMode(glass)))
      yield* transaction(found(uuid()).pipe(inMode(glass)))
      const at = { project: "webshop", env: "prod", reason: "INC-12" }
      assert.deepStrictEqual(
        yield* refusalsSince(before),
        ["project.create", "org.create"].map((action) => [
          ...["secret.break_glass", ada.email, ["env", prod.env.id], { ...at, action }]
        ])
      )
    }).pipe(onDatabase())
  )
})

describe("a removed organization", () => {
  it.effect("is entered by its owners and superadmins; for others it does not exist", () =>
    Effect.gen(function* () {
      const { access, ada, dev, prod, root, sql } = yield* scene
      const admin = yield* member("admin@example.com", "admin")
      const id = RemovedId.make(prod.org.id)
      const row = { place_id: id, kind: "org", org_id: id, name: "acme", removed_by: ada.email }
      yield* sql`INSERT INTO trash ${sql.insert({ ...row, removed_at: 0, restorable_until: 4_000_000_000_000 })}`
      yield* sql`UPDATE organizations SET removed_at = 'now'`
      for (const [actor, via, role] of [
        [ada, "role", "owner"],
        [root, "superadmin", null]
      ] as const) {
        const place = yield* asActor(actor)(access.removedOrg(id, "org.restore"))
        assert.deepStrictEqual([place.action, place.actor, place.via, place.role, place.grants, place.org], [
          "org.restore",
          actor,
          via,
          role,
          [],
          prod.org
        ] as never)
      }
      for (const actor of [dev, admin, yield* person("eve@example.com"), yield* accountOf(prod.org)]) {
        assert.strictEqual(
          yield* said(asActor(actor)(access.removedOrg(id, "org.restore"))),
          `NotFound: removed organization ${id} does not exist, or is not yours to see`
        )
      }
      yield* sql`DELETE FROM trash`
      for (const actor of [ada, root]) {
        assert.match(yield* said(asActor(actor)(access.removedOrg(id, "org.erase"))), /^NotFound/)
      }
    }).pipe(onDatabase())
  )

  const accountOf = ({ id, name }: EnvPlace<"secret.list">["org"]) =>
    Effect.succeed({
      ...{ type: "service_account", id: uuid(), name: "bot", orgId: id, orgName: name, project: null, reveal: true },
      credential: { type: "key", id: uuid(), sessionId: null }
    } as unknown as Actor)
})

describe("another environment of an entered project", () => {
  it.effect("is entered by the same right there; without it nothing is recorded", () =>
    Effect.gen(function* () {
      const { access, dev, sql } = yield* scene
      yield* grant(dev, "read", { env: "dev" })
      const place = yield* asActor(dev)(access.project(projectPath(), "env.list"))
      const envs = yield* sql<{ id: string; name: string }>`SELECT id, name FROM environments`
      const envOf = (name: string) => {
        const found = envs.find((env) => env.name === name) ?? assert.fail(name)
        return { id: EnvId.make(found.id), name: EnvName.make(found.name) }
      }
      const before = (yield* entries()).length
      const beside = access.alongside(place, envOf("prod"), "secret.compare")
      assert.isNotNull(beside)
      assert.deepStrictEqual([beside?.action, beside?.env, beside?.via, beside?.decision, beside?.actor], [
        "secret.compare",
        envOf("prod"),
        "rule",
        null,
        dev
      ] as never)
      for (const [name, allowed, reveals, compares] of [
        ["prod", ["use", "read", "write"], true, true],
        ["dev", ["use", "read"], true, true],
        ["staging", [], false, false]
      ] as const) {
        const found = access.within(place, envOf(name))
        assert.deepStrictEqual([found.allowed, found.reveals, found.place !== null], [allowed, reveals, compares], name)
      }
      assert.isNull(access.alongside(place, envOf("staging"), "secret.compare"))
      assert.lengthOf(yield* entries(), before)
    }).pipe(onDatabase())
  )
})

describe("a path", () => {
  it.effect("without the names that its call needs is a defect", () =>
    Effect.gen(function* () {
      const { access, ada } = yield* scene
      for (const step of [
        access.env(projectPath() as never, "secret.list"),
        access.project(orgPath() as never, "env.list"),
        access.creating(orgPath() as never, { name: EnvName.make("new"), from: undefined, end: null }),
        access.guarded(projectPath() as never, "secret.write")
      ]) {
        const exit = yield* Effect.exit(asActor(ada)(step as Effect.Effect<unknown, unknown, CurrentCaller>))
        assert.include(String(Exit.isFailure(exit) && exit.cause), "a place was entered that has no row")
      }
    }).pipe(onDatabase())
  )
})

describe("a service account", () => {
  it.effect("acts by its own rules, in its own organization", () =>
    Effect.gen(function* () {
      const { access } = yield* scene
      const bot = yield* account("bot")
      assert.match(yield* said(asActor(bot)(access.guarded(envPath(), "secret.write"))), /^Forbidden/)
      yield* grant(bot, "write")
      assert.strictEqual(yield* said(asActor(bot)(access.guarded(envPath(), "secret.write"))), "done")
    }).pipe(onDatabase())
  )
})

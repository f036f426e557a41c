import { type Actor, CurrentCaller } from "@coffer/domain/access/Actor"
import { Pattern } from "@coffer/domain/base/Pattern"
import { Access } from "@coffer/server/access/Access"
import { operator } from "@coffer/server/access/ServerPlace"
import { Acl } from "@coffer/server/directory/acl/Acl"
import { HttpRouter, HttpServerResponse } from "@effect/platform"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Schema } from "effect"
import { authenticate, session } from "../model/Support.js"
import {
  account,
  asActor,
  asUser,
  email,
  enter,
  entries,
  envPath,
  grant,
  listSecrets,
  member,
  newProject,
  onDatabase,
  organization,
  orgPath,
  outcome,
  person,
  projectPath,
  readBundle,
  readSecret,
  setSecret,
  writeBundle,
  transaction
} from "../support/Services.js"

const may = (actor: Actor) =>
  Effect.gen(function* () {
    const read = yield* outcome(enter(actor, "secret.read"))
    const list = yield* outcome(enter(actor, "secret.list"))
    const write = yield* outcome(enter(actor, "secret.write"))
    return [list, read, write].map((one) => one === "success").join(" ")
  })

describe("entering a place", () => {
  it.effect("is allowed to owners and admins without a rule, to developers and members with one", () =>
    Effect.gen(function* () {
      const owner = yield* organization()
      const admin = yield* member("admin@example.com", "admin")
      const developer = yield* member("developer@example.com", "developer")
      const plain = yield* member("member@example.com", "member")
      for (const actor of [owner, admin]) assert.strictEqual(yield* may(actor), "true true true")
      for (const actor of [developer, plain]) assert.strictEqual(yield* may(actor), "false false false")

      yield* grant(developer, "read", { project: "web*" })
      yield* grant(plain, "admin")
      assert.strictEqual(yield* may(developer), "true true false")
      assert.strictEqual(yield* may(plain), "true true false", "a member never writes, whatever the rule")
      yield* grant(developer, "write", { env: "{staging,prod}" })
      assert.strictEqual(yield* may(developer), "true true true")
      assert.strictEqual(yield* outcome(enter(developer, "secret.write", envPath("dev"))), "Forbidden")
    }).pipe(onDatabase())
  )

  it.effect("is allowed to a superadmin everywhere, without membership", () =>
    Effect.gen(function* () {
      yield* organization()
      const root = yield* person("root@example.com", { superadmin: true })
      assert.strictEqual(yield* may(root), "true true true")
      yield* setSecret(root, "A", "x")
      assert.deepInclude((yield* entries()).at(-1), {
        metadata: { project: "webshop", env: "prod", key: "A", version: 1, via: "superadmin" }
      })
    }).pipe(onDatabase())
  )

  it.effect("is never allowed to a service account without a rule, and values are kept from one made so", () =>
    Effect.gen(function* () {
      yield* organization()
      const bot = yield* account("bot")
      const blind = yield* account("blind", { reveal: false })
      assert.strictEqual(yield* may(bot), "false false false")
      for (const actor of [bot, blind]) yield* grant(actor, "admin")
      assert.strictEqual(yield* may(bot), "true true true")
      assert.strictEqual(yield* may(blind), "true false true")
      yield* setSecret(blind, "A", "x")
      yield* writeBundle(blind, { set: { B: "y" } })
      assert.strictEqual((yield* listSecrets(blind)).length, 2)
      assert.strictEqual(yield* outcome(readSecret(blind, "A")), "Forbidden")
      assert.strictEqual(yield* outcome(readSecret(blind, "A", { version: 1 })), "Forbidden")
      assert.strictEqual(yield* outcome(readBundle(blind)), "Forbidden")
      assert.include((yield* Effect.flip(readSecret(blind, "A"))).message, "reveal: false")
    }).pipe(onDatabase())
  )

  it.effect("of another tenant fails in the same words as a missing place: an outsider learns nothing", () =>
    Effect.gen(function* () {
      yield* organization()
      const insider = yield* organization("other", "unused", "bob@example.com")
      const bot = yield* account("bot", { org: "other" })
      yield* grant(bot, "admin", { org: "other" })
      const nobody = yield* person("nobody@example.com")
      for (const actor of [insider, bot, nobody]) {
        const said = (path = envPath()) =>
          Effect.map(Effect.flip(enter(actor, "secret.read", path)), ({ _tag, message }) => `${_tag} ${message}`)
        const there = yield* said()
        assert.match(there, /^NotFound .*acme/)
        assert.strictEqual((yield* said(envPath("prod", "webshop", "nowhere"))).replace("nowhere", "acme"), there)
        assert.strictEqual(yield* said(envPath("nowhere")), there)
        assert.strictEqual(yield* said(envPath("prod", "nowhere")), there)
      }
      assert.strictEqual((yield* entries()).length, 2, "nothing in the log of the tenant that was asked about")
    }).pipe(onDatabase())
  )

  it.effect("is by exact names: rules and roles of one organization are worth nothing in another", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* organization("other", "webshop", "bob@example.com")
      const developer = yield* member("developer@example.com", "developer")
      yield* member("developer@example.com", "developer", "other")
      yield* grant(developer, "admin", { org: "other" })
      assert.strictEqual(yield* may(developer), "false false false")
      assert.strictEqual(
        yield* outcome(enter(developer, "secret.write", envPath("prod", "webshop", "other"))),
        "success"
      )
      assert.strictEqual(yield* outcome(enter(ada, "secret.read", envPath("prod", "webshop", "other"))), "NotFound")
    }).pipe(onDatabase())
  )

  it.effect("is bound to the project of a scoped account by the project's identity, not by its name", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* newProject(ada, "api")
      const bot = yield* account("bot", { project: "webshop" })
      yield* grant(bot, "write")
      assert.strictEqual(yield* outcome(enter(bot, "secret.read")), "success")
      assert.strictEqual(yield* outcome(enter(bot, "secret.read", envPath("prod", "api"))), "NotFound")
      const { message } = yield* Effect.flip(enter(bot, "secret.read", envPath("prod", "api")))
      const nowhere = yield* Effect.flip(enter(bot, "secret.read", envPath("prod", "nowhere")))
      assert.strictEqual(nowhere.message.replace("nowhere", "api"), message)

      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE projects SET name = 'renamed' WHERE name = 'webshop'`
      yield* sql`UPDATE projects SET name = 'webshop' WHERE name = 'api'`
      assert.strictEqual(yield* outcome(enter(bot, "secret.read")), "NotFound")
      assert.strictEqual(yield* outcome(enter(bot, "secret.read", envPath("prod", "renamed"))), "success")
    }).pipe(onDatabase())
  )

  it.effect("asks the database each time: what is taken away is gone with the next request", () =>
    Effect.gen(function* () {
      yield* organization()
      const developer = yield* member("developer@example.com", "developer")
      yield* grant(developer, "write")
      const sql = yield* SqlClient.SqlClient
      assert.strictEqual(yield* may(developer), "true true true")
      yield* sql`UPDATE members SET role = 'member' WHERE user_id = ${developer.id}`
      assert.strictEqual(yield* may(developer), "true true false")
      yield* sql`UPDATE acl_rules SET removed_at = 'now'`
      assert.strictEqual(yield* may(developer), "false false false")
      assert.strictEqual(yield* outcome(enter(developer, "secret.read")), "Forbidden")
      yield* sql`UPDATE members SET removed_at = 'now' WHERE user_id = ${developer.id}`
      assert.strictEqual(yield* outcome(enter(developer, "secret.read")), "NotFound")
    }).pipe(onDatabase())
  )

  it.effect("reads no rule that names another project, and every one that may be about this one", () =>
    Effect.gen(function* () {
      yield* organization()
      const developer = yield* member("developer@example.com", "developer")
      for (const project of ["webshop", "*", "web?hop", "{webshop,api}", "api", "webshop2"]) {
        yield* grant(developer, "read", { project })
      }
      const { grants } = yield* enter(developer, "secret.read")
      assert.sameMembers(
        grants.map(({ project_pattern }) => project_pattern),
        ["webshop", "*", "web?hop", "{webshop,api}"]
      )
    }).pipe(onDatabase())
  )

  it.effect("by a rule is limited to 1,000 rules of a subject in an organization; more that are there go on", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const [grace, bob] = [
        yield* member("grace@example.com", "developer"),
        yield* member("bob@example.com", "developer")
      ]
      for (let index = 0; index < 999; index++) yield* grant(grace, "read", { project: `other-${index}` })
      const acl = yield* Acl
      const access = yield* Access
      const granting = (address: string, project: string) =>
        Effect.flatMap(asActor(ada)(access.org(orgPath(), "acl.grant")), (place) =>
          transaction(
            acl.grant(place, {
              subject_type: "user",
              email: email(address),
              project_pattern: Schema.decodeSync(Pattern)(project),
              env_pattern: Schema.decodeSync(Pattern)("*"),
              permission: "write"
            })
          )
        )
      assert.isTrue((yield* granting("grace@example.com", "webshop")).created)
      const refused = yield* Effect.flip(granting("grace@example.com", "more"))
      assert.strictEqual(refused._tag, "LimitExceeded")
      assert.match(refused.message, /at most 1000 access rules/)
      assert.isFalse((yield* granting("grace@example.com", "webshop")).created, "a rule that is there is no new one")
      assert.isTrue((yield* granting("bob@example.com", "more")).created, "the limit is each subject's own")

      yield* grant(grace, "read", { project: "of-before" })
      yield* newProject(ada, "of-before")
      assert.strictEqual(yield* outcome(enter(grace, "secret.write")), "success")
      assert.strictEqual(yield* outcome(enter(grace, "secret.read", envPath("prod", "of-before"))), "success")
      assert.strictEqual(yield* outcome(granting("grace@example.com", "more")), "LimitExceeded")
      assert.strictEqual(yield* outcome(enter(bob, "secret.read")), "Forbidden")
    }).pipe(Effect.provide(Acl.Default), onDatabase())
  )

  for (const table of ["environments", "projects", "organizations"] as const) {
    it.effect(`below one of ${table} that was removed is not possible, for its owner or a superadmin`, () =>
      Effect.gen(function* () {
        const ada = yield* organization()
        yield* setSecret(ada, "A", "x")
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE ${sql(table)} SET removed_at = 'now'`
        const root = yield* person("root@example.com", { superadmin: true })
        for (const actor of [ada, root]) {
          assert.strictEqual(yield* outcome(readSecret(actor, "A")), "NotFound")
          assert.strictEqual(yield* outcome(setSecret(actor, "A", "y")), "NotFound")
        }
      }).pipe(onDatabase())
    )
  }

  it.effect("is refused with the missing role or permission, and where it is missing", () =>
    Effect.gen(function* () {
      yield* organization()
      const developer = yield* member("developer@example.com", "developer")
      const said = yield* Effect.flip(enter(developer, "secret.write"))
      assert.deepStrictEqual(said.code, "FORBIDDEN")
      for (const word of ["write", "webshop/prod", "acme"]) assert.include(said.message, word)
      const access = yield* Access
      const org = yield* Effect.flip(access.org(orgPath(), "org.update").pipe(asActor(developer)))
      for (const word of ["owner", "acme"]) assert.include(org.message, word)
      const project = yield* Effect.flip(access.project(projectPath(), "project.delete").pipe(asActor(developer)))
      assert.include(project.message, "admin")
    }).pipe(onDatabase())
  )

  it.effect("gives what was entered: names, ids, who and by what right", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const place = yield* enter(ada, "secret.read")
      assert.deepStrictEqual(
        [place.org.name, place.project.name, place.env.name, place.action, place.via, place.role, place.actor],
        ["acme", "webshop", "prod", "secret.read", "role", "owner", ada] as never
      )
      const access = yield* Access
      const seen = yield* access.org(orgPath(), "org.read").pipe(asUser("root@example.com", { superadmin: true }))
      assert.deepStrictEqual([seen.via, seen.role], ["superadmin", null])
    }).pipe(onDatabase())
  )
})

describe("a place that was read with the caller", () => {
  /** The request's path names the environment `prod`. */
  const onPath = Effect.provideService(HttpRouter.RouteContext, {
    [HttpRouter.RouteContextTypeId]: HttpRouter.RouteContextTypeId,
    params: envPath(),
    route: HttpRouter.makeRoute("GET", "/", HttpServerResponse.empty())
  })

  it.effect("counts once, and for the names of the path alone: later the rights are read again", () =>
    Effect.gen(function* () {
      yield* organization()
      const access = yield* Access
      const sql = yield* SqlClient.SqlClient
      const plain = yield* member("member@example.com", "member")
      yield* grant(plain, "read")
      const credential = yield* session(plain.id)
      const [one, other] = [yield* onPath(authenticate(credential)), yield* onPath(authenticate(credential))]
      yield* sql`UPDATE acl_rules SET removed_at = 'now'`

      const reading = (env?: string) => outcome(access.env(envPath(env), "secret.read"))
      assert.deepStrictEqual(
        yield* Effect.all([reading(), reading()]).pipe(Effect.provideService(CurrentCaller, one)),
        ["success", "Forbidden"]
      )
      assert.deepStrictEqual(
        yield* Effect.all([reading("dev"), reading()]).pipe(Effect.provideService(CurrentCaller, other)),
        ["Forbidden", "Forbidden"]
      )
    }).pipe(onDatabase())
  )

  it.effect("is read again within a change, together with the credential", () =>
    Effect.gen(function* () {
      yield* organization()
      const access = yield* Access
      const sql = yield* SqlClient.SqlClient
      const admin = yield* member("admin@example.com", "admin")
      const credential = yield* session(admin.id)
      const caller = yield* onPath(authenticate(credential))
      const changing = access
        .change(access.right(envPath(), "secret.write"), () => Effect.void)
        .pipe(onPath, Effect.provideService(CurrentCaller, caller), outcome)
      assert.strictEqual(yield* changing, "success")
      yield* sql`UPDATE members SET role = 'member' WHERE user_id = ${admin.id}`
      assert.strictEqual(yield* changing, "Forbidden")
      yield* sql`DELETE FROM sessions`
      assert.strictEqual(yield* changing, "Unauthorized")
    }).pipe(onDatabase())
  )
})

describe("the proof that the operator's own program asks", () => {
  it.effect("is made where nobody asks by the API, and for no caller, superadmins included", () =>
    Effect.gen(function* () {
      const root = yield* person("root@example.com", { superadmin: true })
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(operator)))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(asActor(root)(operator))))
    }).pipe(onDatabase())
  )
})

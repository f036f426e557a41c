import type { Permission } from "@coffer/domain/access/AclRule"
import type { UserActor } from "@coffer/domain/access/Actor"
import type { RuleId, ServiceAccountId, SessionId } from "@coffer/domain/base/Ids"
import { EnvName, OrgName, ProjectName, ServiceAccountName } from "@coffer/domain/base/Names"
import { Pattern } from "@coffer/domain/base/Pattern"
import type { Action, ScopeOf } from "@coffer/domain/access/Permissions"
import { Access } from "@coffer/server/access/Access"
import { Acl } from "@coffer/server/directory/acl/Acl"
import type { SubjectRef } from "@coffer/server/directory/acl/Subjects"
import { Login } from "@coffer/server/directory/login/Login"
import { Sessions } from "@coffer/server/directory/login/Sessions"
import { Environments } from "@coffer/server/secrets/environments/Environments"
import { Members } from "@coffer/server/directory/members/Members"
import { Organizations } from "@coffer/server/directory/organizations/Organizations"
import { Projects } from "@coffer/server/directory/projects/Projects"
import { ServiceAccounts } from "@coffer/server/directory/service-accounts/ServiceAccounts"
import { Effect, Layer, Schema } from "effect"
import { assert } from "@effect/vitest"
import {
  asActor,
  email,
  enter,
  envPath,
  member,
  newProject,
  organization,
  orgPath,
  projectPath,
  removeSecret,
  type Services,
  setSecret,
  transaction,
  writeBundle
} from "../support/Services.js"

const People = Layer.mergeAll(Members.Default, Acl.Default, ServiceAccounts.Default)

/** The services that the changes need beyond those of every test. */
export const withPeople = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, People)

export interface World {
  readonly ada: UserActor
  readonly dev: UserActor
  readonly bot: ServiceAccountId
  readonly rule: RuleId
  readonly session: SessionId
}

type OrgAction = { [A in Action]: ScopeOf<A> extends "org" ? A : never }[Action]

const inOrg = <A extends OrgAction>(actor: UserActor, action: A) =>
  Effect.flatMap(Access, (access) => access.org(orgPath(), action)).pipe(asActor(actor))

const makeAccount = (ada: UserActor, name: string) =>
  Effect.gen(function* () {
    const place = yield* inOrg(ada, "service_account.create")
    const request = { name: ServiceAccountName.make(name), project: ProjectName.make("webshop") }
    return yield* transaction((yield* ServiceAccounts).create(place, request))
  })

const grant = (ada: UserActor, subject: SubjectRef, permission: Permission) =>
  Effect.gen(function* () {
    const place = yield* inOrg(ada, "acl.grant")
    const [project_pattern, env_pattern] = [Schema.decodeSync(Pattern)("web*"), Schema.decodeSync(Pattern)("*")]
    return yield* transaction((yield* Acl).grant(place, { ...subject, project_pattern, env_pattern, permission }))
  })

const person = ({ email }: UserActor): SubjectRef => ({ subject_type: "user", email })

/** An organization with secrets, a developer and a machine, each with an access rule, and the owner's session. */
export const world = Effect.gen(function* () {
  const ada = yield* organization()
  yield* writeBundle(ada, { set: { A: "1", B: "2", C: "3" } })
  yield* setSecret(ada, "A", "one more")
  const dev = yield* member("dev@example.com", "developer")
  const { id: bot } = yield* makeAccount(ada, "bot")
  yield* grant(ada, { subject_type: "service_account", subject_id: bot }, "read")
  const { rule } = yield* grant(ada, person(dev), "read")
  const session = yield* Effect.flatMap(Sessions, ({ start }) =>
    transaction(start({ id: ada.id, ended: 0, provenAt: null }))
  )
  const made: World = { ada, dev, bot, rule: rule.id, session: session?.id ?? assert.fail("no session") }
  return made
})

/** Every way in which a caller changes something, each a fresh call each time that it is run. */
export const changes: Readonly<
  Record<string, (world: World) => Effect.Effect<unknown, unknown, Services | Layer.Layer.Success<typeof People>>>
> = {
  "setting a new secret": ({ ada }) => setSecret(ada, "NEW", "new"),
  "setting a secret again": ({ ada }) => setSecret(ada, "A", "again"),
  "removing a secret": ({ ada }) => removeSecret(ada, "B"),
  "writing a bundle": ({ ada }) => writeBundle(ada, { set: { A: "changed", NEW: "new" }, delete: ["C"] }),
  "making an organization": ({ ada }) =>
    Effect.flatMap(Organizations, ({ create }) => transaction(create(ada, OrgName.make("second")))),
  "renaming an organization": ({ ada }) =>
    Effect.gen(function* () {
      yield* transaction(
        (yield* Organizations).update(yield* inOrg(ada, "org.update"), { name: OrgName.make("renamed") })
      )
    }),
  "removing an organization": ({ ada }) =>
    Effect.gen(function* () {
      yield* transaction((yield* Organizations).remove(yield* inOrg(ada, "org.delete")))
    }),
  "making a project": ({ ada }) => newProject(ada, "api"),
  "renaming a project": ({ ada }) =>
    Effect.gen(function* () {
      const place = yield* (yield* Access).project(projectPath(), "project.update").pipe(asActor(ada))
      yield* transaction((yield* Projects).change(place, { name: ProjectName.make("renamed") }))
    }),
  "removing a project": ({ ada }) =>
    Effect.gen(function* () {
      const place = yield* (yield* Access).project(projectPath(), "project.delete").pipe(asActor(ada))
      yield* transaction((yield* Projects).remove(place))
    }),
  "making an environment": ({ ada }) =>
    Effect.gen(function* () {
      const place = yield* (yield* Access).project(projectPath(), "env.create").pipe(asActor(ada))
      yield* transaction((yield* Environments).create(place, EnvName.make("qa")))
    }),
  "removing an environment": ({ ada }) =>
    Effect.gen(function* () {
      yield* transaction((yield* Environments).remove(yield* enter(ada, "env.delete", envPath("dev"))))
    }),
  "inviting a stranger": ({ ada }) =>
    Effect.gen(function* () {
      yield* transaction((yield* Members).invite(yield* inOrg(ada, "member.invite"), email("new@example.com"), "admin"))
    }),
  "changing a member's role": ({ ada, dev }) =>
    Effect.gen(function* () {
      yield* transaction((yield* Members).setRole(yield* inOrg(ada, "member.update"), dev.id, "owner"))
    }),
  "removing a member and its rules": ({ ada, dev }) =>
    Effect.gen(function* () {
      yield* transaction((yield* Members).remove(yield* inOrg(ada, "member.remove"), dev.id))
    }),
  "granting a permission": ({ ada }) => grant(ada, person(ada), "read"),
  "changing a permission": ({ ada, dev }) => grant(ada, person(dev), "write"),
  "revoking a permission": ({ ada, rule }) =>
    Effect.gen(function* () {
      yield* transaction((yield* Acl).revoke(yield* inOrg(ada, "acl.revoke"), rule))
    }),
  "making a service account": ({ ada }) => makeAccount(ada, "second"),
  "giving a service account a new key": ({ ada, bot }) =>
    Effect.gen(function* () {
      yield* transaction((yield* ServiceAccounts).rotate(yield* inOrg(ada, "service_account.rotate"), bot, 60))
    }),
  "revoking a service account and its rules": ({ ada, bot }) =>
    Effect.gen(function* () {
      yield* transaction((yield* ServiceAccounts).revoke(yield* inOrg(ada, "service_account.revoke"), bot))
    }),
  "asking for a login code": () => Effect.flatMap(Login, ({ request }) => request(email("new@example.com"))),
  "ending one session": ({ ada, session }) => Effect.flatMap(Sessions, ({ end }) => transaction(end(ada, session))),
  "logging out": ({ ada, session }) =>
    Effect.flatMap(Sessions, ({ logout }) => transaction(logout({ ...ada, sessionId: session }))),
  "ending all sessions": ({ ada }) => Effect.flatMap(Sessions, ({ endAll }) => transaction(endAll(ada)))
}

import { currentActor, CurrentCaller } from "@coffer/domain/access/Actor"
import type { ServiceAccountId } from "@coffer/domain/base/Ids"
import { RuleId, type UserId } from "@coffer/domain/base/Ids"
import { EnvName, OrgName, ProjectName, ServiceAccountName } from "@coffer/domain/base/Names"
import { Pattern } from "@coffer/domain/base/Pattern"
import type { Action } from "@coffer/domain/access/Permissions"
import { Access } from "@coffer/server/access/Access"
import { Acl } from "@coffer/server/directory/acl/Acl"
import { Trail } from "@coffer/server/edges/trail/Trail"
import { Environments } from "@coffer/server/secrets/environments/Environments"
import { Members } from "@coffer/server/directory/members/Members"
import { Organizations } from "@coffer/server/directory/organizations/Organizations"
import { Projects } from "@coffer/server/directory/projects/Projects"
import { Bundles } from "@coffer/server/secrets/services/Bundles"
import { Secrets } from "@coffer/server/secrets/services/Secrets"
import { ServiceAccounts } from "@coffer/server/directory/service-accounts/ServiceAccounts"
import type { Redacted } from "effect"
import { Effect, Schema } from "effect"
import type { email } from "../support/Services.js"
import {
  envPath,
  key as secretKey,
  orgPath,
  person,
  projectPath,
  transaction,
  value,
  withKey
} from "../support/Services.js"
import { apiKey, authenticate, type Credential, session, setSuperadmin } from "./Support.js"
import type { NewAccount, NewRule } from "./Calls.js"
import type { Account, At, Caller, Key, Level, Role, Rule, User } from "./Model.js"

const pattern = Schema.decodeSync(Pattern)
const unknownId = "0192f0c1-5b7e-7c3a-9d2e-ffffffffffff"

/** People that the service knows, each with a session. */
export const people = (count: number) =>
  Effect.forEach(
    Array.from({ length: count }, (_, n) => n),
    (n) =>
      Effect.gen(function* () {
        const actor = yield* person(`user-${n}@example.com`)
        return { id: actor.id, email: actor.email, credential: yield* session(actor.id) }
      })
  )

export interface Person {
  readonly id: UserId
  readonly email: ReturnType<typeof email>
  readonly credential: Credential
}

/** The service, called as the model is: with the model's own things, whose ids it knows. */
export const driver = (users: ReadonlyArray<Person>) =>
  Effect.gen(function* () {
    const access = yield* Access
    const organizations = yield* Organizations
    const members = yield* Members
    const projects = yield* Projects
    const environments = yield* Environments
    const accounts = yield* ServiceAccounts
    const acl = yield* Acl
    const secrets = yield* Secrets
    const bundles = yield* Bundles
    const trail = yield* Trail

    const accountIds = new Map<Account, ServiceAccountId>()
    const ruleIds = new Map<Rule, RuleId>()
    const keys = new Map<Key, Credential>()

    const person = (user: User) => users[user.n]!
    const credential = (caller: Caller) => ("superadmin" in caller ? person(caller).credential : keys.get(caller)!)

    const by = <A, E, R>(caller: Caller, call: Effect.Effect<A, E, R>) =>
      Effect.flatMap(authenticate(credential(caller)), (known) => Effect.provideService(call, CurrentCaller, known))
    const changeBy = <A, E, R>(caller: Caller, change: Effect.Effect<A, E, R>) => by(caller, transaction(change))

    type OrgAction = Extract<Action, `${"org" | "member" | "acl" | "service_account" | "audit"}.${string}`>
    const inOrg = <A extends OrgAction | "project.create" | "project.list">(org: string, action: A) =>
      access.org(orgPath(org), action)
    const inProject = <A extends "project.update" | "project.delete" | "env.create" | "env.list">(
      org: string,
      project: string,
      action: A
    ) => access.project(projectPath(project, org), action)
    const inEnv = <A extends "env.delete" | "secret.list" | "secret.read" | "secret.write" | "secret.destroy">(
      at: At,
      action: A
    ) => access.right(envPath(at.env, at.project, at.org), action)

    const refOf = (subject: User | Account) =>
      subject.type === "user"
        ? { subject_type: "user" as const, email: person(subject).email }
        : { subject_type: "service_account" as const, subject_id: accountIds.get(subject)! }

    return {
      setSuperadmin: (user: User, on: boolean) => Effect.orDie(setSuperadmin(person(user).id, on)),

      /** Tells the driver the ids of what a call has made. */
      keepAccount: (
        account: Account,
        key: Key,
        made: { readonly id: ServiceAccountId; readonly api_key: Redacted.Redacted }
      ) => {
        accountIds.set(account, made.id)
        keys.set(key, apiKey(made.api_key))
      },
      keepKey: (key: Key, made: { readonly api_key: Redacted.Redacted }) => keys.set(key, apiKey(made.api_key)),
      keepRule: (rule: Rule, id: string) => ruleIds.set(rule, RuleId.make(id)),
      ruleId: (rule: Rule) => ruleIds.get(rule),

      createOrg: (caller: Caller, name: string) =>
        changeBy(
          caller,
          Effect.flatMap(access.founder(), (founder) => organizations.create(founder, OrgName.make(name)))
        ),
      renameOrg: (caller: Caller, name: string, to: string) =>
        changeBy(
          caller,
          Effect.flatMap(inOrg(name, "org.update"), (place) => organizations.update(place, { name: OrgName.make(to) }))
        ),
      deleteOrg: (caller: Caller, name: string) =>
        changeBy(caller, Effect.flatMap(inOrg(name, "org.delete"), organizations.remove)),
      listOrgs: (caller: Caller) => by(caller, Effect.flatMap(currentActor, organizations.list)),
      readOrg: (caller: Caller, name: string) => by(caller, Effect.flatMap(inOrg(name, "org.read"), organizations.get)),

      invite: (caller: Caller, org: string, user: User, role: Role) =>
        changeBy(
          caller,
          Effect.flatMap(inOrg(org, "member.invite"), (place) => members.invite(place, person(user).email, role))
        ),
      setRole: (caller: Caller, org: string, user: User, role: Role) =>
        changeBy(
          caller,
          Effect.flatMap(inOrg(org, "member.update"), (place) => members.setRole(place, person(user).id, role))
        ),
      removeMember: (caller: Caller, org: string, user: User) =>
        changeBy(
          caller,
          Effect.flatMap(inOrg(org, "member.remove"), (place) => members.remove(place, person(user).id))
        ),
      listMembers: (caller: Caller, org: string) => by(caller, Effect.flatMap(inOrg(org, "member.list"), members.list)),
      readAudit: (caller: Caller, org: string) =>
        by(
          caller,
          Effect.flatMap(inOrg(org, "audit.read"), (place) => trail.list(place, { limit: 1 }))
        ),
      listAccounts: (caller: Caller, org: string) =>
        by(caller, Effect.flatMap(inOrg(org, "service_account.list"), accounts.list)),

      createProject: (caller: Caller, org: string, name: string) =>
        changeBy(
          caller,
          Effect.flatMap(inOrg(org, "project.create"), (place) => projects.create(place, ProjectName.make(name)))
        ),
      renameProject: (caller: Caller, org: string, name: string, to: string) =>
        changeBy(
          caller,
          Effect.flatMap(inProject(org, name, "project.update"), (place) =>
            projects.change(place, { name: ProjectName.make(to) })
          )
        ),
      deleteProject: (caller: Caller, org: string, name: string) =>
        changeBy(caller, Effect.flatMap(inProject(org, name, "project.delete"), projects.remove)),
      listProjects: (caller: Caller, org: string) =>
        by(caller, Effect.flatMap(inOrg(org, "project.list"), projects.list)),
      listEnvs: (caller: Caller, org: string, project: string) =>
        by(caller, Effect.flatMap(inProject(org, project, "env.list"), environments.list)),
      createEnv: (caller: Caller, at: At) =>
        changeBy(
          caller,
          Effect.flatMap(inProject(at.org, at.project, "env.create"), (place) =>
            environments.create(place, EnvName.make(at.env))
          )
        ),
      deleteEnv: (caller: Caller, at: At) =>
        changeBy(caller, Effect.flatMap(inEnv(at, "env.delete"), environments.remove)),

      createAccount: (caller: Caller, org: string, request: NewAccount) =>
        changeBy(
          caller,
          Effect.flatMap(inOrg(org, "service_account.create"), (place) =>
            Effect.flatMap(
              accounts.create(place, {
                name: ServiceAccountName.make(request.name),
                reveal: request.reveal,
                ...(request.project !== undefined && { project: ProjectName.make(request.project) })
              }),
              withKey
            )
          )
        ),
      rotate: (caller: Caller, org: string, account: Account, grace: boolean) =>
        changeBy(
          caller,
          Effect.flatMap(inOrg(org, "service_account.rotate"), (place) =>
            accounts.rotate(place, accountIds.get(account)!, grace ? 3600 : 0)
          )
        ),
      revokeAccount: (caller: Caller, org: string, account: Account) =>
        changeBy(
          caller,
          Effect.flatMap(inOrg(org, "service_account.revoke"), (place) =>
            accounts.revoke(place, accountIds.get(account)!)
          )
        ),

      grant: (caller: Caller, org: string, request: NewRule) =>
        changeBy(
          caller,
          Effect.flatMap(inOrg(org, "acl.grant"), (place) =>
            acl.grant(place, {
              ...refOf(request.subject),
              project_pattern: pattern(request.project),
              env_pattern: pattern(request.env),
              permission: request.level
            })
          )
        ),
      revoke: (caller: Caller, org: string, rule: Rule | undefined) =>
        changeBy(
          caller,
          Effect.flatMap(inOrg(org, "acl.revoke"), (place) =>
            acl.revoke(place, rule === undefined ? RuleId.make(unknownId) : ruleIds.get(rule)!)
          )
        ),
      listRules: (caller: Caller, org: string) => by(caller, Effect.flatMap(inOrg(org, "acl.list"), acl.list)),
      explain: (caller: Caller, subject: User | Account, at: At) =>
        by(
          caller,
          Effect.flatMap(inOrg(at.org, "acl.explain"), (place) =>
            acl.explain(place, refOf(subject), ProjectName.make(at.project), EnvName.make(at.env))
          )
        ),

      listSecrets: (caller: Caller, at: At) => by(caller, Effect.flatMap(inEnv(at, "secret.list"), secrets.list)),
      readAll: (caller: Caller, at: At) =>
        by(caller, Effect.scoped(Effect.flatMap(inEnv(at, "secret.read"), (place) => bundles.read(place)))),
      readSecret: (caller: Caller, at: At, key: string) =>
        by(
          caller,
          Effect.flatMap(inEnv(at, "secret.read"), (place) => secrets.read(place, secretKey(key)))
        ),
      setSecret: (caller: Caller, at: At, key: string, text: string) =>
        changeBy(
          caller,
          Effect.flatMap(inEnv(at, "secret.write"), (place) =>
            secrets.set(place, secretKey(key), { kind: "text", value: value(text) })
          )
        ),
      removeSecret: (caller: Caller, at: At, key: string) =>
        changeBy(
          caller,
          Effect.flatMap(inEnv(at, "secret.write"), (place) => secrets.remove(place, secretKey(key)))
        ),
      reaches: (caller: Caller, at: At, level: Level) =>
        by(
          caller,
          Effect.asVoid(
            inEnv(at, level === "read" ? "secret.list" : level === "write" ? "secret.write" : "secret.destroy")
          )
        )
    } as const
  })

export type Driver = Effect.Effect.Success<ReturnType<typeof driver>>

import type { ServiceAccountId } from "@coffer/domain/base/Ids"
import type { Effect, Redacted } from "effect"
import type { Account, At, Caller, Key, Level, Role, Rule, User } from "./Model.js"

/** A call, which fails with the tag of an error of the contract. */
type Called<A, R> = Effect.Effect<A, { readonly _tag: string }, R>

type List<A, R> = Called<ReadonlyArray<A>, R>

export interface NewAccount {
  readonly name: string
  readonly project: string | undefined
  readonly reveal: boolean
}

export interface NewRule {
  readonly subject: User | Account
  readonly project: string
  readonly env: string
  readonly level: Level
}

interface NewKey {
  readonly api_key: Redacted.Redacted
}

interface Named {
  readonly name: string
}

interface ListedSecret {
  readonly key: string
  readonly version: number
}

interface ReadSecret {
  readonly value: Redacted.Redacted
  readonly version: number
}

/**
 * The service under test, called as the model is: with the model's own things, whose ids it knows. `R` is what its calls
 * need.
 */
export interface Calls<R> {
  /** Sets or takes a person's superadmin right, as the configuration does at a start. */
  readonly setSuperadmin: (user: User, on: boolean) => Effect.Effect<unknown, never, R>

  /** Tell the ids of what a call has made. */
  readonly keepAccount: (account: Account, key: Key, made: NewKey & { readonly id: ServiceAccountId }) => void
  readonly keepKey: (key: Key, made: NewKey) => void
  readonly keepRule: (rule: Rule, id: string) => void
  readonly ruleId: (rule: Rule) => string | undefined

  readonly createOrg: (caller: Caller, name: string) => Called<unknown, R>
  readonly renameOrg: (caller: Caller, name: string, to: string) => Called<unknown, R>
  readonly deleteOrg: (caller: Caller, name: string) => Called<unknown, R>
  readonly listOrgs: (caller: Caller) => List<Named, R>

  readonly invite: (caller: Caller, org: string, user: User, role: Role) => Called<unknown, R>
  readonly setRole: (caller: Caller, org: string, user: User, role: Role) => Called<unknown, R>
  readonly removeMember: (caller: Caller, org: string, user: User) => Called<unknown, R>
  readonly listMembers: (caller: Caller, org: string) => List<{ readonly user_id: string; readonly role: string }, R>
  readonly readAudit: (caller: Caller, org: string) => Called<unknown, R>
  readonly listAccounts: (caller: Caller, org: string) => Called<unknown, R>

  readonly createProject: (caller: Caller, org: string, name: string) => Called<unknown, R>
  readonly renameProject: (caller: Caller, org: string, name: string, to: string) => Called<unknown, R>
  readonly deleteProject: (caller: Caller, org: string, name: string) => Called<unknown, R>
  readonly listProjects: (caller: Caller, org: string) => List<Named, R>
  readonly listEnvs: (caller: Caller, org: string, project: string) => List<Named, R>
  readonly createEnv: (caller: Caller, at: At) => Called<unknown, R>
  readonly deleteEnv: (caller: Caller, at: At) => Called<unknown, R>

  readonly createAccount: (
    caller: Caller,
    org: string,
    request: NewAccount
  ) => Called<NewKey & { readonly id: ServiceAccountId }, R>
  readonly rotate: (caller: Caller, org: string, account: Account, grace: boolean) => Called<NewKey, R>
  readonly revokeAccount: (caller: Caller, org: string, account: Account) => Called<unknown, R>

  readonly grant: (
    caller: Caller,
    org: string,
    request: NewRule
  ) => Called<{ readonly created: boolean; readonly rule: { readonly id: string } }, R>
  readonly revoke: (caller: Caller, org: string, rule: Rule | undefined) => Called<unknown, R>
  readonly listRules: (caller: Caller, org: string) => List<{ readonly id: string }, R>
  readonly explain: (
    caller: Caller,
    subject: User | Account,
    at: At
  ) => Called<{ readonly allowed: ReadonlyArray<string> }, R>

  readonly listSecrets: (caller: Caller, at: At) => List<ListedSecret, R>
  readonly readAll: (
    caller: Caller,
    at: At
  ) => Called<{ readonly bundle: { readonly data: ReadonlyArray<ListedSecret & ReadSecret> } | undefined }, R>
  readonly readSecret: (caller: Caller, at: At, key: string) => Called<ReadSecret, R>
  readonly setSecret: (caller: Caller, at: At, key: string, text: string) => Called<unknown, R>
  readonly removeSecret: (caller: Caller, at: At, key: string) => Called<unknown, R>
  readonly reaches: (caller: Caller, at: At, level: Level) => Called<unknown, R>
}

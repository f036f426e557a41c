import { ServiceAccountId } from "@coffer/domain/base/Ids"
import { Effect, Redacted } from "effect"
import type { Json } from "../support/Program.js"
import type { Calls } from "./Calls.js"
import type { Account, At, Caller, Key, Level, Rule, User } from "./Model.js"
import { apiKey, type Credential } from "./Support.js"

export interface HttpPerson {
  readonly id: string
  readonly email: string
  readonly credential: Credential
}

interface Refusal {
  readonly _tag: string
  readonly message: string
}

interface Place {
  /** Where the service is reached. */
  readonly url: string
  readonly users: ReadonlyArray<HttpPerson>
  readonly setSuperadmin: (userId: string, on: boolean) => Promise<unknown>
}

/** The tag of the error that a status stands for. */
const tags: Readonly<Record<number, string>> = {
  400: "ValidationError",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict"
}

const unknownId = "0192f0c1-5b7e-7c3a-9d2e-ffffffffffff"
const absentKey = "ABSENT"

interface Asked {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

/** Servers, called as the model is. */
export const httpDriver = ({ setSuperadmin, url, users }: Place): Calls<never> => {
  const accountIds = new Map<Account, ServiceAccountId>()
  const ruleIds = new Map<Rule, string>()
  const keys = new Map<Key, Credential>()

  const person = (user: User) => users[user.n]!
  const credential = (caller: Caller) => ("superadmin" in caller ? person(caller).credential : keys.get(caller)!)

  const ask = (caller: Caller, { body, method, path }: Asked): Effect.Effect<{ status: number; body: Json }, Refusal> =>
    Effect.flatMap(
      Effect.promise(async () => {
        const response = await fetch(url + path, {
          method,
          headers: { ...credential(caller), ...(body !== undefined && { "content-type": "application/json" }) },
          body: body === undefined ? null : JSON.stringify(body)
        })
        const text = await response.text()
        return { status: response.status, body: text === "" ? undefined : JSON.parse(text) }
      }),
      (answer) =>
        answer.status < 300
          ? Effect.succeed(answer)
          : Effect.fail({
              _tag: tags[answer.status] ?? `status ${answer.status}`,
              message: String(answer.body?.error?.message)
            })
    )

  const get = (caller: Caller, path: string): Effect.Effect<Json, Refusal> =>
    Effect.map(ask(caller, { method: "GET", path }), ({ body }) => body)
  const listed = (caller: Caller, path: string): Effect.Effect<ReadonlyArray<Json>, Refusal> =>
    Effect.map(get(caller, path), ({ data }) => data)
  const change = (method: string) => (caller: Caller, path: string, body?: unknown) =>
    ask(caller, { method, path, body })
  const [post, patch, put, remove] = [change("POST"), change("PATCH"), change("PUT"), change("DELETE")]

  const inOrg = (org: string) => `/api/orgs/${org}`
  const inProject = (org: string, project: string) => `${inOrg(org)}/projects/${project}`
  const inEnv = ({ env, org, project }: At) => `${inProject(org, project)}/envs/${env}`
  const secret = (at: At, key: string) => `${inEnv(at)}/secrets/${key}`
  const memberOf = (org: string, user: User) => `${inOrg(org)}/members/${person(user).id}`
  const accountOf = (org: string, account: Account) => `${inOrg(org)}/service-accounts/${accountIds.get(account)}`

  const refOf = (subject: User | Account): Readonly<Record<string, string>> =>
    subject.type === "user"
      ? { subject_type: "user", email: person(subject).email }
      : { subject_type: "service_account", subject_id: accountIds.get(subject)! }

  /** Asks for something that needs a level and changes nothing. */
  const tried = (caller: Caller, at: At, level: Level): Effect.Effect<unknown, Refusal> => {
    if (level === "read") return get(caller, `${inEnv(at)}/secrets`)
    if (level === "write") return patch(caller, `${inEnv(at)}/bundle`, { delete: [absentKey], dry_run: true })
    return Effect.catchIf(
      post(caller, `${secret(at, absentKey)}/destroy`, { versions: [1] }),
      ({ message }) => message === `secret ${absentKey} does not exist`,
      () => Effect.void
    )
  }

  return {
    setSuperadmin: (user, on) => Effect.promise(() => setSuperadmin(person(user).id, on)),

    keepAccount: (account, key, made) => {
      accountIds.set(account, made.id)
      keys.set(key, apiKey(made.api_key))
    },
    keepKey: (key, made) => void keys.set(key, apiKey(made.api_key)),
    keepRule: (rule, id) => void ruleIds.set(rule, id),
    ruleId: (rule) => ruleIds.get(rule),

    createOrg: (caller, name) => post(caller, "/api/orgs", { name }),
    renameOrg: (caller, name, to) => patch(caller, inOrg(name), { name: to }),
    deleteOrg: (caller, name) => remove(caller, inOrg(name)),
    listOrgs: (caller) => listed(caller, "/api/orgs"),

    invite: (caller, org, user, role) => post(caller, `${inOrg(org)}/members`, { email: person(user).email, role }),
    setRole: (caller, org, user, role) => patch(caller, memberOf(org, user), { role }),
    removeMember: (caller, org, user) => remove(caller, memberOf(org, user)),
    listMembers: (caller, org) => listed(caller, `${inOrg(org)}/members`),
    readAudit: (caller, org) => get(caller, `${inOrg(org)}/audit-logs?limit=1`),
    listAccounts: (caller, org) => listed(caller, `${inOrg(org)}/service-accounts`),

    createProject: (caller, org, name) => post(caller, `${inOrg(org)}/projects`, { name }),
    renameProject: (caller, org, name, to) => patch(caller, inProject(org, name), { name: to }),
    deleteProject: (caller, org, name) => remove(caller, inProject(org, name)),
    listProjects: (caller, org) => listed(caller, `${inOrg(org)}/projects`),
    listEnvs: (caller, org, project) => listed(caller, `${inProject(org, project)}/envs`),
    createEnv: (caller, { env, org, project }) => post(caller, `${inProject(org, project)}/envs`, { name: env }),
    deleteEnv: (caller, at) => remove(caller, inEnv(at)),

    createAccount: (caller, org, request) =>
      Effect.map(post(caller, `${inOrg(org)}/service-accounts`, request), ({ body }) => ({
        id: ServiceAccountId.make(body.id),
        api_key: Redacted.make(String(body.api_key))
      })),
    rotate: (caller, org, account, grace) =>
      Effect.map(
        post(caller, `${accountOf(org, account)}/rotate`, { grace_seconds: grace ? 3600 : 0 }),
        ({ body }) => ({ api_key: Redacted.make(String(body.api_key)) })
      ),
    revokeAccount: (caller, org, account) => remove(caller, accountOf(org, account)),

    grant: (caller, org, { env, level, project, subject }) =>
      Effect.map(
        post(caller, `${inOrg(org)}/acl`, {
          ...refOf(subject),
          project_pattern: project,
          env_pattern: env,
          permission: level
        }),
        ({ body, status }) => ({ created: status === 201, rule: body })
      ),
    revoke: (caller, org, rule) =>
      remove(caller, `${inOrg(org)}/acl/${rule === undefined ? unknownId : ruleIds.get(rule)}`),
    listRules: (caller, org) => listed(caller, `${inOrg(org)}/acl`),
    explain: (caller, subject, { env, org, project }) =>
      get(caller, `${inOrg(org)}/acl/explain?${String(new URLSearchParams({ ...refOf(subject), project, env }))}`),

    listSecrets: (caller, at) => listed(caller, `${inEnv(at)}/secrets`),
    readAll: (caller, at) =>
      Effect.map(listed(caller, `${inEnv(at)}/bundle`), (all) => ({
        bundle: { data: all.map((one) => ({ ...one, value: Redacted.make(String(one.value)) })) }
      })),
    readSecret: (caller, at, key) =>
      Effect.map(get(caller, secret(at, key)), ({ value, version }) => ({
        value: Redacted.make(String(value)),
        version
      })),
    setSecret: (caller, at, key, value) => put(caller, secret(at, key), { value }),
    removeSecret: (caller, at, key) => remove(caller, secret(at, key)),
    reaches: tried
  }
}

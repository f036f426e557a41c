import type { Json } from "../../support/Program.js"

/** The content of an import: a structure, with the declared keys and the secrets of `webshop`. */
export interface Content {
  readonly name?: string
  readonly structure: Json
  readonly declared?: ReadonlyArray<Json>
  readonly secrets?: ReadonlyArray<Json>
}

/** The outcome for a record that the call refuses: the import is refused, it goes on without the record and says so, or it takes it. */
type Outcome =
  | { readonly refused: RegExp }
  | { readonly noted: RegExp }
  /** Why an import takes what the call refuses. */
  | { readonly taken: string }

/** A rule of a call that makes records of archives. */
export type RuleCase = Outcome & {
  readonly call: string
  readonly error: string
  readonly rule: string
  /** A request that the call refuses by the rule: method, path below the organization, body. Absent where it takes too many records. */
  readonly ask?: readonly [method: string, path: string, body: Json]
  readonly archive: (structure: Json) => Partial<Content>
}

export const many = <A>(count: number, make: (at: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, at) => make(at))

export const at = "2026-01-31T08:00:00.000Z"
export const tooFar = "2099-01-31T08:00:00.000Z"
export const person = (index: number) => ({ email: `m${index}@example.com`, role: "member" })
export const project = (name: string, more: object = {}) => ({ name, strict: false, environments: [], ...more })
export const account = (name: string, more: object = {}) => ({ name, reveal: true, federations: [], ...more })
export const federation = (name: string, more: object = {}) => ({
  ...{ name, issuer: "https://gitlab.com", conditions: { "/project_id": "42" }, max_age: 600, ttl: 900 },
  ...more
})
export const anywhere = { project_pattern: "*", env_pattern: "*", permission: "read" }
export const rule = (more: object = {}) => ({
  subject_type: "user",
  subject: "grace@example.com",
  ...anywhere,
  ...more
})
export const webhook = (more: object = {}) => ({
  ...{ url: "https://hooks.invalid/x", events: ["*"], environments: ["*"], enabled: true },
  ...more
})
export const useRule = (more: object = {}) => ({
  ...{ hosts: ["api.invalid"], methods: ["GET"], paths: ["/v1/*"], place: { in: "basic", user: "api" } },
  ...{ accounts: ["ci"], per_minute: 30, per_day: 1_000, response: "text", max_kib: 256 },
  ...{ approval: "none", expires_at: null, ...more }
})
export const secret = (key: string, more: object = {}, current: object = {}) => ({
  ...{ key, version: 1, value: "text", created_at: at, created_by: "ada@example.com" },
  ...{ current: { use_rules: [], ...current }, ...more }
})

/** An organization that breaks no rule. */
export const base = {
  passkey_recovery: "login" as const,
  members: [{ email: "grace@example.com", role: "developer" }],
  groups: [{ name: "Backend", members: ["grace@example.com"] }],
  mappings: [{ provider_group: "platform", group: "Backend" }],
  projects: [project("webshop", { environments: [{ name: "prod" }, { name: "dev" }] })],
  accounts: [account("ci")],
  rules: [rule()],
  webhooks: [webhook()]
}

export const structure = (more: object) => () => ({ structure: { ...base, ...more } })
/** Another project beside webshop. */
export const projects = (...some: ReadonlyArray<object>) => structure({ projects: [...base.projects, ...some] })
export const shop = (more: object) => projects(project("shop", more))
export const env = (more: object) => shop({ environments: [{ name: "prod", ...more }] })
export const accounts = (...some: ReadonlyArray<object>) => structure({ accounts: [...base.accounts, ...some] })
export const federations = (...some: ReadonlyArray<object>) => accounts(account("bot", { federations: some }))
export const rules = (...some: ReadonlyArray<object>) => structure({ rules: [...base.rules, ...some] })
export const webhooks = (...some: ReadonlyArray<object>) => structure({ webhooks: [...base.webhooks, ...some] })
export const protection = (terms: object, more: object = {}) =>
  env({ protection: { needed: 1, approvers: "owners", ...terms }, ...more })
export const declared =
  (...some: ReadonlyArray<object>) =>
  () => ({ declared: some })
export const secrets =
  (...some: ReadonlyArray<object>) =>
  () => ({ secrets: some })
export const useRules = (...some: ReadonlyArray<object>) => secrets(secret("KEY", {}, { use_rules: some }))

/** Why an import takes what ended before it. */
export const since = "it has ended since the export, and gives nothing"

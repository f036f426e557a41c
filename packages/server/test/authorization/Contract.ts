import { Api } from "@coffer/domain/Api"
import { bodyLimitOf, Requires } from "@coffer/domain/api/Requirement"
import { HttpApi } from "@effect/platform"
import { Context, Option } from "effect"

export interface Endpoint {
  /** The method and the path's pattern: how the tests know a call. */
  readonly call: string
  readonly method: string
  readonly path: string
  readonly requires: string | undefined
  /** The largest body that it takes, in bytes; null when it takes none. */
  readonly bodyLimit: number | null
}

const collect = (): ReadonlyArray<Endpoint> => {
  const found: Array<Endpoint> = []
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, mergedAnnotations }) => {
      const requires = Option.getOrUndefined(Context.getOption(mergedAnnotations, Requires))
      found.push({
        call: `${endpoint.method} ${endpoint.path}`,
        method: endpoint.method,
        path: endpoint.path,
        requires,
        bodyLimit: bodyLimitOf(endpoint, mergedAnnotations)
      })
    }
  })
  return found
}

/** Every call of the contract. */
export const endpoints = collect()

export const endpointOf = (call: string): Endpoint => {
  const found = endpoints.find((endpoint) => endpoint.call === call)
  if (found === undefined) throw new Error(`the contract has no call ${call}`)
  return found
}

export const parameters = [
  "org_name",
  "project_name",
  "env_name",
  "key",
  "user_id",
  "rule_id",
  "sa_id",
  "group_name",
  "federation_id",
  "use_rule_id",
  "connection_name",
  "rotation_name",
  "role_name",
  "lease_id",
  "target_name",
  "approval_id",
  "request_id",
  "webhook_id",
  "delivery_id",
  "session_id",
  "delegation_id",
  "passkey_id",
  "export_id",
  "import_id",
  "backup_id",
  "removed_id"
] as const
export type Parameter = (typeof parameters)[number]

/** A value for each parameter of a path. */
export type Place = Readonly<Record<Parameter, string>>

export const parametersOf = ({ path }: Endpoint): ReadonlyArray<Parameter> =>
  parameters.filter((name) => path.split("/").includes(`:${name}`))

export const pathOf = ({ path }: Endpoint, place: Place): string =>
  path.replace(/:([a-z_]+)/g, (_whole, name: string) => encodeURIComponent(place[name as Parameter]))

/** The context of a request, beyond its path. */
export interface About {
  readonly place: Place
  /** A word of its own. */
  readonly fresh: string
  /** The caller, as the subject of a rule. */
  readonly self: Readonly<Record<string, string>>
  /** The patterns of the rules that match. */
  readonly patterns: { readonly project_pattern: string; readonly env_pattern: string }
}

export interface Ask {
  readonly body?: unknown
  readonly query?: Readonly<Record<string, string>>
}

/** A federation with an issuer that every server knows. */
export const federationBody = {
  issuer: "https://gitlab.com",
  conditions: { "/project_id": "42", "/ref": "main" }
}

/** A webhook to a host that is nowhere. */
export const webhookBody = { url: "https://hooks.invalid/coffer", events: ["secret.*"] }

/** A request for access to the environment of a place. */
export const accessBody = ({ env_name, project_name }: Pick<Place, "env_name" | "project_name">) => ({
  kind: "access",
  project: project_name,
  env: env_name,
  permission: "read",
  expires_in: 3_600,
  reason: "INC-12"
})

/** A use rule of a host that is nowhere. */
export const useRuleBody = {
  hosts: ["api.invalid"],
  paths: ["/v1/*"],
  place: { in: "header", name: "authorization", format: "Bearer {}" },
  accounts: ["bystander"] as const
}

/** A connection to a host that is nowhere. */
export const connectionBody = {
  name: "shop-db",
  host: "db.invalid",
  database: "shop",
  user: "renewer",
  password_key: "RENEWER"
}

/** A target at a platform that has no address. */
export const targetBody = (name: string, credential_key: string) => ({
  ...{ name, kind: "vault", credential_key },
  place: { url: "https://vault.invalid", mount: "secret", path: "web" }
})

/** A rotation by that connection. */
export const rotationBody = {
  name: "shop-app",
  connection: connectionBody.name,
  users: ["app_a", "app_b"],
  writes: { ROTATED: "{user}:{password}" }
}

/** A role by that connection. */
export const roleBody = { name: "app-role", connection: connectionBody.name }

/** The counts of an empty import. */
const emptyCounts = { projects: 0, environments: 0, secrets: 0, versions: 0, use_rules: 0, declared: 0 }

/** The name of what was removed, by which it is erased. */
export const removedName = "removed"

const trash = "/api/trash"
const groups = "/api/orgs/:org_name/groups"
const webhooks = "/api/orgs/:org_name/webhooks"
const envs = "/api/orgs/:org_name/projects/:project_name/envs"
const secrets = `${envs}/:env_name/secrets`

const inAWeek = () => new Date(Date.now() + 7 * 86_400_000).toISOString()

/** The choice of a person for a program. */
export const termsOf = ({
  env_name,
  org_name,
  project_name
}: Pick<Place, "env_name" | "org_name" | "project_name">) => ({
  org: org_name,
  project: project_name,
  env: env_name,
  permission: "read",
  reveal: false,
  expires_in: 3_600
})

/** The query of an authorization request. */
export const queryOf = (publicUrl: string, client_id: string, redirect_uri: string): string =>
  new URLSearchParams({
    ...{ response_type: "code", client_id, redirect_uri, resource: `${publicUrl}/mcp` },
    ...{ code_challenge: "A".repeat(43), code_challenge_method: "S256" }
  }).toString()

/** A sound request for each call that takes more than a path. */
const asks: Readonly<Record<string, (about: About) => Ask>> = {
  "POST /api/auth/login": ({ fresh }) => ({ body: { email: `${fresh}@example.com` } }),
  "POST /api/auth/verify": ({ fresh }) => ({ body: { email: `${fresh}@example.com`, code: "000000" } }),
  "POST /api/auth/device": () => ({ body: { machine: "build-box" } }),
  "POST /api/auth/token": () => ({ body: { device_code: "A".repeat(43) } }),
  "POST /api/auth/passkeys": ({ fresh }) => ({
    body: { name: fresh, credential: { id: "AAAA", response: { clientDataJSON: "AAAA", attestationObject: "AAAA" } } }
  }),
  "POST /api/auth/passkeys/challenge": () => ({ body: {} }),
  "POST /api/auth/passkeys/verify": () => ({
    body: {
      credential: { id: "AAAA", response: { clientDataJSON: "AAAA", authenticatorData: "AAAA", signature: "AAAA" } }
    }
  }),
  "POST /api/auth/delegations": ({ fresh, place }) => ({
    body: {
      name: fresh,
      org: place.org_name,
      project: place.project_name,
      env: place.env_name,
      permission: "read",
      expires_in: 3_600
    }
  }),
  "POST /api/auth/consents": ({ place }) => ({
    body: {
      ...termsOf(place),
      request: queryOf("https://coffer.example.com", "unknown", "https://unknown.example.com")
    }
  }),
  "POST /api/auth/consents/review": () => ({ body: { request: "" } }),
  "POST /api/orgs": ({ fresh }) => ({ body: { name: `org-${fresh}` } }),
  "POST /api/orgs/:org_name/exports": () => ({ body: {} }),
  "GET /api/orgs/:org_name/exports/:export_id/declared": ({ place }) => ({ query: { project: place.project_name } }),
  "GET /api/orgs/:org_name/exports/:export_id/secrets": ({ place }) => ({
    query: { project: place.project_name, env: place.env_name }
  }),
  "POST /api/imports": ({ fresh }) => ({ body: { name: `imported-${fresh}`, organization: "" } }),
  "PUT /api/imports/:import_id/declared": ({ place }) => ({ body: { project: place.project_name, data: [] } }),
  "PUT /api/imports/:import_id/secrets": ({ place }) => ({
    body: { project: place.project_name, env: place.env_name, data: [] }
  }),
  "POST /api/imports/:import_id/finish": () => ({ body: { counts: emptyCounts } }),
  [`POST ${trash}/:removed_id/restore`]: () => ({ body: {} }),
  [`POST ${trash}/:removed_id/erase`]: () => ({ body: { name: removedName } }),
  [`POST /api/orgs/:org_name/trash/:removed_id/restore`]: () => ({ body: {} }),
  [`POST /api/orgs/:org_name/trash/:removed_id/erase`]: () => ({ body: { name: removedName } }),
  [`POST /api/orgs/:org_name/projects/:project_name/trash/:removed_id/restore`]: () => ({ body: {} }),
  [`POST /api/orgs/:org_name/projects/:project_name/trash/:removed_id/erase`]: () => ({ body: { name: removedName } }),
  "PATCH /api/orgs/:org_name": ({ fresh }) => ({ body: { name: `renamed-${fresh}` } }),
  "POST /api/orgs/:org_name/members": ({ fresh }) => ({ body: { email: `${fresh}@example.com` } }),
  "PATCH /api/orgs/:org_name/members/:user_id": () => ({ body: { role: "developer" } }),
  "POST /api/orgs/:org_name/projects": ({ fresh }) => ({ body: { name: `project-${fresh}` } }),
  "PATCH /api/orgs/:org_name/projects/:project_name": ({ fresh }) => ({ body: { name: `renamed-${fresh}` } }),
  "PUT /api/orgs/:org_name/projects/:project_name/declared/:key": () => ({ body: { required_in: ["prod"] } }),
  [`POST ${envs}`]: ({ fresh }) => ({ body: { name: `env-${fresh}` } }),
  [`PATCH ${envs}/:env_name`]: () => ({ body: { expires_at: inAWeek() } }),
  [`PATCH ${envs}/:env_name/bundle`]: ({ fresh }) => ({ body: { set: { [`SET_${fresh}`]: "set" } } }),
  [`POST ${envs}/:env_name/copy`]: ({ place }) => ({ body: { from: "staging", keys: [place.key] } }),
  [`POST ${envs}/:env_name/revert`]: () => ({ body: { to: 2, dry_run: true } }),
  [`GET ${envs}/:env_name/diff`]: () => ({ query: { with: "staging" } }),
  [`PUT ${secrets}/:key`]: () => ({ body: { value: "written" } }),
  [`PATCH ${secrets}/:key`]: () => ({ body: { owner: "ops@example.com" } }),
  [`POST ${secrets}/:key/rollback`]: () => ({ body: { version: 1 } }),
  [`POST ${secrets}/:key/destroy`]: () => ({ body: { versions: [1] } }),
  [`POST ${secrets}/:key/use-rules`]: () => ({ body: useRuleBody }),
  [`PATCH ${secrets}/:key/use-rules/:use_rule_id`]: () => ({ body: { per_minute: 5 } }),
  [`POST ${envs}/:env_name/connections`]: ({ fresh }) => ({
    body: { ...connectionBody, name: `c-${fresh.toLowerCase().replaceAll("_", "-")}` }
  }),
  [`POST ${envs}/:env_name/targets`]: ({ fresh, place }) => ({
    body: targetBody(`t-${fresh.toLowerCase().replaceAll("_", "-")}`.slice(0, 50), place.key)
  }),
  [`PATCH ${envs}/:env_name/targets/:target_name`]: () => ({ body: { automatic: "off" } }),
  [`POST ${envs}/:env_name/targets/:target_name/plan`]: () => ({ body: {} }),
  [`POST ${envs}/:env_name/targets/:target_name/push`]: () => ({ body: { plan: "of-another-day" } }),
  [`POST ${envs}/:env_name/rotations`]: ({ fresh, place }) => ({
    body: {
      ...rotationBody,
      connection: place.connection_name,
      name: `r-${fresh.toLowerCase().replaceAll("_", "-")}`
    }
  }),
  [`POST ${envs}/:env_name/roles`]: ({ fresh, place }) => ({
    body: { connection: place.connection_name, name: `r-${fresh.toLowerCase().replaceAll("_", "-")}` }
  }),
  [`POST ${envs}/:env_name/roles/:role_name/leases`]: () => ({ body: {} }),
  [`POST ${envs}/:env_name/leases/:lease_id/renew`]: () => ({ body: {} }),
  [`PATCH ${envs}/:env_name/rotations/:rotation_name`]: () => ({ body: { paused: true } }),
  [`POST ${envs}/:env_name/use`]: ({ place }) => ({
    body: { method: "GET", url: "https://api.invalid/v1/x", secrets: [place.key] }
  }),
  [`PUT ${envs}/:env_name/protection`]: () => ({ body: { needed: 1, approvers: "owners", self: true } }),
  "PUT /api/orgs/:org_name/projects/:project_name/previews": () => ({ body: { from: "staging", pattern: "pr-*" } }),
  "POST /api/orgs/:org_name/requests": ({ place }) => ({ body: accessBody(place) }),
  "GET /api/orgs/:org_name/keys": ({ place }) => ({ query: { query: place.key } }),
  "POST /api/orgs/:org_name/acl": ({ patterns, place }) => ({
    body: { subject_type: "service_account", subject_id: place.sa_id, ...patterns, permission: "read" }
  }),
  "GET /api/orgs/:org_name/acl/explain": ({ place, self }) => ({
    query: { ...self, project: place.project_name, env: place.env_name }
  }),
  [`POST ${groups}`]: ({ fresh }) => ({ body: { name: `group ${fresh}` } }),
  [`PATCH ${groups}/:group_name`]: ({ fresh }) => ({ body: { name: `renamed ${fresh}` } }),
  [`PUT ${groups}/:group_name/members`]: () => ({ body: { emails: [] } }),
  [`POST ${groups}/:group_name/members`]: () => ({ body: { email: "ada@example.com" } }),
  "PUT /api/orgs/:org_name/group-mappings": ({ place }) => ({
    body: { mappings: [{ provider_group: "team", group: place.group_name }] }
  }),
  "POST /api/orgs/:org_name/service-accounts": ({ fresh }) => ({ body: { name: fresh } }),
  "PATCH /api/orgs/:org_name/service-accounts/:sa_id": () => ({ body: { allowed_networks: null } }),
  "POST /api/orgs/:org_name/service-accounts/:sa_id/rotate": () => ({ body: {} }),
  "POST /api/orgs/:org_name/service-accounts/:sa_id/federations": ({ fresh }) => ({
    body: { ...federationBody, name: fresh }
  }),
  "POST /api/orgs/:org_name/service-accounts/:sa_id/federations/try": () => ({ body: { token: "e30.e30.e30" } }),
  [`POST ${webhooks}`]: () => ({ body: webhookBody }),
  [`PATCH ${webhooks}/:webhook_id`]: () => ({ body: { events: ["*"] } }),
  [`POST ${webhooks}/:webhook_id/rotate-key`]: () => ({ body: {} })
}

export const askOf = (endpoint: Endpoint, about: About): Ask => asks[endpoint.call]?.(about) ?? {}

/** A request for a call, as `Program.call` takes it. */
export const requestOf = (endpoint: Endpoint, about: About, ask: Ask = askOf(endpoint, about)) => {
  const query = ask.query === undefined ? "" : `?${new URLSearchParams(ask.query).toString()}`
  return {
    method: endpoint.method,
    path: pathOf(endpoint, about.place) + query,
    ...(ask.body !== undefined && { body: ask.body })
  }
}

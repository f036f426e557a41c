import { OrgId } from "@coffer/domain/base/Ids"
import { Database } from "@coffer/server/database/Database"
import { query } from "@coffer/server/database/Query"
import { orgScope } from "@coffer/server/database/Scopes"
import { Effect, Schema } from "effect"
import {
  type Ask,
  askOf,
  type Endpoint,
  endpointOf,
  endpoints,
  parametersOf,
  type Parameter,
  pathOf,
  type Place,
  queryOf,
  termsOf
} from "./Contract.js"
import { type Caller, restsOn, rootEmail, type Scene, type Staged } from "./Scene.js"
import { endEnvironment } from "../previews/Support.js"
import { word } from "./Service.js"
import { passkeysOf } from "../support/SoftAuthenticator.js"
import { publicUrl } from "../federations/Signer.js"

/** A loss of rights or places during a call: the calls that it concerns, and how a call is refused then. */
export interface Loss {
  readonly statuses: ReadonlyArray<401 | 403 | 404>
  readonly concerns: (endpoint: Endpoint, kind: Caller["kind"]) => boolean
  /** Makes the state that it takes away. */
  readonly before?: (scene: Scene) => Promise<unknown>
  readonly happens: (scene: Scene) => Promise<unknown>
}

const has = (endpoint: Endpoint, parameter: Parameter) => parametersOf(endpoint).includes(parameter)
const orgOf = ({ place }: Scene) => `/api/orgs/${place.org_name}`

const IdRow = Schema.Struct({ id: OrgId })

/** Sets the end of a rule to a time that has passed, as the passing of time would. */
const endRule = (rule: string, org: string) =>
  Effect.gen(function* () {
    const { change } = yield* Database
    const { one, write } = yield* query
    const { id } = yield* one(IdRow)`SELECT id FROM organizations WHERE name = ${"org"} AND removed_at IS NULL`({ org })
    yield* change([orgScope(id)], write`UPDATE acl_rules SET expires_at = 1 WHERE id = ${"rule"}`({ rule }))
  })

/** A protected environment, its project and its organization are not removed at once. The call itself asks for votes. */
export const ending = "DELETE /api/orgs/:org_name/projects/:project_name/envs/:env_name/protection"

/** An export waits where an environment is protected, too. */
const approving = "POST /api/orgs/:org_name/exports/:export_id/approve"

/** Everything that a right to a call can rest on, and how it is lost. */
export const lossesOn = (server: Staged): Readonly<Record<string, Loss>> => ({
  "the sessions of the caller are ended": {
    statuses: [401],
    concerns: (_, kind) => kind === "user",
    happens: ({ caller }) => server.asRoot("POST", `/api/users/${caller.id}/end-sessions`)
  },
  "the caller logs out": {
    statuses: [401],
    concerns: (_, kind) => kind === "user",
    happens: ({ caller }) => server.do(caller.headers, "DELETE", "/api/auth/logout")
  },
  "the caller is disabled": {
    statuses: [401],
    concerns: (_, kind) => kind === "user",
    happens: ({ caller }) => server.asRoot("POST", `/api/users/${caller.id}/disable`)
  },
  "the key of the caller is replaced": {
    statuses: [401],
    concerns: (_, kind) => kind === "account",
    happens: (scene) => server.asRoot("POST", `${orgOf(scene)}/service-accounts/${scene.caller.id}/rotate`, {})
  },
  "the networks of the caller are narrowed": {
    statuses: [401],
    concerns: (_, kind) => kind === "account",
    happens: (scene) =>
      server.asRoot("PATCH", `${orgOf(scene)}/service-accounts/${scene.caller.id}`, { allowed_networks: ["192.0.2.1"] })
  },
  "the account that calls is revoked": {
    // Its rules go with it: what finds that out before the change says so.
    statuses: [401, 403],
    concerns: (_, kind) => kind === "account",
    happens: (scene) => server.asRoot("DELETE", `${orgOf(scene)}/service-accounts/${scene.caller.id}`)
  },
  "the role of the caller is taken": {
    // A caller that may no longer vote does not find the request.
    statuses: [403, 404],
    // A right of every member is not lost by becoming one.
    concerns: (endpoint, kind) => {
      const { role } = restsOn(endpoint)
      return kind === "user" && role !== undefined && role !== "member"
    },
    happens: (scene) => server.asRoot("PATCH", `${orgOf(scene)}/members/${scene.caller.id}`, { role: "member" })
  },
  "the rule of the caller is revoked": {
    statuses: [403],
    concerns: (endpoint, kind) =>
      (kind === "account" && !endpoint.path.includes("/requests")) || restsOn(endpoint).permission !== undefined,
    happens: (scene) => server.asRoot("DELETE", `${orgOf(scene)}/acl/${scene.caller.rule ?? ""}`)
  },
  "the rule of the caller ends": {
    statuses: [403],
    concerns: (endpoint, kind) => kind === "user" && restsOn(endpoint).permission !== undefined,
    happens: ({ caller, place }) => server.run(endRule(caller.rule ?? "", place.org_name))
  },
  "the delegating caller is put out of the organization": {
    statuses: [404],
    concerns: ({ call }) => ["POST /api/auth/delegations", "POST /api/auth/consents"].includes(call),
    happens: (scene) => server.asRoot("DELETE", `${orgOf(scene)}/members/${scene.caller.id}`)
  },
  "the environment of the delegation is removed": {
    statuses: [404],
    concerns: ({ path }) => path.includes("delegations") || path.endsWith("/consents"),
    happens: (scene) => server.asRoot("DELETE", `${orgOf(scene)}/projects/webshop/envs/prod`)
  },
  "the caller is put out of the organization": {
    statuses: [404],
    concerns: (endpoint, kind) => kind === "user" && restsOn(endpoint).role !== undefined,
    happens: (scene) => server.asRoot("DELETE", `${orgOf(scene)}/members/${scene.caller.id}`)
  },
  "the directory puts the caller out of the organization": {
    statuses: [404],
    // A token of the test's own would be in the way of this one.
    concerns: (endpoint, kind) =>
      kind === "user" && restsOn(endpoint).role !== undefined && endpoint.call !== "POST /api/orgs/:org_name/scim",
    before: async (scene) => {
      const path = `${orgOf(scene)}/scim`
      const { enabled } = await server.asRoot("GET", path)
      const { path: base, token } = await server.asRoot("POST", enabled === true ? `${path}/rotate` : path)
      const headers = { authorization: `Bearer ${token}` }
      const { email } = await server.do(scene.caller.headers, "GET", "/api/auth/me")
      const { id } = await server.do(headers, "POST", `${base}/Users`, { userName: email, active: true })
      listed.set(scene, { headers, user: `${base}/Users/${id}` })
    },
    happens: (scene) => {
      const { headers, user } = listed.get(scene) ?? { headers: {}, user: "" }
      return server.do(headers, "PATCH", user, { Operations: [{ op: "replace", path: "active", value: false }] })
    }
  },
  "the caller is a superadmin no more": {
    statuses: [403],
    concerns: (endpoint) => restsOn(endpoint).superadmin,
    happens: () => server.setSuperadmins()
  },
  "the environment is removed": {
    statuses: [404],
    concerns: (endpoint) => has(endpoint, "env_name") && endpoint.call !== ending,
    happens: (scene) => server.asRoot("DELETE", `${orgOf(scene)}/projects/webshop/envs/prod`)
  },
  "the environment ends": {
    statuses: [404],
    concerns: (endpoint) => has(endpoint, "env_name") && endpoint.call !== ending,
    happens: ({ place }) => endEnvironment(server, place.org_name, "prod", -1)
  },
  "the project is removed": {
    statuses: [404],
    concerns: (endpoint) => has(endpoint, "project_name") && endpoint.call !== ending,
    happens: (scene) => server.asRoot("DELETE", `${orgOf(scene)}/projects/webshop`)
  },
  "the organization is removed": {
    statuses: [404],
    concerns: (endpoint, kind) =>
      has(endpoint, "org_name") && kind === "user" && ![ending, approving].includes(endpoint.call),
    happens: (scene) => server.asRoot("DELETE", orgOf(scene))
  },
  "the organization of the account is removed": {
    statuses: [401, 404],
    concerns: (endpoint, kind) => has(endpoint, "org_name") && kind === "account",
    happens: (scene) => server.asRoot("DELETE", orgOf(scene))
  }
})

/** Callers whom a directory has listed. */
const listed = new WeakMap<Scene, { readonly headers: Readonly<Record<string, string>>; readonly user: string }>()

/** These ask for no credential: there is nothing to take from whoever makes them. */
const open = ["login", "verify", "device", "token", "federate"].map((call) => `POST /api/auth/${call}`)

/** Reads with a body: they change nothing, and need no turn among the changes. */
const reading = ["POST /api/auth/consents/review", "POST /api/orgs/:org_name/service-accounts/:sa_id/federations/try"]

/** These ask a platform first, which has no address here: see the tests of delivery. */
export const pushing = ["plan", "check", "push"].map(
  (what) => `POST /api/orgs/:org_name/projects/:project_name/envs/:env_name/targets/:target_name/${what}`
)

/** These ask a database first, or need a user in one: see the tests of leases. */
const leasing = [
  "POST /api/orgs/:org_name/projects/:project_name/envs/:env_name/roles/:role_name/leases",
  "POST /api/orgs/:org_name/projects/:project_name/envs/:env_name/leases/:lease_id/renew",
  "DELETE /api/orgs/:org_name/projects/:project_name/envs/:env_name/leases/:lease_id",
  "DELETE /api/orgs/:org_name/projects/:project_name/envs/:env_name/connections/:connection_name/orphans/:lease_id"
]

/** This needs an other side, where `OtherSide` lets it go. */
export const using = endpointOf("POST /api/orgs/:org_name/projects/:project_name/envs/:env_name/use")

/** Those of backups first: each reads the whole database, which grows with every scene. */
export const changing = endpoints
  .filter(
    ({ call, method }) =>
      method !== "GET" && ![...open, ...reading, ...pushing, ...leasing].includes(call) && call !== using.call
  )
  .toSorted((a, b) => Number(b.path.includes("backups")) - Number(a.path.includes("backups")))

/** Requests that change something, where the contract's own would not. */
const bodiesOn = (server: Staged): Readonly<Record<string, (place: Place, caller: Caller) => unknown>> => ({
  "POST /api/auth/passkeys": (_, caller) => passkeysBy(server, caller).registration("phone"),
  "POST /api/auth/consents": async (place, caller) => {
    const callback = "http://127.0.0.1:33418/callback"
    const { client_id } = await server.do(caller.headers, "POST", "/oauth/register", { redirect_uris: [callback] })
    return { ...termsOf(place), request: queryOf(publicUrl, client_id, callback) }
  },
  "POST /api/auth/passkeys/verify": async (_, caller) => {
    const { proof, register } = passkeysBy(server, caller)
    return proof((await register("phone")).device)
  },
  "POST /api/orgs/:org_name/projects/:project_name/envs/:env_name/revert": () => ({ to: 1 }),
  "POST /api/orgs/:org_name/groups/:group_name/members": () => ({ email: rootEmail }),
  "POST /api/imports/:import_id/finish": () => ({
    counts: { projects: 1, environments: 1, secrets: 0, versions: 0, use_rules: 0, declared: 0 }
  }),
  "POST /api/trash/:removed_id/erase": ({ org_name }) => ({ name: org_name }),
  "POST /api/backups/drill": ({ backup_id }) => ({ backup_id })
})

const passkeysBy = (server: Staged, { headers }: Caller) =>
  passkeysOf((...call) => server.do(headers, ...call), publicUrl)

/** Steps that set up the preconditions for a call to change something. */
const beforeOn = (server: Staged): Readonly<Record<string, (scene: Scene) => Promise<unknown>>> => ({
  "POST /api/orgs/:org_name/projects/:project_name/envs/:env_name/secrets/:key/undelete": (scene) =>
    server.asRoot("DELETE", `${orgOf(scene)}/projects/webshop/envs/prod/secrets/SHARED`),
  "POST /api/orgs/:org_name/scim/rotate": (scene) => server.asRoot("POST", `${orgOf(scene)}/scim`),
  "DELETE /api/orgs/:org_name/scim": (scene) => server.asRoot("POST", `${orgOf(scene)}/scim`),
  [ending]: (scene) =>
    server.asRoot("PUT", `${orgOf(scene)}/projects/webshop/envs/prod/protection`, {
      needed: 1,
      approvers: "owners",
      self: true
    }),
  [approving]: async (scene) => {
    await server.asRoot("POST", `${orgOf(scene)}/projects`, { name: "webshop" })
    const protection = `${orgOf(scene)}/projects/webshop/envs/prod/protection`
    await server.asRoot("PUT", protection, { needed: 1, approvers: "owners", self: true })
  },
  "DELETE /api/orgs/:org_name/projects/:project_name/previews": (scene) =>
    server.asRoot("PUT", `${orgOf(scene)}/projects/webshop/previews`, { from: "staging", pattern: "pr-*" }),
  "POST /api/users/:user_id/enable": ({ place }) => server.asRoot("POST", `/api/users/${place.user_id}/disable`)
})

/** Sets the scene of a call, and returns the request of its caller. */
export const prepareOn = async (server: Staged, endpoint: Endpoint, kind: Caller["kind"]) => {
  const scene = await server.scene(endpoint, kind)
  await beforeOn(server)[endpoint.call]?.(scene)
  const { caller, place } = scene
  const patterns = { project_pattern: "webshop", env_pattern: "staging" }
  const body = await bodiesOn(server)[endpoint.call]?.(place, caller)
  const ask: Ask = body === undefined ? askOf(endpoint, { place, fresh: word(), self: {}, patterns }) : { body }
  const { method } = endpoint
  const headers = { ...caller.headers, ...(endpoint.call === ending && { prefer: "respond-async" }) }
  return { scene, ask: { method, path: pathOf(endpoint, place), headers, body: ask.body } }
}

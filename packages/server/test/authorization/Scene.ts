import { randomUUID } from "node:crypto"
import { UserId } from "@coffer/domain/base/Ids"
import type { Email } from "@coffer/domain/base/Names"
import { type Action, needs } from "@coffer/domain/access/Permissions"
import { authRepo, type AuthRepo } from "@coffer/server/access/caller/credentials/Repo"
import { Database } from "@coffer/server/database/Database"
import { Effect } from "effect"
import { assert } from "vitest"
import { newSession } from "../support/NewSession.js"
import { freshFolder, type Json } from "../support/Program.js"
import { email } from "../support/Services.js"
import type { Sent } from "../support/postgres/Running.js"
import { startWatched } from "../support/Watched.js"
import { publicUrl } from "../federations/Signer.js"
import {
  accessBody,
  connectionBody,
  roleBody,
  rotationBody,
  type Endpoint,
  federationBody,
  type Parameter,
  parametersOf,
  type Place,
  removedName,
  targetBody,
  useRuleBody,
  webhookBody
} from "./Contract.js"
import { machines, people, word } from "./Service.js"
import { passkeysOf } from "../support/SoftAuthenticator.js"

export interface Caller {
  readonly id: string
  readonly kind: "user" | "account"
  readonly headers: Readonly<Record<string, string>>
  /** Its own rule, where it has one. */
  readonly rule?: string
}

/** Where a call is made, and by whom. */
export interface Scene {
  readonly place: Place
  readonly caller: Caller
}

const isAction = (requires: string | undefined): requires is Action => requires !== undefined && requires in needs

/** A vote needs more than what finds the request that waits for it. */
const actionOf = ({ path, requires }: Endpoint) => {
  if (path.includes(":approval_id")) return "approval.decide"
  // Those who administer the organization vote, where no protection names others.
  return /:request_id\/(approve|refuse)$/.test(path) ? "member.invite" : requires
}

const isOfRequests = ({ path }: Endpoint) => path.includes("/requests")

/** Returns the grounds that a right to a call rests on. */
export const restsOn = (endpoint: Endpoint) => {
  const requires = actionOf(endpoint)
  const need = isAction(requires) ? needs[requires] : undefined
  return {
    role: need?.role,
    permission: need !== undefined && "permission" in need ? need.permission : undefined,
    account: need !== undefined && (("permission" in need && !("people" in need)) || "account" in need),
    superadmin: requires === "superadmin" || requires === "org.create"
  }
}

const repo = authRepo

const none = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"
export const rootEmail = email("root@example.com")

/** The settings of a server with scenes. */
export const sceneSettings = () => ({
  SERVICE_ORG_CREATION: "superadmin",
  SERVICE_PUBLIC_URL: publicUrl,
  SERVICE_BROKER: "1",
  SERVICE_RENEWAL_NETWORKS: "10.0.0.0/8",
  SERVICE_SCIM_DOMAINS: "example.com",
  SERVICE_TRUSTED_PROXIES: "127.0.0.0/8",
  BACKUP_DIR: freshFolder()
})

/** The operations that set up scenes. */
export interface Stage {
  readonly address: string
  readonly run: <A, E>(effect: Effect.Effect<A, E, Database>) => Promise<A>
  readonly do: (headers: Caller["headers"], method: string, path: string, body?: unknown) => Promise<Json>
  readonly send: (ask: Sent) => Promise<{
    readonly status: number
    readonly text: string
    /** Undefined unless it is an object in JSON. */
    readonly body: Json
    readonly etag: string
  }>
}

/** Scenes on a server, set by a superadmin. */
export const scenesOn = async <Server extends Stage>(server: Server) => {
  const write = (change: (repo: AuthRepo, now: string) => ReturnType<AuthRepo["insertSession"]>): Promise<void> =>
    server.run(
      Effect.flatMap(Effect.all([Database, repo]), ([{ transaction }, found]) =>
        transaction(change(found, new Date().toISOString()))
      )
    )

  const session = async (userId: string) => {
    const { id, row, token } = newSession(UserId.make(userId), new Date().toISOString())
    await write(({ insertSession }) => insertSession(row))
    return { id, headers: people(token) }
  }

  /** As a start with these superadmins in the settings. */
  const setSuperadmins = (...others: ReadonlyArray<Email>) =>
    write((found, now) => found.setSuperadmins([rootEmail, ...others], now))

  /** Somebody who is in no organization. */
  const person = async (address: Email): Promise<Caller> => {
    const id = UserId.make(randomUUID())
    await write(({ insertUser }, now) => Effect.asVoid(insertUser({ id, email: address, name: "", now })))
    return { id, kind: "user", headers: (await session(id)).headers }
  }

  const root = await person(rootEmail)
  await setSuperadmins()
  const asRoot = (method: string, path: string, body?: unknown) => server.do(root.headers, method, path, body)
  const { id: backup_id } = await asRoot("POST", "/api/backups")

  /** A request with a secret that waits for a person. */
  const approval = async (org: string): Promise<string> => {
    const env = `${org}/projects/webshop/envs/prod`
    await asRoot("PUT", `${env}/secrets/SHARED`, { value: "long enough" })
    const { api_key, id } = await asRoot("POST", `${org}/service-accounts`, { name: "agent" })
    const subject = { subject_type: "service_account", subject_id: id, permission: "use" }
    await asRoot("POST", `${org}/acl`, { ...subject, project_pattern: "*", env_pattern: "*" })
    const rule = { ...useRuleBody, accounts: ["agent"], approval: "each" }
    await asRoot("POST", `${env}/secrets/SHARED/use-rules`, rule)
    const body = { method: "GET", url: "https://api.invalid/v1/x", secrets: ["SHARED"] }
    const { status, text } = await server.send({ method: "POST", path: `${env}/use`, headers: machines(api_key), body })
    assert.strictEqual(status, 409, text)
    const { data } = await asRoot("GET", `${org}/approvals`)
    return data[0].id
  }

  /** A request for access that waits for a vote. */
  const request = async (place: Pick<Place, "org_name" | "project_name" | "env_name">, { headers }: Caller) =>
    (await server.do(headers, "POST", `/api/orgs/${place.org_name}/requests`, accessBody(place))).id

  /** A project that was removed, or an environment of one. */
  const removed = async (org: string, isEnvironment: boolean): Promise<string> => {
    const at = isEnvironment ? `${org}/projects/webshop` : org
    const made = `${at}/${isEnvironment ? "envs" : "projects"}`
    await asRoot("POST", made, { name: removedName })
    await asRoot("DELETE", `${made}/${removedName}`)
    return (await asRoot("GET", `${at}/trash`)).data[0].id
  }

  /** Builds the resources on the path of a call, and those beside it. */
  const build = async (endpoint: Endpoint): Promise<Place> => {
    const parameters = parametersOf(endpoint)
    const has = (...names: ReadonlyArray<Parameter>) => names.some((name) => parameters.includes(name))
    const place = { org_name: `org-${word()}`, project_name: "webshop", env_name: "prod", key: "SHARED" }
    const org = `/api/orgs/${place.org_name}`
    const bystander = await person(email(`${word()}@example.com`))
    const ids = {
      user_id: bystander.id,
      rule_id: none,
      sa_id: none,
      group_name: "bystanders",
      federation_id: none,
      webhook_id: none,
      delivery_id: none,
      session_id: none,
      delegation_id: none,
      passkey_id: none,
      export_id: none,
      import_id: none,
      removed_id: none,
      use_rule_id: none,
      connection_name: "shop-db",
      rotation_name: "shop-app",
      role_name: "app-role",
      lease_id: none,
      target_name: "target",
      approval_id: none,
      request_id: none,
      backup_id
    }
    if (!has("org_name")) return { ...place, ...ids }

    await asRoot("POST", "/api/orgs", { name: place.org_name })
    const { id: sa_id } = await asRoot("POST", `${org}/service-accounts`, { name: "bystander" })
    if (has("project_name", "approval_id") || isOfRequests(endpoint))
      await asRoot("POST", `${org}/projects`, { name: "webshop" })
    if (has("approval_id")) return { ...place, ...ids, approval_id: await approval(org) }
    if (has("request_id")) {
      const { email: address } = await server.do(bystander.headers, "GET", "/api/auth/me")
      await asRoot("POST", `${org}/members`, { email: address })
      return { ...place, ...ids, request_id: await request(place, bystander) }
    }
    if (has("env_name")) {
      const secrets = (env: string) => `${org}/projects/webshop/envs/${env}/secrets/SHARED`
      for (const value of ["one", "two"]) await asRoot("PUT", secrets("prod"), { value })
      await asRoot("PUT", secrets("staging"), { value: "three" })
      if (has("connection_name", "rotation_name", "role_name") || /\/(?:rotations|roles)$/.test(endpoint.path))
        await asRoot("POST", `${org}/projects/webshop/envs/prod/connections`, connectionBody)
      if (has("rotation_name")) await asRoot("POST", `${org}/projects/webshop/envs/prod/rotations`, rotationBody)
      if (has("role_name")) await asRoot("POST", `${org}/projects/webshop/envs/prod/roles`, roleBody)
      if (has("target_name")) {
        await asRoot("POST", `${org}/projects/webshop/envs/prod/targets`, targetBody(ids.target_name, place.key))
      }
      if (!has("use_rule_id")) return { ...place, ...ids }
      const { id: use_rule_id } = await asRoot("POST", `${secrets("prod")}/use-rules`, useRuleBody)
      return { ...place, ...ids, use_rule_id }
    }
    if (has("key")) await asRoot("PUT", `${org}/projects/webshop/declared/SHARED`, {})
    if (has("removed_id")) return { ...place, ...ids, removed_id: await removed(org, has("project_name")) }
    if (has("project_name")) return { ...place, ...ids }
    const member = await asRoot("POST", `${org}/members`, { email: `${word()}@example.com` })
    await asRoot("POST", `${org}/groups`, { name: ids.group_name })
    await asRoot("PUT", `${org}/groups/${ids.group_name}/members`, { emails: [member.email] })
    const rule = { subject_type: "service_account", subject_id: sa_id, permission: "read" }
    const { id: export_id } = await asRoot("POST", `${org}/exports`, {})
    const granted = await asRoot("POST", `${org}/acl`, { ...rule, project_pattern: "webshop", env_pattern: "prod" })
    const federations = `${org}/service-accounts/${sa_id}/federations`
    const { id: federation_id } = await asRoot("POST", federations, { name: "bystander", ...federationBody })
    const { id: webhook_id } = await asRoot("POST", `${org}/webhooks`, webhookBody)
    const { id: delivery_id } = await asRoot("POST", `${org}/webhooks/${webhook_id}/test`)
    const hooked = { webhook_id, delivery_id }
    const made = { user_id: member.user_id, rule_id: granted.id, sa_id, federation_id, export_id }
    return { ...place, ...ids, ...hooked, ...made }
  }

  const account = async (org: string, pattern = "*"): Promise<Caller> => {
    const { api_key, id } = await asRoot("POST", `${org}/service-accounts`, { name: word() })
    const subject = { subject_type: "service_account", subject_id: id, permission: "admin" }
    const rule = await asRoot("POST", `${org}/acl`, { ...subject, project_pattern: pattern, env_pattern: "*" })
    return { id, kind: "account", headers: machines(api_key), rule: rule.id }
  }

  /** Somebody with no more than the right to a call. */
  const callerOf = async (endpoint: Endpoint, kind: Caller["kind"], { org_name }: Place): Promise<Caller> => {
    const org = `/api/orgs/${org_name}`
    // A caller that already has the permission has nothing to request.
    if (kind === "account") return account(org, isOfRequests(endpoint) ? "elsewhere" : "*")
    const address = email(`${word()}@example.com`)
    const { permission, role, superadmin } = restsOn(endpoint)
    if (role === undefined) {
      const caller = await person(address)
      if (superadmin) await setSuperadmins(address)
      return caller
    }
    const { user_id: id } = await asRoot("POST", `${org}/members`, { email: address, role })
    const caller = { id, kind, headers: (await session(id)).headers }
    // Accepts the membership, which the call itself would otherwise do in a step more.
    await server.do(caller.headers, "GET", org)
    if (permission === undefined) return caller
    const subject = { subject_type: "user", email: address, permission }
    const rule = await asRoot("POST", `${org}/acl`, { ...subject, project_pattern: "web*", env_pattern: "*" })
    return { ...caller, rule: rule.id }
  }

  /** A place with a passkey of the caller's. */
  const registered = async (place: Place, { headers }: Caller): Promise<Place> => {
    const made = await passkeysOf((...call) => server.do(headers, ...call), publicUrl).register("laptop")
    return { ...place, passkey_id: made.id }
  }

  /** A place where a caller may delegate, with a delegation of the caller's. */
  const delegating = async (place: Place, { headers }: Caller): Promise<Place> => {
    const org = `/api/orgs/${place.org_name}`
    await asRoot("POST", "/api/orgs", { name: place.org_name })
    await asRoot("POST", `${org}/projects`, { name: "webshop" })
    const { email: address } = await server.do(headers, "GET", "/api/auth/me")
    await asRoot("POST", `${org}/members`, { email: address, role: "admin" })
    const scope = { org: place.org_name, project: "webshop", env: "prod", permission: "read", expires_in: 3_600 }
    const made = await server.do(headers, "POST", "/api/auth/delegations", { name: "agent", ...scope })
    return { ...place, delegation_id: made.id }
  }

  /** A place with an import of the caller's. */
  const importing = async (place: Place, { headers }: Caller): Promise<Place> => {
    const project = { name: place.project_name, strict: false, environments: [{ name: place.env_name }] }
    const body = { name: `imported-${word()}`, organization: JSON.stringify({ projects: project }) }
    return { ...place, import_id: (await server.do(headers, "POST", "/api/imports", body)).id }
  }

  /** A removed organization of the caller's. */
  const removing = async (place: Place, { headers }: Caller): Promise<Place> => {
    const name = `removed-${word()}`
    await asRoot("POST", "/api/orgs", { name })
    const { email: address } = await server.do(headers, "GET", "/api/auth/me")
    await asRoot("POST", `/api/orgs/${name}/members`, { email: address, role: "owner" })
    await asRoot("DELETE", `/api/orgs/${name}`)
    const { data } = await asRoot("GET", `/api/trash?name=${name}`)
    return { ...place, org_name: name, removed_id: data[0].id }
  }

  return {
    ...server,
    asRoot,
    setSuperadmins,
    person,
    session,
    root: root.headers,
    scene: async (endpoint: Endpoint, kind: Caller["kind"]): Promise<Scene> => {
      const place = await build(endpoint)
      const caller = await callerOf(endpoint, kind, place)
      if (endpoint.path.endsWith("/withdraw")) {
        return { place: { ...place, request_id: await request(place, caller) }, caller }
      }
      if (endpoint.path.includes(":import_id")) return { place: await importing(place, caller), caller }
      if (endpoint.requires !== "credential" && endpoint.requires !== "person") return { place, caller }
      if (endpoint.path.includes(":removed_id")) return { place: await removing(place, caller), caller }
      if (endpoint.path.includes("passkeys")) return { place: await registered(place, caller), caller }
      if (/delegations|\/consents$/.test(endpoint.path)) return { place: await delegating(place, caller), caller }
      return { place: { ...place, session_id: (await session(caller.id)).id }, caller }
    }
  }
}

/** A server in this process whose requests are watched, with scenes. */
export const startScenes = async () => scenesOn(await startWatched(sceneSettings()))

/** A server with scenes, wherever it runs. */
export type Staged = Awaited<ReturnType<typeof scenesOn<Stage>>>

export type Scenes = Awaited<ReturnType<typeof startScenes>>

import { assert } from "vitest"
import { type Json, Person } from "./Person.js"
import type { Renewed } from "./Renewal.js"

export const org = "presses"
/** An organization that has invited the owner of the other one. */
const invitedTo = "presses-elsewhere"
const domain = "presses.example.com"
export const of = (name: string) => `${name}@${domain}`
const api = `/api/orgs/${org}`
const project = `${api}/projects/webshop`
const ends = { expires_in: 3_600 }

/** The key of a provider, which signs nothing. */
const jwk = {
  ...{ kty: "EC", crv: "P-256", alg: "ES256", use: "sig", kid: "1" },
  x: "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
  y: "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"
}

const addPlaces = async (ada: Person) => {
  await ada.organization(org, {
    dev: { API_KEY: "1", STRIPE_KEY: "1", GONE: "1" },
    staging: { API_KEY: "2" },
    prod: { API_KEY: "3" }
  })
  await ada.call("POST", "/api/orgs", { name: "presses-removed" })
  await ada.call("DELETE", "/api/orgs/presses-removed")
  await ada.call("POST", `${api}/projects`, { name: "removed" })
  await ada.call("DELETE", `${api}/projects/removed`)
  await ada.call("POST", `${project}/envs`, { name: "removed" })
  await ada.call("DELETE", `${project}/envs/removed`)
  await ada.call("POST", `${project}/envs/prod/targets`, {
    ...{ name: "bao", kind: "vault", credential_key: "API_KEY" },
    place: { url: "https://127.0.0.1:9", mount: "secret", path: "webshop/prod" }
  })
  await ada.call("PUT", `${project}/previews`, { from: "staging", pattern: "pr-*" })
  const expires_at = new Date(Date.now() + 86_400_000).toISOString()
  await ada.call("POST", `${project}/envs`, { name: "pr-1", from: "staging", keys: ["API_KEY"], expires_at })
}

const addSecrets = async (ada: Person) => {
  const inDev = `${project}/envs/dev/secrets`
  await ada.call("PUT", `${inDev}/API_KEY`, { value: "the-second-4f6a8b0c1d90" })
  await ada.call("DELETE", `${inDev}/GONE`)
  await ada.call("PUT", `${inDev}/REFERS`, { value: "${API_KEY}", kind: "reference" })
  await ada.call("PUT", `${project}/declared/API_KEY`, { required_in: ["dev", "prod"] })
  await ada.call("PATCH", `${inDev}/API_KEY`, { expires_at: "2030-01-31", owner: of("ada") })
  await ada.call("POST", `${inDev}/API_KEY/use-rules`, {
    ...{ accounts: ["deploy"], hosts: ["api.invalid"], methods: ["GET"], paths: ["/v1"], approval: "each" },
    place: { in: "header", name: "authorization", format: "Bearer {}" }
  })
}

const addMachines = async (ada: Person) => {
  const account = await ada.call("POST", `${api}/service-accounts`, { name: "deploy", project: "webshop" })
  await ada.call("POST", `${api}/service-accounts/${account.id}/federations`, {
    ...{
      name: "pipeline",
      issuer: "https://issuer.example.com",
      conditions: { "/repository_id": "1" },
      jwks: { keys: [jwk] }
    }
  })
  const rule = { project_pattern: "webshop", env_pattern: "dev" }
  const subject = { subject_type: "service_account", subject_id: account.id }
  for (const permission of ["read", "use"]) await ada.call("POST", `${api}/acl`, { ...subject, ...rule, permission })
  for (const path of ["failing", "disabled"]) {
    const hook = { url: `https://127.0.0.1:9/${path}`, events: ["secret.*"], environments: ["webshop/*"] }
    const { id } = await ada.call("POST", `${api}/webhooks`, hook)
    if (path === "disabled") await ada.call("PATCH", `${api}/webhooks/${id}`, { enabled: false })
  }
  return account
}

const addPeople = async (ada: Person) => {
  await ada.call("POST", `${api}/members`, { email: of("bob"), role: "developer" })
  const bob = await Person.login(of("bob"))
  await bob.accept()
  await bob.call("POST", "/api/orgs", { name: invitedTo })
  await bob.call("POST", `/api/orgs/${invitedTo}/members`, { email: of("ada"), role: "developer" })
  await ada.call("POST", `${api}/groups`, { name: "backend" })
  await ada.call("POST", `${api}/groups/backend/members`, { email: of("bob") })
  await ada.call("PUT", `${api}/group-mappings`, { mappings: [{ provider_group: "staff", group: "backend" }] })
  return bob
}

/** A request of another person, a request of one's own, and a request with a secret. */
const addRequests = async (ada: Person, bob: Person, { api_key }: Json, url: string) => {
  const asks = { kind: "access", project: "webshop", env: "staging", permission: "read", reason: "to look" }
  await bob.call("POST", `${api}/requests`, { ...asks, ...ends })
  await ada.call("PUT", `${project}/envs/prod/protection`, { needed: 1, approvers: [of("ada")], self: true })
  await ada.call("PATCH", `${project}/envs/prod/bundle`, { set: { API_KEY: "4" } }, { prefer: "respond-async" })
  const used = await fetch(`${url}${project}/envs/dev/use`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": api_key },
    body: JSON.stringify({ method: "GET", url: "https://api.invalid/v1", secrets: ["API_KEY"] })
  })
  const answer = await used.text()
  assert.match(answer, /APPROVAL_NEEDED/)
}

/** Fills an organization with everything that the console has a button for. */
export const fill = async (url: string, renewed: Renewed) => {
  const ada = await Person.login(of("ada"))
  await addPlaces(ada)
  await renewed.fill(ada, `${project}/envs/prod`)
  const account = await addMachines(ada)
  await addSecrets(ada)
  const bob = await addPeople(ada)
  await addRequests(ada, bob, account, url)
  await ada.call("POST", "/api/auth/delegations", {
    ...{ name: "claude", org, project: "webshop", env: "dev", permission: "read", reveal: true, ...ends }
  })
  // Another session of the owner, and a person who is disabled.
  await Person.login(of("ada"))
  const carl = await Person.login(of("carl"))
  const root = await Person.root()
  const { data } = await root.call("GET", `/api/users?email=${carl.email}`)
  await root.call("POST", `/api/users/${data[0].id}/disable`)
  return { ada, root }
}

import { setTimeout as sleep } from "node:timers/promises"
import { clusterFederation, podClaims, Signer } from "../federations/Signer.js"
import type { Program } from "../support/Program.js"
import type { Receiver } from "../webhooks/Receiver.js"
import { fillArchives, fillOf030 } from "./FillOf030.js"
import {
  acme,
  type Ask,
  asking,
  type Content,
  type Credentials,
  isSince,
  secretsOf,
  serverSettings,
  webshop
} from "./Release.js"

export type Filled = Pick<Content, "testCredentials" | "removed">

/** A policy whose text needs each escape of JSON. */
const awkward = 'line one\nline "two"\\\t\u0000\u001f – ünïcödé 🔐 '

/** Secrets in every state that a secret can have. */
const fillSecrets = async (ask: Ask) => {
  const prod = secretsOf("prod")
  for (const value of ["postgres://first", "postgres://second", "postgres://third"])
    await ask("PUT", `${prod}/DATABASE_URL`, { value })
  await ask("POST", `${prod}/DATABASE_URL/destroy`, { versions: [2] })
  await ask("PUT", `${prod}/EMPTY`, { value: "" })
  await ask("PUT", `${prod}/AWKWARD`, { value: awkward })
  await ask("PUT", `${prod}/LONG`, { value: "0123456789abcdef".repeat(256) })
  for (const value of ["good", "bad"]) await ask("PUT", `${prod}/ROLLED_BACK`, { value })
  await ask("POST", `${prod}/ROLLED_BACK/rollback`, { version: 1 })
  for (const key of ["REMOVED", "RESTORED", "AGAIN"]) {
    await ask("PUT", `${prod}/${key}`, { value: `${key} once` })
    await ask("DELETE", `${prod}/${key}`)
  }
  await ask("POST", `${prod}/RESTORED/undelete`)
  await ask("PUT", `${prod}/AGAIN`, { value: "AGAIN anew", expected_version: 0 })
  const set = { API_KEY: "k-8c1f", DATABASE_URL: "postgres://staging", "dotted.key-name": "dots" }
  await ask("PATCH", `${webshop}/envs/staging/bundle`, { set })
  await ask("PATCH", `${webshop}/envs/staging/bundle`, { set: { API_KEY: "k-90ab" }, delete: ["dotted.key-name"] })
  await ask("POST", `${webshop}/envs/staging/revert`, { to: 1 })
  await ask("POST", `${webshop}/envs/dev/copy`, { from: "staging", keys: ["API_KEY"], dry_run: false })
  await ask("PUT", `${secretsOf("qa")}/ONLY_QA`, { value: "qa" })
}

const fillPlaces = async (ask: Ask) => {
  await ask("POST", "/api/orgs", { name: "acme" })
  for (const name of ["gone", "old-name"]) await ask("POST", "/api/orgs", { name })
  await ask("DELETE", "/api/orgs/gone")
  await ask("PATCH", "/api/orgs/old-name", { name: "other" })
  await ask("POST", "/api/orgs/other/projects", { name: "lonely" })
  await ask("PUT", "/api/orgs/other/projects/lonely/envs/dev/secrets/SAME", { value: "of another organization" })
  for (const name of ["webshop", "bills", "ended"]) await ask("POST", `${acme}/projects`, { name })
  await ask("PATCH", `${acme}/projects/bills`, { name: "billing" })
  await ask("PUT", `${secretsOf("prod", `${acme}/projects/ended`)}/LOST`, { value: "with its project" })
  await ask("DELETE", `${acme}/projects/ended`)
  for (const name of ["qa", "brief"]) await ask("POST", `${webshop}/envs`, { name })
  await ask("DELETE", `${webshop}/envs/brief`)
  await ask("PUT", `${secretsOf("prod", `${acme}/projects/billing`)}/IBAN`, { value: "DE00 1234" })
}

const roles = { grace: "admin", linus: "developer", bob: "member", eve: "member", mallory: "developer" }

/** People of all roles, one who was removed, and one who was disabled. */
const fillPeople = async (program: Program, ask: Ask, root: Ask) => {
  const sessions: Record<string, Credentials> = {}
  for (const [name, role] of Object.entries(roles)) {
    const { user_id } = await ask("POST", `${acme}/members`, { email: `${name}@example.com`, role: "member" })
    if (role !== "member") await ask("PATCH", `${acme}/members/${user_id}`, { role })
    const session = { authorization: `Bearer ${await program.login(`${name}@example.com`)}` }
    sessions[name] = session
    // Accepts the invitation.
    await asking(program, session)("GET", acme)
    // An act that is in the organization's log: without any, a membership counts as an invitation that is not accepted.
    if (name === "mallory") {
      const rule = { project_pattern: "webshop", env_pattern: "dev", permission: "write" }
      await ask("POST", `${acme}/acl`, { subject_type: "user", email: "mallory@example.com", ...rule })
      await asking(program, session)("PUT", `${secretsOf("dev")}/MALLORYS`, { value: "hers" })
    }
    if (name === "eve") await ask("DELETE", `${acme}/members/${user_id}`)
    if (name === "mallory") await root("POST", `/api/users/${user_id}/disable`)
  }
  await program.login("linus@example.com")
  await program.codeFor("bob@example.com")
  await program.verify("bob@example.com", "000000")
  return sessions
}

const permissions = [
  { name: "reader", project_pattern: "web*", env_pattern: "prod", permission: "read" },
  { name: "writer", project_pattern: "webshop", env_pattern: "*", permission: "write" },
  { name: "keeper", project_pattern: "*", env_pattern: "*", permission: "admin" }
] as const

/** Accounts with every kind of key and rule. */
const fillAccounts = async (ask: Ask) => {
  const accounts = `${acme}/service-accounts`
  const keys: Record<string, Credentials> = {}
  const make = async (name: string, more: object = {}) => {
    const made = await ask("POST", accounts, { name, ...more })
    keys[name] = { "x-api-key": made.api_key }
    return made
  }
  for (const { name, ...rule } of permissions) {
    const { id } = await make(name)
    const granted = { subject_type: "service_account", subject_id: id, ...rule }
    // Changed once, so that its times differ.
    for (const permission of ["write", rule.permission]) await ask("POST", `${acme}/acl`, { ...granted, permission })
  }
  for (const [name, email] of [
    ["qa", "bob@example.com"],
    ["dev", "linus@example.com"]
  ]) {
    const rule = { project_pattern: "webshop", env_pattern: name, permission: "read" }
    await ask("POST", `${acme}/acl`, { subject_type: "user", email, ...rule })
  }
  const serverPlace = { subject_type: "user", project_pattern: "*", env_pattern: "*", permission: "read" }
  const { id } = await ask("POST", `${acme}/acl`, { ...serverPlace, email: "bob@example.com" })
  await ask("DELETE", `${acme}/acl/${id}`)
  const rotated = await make("rotated", { project: "webshop", expires_in_days: 3650 })
  await ask("POST", `${acme}/acl`, {
    ...{ subject_type: "service_account", subject_id: rotated.id, permission: "read" },
    ...{ project_pattern: "webshop", env_pattern: "staging" }
  })
  const replaced = keys["rotated"] ?? {}
  const { api_key } = await ask("POST", `${accounts}/${rotated.id}/rotate`, { grace_seconds: 0 })
  const revoked = await make("revoked")
  await ask("DELETE", `${accounts}/${revoked.id}`)
  await make("blind", { reveal: false })
  return { ...keys, rotated: { "x-api-key": api_key }, replaced }
}

/** Fills in the records of the features that came with 0.2.0. */
const fillFeatures = async (program: Program, ask: Ask, upstream: Receiver) => {
  const prod = secretsOf("prod")
  await ask("PUT", `${prod}/LINK`, { value: "<${DATABASE_URL}> of ${staging:API_KEY}", kind: "reference" })
  await ask("PATCH", `${prod}/DATABASE_URL`, { rotate_every_days: 90, owner: "grace@example.com" })
  await ask("PATCH", `${prod}/EMPTY`, { expires_at: "2020-01-31T08:00:00Z" })
  const declared = { description: "where the data is", pattern: "[a-z:/ 0-9]*", example: "postgres://x" }
  await ask("PUT", `${webshop}/declared/DATABASE_URL`, { required_in: ["prod"], ...declared })
  await ask("PUT", `${webshop}/declared/OLD`, {})
  await ask("DELETE", `${webshop}/declared/OLD`)
  await ask("PATCH", `${acme}/projects/billing`, { strict: true })

  const agent = await ask("POST", `${acme}/service-accounts`, { name: "agent", reveal: false })
  const subject = { subject_type: "service_account", project_pattern: "webshop", env_pattern: "prod" }
  await ask("POST", `${acme}/acl`, { ...subject, subject_id: agent.id, permission: "use" })
  const rule = { hosts: ["localhost"], methods: ["GET", "POST"], accounts: ["agent", "linus@example.com"] }
  const place = { in: "header", name: "authorization", format: "Bearer {}" }
  const rules = `${prod}/DATABASE_URL/use-rules`
  const terms = { ...rule, place, response: "json", max_kib: 16, per_minute: 40, expires_at: "2099-01-31T08:00:00Z" }
  await ask("POST", rules, { ...terms, paths: ["/v1/*"], approval: "each" })
  const ended = await ask("POST", rules, { ...rule, place: { in: "query", name: "key" }, paths: ["/q"] })
  await ask("DELETE", `${rules}/${ended.id}`)
  const use = (path: string) =>
    program.call("POST", `${webshop}/envs/prod/use`, {
      headers: { "x-api-key": agent.api_key },
      body: { method: "GET", url: `https://localhost${path}`, secrets: ["DATABASE_URL"] }
    })
  for (const path of ["/v1/a", "/v1/b", "/v1/c"]) {
    const { text } = await use(path)
    if (!text.includes("APPROVAL_NEEDED")) throw new Error(text)
  }
  const [first, second] = (await ask("GET", `${acme}/approvals`)).data
  await ask("POST", `${acme}/approvals/${first.id}/approve`)
  await ask("POST", `${acme}/approvals/${second.id}/refuse`)

  const { id } = await ask("POST", `${acme}/service-accounts`, { name: "cluster", key: false })
  const signer = await Signer.make()
  const federations = `${acme}/service-accounts/${id}/federations`
  const { audience } = await ask("POST", federations, clusterFederation(signer))
  const gone = await ask("POST", federations, clusterFederation(signer, "gone"))
  await ask("DELETE", `${federations}/${gone.id}`)
  const token = await signer.sign(podClaims(audience, Math.floor(Date.now() / 1000)))
  await ask("POST", "/api/auth/federate", { token, account: "acme/cluster" })
  await ask("POST", "/api/auth/device", { machine: "build-box" })

  const webhook = { url: `${upstream.url}/hook`, events: ["secret.*", "acl.*"], environments: ["webshop/*"] }
  const { id: hook } = await ask("POST", `${acme}/webhooks`, webhook)
  await ask("POST", `${acme}/webhooks/${hook}/test`)
  await ask("PUT", `${prod}/TOLD`, { value: "told" })
  while (upstream.received.length < 2) await sleep(20)
  await ask("POST", `${acme}/webhooks/${hook}/rotate-key`, { grace_seconds: 604_800 })
  const off = await ask("POST", `${acme}/webhooks`, { url: "https://hooks.invalid/x", events: ["*"] })
  await ask("PATCH", `${acme}/webhooks/${off.id}`, { enabled: false })
  const removed = await ask("POST", `${acme}/webhooks`, { url: "https://hooks.invalid/y", events: ["*"] })
  await ask("DELETE", `${acme}/webhooks/${removed.id}`)
  return { agent: { "x-api-key": agent.api_key } }
}

/** Logs an account in as Vault's clients do. */
const viaVault = async (program: Program, { "x-api-key": secret_id }: Credentials) => {
  const { text } = await program.call("PUT", "/v1/auth/approle/login", { body: { role_id: "acme/reader", secret_id } })
  if (!text.includes("client_token")) throw new Error(text)
}

/** Fills a release's server with every kind of record that it has, over its own API. Its webhooks go to a receiver. */
export const fill = async (program: Program, version: string, upstream: Receiver, origin: string): Promise<Filled> => {
  const session = async (email: string) => ({ authorization: `Bearer ${await program.login(email)}` })
  const people = { root: await session(serverSettings.SUPERADMIN_EMAIL_0), ada: await session("ada@example.com") }
  const root = asking(program, people.root)
  const ask = asking(program, people.ada)
  await fillPlaces(ask)
  await fillSecrets(ask)
  const members = await fillPeople(program, ask, root)
  const accounts: Content["testCredentials"] = await fillAccounts(ask)
  const isNew = isSince(version, "0.3.0")
  const newest = isNew ? await fillOf030(program, { ...people, ...members }, origin) : {}
  const others = isSince(version, "0.2.0") ? await fillFeatures(program, ask, upstream) : {}
  if (isSince(version, "0.2.0")) await viaVault(program, accounts["reader"] ?? {})
  const owners = isNew ? await fillArchives(program, people.ada) : {}
  for (const trial of [people.ada, accounts["reader"] ?? {}])
    await program.call("GET", "/api/users", { headers: trial })
  await root("POST", "/api/backups")
  await root("POST", "/api/backups/drill", {})
  const testCredentials = { ...people, ...members, ...accounts, ...newest, ...others, ...owners }
  return { testCredentials, removed: [{ path: `${secretsOf("prod")}/REMOVED`, value: "REMOVED once" }] }
}

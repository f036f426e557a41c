import { structureLines } from "@coffer/domain/archive/Calls"
import type { Json, Program } from "../support/Program.js"
import { approvedDevice, beginDevice, loopbackLogin, PersonsBrowser, tokenFor } from "../support/ProgramLogins.js"
import { passkeysOf } from "../support/SoftAuthenticator.js"
import { acme, asking, type Ask, type Content, type Credentials, secretsOf, webshop } from "./Release.js"

type People = Content["testCredentials"]

const guarded = `${acme}/projects/guarded`
const guardedEnv = (env: string) => `${guarded}/envs/${env}`

/** The reason of the request that is left until it has ended. */
const tooLate = "too late"

/** An environment that ends, and the rule that ends. */
const ended = "pr-3"

/** Lets everything end that `fillOf030` has left to end, and an hour pass for the jobs of servers: no call does. */
export const anHour = `
  UPDATE requests SET expires_at = 1 WHERE reason = '${tooLate}';
  UPDATE environments SET expires_at = 1 WHERE name = '${ended}';
  UPDATE acl_rules SET expires_at = 1 WHERE env_pattern = '${ended}';
  DELETE FROM jobs;`

/** The rows that the jobs of a server make of it. */
export const afterAnHour = {
  due_mails: "true",
  api_keys: "announced_at IS NOT NULL",
  requests: "state = 'expired'",
  environments: `name = '${ended}' AND removed_at IS NOT NULL`,
  acl_rules: `env_pattern = '${ended}' AND removed_at IS NOT NULL`
} as const

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()

/** Groups with members by hand and by the provider, whose login comes later. */
const fillGroups = async (ask: Ask) => {
  const groups = `${acme}/groups`
  for (const name of ["Back", "Former"]) await ask("POST", groups, { name })
  await ask("PATCH", `${groups}/Back`, { name: "Backend" })
  await ask("PUT", `${groups}/Backend/members`, { emails: ["grace@example.com", "bob@example.com"] })
  for (const group of ["Backend", "Former"]) {
    const rule = { subject_type: "group", group, permission: "write" }
    await ask("POST", `${acme}/acl`, { ...rule, project_pattern: "billing", env_pattern: "dev" })
  }
  await ask("DELETE", `${groups}/Former`)
  await ask("POST", `${acme}/members`, { email: "nina@example.com" })
  await ask("PUT", `${acme}/group-mappings`, { mappings: [{ provider_group: "platform-team", group: "Backend" }] })
}

const fillRules = async (ask: Ask) => {
  const rule = { subject_type: "user", email: "linus@example.com", project_pattern: "billing", permission: "read" }
  await ask("POST", `${acme}/acl`, { ...rule, env_pattern: "staging", expires_at: inHours(20_000) })
  await ask("POST", `${acme}/acl`, { ...rule, env_pattern: ended, expires_at: inHours(1) })
  const networks = ["10.20.0.0/16", "2001:db8:7::/48"]
  const accounts = `${acme}/service-accounts`
  const { id } = await ask("POST", accounts, { name: "bound", allowed_networks: networks })
  await ask("POST", `${accounts}/${id}/rotate`, { grace_seconds: 604_800 })
  const gitlab = { name: "gitlab", issuer: "https://gitlab.com", conditions: { "/project_id": "42" } }
  await ask("POST", `${accounts}/${id}/federations`, { ...gitlab, expires_at: "2099-01-31T08:00:00Z" })
  await ask("POST", accounts, { name: "expiring", expires_in_days: 1 })
  await ask("PUT", `${webshop}/declared/OWNED`, { owner: "platform" })
  const url = "https://chat.invalid/x"
  const chat = await ask("POST", `${acme}/webhooks`, { url, events: ["acl.*"], format: "slack" })
  await ask("PATCH", `${acme}/webhooks/${chat.id}`, { enabled: false })
}

/** An order, previews that last, that end within a day and that have ended, and a revision with a note. */
const fillEnvironments = async (ask: Ask) => {
  const envs = `${webshop}/envs`
  await ask("PATCH", webshop, { order: ["prod", "staging"] })
  await ask("PATCH", `${envs}/dev/bundle`, { set: { NOTED: "noted" }, note: "imported from doppler:webshop/dev" })
  await ask("PUT", `${webshop}/previews`, { from: "dev", pattern: "pr-*", max: 5, longest: "7d" })
  for (const [name, expires_at] of [
    ["pr-1", inHours(20_000)],
    ["pr-2", inHours(12)],
    [ended, inHours(1)]
  ])
    await ask("POST", envs, { name, from: "dev", expires_at })
}

const fillDelegations = async (program: Program, ask: Ask) => {
  const place = { org: "acme", project: "webshop", env: "dev", expires_in: 8 * 3_600 }
  const whole = await ask("POST", "/api/auth/delegations", { ...place, name: "script", permission: "write" })
  const part = { name: "agent", permission: "read", keys: ["API_KEY"], reveal: false }
  await ask("POST", "/api/auth/delegations", { ...place, ...part })
  const delegate = { authorization: `Bearer ${whole.token}` }
  await asking(program, delegate)("GET", secretsOf("dev"))
  return delegate
}

/** A passkey that has proven a session, and a challenge that waits. */
const fillPasskeys = async (linus: Ask, origin: string) => {
  const { proof, register } = passkeysOf(linus, origin)
  const { device } = await register("laptop")
  await linus("POST", "/api/auth/passkeys/verify", await proof(device))
  await proof(device)
}

/** Sessions of programs, one of which is approved and not taken yet, and logins of both kinds that wait. */
const fillLogins = async (program: Program) => {
  const { device_code } = await approvedDevice(program)
  const { status, text } = await tokenFor(program, { device_code })
  if (status !== 200) throw new Error(text)
  await approvedDevice(program)
  const waiting = await beginDevice(program)
  await tokenFor(program, { device_code: waiting.device_code })
  const reader = new PersonsBrowser(program)
  await reader.submit(await reader.logIn(await reader.open(loopbackLogin().path)), { answer: "yes" })
}

/** Protected environments, with requests in every state. */
const fillRequests = async (program: Program, people: People) => {
  const as = (name: string, more: Credentials = {}): Ask => asking(program, { ...people[name], ...more })
  const ada = as("ada")
  const [prod, staging, dev] = [guardedEnv("prod"), guardedEnv("staging"), guardedEnv("dev")]
  await ada("POST", `${acme}/projects`, { name: "guarded" })
  await ada("PUT", `${prod}/secrets/A`, { value: "guarded" })
  const terms = { needed: 1, approvers: "admins" }
  await ada("PUT", `${prod}/protection`, { ...terms, break_glass: ["grace@example.com"], expires_after: "30d" })
  const two = { needed: 2, approvers: ["ada@example.com", "grace@example.com"], self: true, expires_after: "30d" }
  await ada("PUT", `${staging}/protection`, two)
  await ada("PUT", `${dev}/protection`, terms)

  const vote = (name: string, id: string, word: string) => as(name)("POST", `${acme}/requests/${id}/${word}`)
  const propose = async (path: string, value: string, reason: string, more: Credentials = {}): Promise<string> => {
    const asked = { prefer: "respond-async", "x-coffer-reason": reason, ...more }
    return (await as("ada", asked)("PUT", `${path}/secrets/A`, { value })).id
  }
  await vote("grace", await propose(prod, "done", "it is made"), "approve")
  await vote("grace", await propose(prod, "refused", "it is refused"), "refuse")
  const delegation = { org: "acme", project: "guarded", env: "prod", name: "writer", permission: "write" }
  const { token } = await ada("POST", "/api/auth/delegations", { ...delegation, expires_in: 3_600 })
  const byDelegation = await propose(prod, "delegated", "a script asks", { authorization: `Bearer ${token}` })
  await vote("grace", byDelegation, "refuse")
  await vote("ada", await propose(prod, "withdrawn", "it is withdrawn"), "withdraw")
  await propose(prod, "expired", tooLate)
  await vote("grace", await propose(staging, "one vote", "it has one vote"), "approve")
  const outdated = await propose(prod, "outdated", "it is outdated")
  await as("grace", { "x-coffer-break-glass": "at once" })("PUT", `${prod}/secrets/A`, { value: "at once" })
  const { status, text } = await program.call("POST", `${acme}/requests/${outdated}/approve`, {
    headers: people["grace"] ?? {}
  })
  if (status !== 409) throw new Error(text)
  // After the last change of the secret, which would outdate it.
  await propose(prod, "pending", "it waits")
  const { id } = await as("ada", { prefer: "respond-async" })("DELETE", `${dev}/protection`)
  await vote("grace", id, "approve")

  const access = { kind: "access", project: "guarded", permission: "read", expires_in: 2_592_000 }
  for (const [env, word] of [
    ["prod", "approve"],
    ["dev", "refuse"]
  ]) {
    const request = await as("bob")("POST", `${acme}/requests`, { ...access, env, reason: "to look" })
    await vote("grace", request.id, word ?? "")
  }
  await as("bob")("POST", `${acme}/requests`, { ...access, env: "staging", reason: "to wait" })
}

/** Fills in the records that came with 0.3.0, except the archives, which are taken of all that there is. */
export const fillOf030 = async (program: Program, people: People, origin: string) => {
  const ask = asking(program, people["ada"] ?? {})
  await fillGroups(ask)
  await fillRules(ask)
  await fillEnvironments(ask)
  await fillPasskeys(asking(program, people["linus"] ?? {}), origin)
  await fillLogins(program)
  await ask("PATCH", "/api/orgs/other", { passkey_recovery: "none" })
  const due = { owner: "grace@example.com", expires_at: "2020-01-31T08:00:00Z" }
  await ask("PATCH", `${secretsOf("prod", `${acme}/projects/billing`)}/IBAN`, due)
  const delegate = await fillDelegations(program, ask)
  await fillRequests(program, people)
  return { delegate }
}

/** An export that another owner has approved, an import that has ended, and one that goes on. */
export const fillArchives = async (program: Program, ada: Credentials) => {
  const ask = asking(program, ada)
  const exported = async (org: string, ready: (id: string) => Promise<unknown>) => {
    const exports = `/api/orgs/${org}/exports`
    const { id } = await ask("POST", exports, { versions: true })
    await ready(id)
    return { at: `${exports}/${id}`, structure: await ask("GET", `${exports}/${id}/structure`) }
  }
  const importing = (name: string, { organization }: Json): Promise<Json> =>
    ask("POST", "/api/imports", { name, organization: structureLines(organization) })

  const { user_id } = await ask("POST", `${acme}/members`, { email: "olga@example.com", role: "member" })
  await ask("PATCH", `${acme}/members/${user_id}`, { role: "owner" })
  const olga = { authorization: `Bearer ${await program.login("olga@example.com")}` }
  const whole = await exported("acme", (id) => asking(program, olga)("POST", `${acme}/exports/${id}/approve`))
  const arriving = await importing("arriving", whole.structure)
  const send = async (at: string, importId: string, place: { readonly project: string; readonly env: string }) => {
    const { data } = await ask("GET", `${at}/secrets?project=${place.project}&env=${place.env}`)
    await ask("PUT", `/api/imports/${importId}/secrets`, { ...place, data })
  }
  await send(whole.at, arriving.id, { project: "webshop", env: "prod" })

  const small = await exported("other", () => Promise.resolve())
  const { id } = await importing("moved", small.structure)
  await send(small.at, id, { project: "lonely", env: "dev" })
  const { declared, environments, projects, secrets, use_rules, versions } = small.structure.counts
  const counts = { projects, environments, secrets, versions, use_rules, declared }
  await ask("POST", `/api/imports/${id}/finish`, { counts })
  return { olga }
}

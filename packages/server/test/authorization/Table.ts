import { roles } from "@coffer/domain/directory/Member"
import { passkeysOf } from "../support/SoftAuthenticator.js"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Json } from "../support/Program.js"
import { approvedDevice } from "../support/ProgramLogins.js"
import {
  type About,
  accessBody,
  askOf,
  endpointOf,
  endpoints,
  type Place,
  requestOf,
  connectionBody,
  targetBody,
  roleBody,
  rotationBody,
  useRuleBody,
  webhookBody,
  queryOf,
  termsOf
} from "./Contract.js"
import { type Actor, actors, type Grid, grid, type Rule, rules } from "./Grid.js"
import { type Account, type Caller, each, nobody, people, type Person, Service, subjectOf, word } from "./Service.js"

// Permissions of the callers, as the specification has them. The columns, where a line has five: the caller's one rule is
//                                      none read write admin elsewhere, or six with use after none

const everyone = grid(
  /never/,
  `anonymous outsider member developer admin owner superadmin account scoped-here scoped-elsewhere blind   ok`
)

const anyCredential = grid(
  /never/,
  `anonymous                                                                                             401
   outsider member developer admin owner superadmin account scoped-here scoped-elsewhere blind           ok`
)

/** Service accounts have no sessions: one of them is never there. */
const sessionHolders = grid(
  /never/,
  `anonymous                                             401
   outsider member developer admin owner superadmin      ok
   account scoped-here scoped-elsewhere blind            404`
)

/** A removed organization is there for its owners alone, and for superadmins. */
const removedOwners = grid(
  /service account.*a person/,
  `anonymous                                             401
   outsider member developer admin                       404
   owner superadmin                                      ok
   account scoped-here scoped-elsewhere blind            403`
)

const persons = grid(
  /service account.*a person/,
  `anonymous                                             401
   outsider member developer admin owner superadmin      ok
   account scoped-here scoped-elsewhere blind            403`
)

/** As persons, each for itself. */
const delegating = grid(
  /service account.*a person/,
  `anonymous                                             401
   outsider member developer admin owner superadmin      ok
   account scoped-here scoped-elsewhere blind            403`
)

const delegators = grid(
  /permission read for environment webshop\/prod of organization acme|service account.*a person/,
  `anonymous                           401
   outsider                            404
   member developer                    403  ok   ok    ok    403
   admin owner superadmin              ok
   account scoped-here scoped-elsewhere blind   403`
)

const superadmins = grid(
  /superadmin/,
  `anonymous                                             401
   outsider member developer admin owner                 403
   superadmin                                            ok
   account scoped-here scoped-elsewhere blind            403`
)

const owners = grid(
  /the role owner in organization acme/,
  `anonymous                                             401
   outsider                                              404
   member developer admin                                403
   owner superadmin                                      ok
   account scoped-here scoped-elsewhere blind            403`
)

const admins = grid(
  /the role admin in organization acme/,
  `anonymous                                             401
   outsider                                              404
   member developer                                      403
   admin owner superadmin                                ok
   account scoped-here scoped-elsewhere blind            403`
)

const ownersInProject = grid(
  /the role owner in organization acme/,
  `anonymous                                             401
   outsider                                              404
   member developer admin                                403
   owner superadmin                                      ok
   account scoped-here blind                             403
   scoped-elsewhere                                      404`
)

/** The same in a project: an account of another project does not learn that it is there. */
const adminsInProject = grid(
  /the role admin in organization acme/,
  `anonymous                                             401
   outsider                                              404
   member developer                                      403
   admin owner superadmin                                ok
   account scoped-here blind                             403
   scoped-elsewhere                                      404`
)

const members = grid(
  /the role member in organization acme/,
  `anonymous                                             401
   outsider                                              404
   member developer admin owner superadmin               ok
   account scoped-here scoped-elsewhere blind            403`
)

const insiders = grid(
  /never/,
  `anonymous                                             401
   outsider                                              404
   member developer admin owner superadmin               ok
   account scoped-here scoped-elsewhere blind            ok`
)

const insidersOfProject = grid(
  /never/,
  `anonymous                                             401
   outsider                                              404
   member developer admin owner superadmin               ok
   account scoped-here blind                             ok
   scoped-elsewhere                                      404`
)

const readers = grid(
  /permission read for environment webshop\/prod of organization acme/,
  `anonymous                           401
   outsider                            404
   member developer                    403  ok   ok    ok    403
   admin owner superadmin              ok
   account scoped-here blind           403  ok   ok    ok    403
   scoped-elsewhere                    404`
)

/** A declared key is not there for those who may read no environment of the project. */
const declarationReaders = grid(
  /never/,
  `anonymous                           401
   outsider                            404
   member developer                    404  ok   ok    ok    404
   admin owner superadmin              ok
   account scoped-here blind           404  ok   ok    ok    404
   scoped-elsewhere                    404`
)

/** As readers, but for the account with reveal: false. */
const seers = grid(
  /permission read for environment webshop\/prod of organization acme|reveal: false/,
  `anonymous                           401
   outsider                            404
   member developer                    403  ok   ok    ok    403
   admin owner superadmin              ok
   account scoped-here                 403  ok   ok    ok    403
   scoped-elsewhere                    404
   blind                               403`
)

/** A member never writes, whatever the rule. */
const writers = grid(
  /permission write for environment webshop\/prod of organization acme|the role developer in organization acme/,
  `anonymous                           401
   outsider                            404
   member                              403
   developer                           403  403  ok    ok    403
   admin owner superadmin              ok
   account scoped-here blind           403  403  ok    ok    403
   scoped-elsewhere                    404`
)

const destroyers = grid(
  /permission admin for environment webshop\/prod of organization acme|the role developer in organization acme/,
  `anonymous                           401
   outsider                            404
   member                              403
   developer                           403  403  403   ok    403
   admin owner superadmin              ok
   account scoped-here blind           403  403  403   ok    403
   scoped-elsewhere                    404`
)

/** Decisions of people who have admin; a service account never decides. */
const deciders = grid(
  /permission admin for environment webshop\/prod of organization acme|the role developer in organization acme|a person/,
  `anonymous                           401
   outsider                            404
   member                              403
   developer                           403  403  403   ok    403
   admin owner superadmin              ok
   account scoped-here blind           403
   scoped-elsewhere                    404`
)

const users = grid(
  /permission use for environment webshop\/prod of organization acme/,
  `anonymous                           401
   outsider                            404
   member developer                    403  ok  ok  ok  ok   403
   admin owner superadmin              ok
   account scoped-here blind           403  ok  ok  ok  ok   403
   scoped-elsewhere                    404`
)

const managing = /admin.*in organization acme/

/** An account of the organization with an admin rule, for wherever, sees the rules that it manages. */
const ruleReaders = grid(
  managing,
  `anonymous                           401
   outsider                            404
   member developer                    403
   admin owner superadmin              ok
   account blind                       403  403  403   ok    ok
   scoped-here scoped-elsewhere        403`
)

/** The rule to grant bears the patterns of the callers' matching rules. */
const granters = grid(
  managing,
  `anonymous                           401
   outsider                            404
   member developer                    403
   admin owner superadmin              ok
   account blind                       403  403  403   ok    403
   scoped-here scoped-elsewhere        403`
)

/** A rule that an account does not manage is not there for it. */
const revokers = grid(
  managing,
  `anonymous                           401
   outsider                            404
   member developer                    403
   admin owner superadmin              ok
   account blind                       403  403  403   ok    404
   scoped-here scoped-elsewhere        403`
)

interface Cell {
  readonly actor: Actor
  readonly rule: Rule
  readonly caller: Caller
  readonly fresh: string
}

/** An allowed cell's own resources, so that it leaves everything else as it was. */
interface Own extends Partial<Place> {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

interface Row {
  /** The status for who is allowed. */
  readonly status: number
  readonly who: Grid
  /** The action under which the audit log records a refusal. */
  readonly action: string | null
  readonly own: ((cell: Cell) => Promise<Own>) | undefined
}

const row = (status: number, who: Grid, action: string | null = null, own?: Row["own"]): Row => ({
  status,
  who,
  action,
  own
})

export const matching = { project_pattern: "web{shop,site}", env_pattern: "{staging,prod}" }
const notMatching = { project_pattern: "web-*", env_pattern: "*" }
export const acme = "/api/orgs/acme"
export const prod = `${acme}/projects/webshop/envs/prod`

export let service: Service
export let ada: Person
let place: Place
const callers = new Map<string, Caller>()
const accounts = new Map<string, Account>()
const accountOf = ({ id }: Caller): Account => accounts.get(id) ?? assert.fail("not an account by a federation")
const callerFor = (actor: Actor, rule: Rule): Caller => callers.get(`${actor} ${rule}`) ?? nobody
export const emailFor = (actor: Actor, rule: Rule): string => `${actor}.${rule}@example.com`

const ownOrganization = async ({ actor, fresh, rule }: Cell): Promise<Own> => {
  const org_name = `own-${fresh}`
  await service.do(ada, "POST", "/api/orgs", { name: org_name })
  if (actor === "owner") {
    const email = emailFor(actor, rule)
    await service.do(ada, "POST", `/api/orgs/${org_name}/members`, { email, role: "owner" })
  }
  return { org_name }
}

/** An organization of the caller's whose people a directory manages. */
const ownDirectory = async (cell: Cell): Promise<Own> => {
  const own = await ownOrganization(cell)
  await service.do(ada, "POST", `/api/orgs/${own.org_name}/scim`)
  return own
}

const ownProject = async ({ fresh }: Cell): Promise<Own> => {
  const project_name = `own-${fresh}`
  await service.do(ada, "POST", `${acme}/projects`, { name: project_name })
  return { project_name }
}

const ownEnvironment = async ({ fresh }: Cell): Promise<Own> => {
  const env_name = `own-${fresh}`
  await service.do(ada, "POST", `${acme}/projects/webshop/envs`, { name: env_name })
  return { env_name }
}

/** Removed places of the caller's own. */
const ownRemovedOrganization = async (cell: Cell): Promise<Own> => {
  const { org_name = "" } = await ownOrganization(cell)
  await service.do(ada, "DELETE", `/api/orgs/${org_name}`)
  const { data } = await service.do(ada, "GET", `/api/trash?name=${org_name}`)
  return { removed_id: data[0].id, body: { name: org_name } }
}

const ownRemovedProject = async (cell: Cell): Promise<Own> => {
  const { project_name } = await ownProject(cell)
  await service.do(ada, "DELETE", `${acme}/projects/${project_name}`)
  const { data } = await service.do(ada, "GET", `${acme}/trash?name=${project_name}`)
  return { removed_id: data[0].id, body: { name: project_name } }
}

const ownRemovedEnvironment = async (cell: Cell): Promise<Own> => {
  const { env_name } = await ownEnvironment(cell)
  await service.do(ada, "DELETE", `${acme}/projects/webshop/envs/${env_name}`)
  const { data } = await service.do(ada, "GET", `${acme}/projects/webshop/trash?name=${env_name}`)
  return { removed_id: data[0].id, body: { name: env_name } }
}

const ownMember = async ({ fresh }: Cell): Promise<Own> => {
  const member = await service.do(ada, "POST", `${acme}/members`, { email: `own.${fresh}@example.com` })
  return { user_id: member.user_id }
}

const ownMembership = async ({ actor, fresh, rule }: Cell): Promise<Own> => {
  if (actor === "superadmin") {
    await service.do(ada, "POST", `${acme}/members`, { email: emailFor(actor, rule) })
    return {}
  }
  const role = roles.find((one) => one === actor) ?? assert.fail(`${actor} is no member`)
  return { headers: (await service.member(ada, "acme", `own.${fresh}@example.com`, role)).headers }
}

const ownKey = async ({ fresh }: Cell): Promise<Own> => {
  const key = `OWN_${fresh}`
  await service.do(ada, "PUT", `${prod}/secrets/${key}`, { value: "first" })
  await service.do(ada, "PUT", `${prod}/secrets/${key}`, { value: "second" })
  return { key }
}

const ownRemovedKey = async (cell: Cell): Promise<Own> => {
  const own = await ownKey(cell)
  await service.do(ada, "DELETE", `${prod}/secrets/${own.key}`)
  return own
}

const ownAccount = async ({ fresh }: Cell): Promise<Own> => ({
  sa_id: (await service.account(ada, "acme", { name: `own ${fresh}` })).id
})

const ownFederation = async (): Promise<Own> => {
  const account = await service.account(ada, "acme")
  return { sa_id: account.id, federation_id: (await service.federation(ada, "acme", account)).id }
}

const ownOrganizationOfAdmin = async (cell: Cell): Promise<Own> => {
  const own = await ownOrganization(cell)
  if (cell.actor !== "admin") return own
  const email = emailFor(cell.actor, cell.rule)
  await service.do(ada, "POST", `/api/orgs/${own.org_name}/members`, { email, role: "admin" })
  return own
}

const ownGroup = async (cell: Cell): Promise<Own> => {
  const { org_name = "" } = await ownOrganizationOfAdmin(cell)
  const group_name = `own ${cell.fresh}`
  await service.do(ada, "POST", `/api/orgs/${org_name}/groups`, { name: group_name })
  return { org_name, group_name }
}

const ownGroupMember = async (cell: Cell): Promise<Own> => {
  const { group_name = "", org_name = "" } = await ownGroup(cell)
  const members = `/api/orgs/${org_name}/groups/${encodeURIComponent(group_name)}/members`
  const { user_id } = await service.do(ada, "POST", members, { email: "ada@example.com" })
  return { org_name, group_name, user_id }
}

const ownWebhook = async (cell: Cell): Promise<Own> => {
  const { org_name } = await ownOrganizationOfAdmin(cell)
  const webhooks = `/api/orgs/${org_name}/webhooks`
  const { id: webhook_id } = await service.do(ada, "POST", webhooks, webhookBody)
  return { org_name: org_name ?? "", webhook_id }
}

const ownToken = async (): Promise<Own> => {
  const account = await service.account(ada, "acme")
  await service.federation(ada, "acme", account)
  return { body: { token: await service.podToken(account), account: `acme/${account.name}` } }
}

const ownUseRule = async (cell: Cell): Promise<Own> => {
  const { key } = await ownKey(cell)
  const { id } = await service.do(ada, "POST", `${prod}/secrets/${key}/use-rules`, useRuleBody)
  return { key: key ?? "", use_rule_id: id }
}

type Crowded = "connections" | "roles" | "rotations" | "targets"

/** An environment has at most 20 of each, and eight cells are walked at once: removes all but the newest. */
const makeRoom = async (kept: Partial<Readonly<Record<Crowded, number>>>): Promise<Own> => {
  for (const [kind, count] of Object.entries(kept)) {
    const { data } = await service.do(ada, "GET", `${prod}/${kind}`)
    const newestFirst = [...data].sort((one, other) => (one.created_at < other.created_at ? 1 : -1))
    for (const { name } of newestFirst.slice(count)) await service.status(ada, "DELETE", `${prod}/${kind}/${name}`)
  }
  return {}
}

/** A connection of a cell's own. Another cell's rotation or role may keep the room for a moment; those of earlier calls go. */
const connectionFor =
  (kind: "roles" | "rotations") =>
  async ({ fresh }: Cell): Promise<Own> => {
    const kept = { roles: 0, rotations: 0, [kind]: 8 }
    const connection_name = `own-${fresh.toLowerCase().replaceAll("_", "-")}`
    const body = { ...connectionBody, name: connection_name }
    for (let round = 0; round < 20; round++) {
      await makeRoom({ ...kept, connections: 8 })
      if ((await service.status(ada, "POST", `${prod}/connections`, body)) === 201) return { connection_name }
    }
    return assert.fail("no room for a connection")
  }
const ownConnection = connectionFor("rotations")

const ownTarget = async (cell: Cell): Promise<Own> => {
  const { key } = await ownKey(cell)
  await makeRoom({ targets: 10 })
  const { name } = await service.do(
    ada,
    "POST",
    `${prod}/targets`,
    targetBody(`t-${cell.fresh.toLowerCase().replaceAll("_", "-")}`, key ?? "")
  )
  return { key: key ?? "", target_name: name }
}

const ownRotation = async (cell: Cell): Promise<Own> => {
  const { connection_name } = await ownConnection(cell)
  const made = { ...rotationBody, connection: connection_name, name: connection_name }
  await service.do(ada, "POST", `${prod}/rotations`, made)
  return { rotation_name: connection_name ?? "" }
}

let shared: Promise<Own> | undefined

/** One role for all cells: a lease whose database has no address stays, and its role with it. */
const sharedRole = (cell: Cell): Promise<Own> => (shared ??= ownRole(cell))

const ownRole = async (cell: Cell): Promise<Own> => {
  const { connection_name } = await connectionFor("roles")(cell)
  await makeRoom({ roles: 10 })
  await service.do(ada, "POST", `${prod}/roles`, { ...roleBody, connection: connection_name, name: connection_name })
  return { role_name: connection_name ?? "" }
}

const ownDeclared = async ({ fresh }: Cell): Promise<Own> => {
  const key = `OWN_${fresh}`
  await service.do(ada, "PUT", `${acme}/projects/webshop/declared/${key}`, {})
  return { key }
}

const ownRule = async ({ fresh }: Cell): Promise<Own> => {
  const account = await service.account(ada, "acme", { name: `own ${fresh}` })
  const { env_pattern, project_pattern } = matching
  const rule = await service.grant(ada, "acme", account, "read", project_pattern, env_pattern)
  return { rule_id: rule.id }
}

const isPerson = (actor: Actor): boolean =>
  !["anonymous", "account", "federated", "scoped-here", "scoped-elsewhere", "blind"].includes(actor)

/** A second session of the caller's: to ask with, and to end. */
const ownSession = async ({ actor, caller, rule }: Cell): Promise<Own> => {
  if (actor === "federated") return { headers: (await service.signedIn("acme", accountOf(caller))).headers }
  if (!isPerson(actor)) return {}
  const headers = people(await service.program.login(emailFor(actor, rule)))
  const sessions = await service.do({ id: "", headers }, "GET", "/api/auth/sessions")
  return { headers, session_id: sessions.data.find((session: Json) => session.current).id }
}

/** A delegation in an organization of the caller's own. */
const ownDelegation = async ({ caller, fresh }: Cell): Promise<Own> => {
  const org = `own-${fresh}`
  await service.do(caller, "POST", "/api/orgs", { name: org })
  await service.do(caller, "POST", `/api/orgs/${org}/projects`, { name: "webshop" })
  const scope = { org, project: "webshop", env: "prod", permission: "read", expires_in: 60 }
  return { delegation_id: (await service.do(caller, "POST", "/api/auth/delegations", { name: "own", ...scope })).id }
}

const callback = "http://127.0.0.1:33418/callback"
let program: Promise<{ readonly client_id: string }> | undefined

/** The query with which a program that has registered itself asks. An address registers few. */
const programRequest = async (): Promise<string> => {
  program ??= service.do(ada, "POST", "/oauth/register", { redirect_uris: [callback] })
  return queryOf("http://localhost:7100", (await program).client_id, callback)
}

const ownReview = async (): Promise<Own> => ({ body: { request: await programRequest() } })

const ownConsent = async (): Promise<Own> => ({ body: { ...termsOf(place), request: await programRequest() } })

const nowhere = (): Promise<Own> =>
  Promise.resolve({ body: accessBody({ project_name: "webshop", env_name: "nowhere" }) })

const passkeysBy = (caller: Caller) => passkeysOf((...call) => service.do(caller, ...call), "http://localhost:7100")

const ownRegistration = async ({ caller, fresh }: Cell): Promise<Own> => ({
  body: await passkeysBy(caller).registration(fresh)
})

const ownPasskey = async ({ caller, fresh }: Cell): Promise<Own> => ({
  passkey_id: (await passkeysBy(caller).register(fresh)).id
})

const ownProof = async ({ caller, fresh }: Cell): Promise<Own> => {
  const { proof, register } = passkeysBy(caller)
  return { body: await proof((await register(fresh)).device) }
}

const ownCode = async ({ fresh }: Cell): Promise<Own> => {
  const email = `code.${fresh}@example.com`
  return { body: { email, code: await service.program.codeFor(email) } }
}

const ownDevice = async (): Promise<Own> => {
  const { device_code } = await approvedDevice(service.program)
  return { body: { device_code } }
}

/** An export of the caller's own, of an organization with a project. */
const ownExport = async (cell: Cell): Promise<Own> => {
  const { org_name = "" } = await ownOrganization(cell)
  await service.do(ada, "POST", `/api/orgs/${org_name}/projects`, { name: "webshop" })
  return { org_name, export_id: (await service.do(cell.caller, "POST", `/api/orgs/${org_name}/exports`, {})).id }
}

const ownImport = async ({ caller, fresh }: Cell): Promise<Own> => ({
  import_id: (await service.do(caller, "POST", "/api/imports", { name: `imported-${fresh}`, organization: "" })).id
})

/** A person has five imports at a time. */
const ownImported = async ({ actor, fresh }: Cell): Promise<Own> => {
  const address = `${actor}.${fresh}@example.com`
  return { headers: (await service.person(address)).headers }
}

const oneExport = "GET /api/orgs/:org_name/exports/:export_id"
const projects = "/api/orgs/:org_name/projects"
const envs = `${projects}/:project_name/envs`
const env = `${envs}/:env_name`
const declared = `${projects}/:project_name/declared`
const secret = `${env}/secrets/:key`
const webhooks = "/api/orgs/:org_name/webhooks"
const groups = "/api/orgs/:org_name/groups"
const federations = "/api/orgs/:org_name/service-accounts/:sa_id/federations"

/**
 * The table: each call of the contract, the status for those who are allowed, who they are, and the action that a refusal
 * is recorded by. The calls that end sessions come last.
 */
const table: Readonly<Record<string, Row>> = {
  "GET /health": row(200, everyone),
  "GET /health/ready": row(200, everyone),
  "GET /openapi.json": row(200, everyone),
  "GET /docs": row(200, everyone),
  "GET /llms.txt": row(200, everyone),
  "GET /llms-full.txt": row(200, everyone),

  "GET /api/server": row(200, anyCredential),
  "GET /api/server/settings": row(200, superadmins, "server.settings"),

  "GET /api/auth/methods": row(200, everyone),
  "POST /api/auth/login": row(200, everyone),
  "POST /api/auth/verify": row(200, everyone, null, ownCode),
  "POST /api/auth/device": row(200, everyone),
  "POST /api/auth/token": row(200, everyone, null, ownDevice),
  "POST /api/auth/federate": row(200, everyone, null, ownToken),
  "GET /api/auth/me": row(200, anyCredential),
  "GET /api/auth/sessions": row(200, anyCredential),

  "POST /api/auth/delegations": row(201, delegators, "secret.list"),
  "GET /api/auth/delegations": row(200, delegating, "delegation.list"),
  "DELETE /api/auth/delegations/:delegation_id": row(204, delegating, "delegation.revoke", ownDelegation),

  "POST /api/auth/consents": row(201, delegators, "secret.list", ownConsent),
  "POST /api/auth/consents/review": row(200, delegating, "consent.review", ownReview),

  "POST /api/orgs": row(201, persons, "org.create"),
  "GET /api/orgs": row(200, anyCredential),
  "GET /api/orgs/:org_name": row(200, insiders, "org.read"),
  "PATCH /api/orgs/:org_name": row(200, owners, "org.update", ownOrganization),
  "DELETE /api/orgs/:org_name": row(204, owners, "org.delete", ownOrganization),

  "GET /api/trash": row(200, persons, "org.restore"),
  "POST /api/trash/:removed_id/restore": row(200, removedOwners, "org.restore", ownRemovedOrganization),
  "POST /api/trash/:removed_id/erase": row(204, removedOwners, "org.erase", ownRemovedOrganization),

  "POST /api/orgs/:org_name/exports": row(201, owners, "org.export", ownOrganization),
  "GET /api/orgs/:org_name/exports": row(200, owners, "org.export"),
  [oneExport]: row(200, owners, "org.export", ownExport),
  // The person who asked for an export does not approve it: see the tests of archives.
  "POST /api/orgs/:org_name/exports/:export_id/approve": row(404, owners, "org.export"),
  "DELETE /api/orgs/:org_name/exports/:export_id": row(204, owners, "org.export", ownExport),
  [`${oneExport}/structure`]: row(200, owners, "org.export", ownExport),
  [`${oneExport}/declared`]: row(200, owners, "org.export", ownExport),
  [`${oneExport}/secrets`]: row(200, owners, "org.export", ownExport),
  "POST /api/imports": row(201, persons, "org.create", ownImported),
  "PUT /api/imports/:import_id/declared": row(404, persons, "org.create"),
  "PUT /api/imports/:import_id/secrets": row(404, persons, "org.create"),
  "POST /api/imports/:import_id/finish": row(200, persons, "org.create", ownImport),
  "DELETE /api/imports/:import_id": row(204, persons, "org.create", ownImport),

  "POST /api/orgs/:org_name/members": row(201, admins, "member.invite"),
  "GET /api/orgs/:org_name/members": row(200, members, "member.list"),
  "PATCH /api/orgs/:org_name/members/:user_id": row(200, owners, "member.update"),
  "DELETE /api/orgs/:org_name/members/me": row(204, members, "member.leave", ownMembership),
  "DELETE /api/orgs/:org_name/members/:user_id": row(204, admins, "member.remove", ownMember),

  [`POST ${projects}`]: row(201, admins, "project.create"),
  [`GET ${projects}`]: row(200, insiders, "project.list"),
  [`GET ${projects}/:project_name`]: row(200, insidersOfProject, "project.read"),
  [`PATCH ${projects}/:project_name`]: row(200, adminsInProject, "project.update", ownProject),
  [`DELETE ${projects}/:project_name`]: row(204, adminsInProject, "project.delete", ownProject),

  "GET /api/orgs/:org_name/trash": row(200, admins, "project.restore"),
  "POST /api/orgs/:org_name/trash/:removed_id/restore": row(200, admins, "project.restore", ownRemovedProject),
  "POST /api/orgs/:org_name/trash/:removed_id/erase": row(204, admins, "project.erase", ownRemovedProject),
  [`GET ${projects}/:project_name/trash`]: row(200, adminsInProject, "env.restore"),
  [`POST ${projects}/:project_name/trash/:removed_id/restore`]: row(
    200,
    adminsInProject,
    "env.restore",
    ownRemovedEnvironment
  ),
  [`POST ${projects}/:project_name/trash/:removed_id/erase`]: row(
    204,
    adminsInProject,
    "env.erase",
    ownRemovedEnvironment
  ),

  [`GET ${declared}`]: row(200, insidersOfProject, "declared.list"),
  [`GET ${declared}/:key`]: row(200, declarationReaders, "declared.list", ownDeclared),
  [`PUT ${declared}/:key`]: row(200, adminsInProject, "declared.set"),
  [`DELETE ${declared}/:key`]: row(204, adminsInProject, "declared.delete", ownDeclared),
  [`GET ${env}/check`]: row(200, readers, "secret.compare"),

  [`POST ${envs}`]: row(201, adminsInProject, "env.create"),
  [`GET ${envs}`]: row(200, insidersOfProject, "env.list"),
  [`GET ${projects}/:project_name/matrix`]: row(200, insidersOfProject, "env.list"),
  [`GET ${projects}/:project_name/revisions`]: row(200, insidersOfProject, "env.list"),
  [`PATCH ${env}`]: row(200, adminsInProject, "env.extend", ownEnvironment),
  [`GET ${projects}/:project_name/previews`]: row(404, insidersOfProject, "previews.read"),
  [`PUT ${projects}/:project_name/previews`]: row(200, adminsInProject, "previews.set", ownProject),
  [`DELETE ${projects}/:project_name/previews`]: row(404, adminsInProject, "previews.delete"),
  [`DELETE ${env}`]: row(204, adminsInProject, "env.delete", ownEnvironment),
  [`GET ${env}/bundle`]: row(200, seers, "secret.read"),
  [`PATCH ${env}/bundle`]: row(200, writers, "secret.write"),
  [`POST ${env}/copy`]: row(200, writers, "secret.write"),
  [`GET ${env}/diff`]: row(200, readers, "secret.compare"),
  [`GET ${env}/revisions`]: row(200, readers, "secret.list"),
  [`POST ${env}/revert`]: row(200, writers, "secret.write"),

  [`GET ${env}/secrets`]: row(200, readers, "secret.list"),
  [`PUT ${secret}`]: row(200, writers, "secret.write"),
  [`GET ${secret}`]: row(200, seers, "secret.read"),
  [`PATCH ${secret}`]: row(200, writers, "secret.write"),
  "GET /api/orgs/:org_name/secrets/due": row(200, insiders, "due.list"),
  "GET /api/orgs/:org_name/keys": row(200, insiders, "key.find"),
  "GET /api/orgs/:org_name/overview": row(200, insiders, "project.list"),
  [`DELETE ${secret}`]: row(204, writers, "secret.write", ownKey),
  [`GET ${secret}/references`]: row(200, readers, "secret.list"),
  [`GET ${secret}/versions`]: row(200, readers, "secret.list"),
  [`POST ${secret}/rollback`]: row(200, writers, "secret.write"),
  [`POST ${secret}/undelete`]: row(200, writers, "secret.write", ownRemovedKey),
  [`POST ${secret}/destroy`]: row(200, destroyers, "secret.destroy", ownKey),

  [`GET ${secret}/use-rules`]: row(200, deciders, "use_rule.list"),
  [`POST ${secret}/use-rules`]: row(201, deciders, "use_rule.create", ownKey),
  [`PATCH ${secret}/use-rules/:use_rule_id`]: row(200, deciders, "use_rule.update", ownUseRule),
  [`DELETE ${secret}/use-rules/:use_rule_id`]: row(204, deciders, "use_rule.delete", ownUseRule),
  [`GET ${env}/connections`]: row(200, adminsInProject, "connection.list"),
  [`POST ${env}/connections`]: row(201, adminsInProject, "connection.create", () =>
    makeRoom({ rotations: 10, roles: 0, connections: 10 })
  ),
  [`DELETE ${env}/connections/:connection_name`]: row(204, adminsInProject, "connection.delete", ownConnection),
  [`POST ${env}/connections/:connection_name/test`]: row(200, adminsInProject, "connection.test", ownConnection),
  [`DELETE ${env}/connections/:connection_name/orphans/:lease_id`]: row(
    502,
    adminsInProject,
    "orphan.delete",
    ownConnection
  ),
  [`GET ${env}/targets`]: row(200, deciders, "target.list"),
  [`POST ${env}/targets`]: row(201, deciders, "target.create", (cell) =>
    makeRoom({ targets: 10 }).then(() => ownKey(cell))
  ),
  [`GET ${env}/targets/:target_name`]: row(200, deciders, "target.list", ownTarget),
  [`PATCH ${env}/targets/:target_name`]: row(200, deciders, "target.update", ownTarget),
  [`DELETE ${env}/targets/:target_name`]: row(204, deciders, "target.delete", ownTarget),
  // Its platform has no address: see the tests of delivery.
  [`POST ${env}/targets/:target_name/plan`]: row(502, deciders, "target.push", ownTarget),
  [`POST ${env}/targets/:target_name/check`]: row(502, deciders, "target.push", ownTarget),
  [`POST ${env}/targets/:target_name/push`]: row(502, deciders, "target.push", ownTarget),
  [`GET ${env}/rotations`]: row(200, adminsInProject, "rotation.list"),
  [`POST ${env}/rotations`]: row(201, adminsInProject, "rotation.create", ownConnection),
  [`GET ${env}/rotations/:rotation_name`]: row(200, adminsInProject, "rotation.list", ownRotation),
  [`PATCH ${env}/rotations/:rotation_name`]: row(200, adminsInProject, "rotation.update", ownRotation),
  [`DELETE ${env}/rotations/:rotation_name`]: row(204, adminsInProject, "rotation.delete", ownRotation),
  [`POST ${env}/rotations/:rotation_name/run`]: row(200, adminsInProject, "rotation.run", ownRotation),
  [`GET ${env}/roles`]: row(200, adminsInProject, "lease_role.list"),
  [`POST ${env}/roles`]: row(201, adminsInProject, "lease_role.create", connectionFor("roles")),
  [`GET ${env}/roles/:role_name`]: row(200, adminsInProject, "lease_role.list", ownRole),
  [`DELETE ${env}/roles/:role_name`]: row(204, adminsInProject, "lease_role.delete", ownRole),
  // Its database has no address: see the tests of leases.
  [`POST ${env}/roles/:role_name/leases`]: row(502, seers, "lease.create", sharedRole),
  [`GET ${env}/leases`]: row(200, readers, "lease.list"),
  [`POST ${env}/leases/:lease_id/renew`]: row(404, seers, "lease.renew"),
  [`DELETE ${env}/leases/:lease_id`]: row(404, readers, "lease.revoke"),
  [`GET ${env}/uses`]: row(200, users, "secret.uses"),
  // This server makes no requests with secrets, and has none to approve: see the tests of `use`.
  [`POST ${env}/use`]: row(503, users, "secret.use"),
  "GET /api/orgs/:org_name/approvals": row(200, members, "approval.list"),
  "POST /api/orgs/:org_name/approvals/:approval_id/approve": row(404, members, "approval.list"),
  "POST /api/orgs/:org_name/approvals/:approval_id/refuse": row(404, members, "approval.list"),

  [`GET ${env}/protection`]: row(404, insidersOfProject, "protection.read"),
  [`PUT ${env}/protection`]: row(200, ownersInProject, "protection.set", ownEnvironment),
  [`DELETE ${env}/protection`]: row(404, ownersInProject, "protection.delete"),
  // Whoever may ask gets the same answer, whether the environment exists or not: see the tests of requests.
  "POST /api/orgs/:org_name/requests": row(409, insiders, "request.create", nowhere),
  "GET /api/orgs/:org_name/requests": row(200, insiders, "request.list"),
  "GET /api/orgs/:org_name/requests/:request_id": row(404, insiders, "request.list"),
  "GET /api/orgs/:org_name/requests/:request_id/values": row(404, insiders, "request.list"),
  "POST /api/orgs/:org_name/requests/:request_id/approve": row(404, insiders, "request.list"),
  "POST /api/orgs/:org_name/requests/:request_id/refuse": row(404, insiders, "request.list"),
  "POST /api/orgs/:org_name/requests/:request_id/withdraw": row(404, insiders, "request.list"),

  "POST /api/orgs/:org_name/acl": row(201, granters, "acl.grant", ownAccount),
  "GET /api/orgs/:org_name/acl": row(200, ruleReaders, "acl.list"),
  // About the caller itself; about others, AccessRules.long.test.ts.
  "GET /api/orgs/:org_name/acl/explain": row(200, insidersOfProject, "acl.explain"),
  "GET /api/orgs/:org_name/access": row(200, insiders, "acl.explain"),
  [`GET ${env}/access`]: row(200, adminsInProject, "access.list"),
  [`POST ${env}/access/reviews`]: row(201, adminsInProject, "access.review"),
  "DELETE /api/orgs/:org_name/acl/:rule_id": row(204, revokers, "acl.revoke", ownRule),

  [`POST ${groups}`]: row(201, admins, "group.create", ownOrganizationOfAdmin),
  [`GET ${groups}`]: row(200, admins, "group.list"),
  [`GET ${groups}/:group_name`]: row(200, admins, "group.list"),
  [`PATCH ${groups}/:group_name`]: row(200, admins, "group.update", ownGroup),
  [`DELETE ${groups}/:group_name`]: row(204, admins, "group.delete", ownGroup),
  [`GET ${groups}/:group_name/members`]: row(200, admins, "group.list"),
  [`PUT ${groups}/:group_name/members`]: row(200, admins, "group.members"),
  "GET /api/orgs/:org_name/group-mappings": row(200, admins, "group.list"),
  "PUT /api/orgs/:org_name/group-mappings": row(200, owners, "group.map"),
  [`POST ${groups}/:group_name/members`]: row(201, admins, "group.members", ownGroup),
  [`DELETE ${groups}/:group_name/members/:user_id`]: row(204, admins, "group.members", ownGroupMember),

  "GET /api/orgs/:org_name/scim": row(200, admins, "scim.read"),
  "POST /api/orgs/:org_name/scim": row(201, owners, "scim.enable", ownOrganization),
  "POST /api/orgs/:org_name/scim/rotate": row(200, owners, "scim.rotate", ownDirectory),
  "DELETE /api/orgs/:org_name/scim": row(204, owners, "scim.disable", ownDirectory),

  "POST /api/orgs/:org_name/service-accounts": row(201, admins, "service_account.create"),
  "GET /api/orgs/:org_name/service-accounts": row(200, admins, "service_account.list"),
  "PATCH /api/orgs/:org_name/service-accounts/:sa_id": row(200, admins, "service_account.update"),
  "POST /api/orgs/:org_name/service-accounts/:sa_id/rotate": row(200, admins, "service_account.rotate"),
  "DELETE /api/orgs/:org_name/service-accounts/:sa_id": row(204, admins, "service_account.revoke", ownAccount),

  [`POST ${federations}`]: row(201, admins, "federation.create", ownAccount),
  [`GET ${federations}`]: row(200, admins, "federation.list"),
  [`POST ${federations}/try`]: row(200, admins, "federation.create"),
  [`DELETE ${federations}/:federation_id`]: row(204, admins, "federation.revoke", ownFederation),

  [`POST ${webhooks}`]: row(201, admins, "webhook.create", ownOrganizationOfAdmin),
  [`GET ${webhooks}`]: row(200, admins, "webhook.list"),
  [`GET ${webhooks}/:webhook_id`]: row(200, admins, "webhook.list"),
  [`PATCH ${webhooks}/:webhook_id`]: row(200, admins, "webhook.update"),
  [`DELETE ${webhooks}/:webhook_id`]: row(204, admins, "webhook.delete", ownWebhook),
  [`POST ${webhooks}/:webhook_id/rotate-key`]: row(200, admins, "webhook.update"),
  [`POST ${webhooks}/:webhook_id/test`]: row(200, admins, "webhook.update", ownWebhook),
  [`GET ${webhooks}/:webhook_id/deliveries`]: row(200, admins, "webhook.list"),
  [`POST ${webhooks}/:webhook_id/deliveries/:delivery_id/send`]: row(200, admins, "webhook.update"),

  "GET /api/orgs/:org_name/audit-logs": row(200, admins, "audit.read"),
  "GET /api/orgs/:org_name/audit-logs/activity": row(200, admins, "audit.read"),
  "GET /api/orgs/:org_name/audit-logs/verify": row(200, admins, "audit.verify"),
  "GET /api/audit-logs": row(200, superadmins, "audit.read"),
  "GET /api/audit-logs/verify": row(200, superadmins, "audit.verify"),

  // This server has no S3 settings.
  "GET /api/users": row(200, superadmins, "user.list"),
  "POST /api/users/:user_id/disable": row(200, superadmins, "user.disable"),
  "POST /api/users/:user_id/enable": row(200, superadmins, "user.enable"),
  "POST /api/users/:user_id/end-sessions": row(200, superadmins, "user.end_sessions"),
  "POST /api/backups": row(503, superadmins, "backup.create"),
  "GET /api/backups": row(503, superadmins, "backup.list"),
  "POST /api/backups/:backup_id/restore": row(503, superadmins, "backup.restore"),
  "POST /api/backups/drill": row(503, superadmins, "backup.drill"),

  // Behind the others: who has a passkey proves with it whatever needs a recent login.
  "GET /api/auth/passkeys": row(200, delegating, "passkey.list"),
  "POST /api/auth/passkeys/options": row(200, delegating, "passkey.options"),
  "POST /api/auth/passkeys": row(201, delegating, "passkey.create", ownRegistration),
  "DELETE /api/auth/passkeys/:passkey_id": row(204, delegating, "passkey.delete", ownPasskey),
  "POST /api/auth/passkeys/challenge": row(200, delegating, "passkey.challenge"),
  "POST /api/auth/passkeys/verify": row(200, delegating, "passkey.verify", ownProof),

  "DELETE /api/auth/sessions/:session_id": row(204, sessionHolders, null, ownSession),
  "DELETE /api/auth/logout": row(204, anyCredential, null, ownSession),
  "DELETE /api/auth/sessions": row(204, anyCredential)
}

/** A caller with its one rule. */
type Who = Pick<Cell, "actor" | "rule">

/** The callers of each endpoint in the whole table. */
export const everybody: ReadonlyArray<Who> = actors.flatMap((actor) =>
  (actor === "anonymous" ? ["none" as const] : rules).map((rule) => ({ actor, rule }))
)

const federated = async (account: Person | Account): Promise<Account> => {
  if ("email" in account) return assert.fail("a person has no federation")
  accounts.set(account.id, account)
  await service.federation(ada, "acme", account)
  return service.signedIn("acme", account)
}

/** In milliseconds: long enough for the answer to a grant. */
const endSoon = 2_000

/** Makes who calls: for each actor and rule one of its own, with that one rule. */
const makeCaller = async (actor: Actor, rule: Rule): Promise<void> => {
  if (actor === "anonymous") return
  const scope = actor === "scoped-here" ? "webshop" : actor === "scoped-elsewhere" ? "other" : undefined
  let subject: Person | Account
  switch (actor) {
    case "account":
    case "federated":
    case "scoped-here":
    case "scoped-elsewhere":
    case "blind":
      subject = await service.account(ada, "acme", {
        name: `${actor} ${rule}`,
        ...(scope !== undefined && { project: scope }),
        ...(actor === "blind" && { reveal: false })
      })
      break
    // Outsiders and superadmins were members once, so that they could be given a rule.
    case "outsider":
    case "superadmin":
      subject = await service.member(ada, "acme", emailFor(actor, rule), "developer")
      break
    default:
      subject = await service.member(ada, "acme", emailFor(actor, rule), actor)
  }
  if (rule !== "none") {
    const { env_pattern, project_pattern } = rule === "elsewhere" ? notMatching : matching
    const permission = rule === "elsewhere" || rule === "ended" ? "admin" : rule
    const end = rule === "ended" ? endSoon : 3_600_000
    await service.do(ada, "POST", `${acme}/acl`, {
      ...subjectOf(subject),
      ...{ permission, project_pattern, env_pattern },
      // The others of accounts last: they grant rules that do.
      ...((rule === "ended" || isPerson(actor)) && { expires_at: new Date(Date.now() + end).toISOString() })
    })
  }
  if (actor === "outsider" || actor === "superadmin") await service.do(ada, "DELETE", `${acme}/members/${subject.id}`)
  callers.set(`${actor} ${rule}`, actor === "federated" ? await federated(subject) : subject)
}

const selfOf = ({ actor, caller, rule }: Cell): Readonly<Record<string, string>> =>
  isPerson(actor) || actor === "anonymous"
    ? { subject_type: "user", email: emailFor(actor, rule) }
    : { subject_type: "service_account", subject_id: caller.id }

/** Calls of people alone whose places are in the body or have no name: an account is refused by the call's own name. */
const callsOfPersons = new Map([
  ["POST /api/auth/delegations", "delegation.create"],
  ["POST /api/auth/consents", "consent.create"],
  ["POST /api/trash/:removed_id/restore", "trash.restoreOrganization"],
  ["POST /api/trash/:removed_id/erase", "trash.eraseOrganization"]
])

const refusals: Array<string> = []
let walked = 0

/** Calls an endpoint as one of the actors, and says what was wrong, if anything was. */
const walk = async (call: string, actor: Actor, rule: Rule): Promise<string | null> => {
  const endpoint = endpointOf(call)
  const { action, own, status, who } = table[call]!
  const cell: Cell = { actor, rule, caller: callerFor(actor, rule), fresh: word() }
  const outcome = who.outcome(actor, rule)
  const { body, headers, ...ownPlace } = outcome === "ok" && own !== undefined ? await own(cell) : {}
  const about: About = { place: { ...place, ...ownPlace }, fresh: cell.fresh, self: selfOf(cell), patterns: matching }
  const ask = body === undefined ? askOf(endpoint, about) : { body }
  const { method, path, ...options } = requestOf(endpoint, about, ask)
  const caller = headers === undefined ? cell.caller : { id: cell.caller.id, headers }
  const answer = await service.call(caller, method, path, options)
  walked += 1
  const expected = outcome === "ok" ? status : outcome
  if (answer.status === 403) {
    const log = /:org_name|consents|delegations|passkeys|\/trash/.test(call) ? "acme" : "server"
    const asked = isPerson(actor) ? action : (callsOfPersons.get(call) ?? action)
    refusals.push(`${caller.id} ${asked ?? "?"} ${log}`)
  }
  if (answer.status !== expected) {
    return `${actor} with rule ${rule}: expected ${expected}, got ${answer.status} ${answer.text.slice(0, 200)}`
  }
  if (answer.status === 403 && !who.says.test(answer.body.error.message)) {
    return `${actor} with rule ${rule}: does not say ${String(who.says)}: ${answer.body.error.message}`
  }
  return null
}

/** Walks the table with these callers: each endpoint is called by all of them. */
export const testTable = (cells: ReadonlyArray<Who>): void => {
  describe("the table of authorization", () => {
    it("has every call of the contract and no other", () => {
      assert.sameMembers(
        Object.keys(table),
        endpoints.map(({ call }) => call)
      )
    })

    it("asks for the actions that the contract's annotations name", () => {
      for (const { call, requires } of endpoints) {
        const { action, who } = table[call]!
        const expected =
          who === everyone
            ? "nothing"
            : who === superadmins
              ? "superadmin"
              : who === delegating || who === delegators || who === removedOwners
                ? "person"
                : call === "GET /api/trash"
                  ? "credential"
                  : /:org_name/.test(call) || who === persons
                    ? action
                    : "credential"
        assert.strictEqual(requires, expected, call)
      }
    })
  })

  beforeAll(async () => {
    // Two files walk it in one process.
    shared = undefined
    program = undefined
    walked = 0
    refusals.length = 0
    callers.clear()
    accounts.clear()
    const named = rules.map((rule, index) => [`SUPERADMIN_EMAIL_${index}`, emailFor("superadmin", rule)])
    service = await Service.start({ ...Object.fromEntries(named), SERVICE_PUBLIC_URL: "http://localhost:7100" })
    ada = await service.person("ada@example.com")
    await service.do(ada, "POST", "/api/orgs", { name: "acme" })
    for (const name of ["webshop", "other"]) await service.do(ada, "POST", `${acme}/projects`, { name })
    for (const name of ["prod", "staging"]) {
      const path = `${acme}/projects/webshop/envs/${name}/secrets/SHARED`
      await service.do(ada, "PUT", path, { value: `first of ${name}` })
      await service.do(ada, "PUT", path, { value: `second of ${name}` })
    }
    const bystander = await service.do(ada, "POST", `${acme}/members`, { email: "bystander@example.com" })
    const account = await service.account(ada, "acme", { name: "bystander" })
    const rule = await service.grant(ada, "acme", account, "read", matching.project_pattern, matching.env_pattern)
    await service.do(ada, "POST", `${acme}/groups`, { name: "bystanders" })
    const webhook = await service.do(ada, "POST", `${acme}/webhooks`, webhookBody)
    const delivery = await service.do(ada, "POST", `${acme}/webhooks/${webhook.id}/test`)
    place = {
      org_name: "acme",
      project_name: "webshop",
      env_name: "prod",
      key: "SHARED",
      user_id: bystander.user_id,
      rule_id: rule.id,
      sa_id: account.id,
      group_name: "bystanders",
      federation_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
      webhook_id: webhook.id,
      delivery_id: delivery.id,
      target_name: "absent",
      use_rule_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
      connection_name: "shop-db",
      rotation_name: "shop-app",
      role_name: "shop-role",
      lease_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dce",
      approval_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
      request_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
      session_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
      delegation_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
      passkey_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
      export_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
      import_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
      removed_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
      backup_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"
    }
    await each(cells, ({ actor, rule }) => makeCaller(actor, rule))
    await new Promise((resolve) => setTimeout(resolve, endSoon))
  })

  afterAll(async () => {
    await service.remove()
  })

  describe("a call is answered as the table says, whoever makes it:", () => {
    it.each(Object.keys(table))("%s", async (call) => {
      const wrong = await each(cells, ({ actor, rule }) => walk(call, actor, rule))
      assert.deepStrictEqual(
        wrong.filter((text) => text !== null),
        []
      )
    })
  })

  describe("after the whole table", () => {
    it("every cell was walked", () => {
      assert.strictEqual(walked, endpoints.length * cells.length)
    })

    const inLog = (log: string) => refusals.filter((text) => text.endsWith(` ${log}`)).sort()

    it("the organization's log has an access.denied for each 403 of its calls, and for nothing else", async () => {
      const entries = await service.entries(ada, `${acme}/audit-logs`, "access.denied")
      assert.deepStrictEqual(
        entries.map((entry) => `${entry.actor_id} ${entry.metadata.action} acme`).sort(),
        inLog("acme")
      )
      for (const entry of entries) {
        assert.include(["org", "project", "env"], entry.resource_type)
        assert.notProperty(entry.metadata, "via")
      }
    })

    it("the server's log has an access.denied for each 403 of the superadmins' calls, and for nothing else", async () => {
      const superadmin = await service.person(emailFor("superadmin", "none"))
      const entries = await service.entries(superadmin, "/api/audit-logs", "access.denied")
      assert.deepStrictEqual(
        entries
          .filter((entry) => entry.org_id === null)
          .map((entry) => `${entry.actor_id} ${entry.metadata.action} server`)
          .sort(),
        inLog("server")
      )
      const elsewhere = entries.filter((entry) => entry.org_id !== null)
      assert.strictEqual(elsewhere.length, inLog("acme").length)
    })

    it("a service account that asks for an organization of its own is recorded too", async () => {
      const superadmin = await service.person(emailFor("superadmin", "read"))
      const entries = await service.entries(superadmin, "/api/audit-logs", "access.denied")
      assert.isAbove(entries.filter((entry) => entry.metadata.action === "org.create").length, 0)
    })
  })
}

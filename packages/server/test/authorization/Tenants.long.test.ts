import { publicUrl } from "../federations/Signer.js"
import { passkeysOf } from "../support/SoftAuthenticator.js"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Answer, Json } from "../support/Program.js"
import {
  type About,
  accessBody,
  askOf,
  type Endpoint,
  endpointOf,
  endpoints,
  type Parameter,
  parametersOf,
  type Place,
  removedName,
  requestOf,
  connectionBody,
  targetBody,
  roleBody,
  rotationBody,
  useRuleBody,
  webhookBody
} from "./Contract.js"
import { type Account, type Caller, each, machines, type Person, Service, subjectOf, word } from "./Service.js"

// Two organizations that are built alike: equal names of projects, environments and keys. One attacks the other.

const patterns = { project_pattern: "*", env_pattern: "*" }

/** Texts that the attackers must never see: in the victim's names, addresses and values. */
const canaries: Array<string> = []
const canary = (prefix: string): string => {
  const text = `${prefix}-zq${word()}zq`
  canaries.push(text)
  return text
}

interface Tenant {
  readonly owner: Person
  readonly developer: Person
  readonly account: Account
  readonly scoped: Account
  readonly place: Place
}

let service: Service
let attacker: Tenant
let victim: Tenant
/** The attackers' scoped account, signed in by its federation. */
let federated: Account

const build = async (name: string, mark: (prefix: string) => string): Promise<Tenant> => {
  const org = `/api/orgs/${name}`
  const owner = await service.person(`${mark("owner")}@example.com`)
  const other = await service.person(`${mark("second")}@example.com`)
  await service.do(owner, "POST", "/api/orgs", { name })
  await service.do(owner, "POST", `${org}/members`, { email: other.email, role: "developer" })
  // `web` is in both organizations, `only-…` in one.
  for (const project of ["web", mark("only")]) {
    await service.do(owner, "POST", `${org}/projects`, { name: project })
    await service.do(owner, "POST", `${org}/projects/${project}/envs`, { name: mark("env") })
    for (const env of ["prod", "staging"]) {
      const secrets = `${org}/projects/${project}/envs/${env}/secrets`
      await service.do(owner, "PUT", `${secrets}/EQUAL`, { value: mark("value") })
      await service.do(owner, "PUT", `${secrets}/${mark("KEY")}`, { value: mark("value") })
    }
  }
  const account = await service.account(owner, name, { name: mark("account") })
  const scoped = await service.account(owner, name, { name: mark("scoped"), project: "web" })
  const asking = await service.account(owner, name, { name: useRuleBody.accounts[0] })
  const rule = await service.grant(owner, name, account, "admin")
  await service.grant(owner, name, scoped, "admin")
  await service.grant(owner, name, other, "write")
  const sessions = await service.do(other, "GET", "/api/auth/sessions")
  await service.do(owner, "PUT", `/api/orgs/${name}/projects/web/declared/EQUAL`, { description: mark("declared") })
  return {
    owner,
    developer: other,
    account,
    scoped,
    place: {
      org_name: name,
      project_name: "web",
      env_name: "prod",
      key: "EQUAL",
      user_id: other.id,
      rule_id: rule.id,
      sa_id: scoped.id,
      group_name: await grouped(owner, name, other, mark("group")),
      federation_id: (await service.federation(owner, name, scoped)).id,
      ...(await hooked(owner, name)),
      use_rule_id: (await service.do(owner, "POST", useRulesOf(name), useRuleBody)).id,
      connection_name: await connected(owner, name),
      rotation_name: await rotated(owner, name),
      role_name: await withRole(owner, name),
      // The database of its connection has no address, so there is none.
      lease_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dce",
      target_name: (
        await service.do(
          owner,
          "POST",
          `/api/orgs/${name}/projects/web/envs/prod/targets`,
          targetBody(mark("t"), "EQUAL")
        )
      ).name,
      approval_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
      request_id: (await service.do(asking, "POST", `/api/orgs/${name}/requests`, accessBody(wanted))).id,
      session_id: sessions.data[0].id,
      delegation_id: (await delegationOf(owner, name)).id,
      passkey_id: await passkeyOf(owner),
      export_id: (await service.do(owner, "POST", `/api/orgs/${name}/exports`, {})).id,
      import_id: (await service.do(owner, "POST", "/api/imports", { name: `${name}-too`, organization: "" })).id,
      removed_id: await removedOf(owner, name),
      backup_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"
    }
  }
}

/** A removed environment. */
const removedOf = async (owner: Person, org: string): Promise<string> => {
  const project = `/api/orgs/${org}/projects/web`
  await service.do(owner, "POST", `${project}/envs`, { name: removedName })
  await service.do(owner, "DELETE", `${project}/envs/${removedName}`)
  return (await service.do(owner, "GET", `${project}/trash`)).data[0].id
}

const wanted = { project_name: "web", env_name: "prod" }

const delegationOf = (owner: Person, org: string) =>
  service.do(owner, "POST", "/api/auth/delegations", {
    name: "agent",
    org,
    project: "web",
    env: "prod",
    permission: "read",
    expires_in: 3_600
  })

const passkeyOf = async (owner: Person): Promise<string> =>
  (await passkeysOf((...call) => service.do(owner, ...call), publicUrl).register("laptop")).id

const useRulesOf = (org: string): string => `/api/orgs/${org}/projects/web/envs/prod/secrets/EQUAL/use-rules`

/** Makes a group with a member and a rule; returns its name. */
const grouped = async (owner: Person, org: string, member: Person, name: string): Promise<string> => {
  await service.do(owner, "POST", `/api/orgs/${org}/groups`, { name })
  await service.do(owner, "POST", `/api/orgs/${org}/groups/${name}/members`, { email: member.email })
  const mappings = [{ provider_group: name, group: name }]
  await service.do(owner, "PUT", `/api/orgs/${org}/group-mappings`, { mappings })
  const rule = { subject_type: "group", group: name, project_pattern: "web", env_pattern: "prod", permission: "read" }
  await service.do(owner, "POST", `/api/orgs/${org}/acl`, rule)
  return name
}

const connected = async (owner: Person, org: string): Promise<string> => {
  const made = { ...connectionBody, name: `${org}-db` }
  return (await service.do(owner, "POST", `/api/orgs/${org}/projects/web/envs/prod/connections`, made)).name
}

const rotated = async (owner: Person, org: string): Promise<string> => {
  const made = { ...rotationBody, name: `${org}-app`, connection: `${org}-db` }
  return (await service.do(owner, "POST", `/api/orgs/${org}/projects/web/envs/prod/rotations`, made)).name
}

const withRole = async (owner: Person, org: string): Promise<string> => {
  const made = { ...roleBody, name: `${org}-role`, connection: `${org}-db` }
  return (await service.do(owner, "POST", `/api/orgs/${org}/projects/web/envs/prod/roles`, made)).name
}

const hooked = async (owner: Person, org: string) => {
  const webhooks = `/api/orgs/${org}/webhooks`
  const { id: webhook_id } = await service.do(owner, "POST", webhooks, webhookBody)
  const { id: delivery_id } = await service.do(owner, "POST", `${webhooks}/${webhook_id}/test`)
  return { webhook_id, delivery_id }
}

/** Everything that an owner can see of an organization, but for the log. */
const dump = async ({ owner, place }: Tenant): Promise<unknown> => {
  const org = `/api/orgs/${place.org_name}`
  const see = async (path: string) => service.do(owner, "GET", path)
  const projects = await see(`${org}/projects`)
  const content: Record<string, unknown> = {}
  for (const { name: project } of projects.data) {
    const envs = await see(`${org}/projects/${project}/envs`)
    content[`envs of ${project}`] = envs
    content[`declared by ${project}`] = await see(`${org}/projects/${project}/declared`)
    for (const { name: env } of envs.data) {
      content[`${project}/${env}`] = await see(`${org}/projects/${project}/envs/${env}/bundle`)
    }
  }
  return {
    content,
    projects,
    org: await see(org),
    members: await see(`${org}/members`),
    rules: await see(`${org}/acl`),
    accounts: await see(`${org}/service-accounts`),
    groups: await see(`${org}/groups`),
    mapped: await see(`${org}/group-mappings`),
    grouped: await see(`${org}/groups/${place.group_name}/members`),
    uses: await see(useRulesOf(place.org_name)),
    webhooks: await see(`${org}/webhooks`),
    exports: await see(`${org}/exports`),
    federations: await see(`${org}/service-accounts/${place.sa_id}/federations`),
    me: await see("/api/auth/me")
  }
}

/** Returns the victim's canaries in a response, except those that the request itself contained. */
const leaks = (request: unknown, { text }: Answer): ReadonlyArray<string> => {
  const sent = JSON.stringify(request)
  return canaries.filter((secret) => text.includes(secret) && !sent.includes(secret))
}

beforeAll(async () => {
  service = await Service.start()
  attacker = await build("attacker", (prefix) => `${prefix}-${word()}`)
  victim = await build("victim", canary)
  federated = await service.signedIn("attacker", attacker.scoped)
  before = await dump(victim)
})

afterAll(async () => {
  await service.remove()
})

let before: unknown

/** Nothing of the victim's has changed since it was built, and its log knows nobody but its owner. */
const assertUnharmed = async (): Promise<void> => {
  assert.deepStrictEqual(await dump(victim), before)
  const log = `/api/orgs/${victim.place.org_name}/audit-logs`
  const { data, pagination } = await service.do(victim.owner, "GET", `${log}?limit=100`)
  assert.isFalse(pagination.has_next)
  // An account of its own asks for access: whoever has the right cannot ask.
  const [asked, ...more] = data.filter(({ action }: Json) => action === "request.create")
  assert.deepStrictEqual([asked.actor_name, more.length], [useRuleBody.accounts[0], 0])
  for (const entry of data) if (entry !== asked) assert.strictEqual(entry.actor_id, victim.owner.id)
  assert.isTrue((await service.do(victim.owner, "GET", `${log}/verify`)).valid)
}

/** Each way of taking a path's parameters from the one tenant or the other, but for all of the own. */
const mixes = (endpoint: Endpoint): ReadonlyArray<ReadonlySet<Parameter>> => {
  const names = parametersOf(endpoint).filter((name) => name !== "backup_id")
  const all = names.reduce<ReadonlyArray<ReadonlyArray<Parameter>>>(
    (sets, name) => sets.flatMap((set) => [set, [...set, name]]),
    [[]]
  )
  return all.filter((set) => set.length > 0).map((set) => new Set(set))
}

const placeOf = (own: Place, other: Place, foreign: ReadonlySet<Parameter>): Place => {
  const pick = (name: Parameter) => (foreign.has(name) ? other : own)[name]
  return {
    org_name: pick("org_name"),
    project_name: pick("project_name"),
    env_name: pick("env_name"),
    key: pick("key"),
    user_id: pick("user_id"),
    rule_id: pick("rule_id"),
    sa_id: pick("sa_id"),
    group_name: pick("group_name"),
    federation_id: pick("federation_id"),
    use_rule_id: pick("use_rule_id"),
    connection_name: pick("connection_name"),
    rotation_name: pick("rotation_name"),
    role_name: pick("role_name"),
    lease_id: pick("lease_id"),
    target_name: pick("target_name"),
    webhook_id: pick("webhook_id"),
    delivery_id: pick("delivery_id"),
    approval_id: pick("approval_id"),
    request_id: pick("request_id"),
    session_id: pick("session_id"),
    delegation_id: pick("delegation_id"),
    passkey_id: pick("passkey_id"),
    export_id: pick("export_id"),
    import_id: pick("import_id"),
    removed_id: pick("removed_id"),
    backup_id: own.backup_id
  }
}

/** The callers of the attacking organization. */
const attackers = (): ReadonlyArray<readonly [string, Caller, Readonly<Record<string, string>>]> => [
  ["its owner", attacker.owner, subjectOf(attacker.owner)],
  ["its developer", attacker.developer, subjectOf(attacker.developer)],
  ["its account with every right", attacker.account, subjectOf(attacker.account)],
  ["its scoped account", attacker.scoped, subjectOf(attacker.scoped)],
  ["its scoped account by a federation", federated, subjectOf(attacker.scoped)]
]

/** A superadmin's calls are refused whatever they name: they belong to no tenant. */
const placed = endpoints.filter((endpoint) => endpoint.requires !== "superadmin" && mixes(endpoint).length > 0)

describe("with identifiers of the other tenant's in its path, and nothing else of it,", () => {
  it.each(placed.map(({ call }) => call))("%s is 404", async (call) => {
    const endpoint = endpointOf(call)
    // Names that only the victim has: equal names would be the attacker's own.
    const { data: projects } = await service.do(victim.owner, "GET", `/api/orgs/victim/projects`)
    const project_name = projects.find(({ name }: Json) => name !== "web").name
    const { data: envs } = await service.do(victim.owner, "GET", `/api/orgs/victim/projects/web/envs`)
    const env_name = envs.find(({ name }: Json) => name.startsWith("env-")).name
    const { data: secrets } = await service.do(victim.owner, "GET", `/api/orgs/victim/projects/web/envs/prod/secrets`)
    const key = secrets.find((secret: Json) => secret.key !== "EQUAL").key
    const theirs: ReadonlyArray<Place> = [victim.place, { ...victim.place, project_name, env_name, key }]

    const attempts = theirs.flatMap((other) =>
      mixes(endpoint).flatMap((foreign) => attackers().map((caller) => ({ other, foreign, caller })))
    )
    await each(attempts, async ({ caller: [name, caller, self], foreign, other }) => {
      const place = placeOf(attacker.place, other, foreign)
      // An equal name is the attacker's own place: that is no attack.
      const isOwn = parametersOf(endpoint).every((parameter) => place[parameter] === attacker.place[parameter])
      // A key is a name to write to, whoever else has one of that name.
      const isNewKey = foreign.size === 1 && foreign.has("key") && /^(PUT|POST)/.test(call)
      // A refusal of an account, which never makes use rules, names the key in its own log, as the account said it.
      const isNamedByAccount =
        place.project_name === attacker.place.project_name &&
        place.env_name === attacker.place.env_name &&
        foreign.has("key") &&
        call.includes("/use-rules") &&
        caller !== attacker.owner
      if (isOwn || isNewKey || isNamedByAccount) return
      const about: About = { place, fresh: word(), self, patterns }
      const { method, path, ...options } = requestOf(endpoint, about)
      const answer = await service.call(caller, method, path, options)
      const what = `${method} ${path} by ${name}: ${answer.status} ${answer.text}`
      const isAtHome = place.org_name === attacker.place.org_name
      const mayLackRights = caller !== attacker.owner
      const expected = isAtHome && mayLackRights ? [404, 403, 400] : [404, 400]
      assert.include(expected, answer.status, what)
      assert.deepStrictEqual(leaks([method, path, options], answer), [], what)
    })
  })
})

describe("after all that", () => {
  it("nothing of the other tenant has changed, and its log knows of nothing", assertUnharmed)
})

describe("with something of the other tenant's in its body or query,", () => {
  const org = "/api/orgs/attacker"
  const web = `${org}/projects/web`

  const attempts: ReadonlyArray<readonly [string, ReadonlyArray<number>, string, () => string, () => unknown]> = [
    [
      "a grant to its account",
      [404],
      "POST",
      () => `${org}/acl`,
      () => ({
        ...subjectOf(victim.account),
        ...patterns,
        permission: "read"
      })
    ],
    [
      "a grant to its member",
      [404],
      "POST",
      () => `${org}/acl`,
      () => ({
        ...subjectOf(victim.owner),
        ...patterns,
        permission: "read"
      })
    ],
    [
      "a grant in its organization",
      [404],
      "POST",
      () => "/api/orgs/victim/acl",
      () => ({
        ...subjectOf(attacker.account),
        ...patterns,
        permission: "admin"
      })
    ],
    [
      "an account for its project",
      [404],
      "POST",
      () => `${org}/service-accounts`,
      () => ({
        name: word(),
        project: canaries.find((text) => text.startsWith("only-"))
      })
    ],
    ["a name that its organization bears", [409], "PATCH", () => org, () => ({ name: "victim" })],
    ["a second organization of its name", [409], "POST", () => "/api/orgs", () => ({ name: "victim" })],
    [
      "an explanation of its account",
      [404],
      "GET",
      () => `${org}/acl/explain?subject_type=service_account&subject_id=${victim.account.id}&project=web&env=prod`,
      () => undefined
    ],
    [
      "an explanation of its member",
      [404],
      "GET",
      () => `${org}/acl/explain?subject_type=user&email=${victim.owner.email}&project=web&env=prod`,
      () => undefined
    ],
    [
      "a bundle with its key",
      [404],
      "GET",
      () => `${web}/envs/prod/bundle?keys=${canaries.find((text) => text.startsWith("KEY-"))}`,
      () => undefined
    ],
    [
      "a page of the log about its owner",
      [200],
      "GET",
      () => `${org}/audit-logs?actor_id=${victim.owner.id}`,
      () => undefined
    ],
    [
      "the whole server's log about its organization",
      [403],
      "GET",
      () => `/api/audit-logs?org_id=${victim.owner.id}`,
      () => undefined
    ]
  ]

  it.each(attempts)("%s answers %j and nothing of it", async (_name, expected, method, path, body) => {
    const answer = await service.call(attacker.owner, method, path(), { body: body() })
    assert.include(expected, answer.status, answer.text)
    assert.deepStrictEqual(leaks([path(), body()], answer), [])
    if (answer.status === 200) assert.deepStrictEqual(answer.body.data, [])
  })
})

describe("after that too", () => {
  it("nothing of the other tenant has changed, and its log knows of nothing", assertUnharmed)
})

describe("among two tenants", () => {
  it("every list of one, for every caller of it, has nothing of the other's", async () => {
    const lists = endpoints.filter(({ method, path }) => method === "GET" && path.startsWith("/api/"))
    for (const [name, caller, self] of attackers()) {
      for (const endpoint of lists) {
        const about: About = { place: attacker.place, fresh: word(), self, patterns }
        const { method, path } = requestOf(endpoint, about)
        const answer = await service.call(caller, method, path)
        assert.deepStrictEqual(leaks([], answer), [], `${name}: ${path}`)
        assert.notInclude(answer.text, victim.owner.id, `${name}: ${path}`)
        assert.notInclude(answer.text, `"victim"`, `${name}: ${path}`)
      }
    }
  })

  it("what is there and what is not are answered alike to an outsider, but for the name that was asked", async () => {
    const shape = async (org: string, rest: string): Promise<string> => {
      const answer = await service.call(attacker.owner, "GET", `/api/orgs/${org}${rest}`)
      assert.strictEqual(answer.status, 404)
      return answer.text.replaceAll(org, "ORG")
    }
    for (const rest of ["", "/members", "/projects", "/projects/web", "/projects/web/envs/prod/secrets", "/acl"]) {
      assert.strictEqual(await shape("victim", rest), await shape("nobody-there", rest))
    }
  })

  it("a removed one's accounts are nobody any more, and a new one of its name starts with nothing", async () => {
    const owner = await service.person("phoenix@example.com")
    await service.do(owner, "POST", "/api/orgs", { name: "phoenix" })
    await service.do(owner, "POST", "/api/orgs/phoenix/projects", { name: "web" })
    const developer = await service.member(owner, "phoenix", "ash@example.com", "developer")
    const account = await service.account(owner, "phoenix")
    await service.grant(owner, "phoenix", account, "admin")
    await service.grant(owner, "phoenix", developer, "admin")
    await service.do(owner, "PUT", "/api/orgs/phoenix/projects/web/envs/prod/secrets/EQUAL", { value: "old" })
    await service.do(owner, "DELETE", "/api/orgs/phoenix")
    assert.strictEqual(await service.status(account, "GET", "/api/auth/me"), 401)

    // The name is kept for those who may bring the organization back.
    const taken = await service.call(attacker.owner, "POST", "/api/orgs", { body: { name: "phoenix" } })
    assert.deepStrictEqual([taken.status, taken.body.error.code], [409, "CONFLICT"])
    await service.do(owner, "POST", "/api/orgs", { name: "phoenix" })
    await service.do(owner, "POST", "/api/orgs/phoenix/projects", { name: "web" })
    const secrets = "/api/orgs/phoenix/projects/web/envs/prod/secrets"
    for (const caller of [attacker.owner, developer]) {
      assert.strictEqual(await service.status(caller, "GET", "/api/orgs/phoenix"), 404)
      assert.strictEqual(await service.status(caller, "GET", secrets), 404)
    }
    assert.strictEqual(await service.status(account, "GET", secrets), 401)
    assert.deepStrictEqual((await service.do(owner, "GET", secrets)).data, [])
    assert.deepStrictEqual((await service.do(owner, "GET", "/api/orgs/phoenix/acl")).data, [])
    const members = (await service.do(owner, "GET", "/api/orgs/phoenix/members")).data
    assert.deepStrictEqual(
      members.map((member: Json) => member.email),
      [owner.email]
    )
  })

  it("one person in both has in each the role of each", async () => {
    const both = await service.member(attacker.owner, "attacker", "both@example.com", "admin")
    await service.do(victim.owner, "POST", "/api/orgs/victim/members", { email: both.email, role: "member" })
    assert.strictEqual(await service.status(both, "GET", "/api/orgs/attacker/acl"), 200)
    assert.strictEqual(await service.status(both, "GET", "/api/orgs/victim/acl"), 403)
    const secret = (org: string) => `/api/orgs/${org}/projects/web/envs/prod/secrets/EQUAL`
    assert.strictEqual(await service.status(both, "GET", secret("attacker")), 200)
    assert.strictEqual(await service.status(both, "GET", secret("victim")), 403)
    await service.do(victim.owner, "DELETE", `/api/orgs/victim/members/${both.id}`)
    assert.strictEqual(await service.status(both, "GET", secret("victim")), 404)
    assert.strictEqual(await service.status(both, "GET", secret("attacker")), 200)
  })

  it("a key of the one with the session of the other is a caller of the key's", async () => {
    const headers = { ...victim.owner.headers, ...machines(attacker.account.key) }
    const me = await service.do({ id: "", headers }, "GET", "/api/auth/me")
    assert.strictEqual(me.id, attacker.account.id)
    assert.strictEqual(await service.status({ id: "", headers }, "GET", "/api/orgs/victim"), 404)
  })

  it("asking with sound requests is what was tested: the attacker's own are answered", async () => {
    const about: About = {
      place: attacker.place,
      fresh: word(),
      self: subjectOf(attacker.owner),
      patterns
    }
    // The environment has no protection, the project no previews, and the request sets no values.
    const absent = /\/(protection|previews|values)$/
    for (const endpoint of placed.filter(({ method, path }) => method === "GET" && !absent.test(path))) {
      const { method, path } = requestOf(endpoint, about, askOf(endpoint, about))
      assert.strictEqual(await service.status(attacker.owner, method, path), 200, endpoint.call)
    }
  })
})

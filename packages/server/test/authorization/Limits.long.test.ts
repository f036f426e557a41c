import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import type { Json } from "../support/Program.js"
import { type About, askOf, endpoints, parametersOf, type Place, requestOf } from "./Contract.js"
import { type Account, type Caller, each, type Person, Service, subjectOf, word } from "./Service.js"

// Limits of an account, whatever its rules: it cannot widen rights, or see a value that it was made never to see.

let service: Service
let ada: Person

const serverPlace = { project_pattern: "*", env_pattern: "*" }

/** An organization of its own for a test, with a member, accounts, rules and secrets. */
interface World {
  readonly name: string
  readonly org: string
  readonly developer: Person
  readonly account: Account
  readonly canary: string
  readonly place: Place
}

const build = async (): Promise<World> => {
  const name = `org-${word()}`
  const org = `/api/orgs/${name}`
  const canary = `zq${word()}zq`
  await service.do(ada, "POST", "/api/orgs", { name })
  const developer = await service.member(ada, name, `${name}@example.com`, "developer")
  for (const project of ["web", "api"]) {
    await service.do(ada, "POST", `${org}/projects`, { name: project })
    for (const env of ["prod", "staging"]) {
      for (const value of [`${canary} first`, `${canary} of ${env}`]) {
        await service.do(ada, "PUT", `${org}/projects/${project}/envs/${env}/secrets/SHARED`, { value })
      }
    }
  }
  const account = await service.account(ada, name)
  const rule = await service.grant(ada, name, account, "read", "web", "prod")
  await service.grant(ada, name, developer, "read", "web", "prod")
  const sessions = await service.do(developer, "GET", "/api/auth/sessions")
  const place: Place = {
    org_name: name,
    project_name: "web",
    env_name: "prod",
    key: "SHARED",
    user_id: developer.id,
    rule_id: rule.id,
    sa_id: account.id,
    group_name: "bystanders",
    federation_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
    webhook_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
    delivery_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
    use_rule_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
    connection_name: "shop-db",
    rotation_name: "shop-app",
    role_name: "shop-role",
    lease_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dce",
    target_name: "target",
    approval_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
    request_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
    session_id: sessions.data[0].id,
    delegation_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
    passkey_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
    export_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
    import_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
    removed_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e",
    backup_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"
  }
  return { name, org, developer, account, canary, place }
}

/** Every rule that there can be about a place: its patterns in each of the forms, with each permission. */
const grantEverything = async ({ name }: World, subject: Account | Person, permission = "admin"): Promise<void> => {
  for (const project_pattern of ["*", "web", "we*", "*b", "w?b", "{web,api}"]) {
    for (const env_pattern of ["*", "prod", "{prod,staging}"]) {
      await service.grant(ada, name, subject, permission, project_pattern, env_pattern)
    }
  }
}

const rights = async ({ org }: World): Promise<unknown> => ({
  org: await service.do(ada, "GET", org),
  members: await service.do(ada, "GET", `${org}/members`),
  rules: await service.do(ada, "GET", `${org}/acl`),
  projects: await service.do(ada, "GET", `${org}/projects`),
  accounts: (await service.do(ada, "GET", `${org}/service-accounts`)).data.map(
    ({ last_used_at: _, ...account }: Json) => account
  )
})

beforeAll(async () => {
  service = await Service.start({ SERVICE_BROKER: "1" })
  ada = await service.person("ada@example.com")
})

afterAll(async () => {
  await service.remove()
})

describe("a project-scoped account with every rule there is", () => {
  let world: World
  let scoped: Account
  beforeAll(async () => {
    world = await build()
    scoped = await service.account(ada, world.name, { project: "web" })
    await grantEverything(world, scoped)
  })

  it("reads and writes in its project", async () => {
    const secrets = `${world.org}/projects/web/envs/prod/secrets`
    assert.strictEqual(await service.status(scoped, "GET", `${secrets}/SHARED`), 200)
    assert.strictEqual(await service.status(scoped, "PUT", `${secrets}/MINE`, { value: "x" }), 200)
    assert.strictEqual(await service.status(scoped, "DELETE", `${secrets}/MINE`), 204)
  })

  it("finds no other project, in no call", async () => {
    const place = { ...world.place, project_name: "api" }
    for (const endpoint of endpoints.filter((one) => parametersOf(one).includes("project_name"))) {
      const about: About = { place, fresh: word(), self: subjectOf(scoped), patterns: serverPlace }
      const { method, path, ...options } = requestOf(endpoint, about)
      const answer = await service.call(scoped, method, path, options)
      assert.strictEqual(answer.status, 404, `${method} ${path}: ${answer.text}`)
    }
    const projects = await service.do(scoped, "GET", `${world.org}/projects`)
    assert.deepStrictEqual(
      projects.data.map((project: Json) => project.name),
      ["web"]
    )
    const query = `subject_type=service_account&subject_id=${scoped.id}&env=prod`
    assert.strictEqual(await service.status(scoped, "GET", `${world.org}/acl/explain?${query}&project=api`), 404)
    assert.strictEqual(await service.status(scoped, "GET", `${world.org}/acl/explain?${query}&project=nil`), 404)
    assert.strictEqual(await service.status(scoped, "GET", `${world.org}/acl/explain?${query}&project=web`), 200)
  })

  it("widens nobody's rights, not even its own, by any call of the contract", async () => {
    const before = await rights(world)
    const subjects = [scoped, world.account, world.developer]
    for (const endpoint of endpoints.filter(({ method, path }) => method !== "GET" && !path.includes("/envs/"))) {
      if (!endpoint.path.includes(":org_name")) continue
      for (const sa_id of [scoped.id, world.account.id]) {
        const about: About = {
          place: { ...world.place, sa_id },
          fresh: word(),
          self: subjectOf(scoped),
          patterns: serverPlace
        }
        const { method, path, ...options } = requestOf(endpoint, about)
        const answer = await service.call(scoped, method, path, options)
        // It has the permission already: there is nothing to ask for.
        const refusals = path.endsWith("/requests") ? [409] : [403, 404]
        assert.include(refusals, answer.status, `${method} ${path}: ${answer.text}`)
      }
    }
    for (const subject of subjects) {
      for (const patterns of [serverPlace, { project_pattern: "web", env_pattern: "prod" }]) {
        for (const permission of ["read", "write", "admin"]) {
          const body = { ...subjectOf(subject), ...patterns, permission }
          assert.strictEqual(await service.status(scoped, "POST", `${world.org}/acl`, body), 403)
        }
      }
    }
    for (const role of ["owner", "admin", "developer"]) {
      const body = { email: `${word()}@example.com`, role }
      assert.strictEqual(await service.status(scoped, "POST", `${world.org}/members`, body), 403)
    }
    assert.strictEqual(await service.status(scoped, "POST", "/api/orgs", { name: word() }), 403)
    assert.deepStrictEqual(await rights(world), before)
  })
})

describe("an account of the organization with an admin rule", () => {
  let world: World
  let manager: Account
  let other: Account
  const own = { project_pattern: "web*", env_pattern: "prod" }

  beforeEach(async () => {
    world = await build()
    manager = await service.account(ada, world.name)
    other = await service.account(ada, world.name)
    await service.grant(ada, world.name, manager, "admin", own.project_pattern, own.env_pattern)
  })

  const grant = async (
    subject: Account | Person,
    patterns: typeof own,
    permission = "read",
    caller: Caller = manager
  ) =>
    service.call(caller, "POST", `${world.org}/acl`, {
      body: { ...subjectOf(subject), ...patterns, permission }
    })

  it("grants and changes every level to accounts, for exactly the patterns of its own rule", async () => {
    assert.strictEqual((await grant(other, own, "read")).status, 201)
    assert.strictEqual((await grant(other, own, "write")).status, 200)
    assert.strictEqual((await grant(other, own, "admin")).status, 200)
    const unlike: ReadonlyArray<typeof own> = [
      serverPlace,
      { project_pattern: "web", env_pattern: "prod" },
      { project_pattern: "web?", env_pattern: "prod" },
      { project_pattern: "web*", env_pattern: "*" },
      { project_pattern: "*", env_pattern: "prod" },
      { project_pattern: "web*", env_pattern: "{prod,prod}" },
      { project_pattern: "prod", env_pattern: "web*" }
    ]
    for (const patterns of unlike) {
      const answer = await grant(other, patterns)
      assert.strictEqual(answer.status, 403, JSON.stringify(patterns))
      assert.match(answer.body.error.message, /admin rule.*in organization org-/)
    }
    // Runs of stars are one star.
    assert.strictEqual((await grant(other, { project_pattern: "web**", env_pattern: "prod" })).status, 200)
  })

  it("grants nothing to a person, whatever the patterns", async () => {
    for (const subject of [world.developer, ada]) {
      assert.strictEqual((await grant(subject, own)).status, 403)
      assert.strictEqual((await grant(subject, serverPlace)).status, 403)
    }
  })

  it("can give itself no more than it has", async () => {
    assert.strictEqual((await grant(manager, own, "admin")).status, 200)
    assert.strictEqual((await grant(manager, serverPlace, "read")).status, 403)
    const api = `${world.org}/projects/api/envs/prod/secrets`
    assert.strictEqual(await service.status(manager, "GET", api), 403)
  })

  it("sees and revokes the rules that it manages, and no other is there for it", async () => {
    const managed = await service.grant(ada, world.name, other, "write", own.project_pattern, own.env_pattern)
    const wider = await service.grant(ada, world.name, other, "read")
    const persons = await service.grant(ada, world.name, world.developer, "read", own.project_pattern, own.env_pattern)
    const { data } = await service.do(manager, "GET", `${world.org}/acl`)
    assert.sameMembers(
      data.map((rule: Json) => rule.subject_id),
      [manager.id, other.id]
    )
    for (const rule of data) assert.strictEqual(rule.project_pattern, "web*")
    for (const rule of [wider, persons, { id: world.place.rule_id }]) {
      assert.strictEqual(await service.status(manager, "DELETE", `${world.org}/acl/${rule.id}`), 404)
    }
    assert.strictEqual(await service.status(manager, "DELETE", `${world.org}/acl/${managed.id}`), 204)
    const left = (await service.do(ada, "GET", `${world.org}/acl`)).data.map((rule: Json) => rule.id)
    assert.notInclude(left, managed.id)
    assert.includeMembers(left, [wider.id, persons.id])
  })

  it("manages the rules of every account when its own is for everything, and still no rule of a person", async () => {
    await service.grant(ada, world.name, manager, "admin")
    for (const patterns of [serverPlace, { project_pattern: "api", env_pattern: "dev" }]) {
      for (const permission of ["read", "write", "admin"]) {
        assert.include([200, 201], (await grant(other, patterns, permission)).status)
      }
      assert.strictEqual((await grant(world.developer, patterns)).status, 403)
    }
    const { data } = await service.do(manager, "GET", `${world.org}/acl`)
    assert.sameMembers([...new Set(data.map((rule: Json) => rule.subject_type))], ["service_account"])
    assert.strictEqual(await service.status(manager, "DELETE", `${world.org}/acl/${world.place.rule_id}`), 204)
  })

  it("manages nothing once that rule is gone or less, from the next request on", async () => {
    const second = await service.account(ada, world.name)
    const rule = await service.grant(ada, world.name, second, "admin", own.project_pattern, own.env_pattern)
    assert.strictEqual((await grant(other, own, "read", second)).status, 201)
    await service.grant(ada, world.name, second, "write", own.project_pattern, own.env_pattern)
    assert.strictEqual((await grant(other, own, "write", second)).status, 403)
    await service.grant(ada, world.name, second, "admin", own.project_pattern, own.env_pattern)
    assert.strictEqual((await grant(other, own, "write", second)).status, 200)
    await service.do(ada, "DELETE", `${world.org}/acl/${rule.id}`)
    assert.strictEqual((await grant(other, own, "read", second)).status, 403)
    assert.strictEqual(await service.status(second, "GET", `${world.org}/acl`), 403)
  })

  it("manages no accounts, no members and no projects, and reads no log", async () => {
    await service.grant(ada, world.name, manager, "admin")
    const before = await rights(world)
    for (const [method, path, body] of [
      ["POST", "/service-accounts", { name: "mine" }],
      ["GET", "/service-accounts", undefined],
      ["PATCH", `/service-accounts/${manager.id}`, { allowed_networks: null }],
      ["POST", `/service-accounts/${manager.id}/rotate`, {}],
      ["DELETE", `/service-accounts/${other.id}`, undefined],
      ["POST", "/members", { email: "x@example.com" }],
      ["GET", "/members", undefined],
      ["DELETE", `/members/${world.developer.id}`, undefined],
      ["POST", "/projects", { name: "mine" }],
      ["GET", "/audit-logs", undefined]
    ] as const) {
      assert.strictEqual(await service.status(manager, method, world.org + path, body), 403, `${method} ${path}`)
    }
    assert.deepStrictEqual(await rights(world), before)
  })
})

describe("an account with reveal: false and every rule that there is", () => {
  let world: World
  let blind: Account
  let secrets: string
  beforeAll(async () => {
    world = await build()
    blind = await service.account(ada, world.name, { reveal: false })
    await grantEverything(world, blind)
    secrets = `${world.org}/projects/web/envs/prod/secrets`
  })

  it.each([
    ["a secret", "/secrets/SHARED"],
    ["an earlier version", "/secrets/SHARED?version=1"],
    ["a secret that does not exist", "/secrets/NOT_THERE"],
    ["a bundle", "/bundle"],
    ["a part of a bundle", "/bundle?keys=SHARED"]
  ])("is refused %s, and told why", async (_what, rest) => {
    const answer = await service.call(blind, "GET", `${world.org}/projects/web/envs/prod${rest}`)
    assert.strictEqual(answer.status, 403)
    assert.match(answer.body.error.message, /reveal: false/)
    assert.notInclude(answer.text, world.canary)
  })

  it("is refused a bundle whose ETag it knows", async () => {
    const bundle = `${world.org}/projects/web/envs/prod/bundle`
    const etag = (await service.call(ada, "GET", bundle)).headers.get("etag") ?? ""
    for (const tag of [etag, "*"]) {
      const headers = { "if-none-match": tag }
      assert.strictEqual((await service.call(blind, "GET", bundle, { headers })).status, 403)
    }
  })

  it("lists and writes", async () => {
    const { data } = await service.do(blind, "GET", secrets)
    assert.deepStrictEqual(
      data.map((secret: Json) => secret.key),
      ["SHARED"]
    )
    const value = `${world.canary} of its own`
    const written = await service.call(blind, "PUT", `${secrets}/MINE`, { body: { value } })
    assert.strictEqual(written.status, 200)
    assert.notInclude(written.text, world.canary)
    assert.strictEqual((await service.do(ada, "GET", `${secrets}/MINE`)).value, value)
    const bundle = `${world.org}/projects/web/envs/prod/bundle`
    const changed = await service.call(blind, "PATCH", bundle, { body: { set: { TWO: value }, delete: ["MINE"] } })
    assert.strictEqual(changed.status, 200)
    assert.notInclude(changed.text, world.canary)
    assert.strictEqual(await service.status(blind, "DELETE", `${secrets}/TWO`), 204)
  })

  it("gets a value from no call of the contract, sound or unsound", async () => {
    const query = ["", "?version=1", "?keys=SHARED", "?reveal=true", "?limit=1"]
    const bodies = [undefined, {}, { value: 1 }, { unknown: world.account.id }]
    const requests = endpoints
      .filter(({ method }) => method !== "DELETE")
      .flatMap((endpoint) => {
        const about: About = { place: world.place, fresh: word(), self: subjectOf(blind), patterns: serverPlace }
        const ask = askOf(endpoint, about)
        const sound = requestOf(endpoint, about, ask)
        const odd = requestOf(endpoint, about, {})
        return [
          sound,
          ...query.map((text) => ({ ...odd, path: odd.path + text })),
          ...(endpoint.method === "GET" ? [] : bodies.map((body) => ({ ...odd, body })))
        ]
      })
    const answers = await each(requests, async ({ method, path, ...options }) => ({
      what: `${method} ${path}`,
      ...(await service.call(blind, method, path, options))
    }))
    for (const { status, text, what } of answers) {
      assert.notInclude(text, world.canary, what)
      assert.isBelow(status, 500, `${what}: ${text}`)
    }
    assert.isAbove(answers.filter(({ status }) => status < 300).length, 30)
  })

  it("stays so when it is rotated, and when its rules are granted anew", async () => {
    const rotated = await service.do(ada, "POST", `${world.org}/service-accounts/${blind.id}/rotate`, {})
    assert.isFalse(rotated.reveal)
    await service.grant(ada, world.name, blind, "read", "web", "prod")
    const caller = { id: blind.id, headers: { "x-api-key": rotated.api_key } }
    assert.strictEqual(await service.status(caller, "GET", `${secrets}/SHARED`), 403)
    assert.strictEqual(await service.status(caller, "GET", secrets), 200)
  })
})

describe("a copy between environments", () => {
  it("needs read there and write here", async () => {
    const world = await build()
    const env = (name: string) => `${world.org}/projects/web/envs/${name}`
    const subjects = [await service.account(ada, world.name), await service.account(ada, world.name, { reveal: false })]
    for (const account of [...subjects, world.developer]) {
      const copy = async () => service.call(account, "POST", `${env("prod")}/copy`, { body: { from: "staging" } })
      const diff = async () => service.status(account, "GET", `${env("prod")}/diff?with=staging`)
      await service.grant(ada, world.name, account, "write", "web", "prod")
      const refused = await copy()
      assert.strictEqual(refused.status, 403)
      assert.match(refused.body.error.message, /permission read for environment web\/staging/)
      assert.strictEqual(await diff(), 403)
      const [entry] = await service.entries(ada, `${world.org}/audit-logs`, "access.denied")
      assert.strictEqual(entry.metadata.env, "staging")

      await service.grant(ada, world.name, account, "read", "web", "staging")
      assert.strictEqual((await copy()).status, 200)
      assert.strictEqual(await diff(), 200)
      await service.grant(ada, world.name, account, "read", "web", "prod")
      assert.strictEqual((await copy()).status, 403)
      assert.strictEqual(await diff(), 200)
    }
  })
})

describe("an account that never gets values", () => {
  /** The world with an account that writes prod and staging and may not reveal. */
  const blindWriter = async () => {
    const world = await build()
    const env = (name: string) => `${world.org}/projects/web/envs/${name}`
    const blind = await service.account(ada, world.name, { reveal: false })
    await service.grant(ada, world.name, blind, "write", "web", "*")
    return { world, env, blind }
  }

  it("learns from no dry run whether a value is the one that it sends", async () => {
    const { blind, env } = await blindWriter()
    await service.do(ada, "PUT", `${env("prod")}/secrets/PIN`, { value: "4711" })
    // A large write is planned before its transaction.
    const many = Object.fromEntries(Array.from({ length: 60 }, (_none, index) => [`NEW_${index}`, "x"]))
    for (const others of [{}, many]) {
      const change = async (caller: Caller, pin: string) => {
        const body = { set: { ...others, PIN: pin }, dry_run: true }
        const { data } = await service.do(caller, "PATCH", `${env("prod")}/bundle`, body)
        return data.find(({ key }: Json) => key === "PIN")
      }
      assert.strictEqual((await change(ada, "4711")).change, "unchanged")
      assert.strictEqual((await change(ada, "0815")).change, "updated")
      assert.deepStrictEqual(await change(blind, "4711"), await change(blind, "0815"))
    }
    const written = await service.do(blind, "PATCH", `${env("prod")}/bundle`, { set: { PIN: "4711" } })
    assert.strictEqual(written.data[0].change, "unchanged", "an equal value still gets no version")
    const copies = async (caller: Caller, dry_run: boolean) => {
      const body = { from: "prod", keys: ["PIN"], dry_run }
      const { data } = await service.do(caller, "POST", `${env("staging")}/copy`, body)
      return data[0].change
    }
    assert.strictEqual(await copies(blind, false), "created")
    assert.deepStrictEqual([await copies(ada, true), await copies(blind, true)], ["unchanged", "updated"])
    await service.do(ada, "PUT", `${env("staging")}/secrets/PIN`, { value: "0815" })
    assert.deepStrictEqual([await copies(ada, true), await copies(blind, true)], ["updated", "updated"])
  })

  it("learns from no refused write whether a value is the one that it sends", async () => {
    const { blind, env, world } = await blindWriter()
    await service.do(ada, "PUT", `${env("prod")}/secrets/PIN`, { value: "4711" })
    const project = `${world.org}/projects/web`
    await service.do(ada, "PUT", `${project}/declared/PIN`, { required_in: [], pattern: "^never$" })
    await service.do(ada, "PATCH", project, { strict: true })
    for (const PIN of ["4711", "0815"]) {
      const body = { set: { PIN } }
      assert.strictEqual(await service.status(blind, "PATCH", `${env("prod")}/bundle`, body), 409, PIN)
    }
  })

  it("compares values 60 times an hour, each with an entry", async () => {
    const { blind, env, world } = await blindWriter()
    const status = async (caller: Caller, method: string, path: string) => service.status(caller, method, path)
    const compare = (index: number) =>
      index % 2 === 0 ? `${env("staging")}/diff?with=prod` : `${world.org}/projects/web/matrix`
    for (let index = 0; index < 60; index++) assert.strictEqual(await status(blind, "GET", compare(index)), 200)
    for (const index of [0, 1]) {
      assert.strictEqual(await status(blind, "GET", compare(index)), 429)
      assert.strictEqual(await status(ada, "GET", compare(index)), 200)
    }
    const found = await service.entries(ada, `${world.org}/audit-logs`, "secret.compare")
    assert.strictEqual(found.length, 60)
    assert.deepInclude(found[1].metadata, { project: "web", env: "staging", with: "prod" })
    assert.sameMembers(found[0].metadata.with, ["prod", "staging", "dev"])
  })

  it("compares references by their texts alone, and a refused comparison is recorded", async () => {
    const { blind, env, world } = await blindWriter()
    const references = { GUESS_1: "${prod:SHARED}", GUESS_2: "${prod:SHARED}" }
    await service.do(blind, "PATCH", `${env("staging")}/bundle`, { references })
    await service.do(blind, "PATCH", `${env("prod")}/bundle`, {
      set: { GUESS_1: `${world.canary} of prod`, GUESS_2: "no" }
    })
    const compare = async (caller: Caller) => service.call(caller, "GET", `${env("staging")}/diff?with=prod&resolved=1`)
    const shown = await compare(ada)
    const statuses = Object.fromEntries(shown.body.data.map(({ key, status }: Json) => [key, status]))
    assert.deepInclude(statuses, { GUESS_1: "same", GUESS_2: "different" })
    const refused = await compare(blind)
    assert.strictEqual(refused.status, 403)
    assert.match(refused.body.error.message, /reveal: false/)
    const [entry] = await service.entries(ada, `${world.org}/audit-logs`, "access.denied")
    assert.deepInclude(entry.metadata, { action: "secret.read", env: "staging" })
    assert.strictEqual(await service.status(blind, "GET", `${env("staging")}/diff?with=prod`), 200)
  })
})

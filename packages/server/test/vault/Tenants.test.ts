import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Account, type Person, Service } from "../authorization/Service.js"
import { Client } from "./Client.js"

// Two organizations with equal names of projects and environments, and with names of their own. One attacks the other.

interface Tenant {
  readonly owner: Person
  readonly account: Account
  readonly scoped: Account
}

const marks = ["only-victim", "env-victim", "KEY_VICTIM", "value-victim", "account victim"]

let service: Service
let attacker: Tenant
let victim: Tenant
let tokens: ReadonlyArray<string>

const build = async (name: string): Promise<Tenant> => {
  const org = `/api/orgs/${name}`
  const owner = await service.person(`owner@${name}.example.com`)
  await service.do(owner, "POST", "/api/orgs", { name })
  for (const project of ["web", `only-${name}`]) {
    await service.do(owner, "POST", `${org}/projects`, { name: project })
    await service.do(owner, "POST", `${org}/projects/${project}/envs`, { name: `env-${name}` })
    const set = { EQUAL: `value-${name}`, [`KEY_${name.toUpperCase()}`]: `value-${name}` }
    await service.do(owner, "PATCH", `${org}/projects/${project}/envs/prod/bundle`, { set })
  }
  const account = await service.account(owner, name, { name: `account ${name}` })
  const scoped = await service.account(owner, name, { project: "web" })
  for (const one of [account, scoped]) await service.grant(owner, name, one, "admin")
  return { owner, account, scoped }
}

beforeAll(async () => {
  service = await Service.start({ SERVICE_VAULT_API: "1" })
  attacker = await build("attacker")
  victim = await build("victim")
  const vault = new Client(service)
  const { account, scoped } = attacker
  await service.federation(attacker.owner, "attacker", scoped)
  const jwt = await service.podToken(scoped)
  const { body } = await vault.jwtLogin("jwt", `attacker/${scoped.name}`, jwt)
  tokens = [account.key, scoped.key, await vault.token(account), await vault.token(scoped), body.auth.client_token]
})

afterAll(async () => {
  await service.remove()
})

const paths = (project: string, env: string) => [
  `${project}/data/${env}`,
  `${project}/metadata?list=true`,
  `${project}/metadata/${env}`,
  `sys/internal/ui/mounts/${project}`,
  `sys/internal/ui/mounts/${project}/${env}`
]

const leaks = (sent: string, text: string) => marks.filter((mark) => text.includes(mark) && !sent.includes(mark))

describe("in the namespace of another tenant", () => {
  it("everything is 404, in the words for a missing namespace", async () => {
    const foreign = new Client(service, "victim")
    const absent = new Client(service, "nobody")
    for (const token of tokens) {
      for (const project of ["web", "only-victim", "nope"]) {
        for (const path of paths(project, "prod")) {
          const answer = await foreign.get(token, path)
          assert.strictEqual(answer.status, 404, path)
          const other = await absent.get(token, path)
          assert.deepStrictEqual(answer.body, JSON.parse(other.text.replaceAll("nobody", "victim")), path)
          assert.deepStrictEqual(leaks(path, answer.text), [], path)
        }
      }
    }
  })

  it("a login is refused as everywhere", async () => {
    for (const role of ["account attacker", "attacker/account attacker", "victim/account victim", "account victim"]) {
      const { body, status } = await new Client(service, "victim").login(role, attacker.account.key)
      assert.deepStrictEqual([status, body], [400, { errors: ["invalid role or secret ID"] }])
    }
  })

  it("a namespace that cannot name an organization does not exist, and is not repeated", async () => {
    for (const namespace of ["../victim", "victim/../attacker", "VICTIM", "a", "victim, attacker", "%76ictim", "*"]) {
      const { body, status } = await new Client(service, namespace).get(attacker.account.key, "web/data/prod")
      assert.deepStrictEqual(
        [status, body],
        [404, { errors: ["the namespace does not exist, or is not yours to see"] }]
      )
    }
  })
})

describe("with names of another tenant", () => {
  it("the own namespace has nothing of it", async () => {
    for (const vault of [new Client(service), new Client(service, "attacker")]) {
      for (const token of tokens) {
        for (const path of [...paths("only-victim", "prod"), "web/data/env-victim"]) {
          const answer = await vault.get(token, path)
          assert.strictEqual(answer.status, 404, path)
          assert.deepStrictEqual(leaks(path, answer.text), [], path)
        }
        const { body } = await vault.get(token, "web/data/prod")
        assert.strictEqual(body.data.data.EQUAL, "value-attacker")
        const listed = await vault.get(token, "web/metadata?list=true")
        assert.deepStrictEqual(leaks("", listed.text), [])
      }
    }
  })
})

describe("after all that", () => {
  it("the other tenant's log knows nobody but its owner", async () => {
    const log = "/api/orgs/victim/audit-logs"
    const { data } = await service.do(victim.owner, "GET", `${log}?limit=100`)
    for (const entry of data) assert.strictEqual(entry.actor_id, victim.owner.id)
    assert.isTrue((await service.do(victim.owner, "GET", `${log}/verify`)).valid)
  })
})

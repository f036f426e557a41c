import { setTimeout } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Account, each, type Person, Service } from "../authorization/Service.js"
import { freshFolder } from "../support/Program.js"
import { Client } from "./Client.js"
import type { By } from "./real/Client.js"
import { clients, commandOf, hvac } from "./real/Clients.js"
import { externalSecrets } from "./real/ExternalSecrets.js"
import type { Ran } from "./real/Run.js"
import { byKey } from "./real/Webhook.js"
import { isSoak } from "../../../domain/test/support/Runs.js"

// Each case with each client that is on the PATH. docs/connect/vault-programs.md names the versions, and the cases that a client does
// not have.

const present = Object.entries(clients).filter(([, { isThere }]) => isThere)
if (present.length > 0) {
  for (const [name, { isThere }] of Object.entries(clients)) {
    if (!isThere) process.stderr.write(`${name} is not on this machine: its tests are skipped\n`)
  }
}

const acme = "/api/orgs/acme"
const pem = 'first\n"second"\n'
const many = Array.from({ length: 97 }, (_, index) => `many-${index}`)

let service: Service
let vault: Client
let ada: Person
let deploy: Account
let folder: string

const another = async (): Promise<Account> => {
  const account = await service.account(ada, "acme")
  await service.grant(ada, "acme", account, "read")
  await service.federation(ada, "acme", account)
  return account
}

beforeAll(async () => {
  if (present.length === 0) return
  folder = freshFolder()
  service = await Service.start({ SERVICE_VAULT_API: "1" })
  vault = new Client(service)
  ada = await service.person("ada@example.com")
  for (const org of ["acme", "other"]) {
    await service.do(ada, "POST", "/api/orgs", { name: org })
    await service.do(ada, "POST", `/api/orgs/${org}/projects`, { name: "webshop" })
    const set = { DATABASE_URL: `postgres://${org}`, PEM: pem }
    await service.do(ada, "PATCH", `/api/orgs/${org}/projects/webshop/envs/prod/bundle`, { set })
  }
  deploy = await another()
})

afterAll(async () => {
  if (present.length > 0) await service.remove()
})

const by = async (account: Account, namespace = ""): Promise<By> => ({
  url: service.program.url,
  folder,
  role: `acme/${account.name}`,
  key: account.key,
  token: await vault.token(account),
  jwt: await service.podToken(account),
  namespace
})

const textOf = ({ err, out }: Ran): string => out + err

const refusedByView = /permission denied|invalid role or (?:secret ID|JWT)|the token is refused/

const nothingOf = (ran: Ran, what: RegExp) => {
  assert.match(textOf(ran), what)
  assert.notInclude(textOf(ran), "postgres://")
}

const readsOf = async ({ id }: Account): Promise<number> =>
  (await service.entries(ada, `${acme}/audit-logs`, "secret.read")).filter(({ actor_id }) => actor_id === id).length

const without = (text: string, ...varying: ReadonlyArray<RegExp>): string =>
  varying.reduce((rest, one) => rest.replaceAll(one, ""), text)

/**
 * Returns the output of a client, without the times, ports, folders and masked tokens of a run. consul-template asks by both
 * forms of a path at once, and reports first what fails first.
 */
const steady = (ran: Ran): string =>
  without(
    textOf(ran),
    /\d{4}[-/]\d\d[-/]\d\d[T ][\d:.]+Z?/g,
    /:\d{4,5}\b/g,
    /run-\w+/g,
    /(?<=webshop\/)data\//g,
    /^::add-mask::.*$/gm,
    /[\d.]+m?s\b/g
  )

describe.each(present)("%s", (_name, client) => {
  const isRefused = client.refused ?? refusedByView

  it("reads an environment", async () => {
    const ran = await client.read(await by(deploy), "prod")
    assert.strictEqual(ran.code, 0, textOf(ran))
    assert.include(ran.out, "postgres://acme")
  })

  it.skipIf(client.list === undefined)("lists environments", async () => {
    const ran = await client.list?.(await by(deploy))
    assert.match(ran?.out ?? "", /prod[^]*staging/, ran?.err)
  })

  it("is told of a wrong key", async () => {
    const wrong = { ...(await by(deploy)), key: "wrong", token: "wrong", jwt: "wrong" }
    nothingOf(await client.read(wrong, "prod"), isRefused)
  })

  it("reads nothing more once its account is removed", async () => {
    const account = await another()
    const mine = await by(account)
    const remove = async () => {
      await service.do(ada, "DELETE", `${acme}/service-accounts/${account.id}`)
    }
    if (client.again !== undefined) {
      const [before = "", after = ""] = textOf(await client.again(mine, remove)).split(/^waiting$/m)
      assert.include(before, "postgres://acme")
      nothingOf({ code: 1, out: after, err: "" }, isRefused)
      return
    }
    assert.include((await client.read(mine, "prod")).out, "postgres://acme")
    await remove()
    nothingOf(await client.read(mine, "prod"), isRefused)
  })

  it.skipIf(client.renew === undefined)("renews its token", async () => {
    const mine = await by(deploy)
    const end = async () => (await vault.get(mine.token, "auth/token/lookup-self")).body.data.expire_time
    const before = await end()
    const isLater = async () => {
      for (let left = 100; left > 0 && (await end()) <= before; left--) await setTimeout(100)
    }
    const ran = await client.renew?.(mine, isLater())
    assert.isAbove(Date.parse(await end()), Date.parse(before), JSON.stringify(ran))
  })

  it("is told that an environment does not exist", async () => {
    nothingOf(await client.read(await by(deploy), "nope"), client.absent)
  })

  it.skipIf(client.write === undefined)("cannot write", async () => {
    const ran = await client.write?.(await by(deploy))
    assert.match(textOf(ran!), /405|read-only/)
    const { data } = await service.do(ada, "GET", `${acme}/projects/webshop/envs/prod/bundle`)
    assert.lengthOf(data, 2)
  })

  it("finds of another tenant what it finds of a missing one", async () => {
    const other = await client.read(await by(deploy, "other"), "prod")
    const nobody = await client.read(await by(deploy, "nobody"), "prod")
    assert.notInclude(textOf(other), "postgres://")
    assert.strictEqual(steady(other), steady(nobody).replaceAll("nobody", "other"))
    assert.strictEqual(other.code, nobody.code)
  })

  it.skipIf(client.many === undefined || !isSoak)(
    "makes 1,000 reads, each with its entry",
    async () => {
      const envs = `${acme}/projects/webshop/envs`
      await each(many, async (name) => {
        const made = await service.status(ada, "POST", envs, { name })
        if (made === 201) await service.do(ada, "PUT", `${envs}/${name}/secrets/DATABASE_URL`, { value: name })
      })
      const account = await another()
      const ran = await client.many?.(await by(account), [...many, "prod", "prod", "prod"])
      assert.strictEqual(ran?.code, 0, ran === undefined ? "" : textOf(ran))
      assert.isAtLeast(await readsOf(account), 970)
    },
    300_000
  )
})

describe.each(["bao", "vault"].filter((name) => clients[name]?.isThere))("%s", (name) => {
  const command = commandOf(name)

  it("logs in, reads whole values, looks around and ends its token", async () => {
    const before = { ...(await by(deploy)), token: "" }
    const login = ["write", "-field=token", "auth/approle/login", `role_id=${before.role}`]
    const wrong = await command(before, ...login, "secret_id=wrong")
    assert.match(wrong.err, /400[^]*invalid role or secret ID/)
    const mine = { ...before, token: (await command(before, ...login, `secret_id=${before.key}`)).out.trim() }
    const read = await command(mine, "kv", "get", "-format=json", "webshop/prod")
    assert.deepStrictEqual(JSON.parse(read.out).data.data, { DATABASE_URL: "postgres://acme", PEM: pem })
    assert.strictEqual((await command(mine, "kv", "get", "-mount=webshop", "-field=PEM", "prod")).out, pem)
    assert.match((await command(mine, "kv", "metadata", "get", "webshop/prod")).out, /current_version\s+1/)
    assert.match((await command(mine, "token", "lookup")).out, /type\s+service/)
    assert.match((await command(mine, "status")).out, /Sealed\s+false/)
    assert.strictEqual((await command(mine, "token", "revoke", "-self")).code, 0)
    nothingOf(await command(mine, "kv", "get", "webshop/prod"), /403[^]*permission denied/)
  })

  it("loses its token with the key of its account, which is a token itself", async () => {
    const account = await another()
    const mine = await by(account)
    const read = (token: string) => command({ ...mine, token }, "kv", "get", "-field=DATABASE_URL", "webshop/prod")
    for (const token of [mine.token, account.key]) assert.strictEqual((await read(token)).out, "postgres://acme")
    await service.do(ada, "POST", `${acme}/service-accounts/${account.id}/rotate`, {})
    for (const token of [mine.token, account.key]) nothingOf(await read(token), /403[^]*permission denied/)
  })
})

describe.skipIf(clients["external-secrets-client"]?.isThere !== true)("External Secrets' own client", () => {
  it("reads a whole environment, one key and all environments, by each way of signing in", async () => {
    const mine = await by(deploy)
    for (const METHOD of ["approle", "token", "jwt", "kubernetes"]) {
      const { err, out } = await externalSecrets(mine, { METHOD })
      assert.match(out, /^validate: Ready <nil>$/m, METHOD + err)
      assert.match(out, /^map: map\["DATABASE_URL":"postgres:\/\/acme" "PEM":"first/m, METHOD)
      assert.match(out, /^one: "postgres:\/\/acme" <nil>$/m, METHOD)
      assert.match(out, /^find: map\["prod":/m, METHOD)
      assert.match(out, /^by tag: map\[\] <nil>$/m, METHOD)
      assert.match(out, /^push prod: secret not managed by external-secrets$/m, METHOD)
      assert.match(out, /^close: <nil>$/m, METHOD)
    }
  })

  it("reads one key by the webhook of one key", async () => {
    const mine = await by(deploy)
    assert.match((await byKey(mine, "DATABASE_URL")).out, /^one: "postgres:\/\/acme" <nil>$/m)
    assert.match((await byKey(mine, "PEM")).out, /^one: "first\\n\\"second\\"\\n" <nil>$/m)
    assert.match((await byKey(mine, "NOPE")).out, /^one: "" Secret does not exist$/m)
  })
})

describe.skipIf(clients["hvac"]?.isThere !== true)("hvac", () => {
  it("describes an environment, and ends its token", async () => {
    assert.strictEqual((await hvac(await by(deploy), ["describe"])).out, "1\n")
    assert.strictEqual((await hvac(await by(deploy), ["revoke"])).out, "False\n")
  })
})

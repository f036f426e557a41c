import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Account, nobody, type Person, Service } from "../authorization/Service.js"
import type { Answer, Json } from "../support/Program.js"

// The exact calls of the programs of docs/connect/works-with.md, in their order, each from the source that its test names. Their own
// code runs in Programs.long.test.ts, where the registry has it.

const acme = "/api/orgs/acme"

let service: Service
let ada: Person
let deploy: Account

beforeAll(async () => {
  service = await Service.start({ SERVICE_VAULT_API: "1" })
  ada = await service.person("ada@example.com")
  await service.do(ada, "POST", "/api/orgs", { name: "acme" })
  await service.do(ada, "POST", `${acme}/projects`, { name: "webshop" })
  const set = { DATABASE_URL: "postgres://prod" }
  await service.do(ada, "PATCH", `${acme}/projects/webshop/envs/prod/bundle`, { set })
  deploy = await service.account(ada, "acme", { name: "deploy pipeline", project: "webshop" })
  await service.grant(ada, "acme", deploy, "read", "webshop", "prod")
  await service.federation(ada, "acme", deploy)
})

afterAll(async () => {
  await service.remove()
})

type Headers = Readonly<Record<string, string>>

/** A call under /v1 with just these headers and this text. */
const call = (method: string, path: string, headers: Headers, raw?: string): Promise<Answer> =>
  service.call(nobody, method, `/v1/${path}`, { headers, ...(raw !== undefined && { raw }) })

/** A call that must succeed; returns its body. */
const ok = async (...sent: Parameters<typeof call>): Promise<Json> => {
  const answer = await call(...sent)
  assert.strictEqual(answer.status, 200, `${sent[0]} ${sent[1]}: ${answer.text}`)
  return answer.body
}

const valuesOf = (body: Json): unknown => body.data.data

const values = { DATABASE_URL: "postgres://prod" }

/** The header that Vault's client library for Go sends with each call. */
const byGo = { "x-vault-request": "true" }

const json = { "content-type": "application/json" }

const login = (body: unknown) => JSON.stringify(body)

describe("programs that take the key as the token", () => {
  it("Dokploy v0.30.2, packages/server/src/utils/vault/hashicorp.ts: checks, lists to choose from, and reads", async () => {
    const token = { "x-vault-token": deploy.key }
    await ok("GET", "auth/token/lookup-self", token)
    const { data } = await ok("GET", "webshop/metadata?list=true", token)
    assert.deepStrictEqual(data.keys, ["dev", "staging", "prod"])
    // It goes through what is listed, and leaves out the fields of what it may not read.
    const found = await Promise.all(data.keys.map((env: string) => call("GET", `webshop/data/${env}`, token)))
    assert.deepStrictEqual(
      found.map(({ status }) => status),
      [403, 403, 200]
    )
    assert.deepStrictEqual(valuesOf(await ok("GET", "webshop/data/prod", token)), values)
  })

  it("Coolify of September 2026, app/Services/VaultService.php: checks and reads, and shows the first error", async () => {
    const token = { accept: "application/json", "x-vault-token": deploy.key }
    await ok("GET", "auth/token/lookup-self", token)
    assert.deepStrictEqual(valuesOf(await ok("GET", "webshop/data/prod", token)), values)
    const { body } = await call("GET", "webshop/data/none", token)
    assert.strictEqual(body.errors[0], "environment none does not exist, or is not yours to see")
  })

  it("fnox 1.46.0, fnox-core's src/providers/vault.rs: `vault status` and `vault kv get -field=… webshop/prod`", async () => {
    const token = { ...byGo, "x-vault-token": deploy.key }
    assert.isFalse((await ok("GET", "sys/seal-status", token)).sealed)
    await ok("GET", "sys/leader", token)
    const { data } = await ok("GET", "sys/internal/ui/mounts/webshop/prod", token)
    assert.deepStrictEqual([data.path, data.options], ["webshop/", { version: "2" }])
    assert.deepStrictEqual(valuesOf(await ok("GET", "webshop/data/prod", token)), values)
  })

  it("OpenClaw 2026.9.6, dist/extensions/vault: reads, and tells a wrong token from an environment that it may not read", async () => {
    assert.deepStrictEqual(valuesOf(await ok("GET", "webshop/data/prod", { "x-vault-token": deploy.key })), values)
    const wrong = await call("GET", "webshop/data/prod", { "x-vault-token": "wrong" })
    assert.deepStrictEqual([wrong.status, wrong.body.errors.includes("invalid token")], [403, true])
    const denied = await call("GET", "webshop/data/dev", { "x-vault-token": deploy.key })
    assert.deepStrictEqual([denied.status, denied.body.errors.includes("invalid token")], [403, false])
  })
})

describe("programs that sign in with the key", () => {
  const role = "acme/deploy pipeline"

  it("varlock's plugin 2.1.0, dist/plugin.cjs: logs in and reads", async () => {
    const sent = { ...json, accept: "application/json" }
    const { auth } = await ok("POST", "auth/approle/login", sent, login({ role_id: role, secret_id: deploy.key }))
    assert.strictEqual(auth.lease_duration, 3600)
    const token = { accept: "application/json", "x-vault-token": auth.client_token }
    assert.deepStrictEqual(valuesOf(await ok("GET", "webshop/data/prod", token)), values)
  })

  it("n8n 2.41.3, dist/modules/external-secrets.ee/providers/vault.js: logs in, checks, lists and reads each", async () => {
    const sent = { ...json, accept: "application/json" }
    const { auth } = await ok("POST", "auth/approle/login", sent, login({ role_id: role, secret_id: deploy.key }))
    const token = { accept: "application/json", "x-vault-token": auth.client_token }
    const { data } = await ok("GET", "auth/token/lookup-self", token)
    assert.isTrue(data.renewable)
    assert.isAbove(Date.parse(data.expire_time), Date.now())
    for (const [method, path] of [
      ["LIST", "webshop/metadata/"],
      ["GET", "webshop/metadata/?list=true"]
    ] as const) {
      assert.deepStrictEqual((await ok(method, path, token)).data.keys, ["dev", "staging", "prod"])
    }
    assert.deepStrictEqual(valuesOf(await ok("GET", "webshop/data/prod", token)), values)
    await ok("POST", "auth/token/renew-self", { ...token })
    // It finds the mounts by itself if it has none: the view has no list of them.
    assert.strictEqual((await call("GET", "sys/mounts", token)).status, 404)
  })

  it("Vault Secrets Operator 1.4.1, vault/client.go: with a key, renews, and ends its token", async () => {
    assert.isFalse((await ok("GET", "sys/seal-status", byGo)).sealed)
    const { auth } = await ok("PUT", "auth/approle/login", byGo, login({ role_id: role, secret_id: deploy.key }))
    assert.isTrue(auth.renewable)
    const token = { ...byGo, "x-vault-token": auth.client_token }
    await ok("PUT", "auth/token/renew-self", token, login({ increment: 3600 }))
    await ok("GET", "auth/token/lookup-self", token)
    assert.deepStrictEqual(valuesOf(await ok("GET", "webshop/data/prod", token)), values)
    assert.strictEqual((await call("PUT", "auth/token/revoke-self", token, "null")).status, 204)
    assert.strictEqual((await call("GET", "webshop/data/prod", token)).status, 403)
  })
})

describe("programs that sign in with the token of a pod", () => {
  it("Vault Secrets Operator 1.4.1, vault/client.go, and the CSI provider 1.7.4, internal/client/client.go", async () => {
    for (const method of ["PUT", "POST"]) {
      const body = login({ role: "acme/deploy pipeline", jwt: await service.podToken(deploy) })
      const { auth } = await ok(method, "auth/kubernetes/login", byGo, body)
      assert.isFalse(auth.renewable)
      const token = { ...byGo, "x-vault-token": auth.client_token }
      assert.deepStrictEqual(valuesOf(await ok("GET", "webshop/data/prod", token)), values)
    }
    const wrong = login({ role: "acme/deploy pipeline", jwt: "wrong" })
    assert.strictEqual((await call("POST", "auth/kubernetes/login", byGo, wrong)).status, 400)
  })
})

import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Account, type Person, Service } from "../authorization/Service.js"
import type { Answer, Json } from "../support/Program.js"
import { Client, tokens } from "./Client.js"

// The requests of Vault's clients and the answers that they look for, as recorded from bao, consul-template, envconsul and
// External Secrets.

const acme = "/api/orgs/acme"
const pem = 'first\n"second"\n\u{1F511}\n'

let service: Service
let ada: Person
let deploy: Account
let vault: Client

beforeAll(async () => {
  service = await Service.start({ SERVICE_VAULT_API: "1" })
  vault = new Client(service)
  ada = await service.person("ada@example.com")
  await service.do(ada, "POST", "/api/orgs", { name: "acme" })
  await service.do(ada, "POST", `${acme}/projects`, { name: "webshop" })
  const set = { DATABASE_URL: "postgres://prod", PEM: pem }
  await service.do(ada, "PATCH", `${acme}/projects/webshop/envs/prod/bundle`, { set })
  deploy = await service.account(ada, "acme", { name: "deploy pipeline" })
  await service.grant(ada, "acme", deploy, "read", "webshop", "prod")
})

afterAll(async () => {
  await service.remove()
})

const refused = (answer: Answer, status: number, says: RegExp) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.deepStrictEqual(Object.keys(answer.body), ["errors"])
  const [sentence, ...others] = answer.body.errors
  assert.match(sentence, says)
  assert.deepStrictEqual(others, sentence.startsWith("permission denied: no credential") ? ["invalid token"] : [])
}

const another = async (): Promise<Account> => {
  const account = await service.account(ada, "acme")
  await service.grant(ada, "acme", account, "read")
  return account
}

const latest = async (action: string): Promise<Json> => (await service.entries(ada, `${acme}/audit-logs`, action))[0]

describe("a login with a key", () => {
  it("gives a token for an hour, which the log has", async () => {
    const { body, status } = await vault.login("deploy pipeline", deploy.key)
    assert.strictEqual(status, 200)
    const { client_token, lease_duration, metadata, renewable, token_type } = body.auth
    assert.match(client_token, /^svc_kt_/)
    assert.deepStrictEqual([lease_duration, renewable, token_type], [3600, true, "service"])
    assert.deepStrictEqual(metadata, { account: "deploy pipeline", organization: "acme" })
    const entry = await latest("auth.verify")
    assert.strictEqual(entry.actor_name, "deploy pipeline")
    assert.deepStrictEqual(entry.metadata, { method: "key", client: "vault" })
  })

  it("takes ORGANIZATION/ACCOUNT, the organization's namespace, POST, and JSON under any content type", async () => {
    const body = { role_id: "acme/deploy pipeline", secret_id: deploy.key }
    const raw = JSON.stringify(body)
    const form = { "content-type": "application/x-www-form-urlencoded" }
    const path = "/v1/auth/approle/login"
    const none = new Client(service, "")
    const answers = [
      await none.login("deploy pipeline", deploy.key),
      await new Client(service, "/").login("deploy pipeline", deploy.key),
      await none.get(deploy.key, "webshop/data/prod"),
      await vault.login("acme/deploy pipeline", deploy.key),
      await new Client(service, "acme/").login("deploy pipeline", deploy.key),
      await vault.call(null, "POST", "auth/approle/login", { body }),
      await service.program.call("POST", path, { raw, headers: form })
    ]
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200, 200, 200]
    )
  })

  it("is 400 in the same words for a wrong key, another account, another namespace and a person's token", async () => {
    const other = await another()
    for (const answer of [
      await vault.login("deploy pipeline", `${deploy.key.slice(0, -1)}_`),
      await vault.login("deploy pipeline", "nonsense"),
      await vault.login("deploy pipeline", other.key),
      await vault.login("other/deploy pipeline", deploy.key),
      await new Client(service, "other").login("deploy pipeline", deploy.key),
      await vault.login("ada@example.com", ada.token),
      await vault.login("deploy pipeline", await vault.token(deploy))
    ]) {
      refused(answer, 400, /^invalid role or secret ID$/)
    }
    for (const way of ["jwt", "kubernetes"]) {
      refused(
        await new Client(service, "acme").put(null, `auth/${way}/login`, { role: "other/deploy", jwt: "a.b.c" }),
        400,
        /^role: names an account of another organization than the namespace$/
      )
      refused(await vault.put(null, `auth/${way}/login`, { role: "acme/deploy", jwt: "a.b.c" }), 400, /^the token is/)
    }
    refused(await vault.put(null, "auth/approle/login", { role_id: "x" }), 400, /secret_id: is required/)
    refused(await vault.put(null, "auth/approle/login", { x: "y".repeat(9_000) }), 413, /8192 bytes/)
    refused(await vault.call(null, "PUT", "auth/approle/login", { raw: "{" }), 400, /not well-formed JSON/)
  })
})

describe("a token", () => {
  it("is looked up with its type, its time to live and its end", async () => {
    const token = await vault.token(deploy)
    const { data } = (await vault.get(token, "auth/token/lookup-self")).body
    assert.deepStrictEqual([data.type, data.renewable, data.display_name], ["service", true, "deploy pipeline"])
    assert.isAtMost(data.ttl, 3600)
    assert.isAtLeast(data.ttl, 3590)
    assert.approximately(Date.parse(data.expire_time), Date.now() + 3_600_000, 10_000)
  })

  it("is renewed for another hour, and ends by its own revocation alone", async () => {
    const [one, other] = [await vault.token(deploy), await vault.token(deploy)]
    const { auth } = (await vault.put(one, "auth/token/renew-self", { increment: 0 })).body
    assert.deepStrictEqual([auth.client_token, auth.lease_duration, auth.renewable], [one, 3600, true])
    assert.strictEqual((await vault.put(one, "auth/token/revoke-self")).status, 204)
    assert.strictEqual((await latest("auth.logout")).metadata.client, "vault")
    for (const path of ["webshop/data/prod", "auth/token/lookup-self"]) {
      refused(await vault.get(one, path), 403, /^permission denied: no credential/)
      assert.strictEqual((await vault.get(other, path)).status, 200)
    }
    refused(await vault.put(one, "auth/token/renew-self"), 403, /^permission denied/)
  })

  it("ends with its key and with its account", async () => {
    const rotated = await another()
    const removed = await another()
    const ended = [await vault.token(rotated), await vault.token(removed)]
    for (const token of ended) assert.strictEqual((await vault.get(token, "webshop/data/prod")).status, 200)
    await service.do(ada, "POST", `${acme}/service-accounts/${rotated.id}/rotate`, {})
    await service.do(ada, "DELETE", `${acme}/service-accounts/${removed.id}`)
    for (const token of ended) refused(await vault.get(token, "webshop/data/prod"), 403, /^permission denied/)
  })

  it("ends no later than its key while the key is being replaced", async () => {
    const rotated = await another()
    const token = await vault.token(rotated)
    await service.do(ada, "POST", `${acme}/service-accounts/${rotated.id}/rotate`, { grace_seconds: 60 })
    const { data } = (await vault.get(token, "auth/token/lookup-self")).body
    assert.isAtMost(data.ttl, 60)
    const { auth } = (await vault.put(token, "auth/token/renew-self")).body
    assert.isAtMost(auth.lease_duration, 60)
  })

  it("is also an account's key as it is, which has no end and is not renewed or revoked", async () => {
    const { data } = (await vault.get(deploy.key, "auth/token/lookup-self")).body
    assert.deepStrictEqual([data.type, data.ttl, data.expire_time, data.renewable], ["service", 0, null, false])
    refused(await vault.put(deploy.key, "auth/token/renew-self"), 400, /can be renewed/)
    assert.strictEqual((await vault.put(deploy.key, "auth/token/revoke-self")).status, 204)
    assert.strictEqual((await vault.get(deploy.key, "webshop/data/prod")).status, 200)
  })

  it("is also taken as a bearer token, behind X-Vault-Token", async () => {
    const call = (method: string, path: string, headers: Readonly<Record<string, string>>) =>
      service.program.call(method, `/v1/${path}`, { headers })
    const token = await vault.token(deploy)
    for (const authorization of [`Bearer ${token}`, `bearer  ${token}`, `Bearer ${deploy.key}`]) {
      assert.strictEqual((await call("GET", "webshop/data/prod", { authorization })).status, 200, authorization)
      for (const sent of ["", token]) {
        const headers = { authorization, ...tokens(sent) }
        assert.strictEqual((await call("GET", "webshop/metadata?list=true", headers)).status, 200)
      }
      refused(await call("GET", "webshop/data/prod", { authorization, ...tokens("x") }), 403, /^permission denied/)
    }
    const authorization = `Bearer ${token}`
    assert.strictEqual((await call("GET", "auth/token/lookup-self", { authorization })).body.data.id, token)
    assert.strictEqual((await call("PUT", "auth/token/renew-self", { authorization })).body.auth.client_token, token)
    for (const authorization of [
      "Bearer",
      "Bearer ",
      `Basic ${token}`,
      token,
      `Bearer ${token} x`,
      `Bearer ${ada.token}`
    ]) {
      refused(await call("GET", "webshop/data/prod", { authorization }), 403, /^permission denied: no credential/)
    }
    assert.strictEqual((await call("PUT", "auth/token/revoke-self", { authorization })).status, 204)
    refused(await call("GET", "webshop/data/prod", { authorization }), 403, /^permission denied/)
  })

  it("is no person's, and counts nowhere but here", async () => {
    refused(await vault.get(ada.token, "webshop/data/prod"), 403, /^permission denied/)
    refused(await service.program.call("GET", "/v1/webshop/data/prod", { headers: deploy.headers }), 403, /^permission/)
    const token = await vault.token(deploy)
    for (const headers of [{ authorization: `Bearer ${token}` }, { "x-api-key": token }, { "x-vault-token": token }]) {
      assert.strictEqual((await service.program.call("GET", "/api/auth/me", { headers })).status, 401)
    }
  })
})

describe("a federation", () => {
  it.each(["jwt", "kubernetes"] as const)(
    "signs in by auth/%s/login, with its own session as the token",
    async (method) => {
      const account = await another()
      await service.federation(ada, "acme", account)
      const jwt = await service.podToken(account)
      const { auth } = (await vault.jwtLogin(method, `acme/${account.name}`, jwt)).body
      assert.match(auth.client_token, /^svc_ft_/)
      assert.deepStrictEqual([auth.lease_duration, auth.renewable], [3600, false])
      assert.strictEqual((await latest("auth.federate")).metadata.client, "vault")
      const { data } = (await vault.get(auth.client_token, "auth/token/lookup-self")).body
      assert.isAtMost(data.ttl, 3600)
      assert.strictEqual((await vault.get(auth.client_token, "webshop/data/prod")).status, 200)
      assert.strictEqual((await new Client(service, "acme").jwtLogin(method, account.name, jwt)).status, 200)
      refused(await vault.put(auth.client_token, "auth/token/renew-self"), 400, /log in again/)
      assert.strictEqual((await vault.put(auth.client_token, "auth/token/revoke-self")).status, 204)
      refused(await vault.get(auth.client_token, "webshop/data/prod"), 403, /^permission denied/)
    }
  )

  it("refuses with 400, in the words of its own call, and with the limit of its own call", async () => {
    const account = await another()
    const role = `acme/${account.name}`
    refused(await vault.jwtLogin("jwt", "nobody", "x"), 400, /ORGANIZATION\/ACCOUNT/)
    for (let times = 0; times < 30; times++)
      refused(await vault.jwtLogin("jwt", role, "x"), 400, /the token is refused/)
    const limited = await vault.jwtLogin("jwt", role, "x")
    refused(limited, 429, /too many tokens were refused/)
    assert.isAbove(Number(limited.headers.get("retry-after")), 0)
    const { status } = await service.program.call("POST", "/api/auth/federate", { body: { token: "x", account: role } })
    assert.strictEqual(status, 429)
  })
})

describe("an environment", () => {
  it("is read as data and metadata, with its revision as the version and the entry of every read", async () => {
    const token = await vault.token(deploy)
    const { body } = await vault.get(token, "webshop/data/prod")
    assert.deepStrictEqual(body.data.data, { DATABASE_URL: "postgres://prod", PEM: pem })
    const { created_time, version, ...rest } = body.data.metadata
    assert.deepStrictEqual([rest, version], [{ custom_metadata: null, deletion_time: "", destroyed: false }, 1])
    assert.match(created_time, /^20.*Z$/)
    const entry = await latest("secret.read")
    assert.strictEqual(entry.actor_name, "deploy pipeline")
    const keys = [
      { key: "DATABASE_URL", version: 1 },
      { key: "PEM", version: 1 }
    ]
    assert.deepStrictEqual(entry.metadata, { project: "webshop", env: "prod", revision: 1, keys, client: "vault" })
    assert.strictEqual((await new Client(service, "acme/").get(token, "webshop/data/prod")).status, 200)
  })

  it("without secrets has no data", async () => {
    await service.do(ada, "POST", `${acme}/projects/webshop/envs`, { name: "empty" })
    const { key } = await another()
    const { body } = await vault.get(key, "webshop/data/empty")
    const { created_time, version } = body.data.metadata
    assert.deepStrictEqual([body.data.data, version, created_time], [{}, 0, "0001-01-01T00:00:00Z"])
    const { data } = (await vault.get(key, "webshop/metadata/empty")).body
    assert.deepStrictEqual([data.current_version, data.updated_time], [0, "0001-01-01T00:00:00Z"])
  })

  it("is described by its version, without an entry of a read", async () => {
    const reads = await service.entries(ada, `${acme}/audit-logs`, "secret.read")
    const token = await vault.token(deploy)
    const described = (await vault.get(token, "webshop/metadata/prod")).body.data
    assert.lengthOf(await service.entries(ada, `${acme}/audit-logs`, "secret.read"), reads.length)
    const { created_time, version } = (await vault.get(token, "webshop/data/prod")).body.data.metadata
    const environments = (await service.do(ada, "GET", `${acme}/projects/webshop/envs`)).data
    assert.deepStrictEqual(described, {
      cas_required: false,
      created_time: environments.find(({ name }: Json) => name === "prod").created_at,
      current_version: version,
      custom_metadata: null,
      delete_version_after: "0s",
      max_versions: 0,
      oldest_version: version,
      updated_time: created_time,
      versions: { [version]: { created_time, deletion_time: "", destroyed: false } }
    })
    refused(await vault.get(token, "webshop/metadata/nope"), 404, /^environment nope does not exist, or is not yours/)
    refused(await vault.get(token, "webshop/metadata/prod?list=true"), 404, /^an environment holds no paths/)
  })

  it("has the values that its references lead to, and is refused whole where one leads to no value", async () => {
    const env = `${acme}/projects/webshop/envs/staging`
    const { key } = await another()
    await service.do(ada, "PUT", `${env}/secrets/HOST`, { value: "db" })
    await service.do(ada, "PUT", `${env}/secrets/URL`, { value: "x://${HOST}", kind: "reference" })
    const { data } = (await vault.get(key, "webshop/data/staging")).body.data
    assert.deepStrictEqual(data, { HOST: "db", URL: "x://db" })
    await service.do(ada, "DELETE", `${env}/secrets/HOST?force=1`)
    const reads = await service.entries(ada, `${acme}/audit-logs`, "secret.read")
    refused(await vault.get(key, "webshop/data/staging"), 409, /^URL refers to HOST, which does not exist$/)
    const direct = await service.call(ada, "GET", `${env}/bundle?format=object`)
    assert.deepStrictEqual(
      [direct.status, direct.body.error],
      [409, { code: "REFERENCE_REFUSED", message: "URL refers to HOST, which does not exist" }]
    )
    assert.lengthOf(await service.entries(ada, `${acme}/audit-logs`, "secret.read"), reads.length)
  })

  it("is listed, with and without the slash that some clients send", async () => {
    const token = await vault.token(deploy)
    for (const path of ["webshop/metadata?list=true", "webshop/metadata/?list=true"]) {
      assert.include((await vault.get(token, path)).body.data.keys, "prod")
    }
    refused(await vault.get(token, "webshop/metadata"), 400, /\?list=true/)
  })

  it("is not handed out in place of a wrapping token", async () => {
    const read = (ttl: string) =>
      service.program.call("GET", "/v1/webshop/data/prod", {
        headers: { ...tokens(deploy.key), "x-vault-wrap-ttl": ttl }
      })
    refused(await read("60s"), 400, /^x-vault-wrap-ttl: this view of Vault's API does not wrap responses/)
    assert.strictEqual((await read("0")).status, 200)
  })

  it("is not read in an earlier version, or with what nobody asked for", async () => {
    refused(
      await vault.get(deploy.key, "webshop/data/prod?version=1"),
      400,
      /^version: an environment is read as it is/
    )
    refused(await vault.get(deploy.key, "webshop/data/prod?list=true"), 400, /^list: is not a parameter/)
  })
})

describe("over the wire", () => {
  const send = (...lines: ReadonlyArray<string>) =>
    service.program.exchange([...lines, "Host: localhost", "", ""].join("\r\n"))

  it("a login comes as the client in Go sends it: PUT, and no content type", async () => {
    const body = JSON.stringify({ role_id: "deploy pipeline", secret_id: deploy.key })
    const head = [
      "PUT /v1/auth/approle/login HTTP/1.1",
      "Host: 127.0.0.1:7100",
      "User-Agent: Go-http-client/1.1",
      `Content-Length: ${body.length}`,
      "X-Vault-Request: true",
      "Accept-Encoding: gzip",
      "Connection: close"
    ]
    const { status, text } = await service.program.exchange(`${head.join("\r\n")}\r\n\r\n${body}`)
    assert.strictEqual(status, 200, text)
  })

  it("LIST is answered as GET with list=true, which Node's parser does not know, and the connection is closed", async () => {
    const token = `X-Vault-Token: ${await vault.token(deploy)}`
    for (const target of ["/v1/webshop/metadata", "/v1/webshop/metadata/", "/v1/webshop/metadata?"]) {
      const { headers, status, text } = await send(`LIST ${target} HTTP/1.1`, token, "Connection: keep-alive")
      assert.strictEqual(status, 200, text)
      assert.include(JSON.parse(text).data.keys, "prod")
      assert.strictEqual(headers.get("connection")?.trim(), "close")
    }
    const second = await service.program.exchange(
      [
        `GET /v1/sys/health HTTP/1.1\r\nHost: localhost\r\n\r\n`,
        `LIST /v1/webshop/metadata HTTP/1.1\r\nHost: localhost\r\n${token}\r\n\r\n`
      ].join("")
    )
    assert.strictEqual(second.status, 200)
  })

  it("LIST has the authentication, the rights and the limits of every request", async () => {
    const head = "LIST /v1/webshop/metadata HTTP/1.1"
    assert.strictEqual((await send(head)).status, 403)
    const token = `X-Vault-Token: ${deploy.key}`
    assert.strictEqual((await send(head, token, token)).status, 400)
    assert.strictEqual((await send("LIST /v1/nope/metadata HTTP/1.1", token)).status, 404)
    assert.strictEqual((await send("LIST /v1/webshop/data/prod HTTP/1.1", token)).status, 400)
    assert.strictEqual((await send(head, token, "X-Vault-Namespace: other")).status, 404)
    assert.strictEqual((await send(head, token, `X: ${"x".repeat(17_000)}`)).status, 431)
    assert.strictEqual((await send(head, token, "no field")).status, 400)
  })

  it("LIST is refused elsewhere, with a body, and in other letters", async () => {
    for (const head of [
      "LIST /api/orgs HTTP/1.1",
      "LIST /v1 HTTP/1.1",
      "LISTS /v1/webshop/metadata HTTP/1.1",
      "LIST /v1/a"
    ]) {
      const { status, text } = await send(head)
      assert.strictEqual(status, 400, head)
      assert.strictEqual(JSON.parse(text).error.message, "the request is not well-formed HTTP")
    }
    const body = "LIST /v1/webshop/metadata HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"
    assert.strictEqual((await service.program.exchange(body)).status, 400)
  })
})

describe("what is not served", () => {
  it("is 405 for writes, whoever asks", async () => {
    const writes = [
      "data/prod",
      "data/prod/below",
      "delete/prod",
      "undelete/prod",
      "destroy/prod",
      "metadata/prod",
      "metadata"
    ]
    for (const path of writes) {
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        if (path === "delete/prod" && method === "DELETE") continue
        refused(await vault.call(null, method, `webshop/${path}`), 405, /read-only/)
      }
    }
    const written = await vault.put(deploy.key, "webshop/data/prod", { data: { A: "b" }, options: {} })
    refused(written, 405, /read-only/)
    assert.strictEqual(written.headers.get("allow"), "GET, HEAD")
    refused(await vault.call(null, "GET", "auth/approle/login"), 405, /does not take GET: it takes POST/)
  })

  it("is 404 for paths, projects and environments that are not there", async () => {
    for (const path of ["", "webshop", "webshop/data", "webshop/data/a/b", "sys/mounts", "webshop/metadata/a/b"]) {
      refused(await vault.get(deploy.key, path), 404, /no such path/)
    }
    refused(
      await vault.get(deploy.key, "webshop/data/nope"),
      404,
      /^environment nope does not exist, or is not yours to see$/
    )
    refused(await vault.get(deploy.key, "nope/data/prod"), 404, /^project nope does not exist, or is not yours to see$/)
  })

  it("is 404 in the same words for names that cannot exist, which are not repeated", async () => {
    const impossible = ["Webshop", "x", "web_shop", "web.shop", "-web", "%00", "%F0%9F%94%91", "x".repeat(51)]
    for (const name of impossible) {
      for (const path of [
        `${name}/data/prod`,
        `${name}/metadata/prod`,
        `${name}/metadata?list=true`,
        `sys/internal/ui/mounts/${name}`,
        `sys/internal/ui/mounts/${name}/prod`
      ]) {
        refused(await vault.get(deploy.key, path), 404, /^the project does not exist, or is not yours to see$/)
        refused(await vault.get("nonsense", path), 403, /^permission denied: no credential/)
      }
      for (const path of [`webshop/data/${name}`, `webshop/metadata/${name}`]) {
        refused(await vault.get(deploy.key, path), 404, /^the environment does not exist, or is not yours to see$/)
        refused(await vault.get("nonsense", path), 403, /^permission denied: no credential/)
      }
    }
    for (const namespace of ["Acme", "a/b", "x".repeat(51)]) {
      const other = new Client(service, namespace)
      refused(
        await other.get(deploy.key, "webshop/data/prod"),
        404,
        /^the namespace does not exist, or is not yours to see$/
      )
    }
  })
})

describe("what clients ask first", () => {
  it("is answered: health, leader, seal and that a project is a mount of KV version 2", async () => {
    const [health, leader, seal] = await Promise.all(
      ["sys/health", "sys/leader", "sys/seal-status"].map((path) => vault.call(null, "GET", path))
    )
    assert.deepStrictEqual([health!.body.initialized, health!.body.sealed, health!.body.standby], [true, false, false])
    assert.deepStrictEqual([leader!.body.ha_enabled, seal!.body.sealed], [false, false])
    for (const path of ["webshop", "webshop/prod", "webshop/data/prod"]) {
      const { data } = (await vault.get(deploy.key, `sys/internal/ui/mounts/${path}`)).body
      assert.deepStrictEqual([data.path, data.type, data.options], ["webshop/", "kv", { version: "2" }])
    }
    refused(await vault.get(deploy.key, "sys/internal/ui/mounts/nope"), 404, /^project nope/)
    refused(await vault.call(null, "GET", "sys/internal/ui/mounts/webshop"), 403, /^permission denied/)
  })
})

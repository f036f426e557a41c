import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { clusterFederation, podClaims, publicUrl, Signer } from "../federations/Signer.js"
import { assertRefused, cleanUp, type Json, Program } from "../support/Program.js"

const settings = {
  SUPERADMIN_EMAIL_0: "root@example.com",
  SERVICE_PUBLIC_URL: publicUrl,
  SERVICE_VAULT_API: "1"
}
const accounts = "/api/orgs/acme/service-accounts"

let program: Program
let token = ""

const begin = async (variables: Readonly<Record<string, string>>) => {
  program = await Program.start({ ...settings, ...variables })
  token = await program.login("root@example.com")
  await program.call("POST", "/api/orgs", { token, body: { name: "acme" } })
}

const create = (name: string, allowed_networks: unknown) =>
  program.call("POST", accounts, { token, body: { name, allowed_networks } })

/** Calls with an account's key, as through a proxy. */
const callFrom = (key: string, address: string) =>
  program.call("GET", "/api/orgs/acme", { headers: { "x-api-key": key, "x-real-ip": address } })

const change = (id: string, allowed_networks?: unknown) =>
  program.call("PATCH", `${accounts}/${id}`, { token, body: { allowed_networks } })

const entries = async (query: string): Promise<ReadonlyArray<Json>> =>
  (await program.call("GET", `/api/orgs/acme/audit-logs?${query}`, { token })).body.data

afterAll(cleanUp)

describe("an account bound to networks", () => {
  beforeAll(() => begin({ SERVICE_TRUSTED_PROXIES: "127.0.0.0/8" }))

  it("calls from there alone: elsewhere its key is unknown, and the log has the address", async () => {
    const made = await create("deploy", ["198.51.100.0/24", "2001:db8:7::/48"])
    assert.strictEqual(made.status, 201, made.text)
    assert.deepStrictEqual(made.body.allowed_networks, ["198.51.100.0/24", "2001:db8:7::/48"])
    const { api_key: key, id } = made.body
    for (const address of ["198.51.100.7", "2001:db8:7::1", "::ffff:198.51.100.200"]) {
      assert.strictEqual((await callFrom(key, address)).status, 200, address)
    }
    const stranger = await callFrom(`${key.slice(0, -4)}aaaa`, "203.0.113.9")
    for (const address of ["203.0.113.9", "2001:db8:8::1", "127.0.0.1"]) {
      const refused = await callFrom(key, address)
      assertRefused(refused, 401, "UNAUTHORIZED")
      assert.deepStrictEqual(refused.body, stranger.body)
    }
    // Entries of refusals are written after the response.
    let found = await entries("action=access.denied")
    while (found.length < 3) found = await entries("action=access.denied")
    assert.deepStrictEqual(
      found.map(({ ip_address }) => ip_address),
      ["127.0.0.1", "2001:db8:8::1", "203.0.113.9"]
    )
    const { actor_name, metadata, resource_id } = found[2]
    assert.deepStrictEqual([actor_name, resource_id], ["deploy", id])
    assert.deepStrictEqual(metadata, {
      action: "service_account.use",
      reason: "its networks do not include 203.0.113.9"
    })
  })

  it("has sessions of its key that are bound too", async () => {
    const { api_key } = (await create("vault", ["198.51.100.0/24"])).body
    const login = (address: string) =>
      program.call("POST", "/v1/auth/approle/login", {
        body: { role_id: "acme/vault", secret_id: api_key },
        headers: { "x-real-ip": address }
      })
    assert.notStrictEqual((await login("203.0.113.9")).status, 200)
    const session = (await login("198.51.100.7")).body.auth.client_token
    const look = (address: string) =>
      program.call("GET", "/v1/auth/token/lookup-self", {
        headers: { "x-vault-token": session, "x-real-ip": address }
      })
    assert.strictEqual((await look("198.51.100.7")).status, 200)
    assert.strictEqual((await look("203.0.113.9")).status, 403)
  })

  it("is bound to others from the next request on, by its key and by every token that it has", async () => {
    const made = (await create("moving", ["198.51.100.0/24"])).body
    const login = { role_id: "acme/moving", secret_id: made.api_key }
    const from = { "x-real-ip": "198.51.100.7" }
    const vault = (await program.call("POST", "/v1/auth/approle/login", { body: login, headers: from })).body.auth
    const used = async (address: string) => [
      (await callFrom(made.api_key, address)).status,
      (
        await program.call("GET", "/v1/auth/token/lookup-self", {
          headers: { "x-vault-token": vault.client_token, "x-real-ip": address }
        })
      ).status
    ]
    assert.deepStrictEqual(await used("198.51.100.7"), [200, 200])
    const changed = await change(made.id, ["203.0.113.0/24"])
    assert.strictEqual(changed.status, 200, changed.text)
    assert.deepStrictEqual(changed.body.allowed_networks, ["203.0.113.0/24"])
    assert.notProperty(changed.body, "api_key")
    assert.deepStrictEqual(await used("198.51.100.7"), [401, 403])
    assert.deepStrictEqual(await used("203.0.113.7"), [200, 200])
    assert.deepStrictEqual((await change(made.id)).body, changed.body)

    const anywhere = await change(made.id, null)
    assert.notProperty(anywhere.body, "allowed_networks")
    assert.deepStrictEqual(await used("198.51.100.7"), [200, 200])
    const found = await entries("action=service_account.update")
    assert.deepStrictEqual(
      found.map(({ actor_name, metadata, resource_id }) => [actor_name, resource_id, metadata]),
      [
        ["root@example.com", made.id, { name: "moving", allowed_networks: null, before: ["203.0.113.0/24"] }],
        [
          "root@example.com",
          made.id,
          { name: "moving", allowed_networks: ["203.0.113.0/24"], before: ["198.51.100.0/24"] }
        ]
      ]
    )
    assertRefused(await change(made.id, ["10.0.0.0/33"]), 400, "VALIDATION_ERROR", /10\.0\.0\.0\/33 is no network/)
    assertRefused(await change(made.id, []), 400, "VALIDATION_ERROR", /must name a network; send null to allow any/)
    const many = Array.from({ length: 21 }, (_, index) => `10.${index}.0.0/16`)
    assertRefused(await change(made.id, many), 400, "VALIDATION_ERROR", /at most 20 networks/)
    const path = `${accounts}/${made.id}`
    await program.call("DELETE", path, { token })
    assertRefused(await change(made.id, null), 404, "NOT_FOUND")
  })

  it("is changed by several at once without losing a change: each entry has what the one before it made", async () => {
    const { id } = (await create("shared", ["10.0.0.0/16"])).body
    const networks = Array.from({ length: 8 }, (_, index) => `10.${index + 1}.0.0/16`)
    await Promise.all(networks.map((network) => change(id, [network])))
    const found = (await entries("action=service_account.update")).filter(({ resource_id }) => resource_id === id)
    assert.sameMembers(
      found.map(({ metadata }) => metadata.allowed_networks[0]),
      networks
    )
    assert.deepStrictEqual(
      found.map(({ metadata }) => metadata.before),
      [...found.slice(1).map(({ metadata }) => metadata.allowed_networks), ["10.0.0.0/16"]]
    )
  })

  it("signs in with a token of its issuer from there alone, and its session is bound too", async () => {
    const signer = await Signer.make()
    const made = await program.call("POST", accounts, { token, body: { name: "pod", key: false } })
    const path = `${accounts}/${made.body.id}/federations`
    const { audience } = (await program.call("POST", path, { token, body: clusterFederation(signer) })).body
    const jwt = await signer.sign(podClaims(audience, Math.floor(Date.now() / 1000)))
    const exchange = (address: string, account = "acme/pod") =>
      program.call("POST", "/api/auth/federate", {
        body: { account, token: jwt },
        headers: { "x-real-ip": address }
      })
    const login = (address: string) =>
      program.call("POST", "/v1/auth/jwt/login", {
        body: { role: "acme/pod", jwt },
        headers: { "x-real-ip": address }
      })
    const tokens = [(await exchange("203.0.113.9")).body.token, (await login("203.0.113.9")).body.auth.client_token]
    const used = (address: string) =>
      Promise.all([
        program.call("GET", "/api/orgs/acme", { token: tokens[0], headers: { "x-real-ip": address } }),
        program.call("GET", "/v1/auth/token/lookup-self", {
          headers: { "x-vault-token": tokens[1], "x-real-ip": address }
        })
      ]).then((answers) => answers.map(({ status }) => status))
    assert.deepStrictEqual(await used("203.0.113.9"), [200, 200])
    assert.strictEqual((await change(made.body.id, ["198.51.100.0/24"])).status, 200)
    assert.deepStrictEqual(await used("203.0.113.9"), [401, 403])
    assert.deepStrictEqual(await used("198.51.100.7"), [200, 200])

    const refused = await exchange("203.0.113.9")
    assertRefused(refused, 401, "UNAUTHORIZED")
    const unknown = await exchange("203.0.113.9", "acme/nobody")
    assert.deepStrictEqual(refused.body, unknown.body)
    assert.strictEqual((await login("203.0.113.9")).status, 400)
    assert.strictEqual((await exchange("198.51.100.7")).status, 200)
    const found = (await entries("action=auth.federate")).filter(({ metadata }) => metadata.refused === true)
    assert.deepStrictEqual(
      found.map(({ actor_name, ip_address, metadata }) => [actor_name, ip_address, metadata.failed]),
      Array.from({ length: 2 }, () => ["pod", "203.0.113.9", "networks"])
    )
  })

  it("is listed with them, which are up to 20 networks", async () => {
    const { data } = (await program.call("GET", accounts, { token })).body
    const networks = Object.fromEntries(data.map(({ allowed_networks, name }: Json) => [name, allowed_networks]))
    assert.deepStrictEqual(networks["vault"], ["198.51.100.0/24"])
    const many = (count: number) => Array.from({ length: count }, (_, index) => `10.${index}.0.0/16`)
    assert.strictEqual((await create("many", many(20))).status, 201)
    assertRefused(await create("more", many(21)), 400, "VALIDATION_ERROR", /at most 20 networks/)
    assertRefused(await create("none", []), 400, "VALIDATION_ERROR", /must name a network/)
    assertRefused(await create("wide", ["10.0.0.0/33"]), 400, "VALIDATION_ERROR", /10\.0\.0\.0\/33 is no network/)
    assertRefused(await create("word", ["localhost"]), 400, "VALIDATION_ERROR", /networks such as 10\.0\.0\.0\/8/)
  })
})

describe("a network that would admit more than it says", () => {
  it("is refused with how to write it; one that was stored before works as it did, and says so", async () => {
    for (const [network, why] of [
      ["::/0", /::\/0 admits all of IPv4 too: write 2000::\/3/],
      ["::ffff:0:0/96", /admits all of IPv4 too/],
      ["::ffff:10.0.0.0/104", /a network of IPv4 written as IPv6: write it as 10\.0\.0\.0\/8/],
      ["10.0.0.0/08", /a prefix with a leading zero: write \/8/]
    ] as const) {
      assertRefused(await create("wide", ["198.51.100.0/24", network]), 400, "VALIDATION_ERROR", why)
    }
    const { api_key, id } = (await create("old", ["198.51.100.0/24"])).body
    await program.execute(`UPDATE service_accounts SET allowed_networks = '["::/0"]' WHERE id = '${id}'`)
    for (const address of ["203.0.113.9", "2001:db8::1"]) {
      assert.strictEqual((await callFrom(api_key, address)).status, 200, address)
    }
    const { data } = (await program.call("GET", accounts, { token })).body
    const old = data.find(({ name }: Json) => name === "old")
    assert.deepStrictEqual(old.allowed_networks, ["::/0"])
    assert.match(old.network_notes[0], /^::\/0 admits all of IPv4 too/)
    assert.notProperty((await change(id, ["2000::/3"])).body, "network_notes")
    assert.deepStrictEqual(
      await Promise.all(
        ["203.0.113.9", "2001:db8::1"].map(async (address) => (await callFrom(api_key, address)).status)
      ),
      [401, 200]
    )
  })
})

describe("a server that no proxy is in front of", () => {
  beforeAll(() => begin({ SERVICE_TRUSTED_PROXIES: "none" }))

  it("believes no header: the log has the address of the connection", async () => {
    const headers = { "x-real-ip": "198.51.100.7", "x-forwarded-for": "198.51.100.7" }
    await program.call("POST", "/api/orgs/acme/projects", { token, body: { name: "web" }, headers })
    const [entry] = await entries("action=project.create")
    assert.strictEqual(entry.ip_address, "127.0.0.1")
  })
})

describe("a server that does not know its proxies", () => {
  beforeAll(() => begin({}))

  it("binds no account to networks, and names the setting", async () => {
    const refused = await create("deploy", ["198.51.100.0/24"])
    assertRefused(refused, 400, "VALIDATION_ERROR", /^allowed_networks: .* set SERVICE_TRUSTED_PROXIES$/)
    const { body } = await program.call("POST", accounts, { token, body: { name: "deploy" } })
    assert.strictEqual((await change(body.id, ["198.51.100.0/24"])).text, refused.text)
    assert.strictEqual((await change(body.id, null)).status, 200)
  })
})

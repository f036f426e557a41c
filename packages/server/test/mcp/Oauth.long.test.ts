import { createHash } from "node:crypto"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Pair, startPair } from "../authorization/Pair.js"
import { sceneSettings } from "../authorization/Scene.js"
import { word } from "../authorization/Service.js"
import { publicUrl } from "../federations/Signer.js"
import type { Json } from "../support/Program.js"
import { email } from "../support/Services.js"
import { askingHost, throughAll } from "./AskingHost.js"

// Hosts of agents that ask people for consent, on two servers of one database.

const canary = "sk_live_CanaryOfConsent"

let pair: Pair
let send: typeof fetch

beforeAll(async () => {
  pair = await startPair({ ...sceneSettings(), SERVICE_OAUTH_CLIENTS: "agents.example.com" })
  send = throughAll(publicUrl, [pair.first.address, pair.second.address])
})
afterAll(async () => {
  await pair.stop()
})

/** A person with a secret in two environments. */
const scene = async () => {
  const org = `org-${word()}`
  await pair.first.asRoot("POST", "/api/orgs", { name: org })
  await pair.first.asRoot("POST", `/api/orgs/${org}/projects`, { name: "webshop" })
  const prod = `/api/orgs/${org}/projects/webshop/envs/prod`
  await pair.first.asRoot("PUT", `${prod}/secrets/SHARED`, { value: canary })
  const address = `${word()}@example.com`
  const person = await pair.first.person(email(address))
  await pair.first.asRoot("POST", `/api/orgs/${org}/members`, { email: address, role: "owner" })
  const call = (method: string, path: string, body?: unknown) =>
    pair.second.send({ method, path, headers: person.headers, body })
  const terms = { org, project: "webshop", env: "prod", permission: "read", reveal: false, expires_in: 3600 }
  return {
    org,
    prod,
    person,
    call,
    review: (request: string) => call("POST", "/api/auth/consents/review", { request }),
    consent: (request: string, fields: object = {}) =>
      call("POST", "/api/auth/consents", { request, ...terms, ...fields }),
    delegations: async (): Promise<ReadonlyArray<Json>> => (await call("GET", "/api/auth/delegations")).body.data
  }
}
type Scene = Awaited<ReturnType<typeof scene>>

const callback = "http://127.0.0.1:33418/callback"
const verifier = "v".repeat(43)
const challenge = createHash("sha256").update(verifier).digest("base64url")

const register = async (body: unknown = { redirect_uris: [callback], client_name: "Local agent" }) => {
  const response = await send(`${publicUrl}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body)
  })
  return { status: response.status, body: (await response.json()) as Json }
}

const client = async (): Promise<string> => (await register()).body.client_id

/** The query of an authorization request. A field that is null is left out. */
const queryOf = (clientId: string, fields: Readonly<Record<string, string | null>> = {}): string => {
  const all = {
    ...{ response_type: "code", client_id: clientId, redirect_uri: callback, state: "xyz", scope: "read reveal" },
    ...{ code_challenge: challenge, code_challenge_method: "S256", resource: `${publicUrl}/mcp` },
    ...fields
  }
  return new URLSearchParams(
    Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [[name, value] as [string, string]]))
  ).toString()
}

const posted = async (
  path: string,
  fields: Readonly<Record<string, string>>
): Promise<{ readonly status: number; readonly headers: Headers; readonly body: Json }> => {
  const response = await send(`${publicUrl}${path}`, { method: "POST", body: new URLSearchParams(fields) })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === "" ? {} : JSON.parse(text) }
}

const exchange = (code: string, clientId: string, fields: Readonly<Record<string, string>> = {}) =>
  posted("/oauth/token", {
    ...{ grant_type: "authorization_code", code, client_id: clientId, redirect_uri: callback },
    ...{ code_verifier: verifier, resource: `${publicUrl}/mcp` },
    ...fields
  })

/** A code for a new client, to which a person has agreed. */
const agreed = async ({ consent }: Scene, fields: object = {}) => {
  const clientId = await client()
  const { body, status, text } = await consent(queryOf(clientId), fields)
  assert.strictEqual(status, 201, text)
  const answer = new URL(body.continue_to)
  return { clientId, answer, code: answer.searchParams.get("code") ?? "" }
}

const meWith = async (token: string) => {
  const response = await send(`${publicUrl}/api/auth/me`, { headers: { authorization: `Bearer ${token}` } })
  return response.status
}

describe("the official client", () => {
  it("learns where to ask, registers, and works with what the person gave it", async () => {
    const { consent, delegations, org, review } = await scene()
    const host = askingHost(`${publicUrl}/mcp`, send)
    const asked = await host.ask()
    assert.strictEqual(asked.origin + asked.pathname, `${publicUrl}/-/authorize`)
    const request = asked.search.slice(1)
    const { body: shown } = await review(request)
    assert.deepStrictEqual(shown, {
      program: { name: "Test host" },
      answer_to: "http://127.0.0.1:33418",
      is_local: true,
      permission: "write",
      reveal: true,
      refuse_to: `${callback}?${new URLSearchParams({ error: "access_denied", error_description: "the person refused", state: "the-state-of-the-host", iss: publicUrl }).toString()}`
    })
    const { body } = await consent(request, { permission: "read", reveal: true })
    const agent = await host.connect(body.continue_to)
    assert.strictEqual(host.keeper.kept?.scope, "read reveal")
    assert.isUndefined(host.keeper.kept?.refresh_token)
    const read = await agent.callTool({ name: "secret_get", arguments: { key: "SHARED" } })
    assert.strictEqual((read.structuredContent as Json).value, canary)
    const [connected] = await delegations()
    assert.deepInclude(connected, { name: "Test host", org, permission: "read", reveal: true })
    assert.deepStrictEqual(connected.program, { name: "Test host" })
  })

  it("asks the person for more when a call needs more than it was given", async () => {
    const { consent, prod } = await scene()
    const host = askingHost(`${publicUrl}/mcp`, send)
    const first = (await host.ask()).search.slice(1)
    const agent = await host.connect((await consent(first)).body.continue_to)
    const refused: unknown = await agent.callTool({ name: "secret_set", arguments: { key: "A", value: "b" } }).then(
      () => assert.fail("it may write"),
      (error: unknown) => error
    )
    assert.instanceOf(refused, Error)
    const second = host.keeper.asked ?? assert.fail("it does not ask again")
    assert.strictEqual(second.searchParams.get("scope")?.split(" ").includes("write"), true)
    const again = await host.connect((await consent(second.search.slice(1), { permission: "write" })).body.continue_to)
    await again.callTool({ name: "secret_set", arguments: { key: "A", value: "b" } })
    assert.strictEqual((await pair.first.asRoot("GET", `${prod}/secrets/A`)).value, "b")
  })
})

describe("the endpoints of OAuth", () => {
  it("are named by the refusal of the tool server, with the scope that its address allows", async () => {
    const challengeAt = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
      const response = await send(publicUrl + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: "{}"
      })
      assert.strictEqual(response.status, 401)
      return response.headers.get("www-authenticate")
    }
    const metadata = `resource_metadata="${publicUrl}/.well-known/oauth-protected-resource/mcp"`
    assert.strictEqual(await challengeAt("/mcp"), `Bearer realm="coffer", ${metadata}, scope="use read write reveal"`)
    assert.strictEqual(
      await challengeAt("/mcp?read_only=1&reveal=0"),
      `Bearer realm="coffer", ${metadata}, scope="use read"`
    )
    assert.include(await challengeAt("/mcp", { authorization: "Bearer nonsense" }), 'error="invalid_token"')
  })

  it("describe themselves by the metadata of RFC 9728 and RFC 8414", async () => {
    const read = async (path: string) => {
      const response = await send(publicUrl + path)
      assert.match(response.headers.get("content-type") ?? "", /^application\/json/)
      return (await response.json()) as Json
    }
    for (const path of ["", "/mcp"]) {
      assert.deepInclude(await read(`/.well-known/oauth-protected-resource${path}`), {
        resource: `${publicUrl}/mcp`,
        authorization_servers: [publicUrl],
        bearer_methods_supported: ["header"]
      })
    }
    assert.deepInclude(await read("/.well-known/oauth-authorization-server"), {
      issuer: publicUrl,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true
    })
  })

  it("register programs without storing them", async () => {
    const { body, status } = await register({
      redirect_uris: [callback],
      client_name: "a\u202eb",
      token_endpoint_auth_method: "client_secret_basic",
      grant_types: ["authorization_code", "refresh_token"]
    })
    assert.strictEqual(status, 201)
    assert.deepInclude(body, {
      client_name: "a b",
      redirect_uris: [callback],
      grant_types: ["authorization_code"],
      token_endpoint_auth_method: "none"
    })
    assert.isUndefined(body.client_secret)
    assert.match(body.client_id, /^svc_oc_[\w-]+$/)
  })

  it.each([
    "http://agents.example.com/cb",
    "https://agents.example.com/cb#fragment",
    "https://user:password@agents.example.com/cb",
    "javascript:alert(1)",
    "javascript://agents.example.com/%0aalert(1)",
    "data:text/html,x",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://agents.example.com/x",
    "intent://x#Intent;end",
    "JAVASCRIPT:alert(1)",
    "http://localhost.example.com/cb",
    "http://127.0.0.1.example.com/cb",
    "https://agents.example.com\\@evil.example/cb",
    "/relative",
    ""
  ])("refuse the redirect address %j of a program", async (uri) => {
    const { body, status } = await register({ redirect_uris: [callback, uri] })
    assert.deepStrictEqual([status, body.error], [400, "invalid_redirect_uri"])
  })

  it.each([
    "http://[::1]:1/cb",
    "http://localhost/cb",
    "https://agents.example.com/cb?x=1",
    "cursor://anysphere.mcp/cb"
  ])("take the redirect address %j of a program", async (uri) => {
    assert.strictEqual((await register({ redirect_uris: [uri] })).status, 201)
  })

  it.each([["{"], [""], ["[]"], ['{"redirect_uris":"x"}'], ['{"redirect_uris":[]}']])(
    "refuse the registration %s in the form of RFC 7591",
    async (text) => {
      const { body, status } = await register(text)
      assert.deepEqual([status, /^invalid_/.test(body.error)], [400, true])
    }
  )

  it("end a token for its program alone (RFC 7009)", async () => {
    const made = await scene()
    const { clientId, code } = await agreed(made)
    const { access_token } = (await exchange(code, clientId)).body
    assert.strictEqual((await posted("/oauth/revoke", { token: access_token, client_id: await client() })).status, 200)
    assert.strictEqual(await meWith(access_token), 200)
    assert.strictEqual((await posted("/oauth/revoke", { token: access_token, client_id: clientId })).status, 200)
    assert.strictEqual(await meWith(access_token), 401)
    assert.lengthOf(await made.delegations(), 0)
    const { data } = await pair.first.asRoot("GET", `/api/orgs/${made.org}/audit-logs?action=delegation.revoke`)
    assert.strictEqual(data[0].metadata.because, "the program gave it back")
  })

  it("count requests of an address", async () => {
    const from = { "content-type": "application/json", "x-real-ip": "198.51.100.77" }
    const statuses = new Set<number>()
    for (let n = 0; n < 31; n++) {
      const { status } = await send(`${publicUrl}/oauth/register`, {
        method: "POST",
        headers: from,
        body: JSON.stringify({ redirect_uris: [callback] })
      })
      statuses.add(status)
    }
    assert.sameMembers([...statuses], [201, 429])
    assert.strictEqual((await register()).status, 201, "another address is not held up")
  })
})

describe("a token by consent", () => {
  it("is a delegation of what the person chose, and ends when the person ends it", async () => {
    const made = await scene()
    const { clientId, code } = await agreed(made, { also: [{ project: "webshop", env: "staging" }], keys: ["SHARED"] })
    const { body, headers, status } = await exchange(code, clientId)
    assert.strictEqual(status, 200)
    assert.strictEqual(headers.get("cache-control"), "no-store")
    assert.deepInclude(body, { token_type: "Bearer", scope: "read" })
    assert.match(body.access_token, /^svc_dt_/)
    assert.isAtLeast(body.expires_in, 3_500)
    assert.isAtMost(body.expires_in, 3_600)
    const [{ also, id, keys }] = (await made.delegations()) as [Json]
    assert.deepStrictEqual([also, keys], [[{ project: "webshop", env: "staging" }], ["SHARED"]])
    assert.strictEqual((await made.call("DELETE", `/api/auth/delegations/${id}`)).status, 204)
    assert.strictEqual(await meWith(body.access_token), 401)
  })

  it("ends with the person's membership, also before the program has it", async () => {
    const made = await scene()
    const { clientId, code } = await agreed(made)
    await pair.first.asRoot("DELETE", `/api/orgs/${made.org}/members/${made.person.id}`)
    assert.strictEqual((await exchange(code, clientId)).body.error, "invalid_grant")
  })

  it("is never wider than what the program asked for", async () => {
    const { consent } = await scene()
    const query = queryOf(await client(), { scope: "read" })
    for (const fields of [{ permission: "write" }, { reveal: true }]) {
      const { body, status } = await consent(query, fields)
      assert.strictEqual(status, 400)
      assert.match(body.error.message, /did not ask for/)
    }
    assert.strictEqual((await consent(query, { permission: "use" })).status, 201)
  })
})

// The attacks of RFC 9700, by its sections.
describe("RFC 9700", () => {
  const isGrantRefused = async (code: string, clientId: string, fields: Readonly<Record<string, string>> = {}) => {
    const { body, status } = await exchange(code, clientId, fields)
    assert.deepStrictEqual([status, body.error], [400, "invalid_grant"])
  }

  it("4.1, redirect addresses: only the exact ones, but for the port of loopback, and an error leads nowhere", async () => {
    const { review } = await scene()
    const id = (await register({ redirect_uris: [callback, "https://agents.example.com/cb"] })).body.client_id
    for (const uri of [
      "https://agents.example.com/cb/",
      "https://agents.example.com/cb?x=1",
      "https://agents.example.com/CB",
      "https://agents.example.com:8443/cb",
      "https://agents.example.com.evil.example/cb",
      "https://evil.example/cb",
      "http://127.0.0.1:33418/other",
      "http://localhost:33418/callback",
      "javascript:alert(1)"
    ]) {
      const { body, status } = await review(queryOf(id, { redirect_uri: uri }))
      assert.strictEqual(status, 400, uri)
      assert.match(body.error.message, /^redirect_uri: is not an address of this program/)
      assert.notInclude(JSON.stringify(body), "refuse_to")
    }
    const other = await review(queryOf(id, { redirect_uri: "http://127.0.0.1:50000/callback" }))
    assert.strictEqual(other.body.answer_to, "http://127.0.0.1:50000")
  })

  it("4.4, mix-up: every answer names its issuer, errors too", async () => {
    const made = await scene()
    const { answer } = await agreed(made)
    assert.strictEqual(answer.searchParams.get("iss"), publicUrl)
    const { body } = await made.review(queryOf(await client()))
    assert.strictEqual(new URL(body.refuse_to).searchParams.get("iss"), publicUrl)
  })

  it("4.5, injection of a code: it is bound to program, address and verifier", async () => {
    const { clientId, code } = await agreed(await scene())
    await isGrantRefused(code, await client())
    await isGrantRefused(code, clientId, { redirect_uri: "http://127.0.0.1:1/callback" })
    await isGrantRefused(code, clientId, { code_verifier: "w".repeat(43) })
    await isGrantRefused(`${code.slice(0, -2)}AA`, clientId)
    const other = await exchange(code, clientId, { resource: "https://elsewhere.example.com/mcp" })
    assert.strictEqual(other.body.error, "invalid_target")
    assert.strictEqual((await exchange(code, clientId)).status, 200)
  })

  it("takes a code without its address, as programs of OAuth 2.1 bring it", async () => {
    const { clientId, code } = await agreed(await scene())
    const brought = { grant_type: "authorization_code", code, client_id: clientId, code_verifier: verifier }
    assert.strictEqual((await posted("/oauth/token", brought)).status, 200)
  })

  it("4.5, replay of a code: the second time ends the token, on any server", async () => {
    const made = await scene()
    const { clientId, code } = await agreed(made)
    const { access_token } = (await exchange(code, clientId)).body
    assert.strictEqual(await meWith(access_token), 200)
    await isGrantRefused(code, clientId)
    assert.strictEqual(await meWith(access_token), 401)
    assert.lengthOf(await made.delegations(), 0)
    await isGrantRefused(code, clientId)
    const { data } = await pair.first.asRoot("GET", `/api/orgs/${made.org}/audit-logs?action=delegation.revoke`)
    assert.strictEqual(data[0].metadata.because, "its code was brought twice")
  })

  it("4.5, replay at once: at most one of ten gets a token, which ends", async () => {
    const made = await scene()
    const { clientId, code } = await agreed(made)
    const answers = await Promise.all(Array.from({ length: 10 }, () => exchange(code, clientId)))
    const issued = answers.filter(({ status }) => status === 200)
    assert.lengthOf(issued, 1)
    assert.strictEqual(await meWith(issued[0]?.body.access_token), 401)
  })

  it("4.7, forged requests: consent needs the script of the console, whatever cookie a browser sends", async () => {
    const { person } = await scene()
    const token = person.headers["authorization"]?.slice("Bearer ".length) ?? ""
    for (const headers of [{}, { "x-coffer": "1", "sec-fetch-site": "cross-site", origin: "https://evil.example" }]) {
      const response = await send(`${publicUrl}/api/auth/consents`, {
        method: "POST",
        headers: { "content-type": "application/json", cookie: `__Host-coffer=${token}`, ...headers },
        body: JSON.stringify({ request: queryOf(await client()) })
      })
      assert.strictEqual(response.status, 401)
    }
  })

  it.each([
    ["without a challenge", { code_challenge: null }],
    ["with a plain challenge", { code_challenge_method: "plain" }],
    ["without a method, which would be plain", { code_challenge_method: null }],
    ["with a short challenge", { code_challenge: "abc" }]
  ])("4.8, downgrade of PKCE: a request %s is refused", async (_, fields) => {
    const { consent, review } = await scene()
    const query = queryOf(await client(), fields)
    const { body } = await review(query)
    assert.match(body.problem, /^code_challenge/)
    assert.strictEqual(new URL(body.refuse_to).searchParams.get("error"), "invalid_request")
    assert.strictEqual((await consent(query)).status, 400)
  })

  it.each([
    ["an implicit token", { response_type: "token" }, "unsupported_response_type"],
    ["another resource", { resource: "https://elsewhere.example.com/mcp" }, "invalid_target"],
    ["no resource", { resource: null }, "invalid_target"],
    ["a scope of others", { scope: "admin" }, "invalid_scope"],
    ["a request object", { request: "eyJ" }, "request_not_supported"],
    ["a fragment as response", { response_mode: "fragment" }, "invalid_request"]
  ])("a request for %s is reported to the program, with its state", async (_, fields, error) => {
    const { consent, review } = await scene()
    const query = queryOf(await client(), fields)
    const { body } = await review(query)
    assert.isString(body.problem)
    const { searchParams } = new URL(body.refuse_to)
    assert.deepStrictEqual([searchParams.get("error"), searchParams.get("state")], [error, "xyz"])
    assert.strictEqual((await consent(query)).status, 400)
  })

  it("4.11, open redirects: an unknown, altered or repeated program or address is shown, and leads nowhere", async () => {
    const { review } = await scene()
    const id = await client()
    for (const query of [
      "",
      queryOf("unknown"),
      queryOf(`${id.slice(0, -4)}AAAA`),
      queryOf("http://agents.example.com/client.json"),
      queryOf("https://agents.example.com/"),
      queryOf("https://user@agents.example.com/client.json"),
      queryOf("https://agents.example.com/../client.json"),
      queryOf(id, { redirect_uri: null }),
      `${queryOf(id)}&redirect_uri=https%3A%2F%2Fevil.example`,
      `${queryOf(id)}&client_id=${id}`
    ]) {
      const { body, status, text } = await review(query)
      assert.strictEqual(status, 400, query)
      assert.strictEqual(body.error.code, "VALIDATION_ERROR")
      assert.notInclude(text, "evil.example")
    }
  })

  it("4.16, clickjacking: no page shows the question in a frame", async () => {
    const response = await send(`${publicUrl}/-/authorize?x`, { headers: { accept: "text/html" } })
    assert.include(response.headers.get("content-security-policy"), "frame-ancestors 'none'")
    assert.strictEqual(response.headers.get("x-frame-options"), "DENY")
  })

  it("hosts that the operator does not list may not ask, by document or by address", async () => {
    const { review } = await scene()
    const byDocument = await review(queryOf("https://other.example.com/client.json"))
    assert.match(byDocument.body.error.message, /programs of other\.example\.com may not ask on this server/)
    const uri = "https://other.example.com/cb"
    const id = (await register({ redirect_uris: [uri] })).body.client_id
    const byAddress = await review(queryOf(id, { redirect_uri: uri }))
    assert.match(byAddress.body.error.message, /programs of other\.example\.com may not ask on this server/)
  })

  it("a delegation, and an account, consent to nothing", async () => {
    const made = await scene()
    const { clientId, code } = await agreed(made)
    const { access_token } = (await exchange(code, clientId)).body
    const request = queryOf(await client())
    for (const path of ["/api/auth/consents", "/api/auth/consents/review"]) {
      const response = await send(publicUrl + path, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${access_token}` },
        body: JSON.stringify({ request })
      })
      assert.strictEqual(response.status, 403)
    }
  })
})

import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, assert, beforeAll, describe, it } from "vitest"
import { alertOf, Browser } from "../support/Browser.js"
import type { Json } from "../support/Program.js"
import { loopbackLogin, nextOf, tokenFor } from "../support/ProgramLogins.js"
import { TestProvider } from "../support/TestProvider.js"
import { assertRefused, begin, comeBack, logIn, newestEntry, userOf, verified, type World, world } from "./World.js"

let shared: World

beforeAll(async () => {
  shared = await world()
})
afterEach(() => {
  shared.provider.forge = null
  shared.provider.otherKey = null
})

describe("a login by the provider", () => {
  it("is offered on the login page and to clients", async () => {
    const { text } = await new Browser(shared.program.url).open("/login")
    assert.include(text, '<a class="button" href="/login/provider">Log in with Test &amp; Co</a>')
    assert.include(text, 'name="email"')
    assert.deepStrictEqual((await shared.program.call("GET", "/api/auth/methods")).body.provider, {
      name: "Test & Co",
      issuer: shared.provider.issuer
    })
  })

  it("sends a code challenge, a state and a nonce, and makes a session that the audit log names", async () => {
    const address = new URL(await begin(new Browser(shared.program.url)))
    assert.strictEqual(address.searchParams.get("response_type"), "code")
    assert.strictEqual(address.searchParams.get("code_challenge_method"), "S256")
    for (const name of ["code_challenge", "state", "nonce"]) {
      assert.match(address.searchParams.get(name) ?? "", /^[\w-]{43}$/)
    }
    const { page, reader } = await logIn(shared, verified("first"))
    assert.strictEqual(page.status, 200, page.text)
    assert.include(page.text, '<meta http-equiv="refresh" content="0; url=/">')
    assert.deepInclude(await userOf(reader), { email: "first@example.com", name: "first" })
    const { action, actor_name, metadata, resource_type } = await newestEntry(shared)
    assert.deepInclude(
      { action, actor_name, resource_type },
      {
        action: "auth.verify",
        actor_name: "first@example.com",
        resource_type: "session"
      }
    )
    assert.deepStrictEqual(metadata, { method: "oidc" })
  })

  it("finds the same person again, also after the provider has changed the address", async () => {
    const first = await userOf((await logIn(shared, verified("moves", "old@example.com"))).reader)
    const again = await userOf((await logIn(shared, verified("moves", "new@example.com"))).reader)
    assert.deepStrictEqual(again, first)
    assert.strictEqual(again.email, "old@example.com")
  })

  it("links a known person by the verified address, whatever its case, and only once", async () => {
    const token = await shared.program.login("known@example.com")
    const { id } = (await shared.program.call("GET", "/api/auth/me", { token })).body
    const linked = await logIn(shared, verified("known-1", "Known@Example.COM"))
    assert.strictEqual((await userOf(linked.reader)).id, id)
    await assertRefused(
      await logIn(shared, verified("known-2", "known@example.com")),
      /belongs to another account at Test &amp; Co/
    )
    const { action, metadata, resource_id } = await newestEntry(shared)
    assert.deepStrictEqual(
      { action, metadata, resource_id },
      {
        action: "auth.verify_failed",
        metadata: { method: "oidc", reason: "other_identity" },
        resource_id: id
      }
    )
  })

  it("is refused for an unverified address: known, new, or that of a superadmin", async () => {
    await shared.program.login("grace@example.com")
    for (const account of [
      { sub: "evil", email: "grace@example.com", email_verified: false },
      { sub: "evil", email: "grace@example.com" },
      { sub: "evil", email: "root@example.com", email_verified: false },
      { sub: "evil", email: "nobody@example.com", email_verified: false },
      { sub: "first", email: "first@example.com", email_verified: false }
    ]) {
      await assertRefused(await logIn(shared, account), /not verified at Test &amp; Co/)
    }
    await assertRefused(await logIn(shared, { sub: "evil", email_verified: true }), /gave no e-mail address/)
    await assertRefused(await logIn(shared, verified("evil", "ä@example.com")), /gave no e-mail address/)
    await assertRefused(await logIn(shared, verified("evil", " ada@example.com\u00a0")), /gave no e-mail address/)
  })

  it("is refused for a disabled person", async () => {
    const { id } = await userOf((await logIn(shared, verified("leaver"))).reader)
    const token = await shared.program.login("root@example.com")
    assert.strictEqual((await shared.program.call("POST", `/api/users/${id}/disable`, { token })).status, 200)
    await assertRefused(await logIn(shared, verified("leaver")), /^This user is disabled/)
    await assertRefused(await logIn(shared, verified("leaver-2", "leaver@example.com")), /^This user is disabled/)
  })

  it("goes on when the provider has a new key, without a restart", async () => {
    await logIn(shared, verified("key-1"))
    await shared.provider.stop()
    await shared.provider.start()
    const { page } = await logIn(shared, verified("key-1"))
    assert.strictEqual(page.status, 200, page.text)
  })

  it("offers the provider's own logout to who came by it", async () => {
    const { reader } = await logIn(shared, verified("leaves"))
    const { body, status } = await reader.call("DELETE", "/api/auth/logout")
    assert.strictEqual(status, 200)
    const address = new URL(body.provider_logout_url)
    assert.strictEqual(address.origin, shared.provider.issuer)
    assert.strictEqual(address.searchParams.get("post_logout_redirect_uri"), `${shared.program.url}/login`)
    assert.isFalse(reader.cookies.has("coffer"))
  })
})

describe("a call that needs a recent login", () => {
  const now = () => Math.floor(Date.now() / 1000)
  /** The token says that the person proved who they are that many seconds ago; null: it does not say. */
  const proven = (ago: number | null) => {
    shared.provider.forge = ({ auth_time: _, ...claims }: Json) => ({
      ...claims,
      ...(ago !== null && { auth_time: now() - ago })
    })
  }

  /** The person logs in at the provider, from a page of the console, for that call. */
  const logInAgain = async (reader: Browser) => {
    await reader.open("/login?next=%2F&recent=1")
    const address = await begin(reader)
    return { address: new URL(address), page: await comeBack(reader, await shared.provider.visit(address)) }
  }

  const code = async (reader: Browser) => {
    const { body, status } = await reader.call("POST", "/api/orgs/fresh/service-accounts", {
      name: `a${Math.random().toString(36).slice(2)}`
    })
    return status === 201 ? "" : (body.error.code as string)
  }

  it("is allowed only as long as the provider says that the person proved who they are", async () => {
    proven(0)
    const { reader } = await logIn(shared, verified("fresh"))
    assert.strictEqual((await reader.call("POST", "/api/orgs", { name: "fresh" })).status, 201)
    assert.strictEqual(await code(reader), "")
    for (const ago of [15 * 60 + 2, 86_400, null]) {
      proven(ago)
      const stale = await logIn(shared, verified("fresh"))
      assert.strictEqual(stale.page.status, 200, "the person is logged in without a question")
      assert.strictEqual(await code(stale.reader), "REAUTHENTICATE", String(ago))
    }
    // Not from now on.
    proven(15 * 60 - 3)
    const late = await logIn(shared, verified("fresh"))
    assert.strictEqual(await code(late.reader), "")
    await new Promise((resolve) => setTimeout(resolve, 4_000))
    assert.strictEqual(await code(late.reader), "REAUTHENTICATE")
  })

  it("makes the provider ask the person again, who is not taken without an answer to that", async () => {
    proven(3_600)
    const { reader } = await logIn(shared, verified("fresh"))
    assert.strictEqual(await code(reader), "REAUTHENTICATE")
    for (const ago of [3_600, null]) {
      proven(ago)
      const { address, page } = await logInAgain(reader)
      assert.strictEqual(address.searchParams.get("prompt"), "login")
      assert.strictEqual(address.searchParams.get("max_age"), "900")
      assert.strictEqual(page.status, 403)
      assert.match(alertOf(page), /^Test &amp; Co did not say that you have just logged in there: log in with a code/)
      assert.strictEqual(await code(reader), "REAUTHENTICATE", "the earlier session goes on as it was")
    }
    proven(0)
    assert.strictEqual((await logInAgain(reader)).page.status, 200)
    assert.strictEqual(await code(reader), "")
  })

  it("is not allowed by a program whose person was logged in without a question", async () => {
    const token = async () => {
      const { path, verifier } = loopbackLogin()
      const reader = new Browser(shared.program.url)
      shared.provider.account = verified("fresh")
      await reader.open(path)
      const address = await begin(reader)
      assert.strictEqual(new URL(address).searchParams.get("max_age"), "900")
      const question = await comeBack(reader, await shared.provider.visit(address))
      const last = await reader.submit(question, { answer: "yes" })
      const { body } = await tokenFor(shared.program, { code: nextOf(last)?.searchParams.get("code") ?? "", verifier })
      return body.token as string
    }
    const create = async (name: string) =>
      (await shared.program.call("POST", "/api/orgs/fresh/service-accounts", { token: await token(), body: { name } }))
        .status
    for (const [ago, status] of [
      [3_600, 403],
      [null, 403],
      [60, 201]
    ] as const) {
      proven(ago)
      assert.strictEqual(await create(`by-token-${ago}`), status, String(ago))
    }
  })

  it("is allowed after every login if the operator says that the provider sends no auth_time", async () => {
    const here = await world({ SERVICE_OIDC_AUTH_TIME: "assumed" })
    here.provider.forge = ({ auth_time: _, ...claims }: Json) => claims
    const { reader } = await logIn(here, verified("fresh"))
    await reader.call("POST", "/api/orgs", { name: "fresh" })
    assert.strictEqual(await code(reader), "")
  })
})

describe("an answer that does not fit", () => {
  it("in its state, its nonce or its issuer is refused", async () => {
    const doesNotFit = /does not fit this login|did not accept/
    for (const change of [
      (back: URL) => back.searchParams.set("state", "x".repeat(43)),
      (back: URL) => back.searchParams.delete("state"),
      (back: URL) => back.searchParams.set("iss", "https://evil.example.com"),
      (back: URL) => back.searchParams.append("state", "twice")
    ]) {
      const reader = new Browser(shared.program.url)
      const back = await shared.provider.visit(await begin(reader))
      change(back)
      await assertRefused({ page: await comeBack(reader, back), reader }, doesNotFit)
    }
  })

  it.each([
    ["another nonce", (claims: Json) => ({ ...claims, nonce: "x".repeat(43) })],
    ["no nonce", ({ nonce: _, ...claims }: Json) => claims],
    ["another issuer", (claims: Json) => ({ ...claims, iss: "https://evil.example.com" })],
    ["another audience", (claims: Json) => ({ ...claims, aud: "other" })],
    ["a past expiry", (claims: Json) => ({ ...claims, exp: 1_600_000_000 })],
    ["no subject", ({ sub: _, ...claims }: Json) => claims]
  ])("because its token has %s is refused", async (_what, forge) => {
    shared.provider.forge = forge
    await assertRefused(await logIn(shared, verified("forged")), /does not fit this login/)
  })

  it("because another key has signed it is refused", async () => {
    shared.provider.forge = (claims) => claims
    const { page } = await logIn(shared, verified("forged"))
    assert.strictEqual(page.status, 200, "the same token, signed by the provider's own key")
    const other = await TestProvider.newKey()
    for (const key of [other, { ...other, kid: shared.provider.kid }]) {
      shared.provider.otherKey = key
      await assertRefused(await logIn(shared, verified("forged")), /does not fit this login/)
    }
  })

  it("because the provider has refused the person says so", async () => {
    const reader = new Browser(shared.program.url)
    const { searchParams } = new URL(await begin(reader))
    const back = new URL("/api/auth/oidc/callback", shared.program.url)
    back.searchParams.set("error", "access_denied")
    back.searchParams.set("error_description", "<script>")
    back.searchParams.set("state", searchParams.get("state") ?? "")
    back.searchParams.set("iss", shared.provider.issuer)
    const page = await comeBack(reader, back)
    await assertRefused({ page, reader }, /did not log you in \(access_denied\)/)
    assert.notInclude(page.text, "<script>")
  })
})

describe("what a thief has", () => {
  it("of a stolen code without the flow's cookie is nothing", async () => {
    const victim = new Browser(shared.program.url)
    shared.provider.account = verified("victim")
    const back = await shared.provider.visit(await begin(victim))
    const thief = new Browser(shared.program.url)
    await assertRefused({ page: await comeBack(thief, back), reader: thief }, /start again/, 400)
    const other = new Browser(shared.program.url)
    const own = new URL(await begin(other))
    back.searchParams.set("state", own.searchParams.get("state") ?? "")
    const { exchanges } = shared.provider
    await assertRefused({ page: await comeBack(other, back), reader: other }, /did not accept the login/)
    assert.strictEqual(shared.provider.exchanges, exchanges + 1, "the provider saw the code with another verifier")
  })

  it("of a stolen flow cookie without the code is nothing", async () => {
    const victim = new Browser(shared.program.url)
    await begin(victim)
    const thief = new Browser(shared.program.url)
    for (const [name, value] of victim.cookies) thief.cookies.set(name, value)
    const page = await thief.open("/api/auth/oidc/callback?code=guess")
    await assertRefused({ page, reader: thief }, /does not fit this login/)
    assert.strictEqual((await thief.open("/api/auth/oidc/callback")).status, 403)
  })

  it("of both, after the victim has logged in, is nothing: the code is used up", async () => {
    const victim = new Browser(shared.program.url)
    shared.provider.account = verified("victim")
    const back = await shared.provider.visit(await begin(victim))
    const thief = new Browser(shared.program.url)
    for (const [name, value] of victim.cookies) thief.cookies.set(name, value)
    assert.strictEqual((await comeBack(victim, back)).status, 200)
    await assertRefused({ page: await comeBack(thief, back), reader: thief }, /did not accept the login/)
  })
})

describe("the settings", () => {
  it("decide about sign-up, domains and linking as they do for codes", async () => {
    const here = await world({ SERVICE_SIGNUP: "invited", SERVICE_OIDC_ALLOWED_DOMAINS: "example.com" })
    await assertRefused(await logIn(here, verified("stranger")), /nobody with this address was invited/i)
    await assertRefused(await logIn(here, verified("root", "root@example.com.evil.org")), /addresses of this domain/i)
    const root = await logIn(here, verified("root", "ROOT@example.com"))
    assert.isTrue((await userOf(root.reader)).is_superadmin)
  })

  it("never link a known person with SERVICE_OIDC_LINK=never, take addresses of the ID token alone, and no empty subject", async () => {
    const here = await world({ SERVICE_OIDC_LINK: "never" }, { inToken: true })
    await assertRefused(await logIn(here, verified("root")), /links no known users/)
    const { page, reader } = await logIn(here, verified("fresh"))
    assert.strictEqual(page.status, 200, page.text)
    assert.strictEqual((await userOf(reader)).email, "fresh@example.com")
    assert.strictEqual((await logIn(here, verified("fresh"))).page.status, 200, "linked at its first login")
    here.provider.forge = (claims: Json) => ({ ...claims, sub: "" })
    await assertRefused(await logIn(here, verified("nameless")), /gave no identity/)
  })

  it("switch codes off", async () => {
    const here = await world({ SERVICE_EMAIL_LOGIN: "0" })
    for (const [path, body] of [
      ["/api/auth/login", { email: "ada@example.com" }],
      ["/api/auth/verify", { email: "ada@example.com", code: "000000" }]
    ] as const) {
      const { body: answer, status } = await here.program.call("POST", path, { body })
      assert.strictEqual(status, 403)
      assert.include(answer.error.message, `switched off on this server: log in at ${here.program.url}/login`)
    }
    const { text } = await new Browser(here.program.url).open("/login")
    assert.notInclude(text, "<form")
    assert.include(text, "/login/provider")
    assert.strictEqual((await logIn(here, verified("ada"))).page.status, 200)
  })
})

describe("an unreachable provider", () => {
  it("stops no server, says so on a page, and is used as soon as it is up; again when it goes away in between", async () => {
    const here = await world({}, { down: true })
    const reader = new Browser(here.program.url)
    const down = await reader.open("/login/provider")
    assert.strictEqual(down.status, 502)
    assert.match(alertOf(down), /^Test &amp; Co cannot be reached at the moment/)
    assert.isString(await here.program.login("ada@example.com"), "codes go on")
    await here.provider.start()
    assert.strictEqual((await logIn(here, verified("ada"))).page.status, 200)

    const back = await here.provider.visit(await begin(reader))
    await here.provider.stop()
    const between = await comeBack(reader, back)
    assert.strictEqual(between.status, 502, between.text)
    await here.provider.start()
    assert.strictEqual((await logIn(here, verified("ada"))).page.status, 200)
  })
})

describe("a provider that answers late", () => {
  it("is asked once for its metadata by all who log in at the same time", async () => {
    const asked: Array<string> = []
    const late = createServer((request, response) => {
      asked.push(request.url ?? "")
      setTimeout(() => response.writeHead(503).end(), 300)
    })
    await new Promise<void>((resolve) => late.listen(0, "127.0.0.1", resolve))
    const here = await world({ SERVICE_OIDC_ISSUER: `http://127.0.0.1:${(late.address() as AddressInfo).port}` })
    await here.program.said(/the provider of single sign-on/)
    const before = asked.length
    const pages = await Promise.all(
      Array.from({ length: 4 }, () => new Browser(here.program.url).open("/login/provider"))
    )
    assert.deepStrictEqual(
      pages.map(({ status }) => status),
      [502, 502, 502, 502]
    )
    assert.strictEqual(asked.length - before, 1)
    late.close()
  })
})

describe("many refused logins of one network", () => {
  it("have to wait, and nobody asks the provider for them", async () => {
    const here = await world()
    const reader = new Browser(here.program.url)
    await begin(reader)
    const attempt = () => reader.open("/api/auth/oidc/callback?code=guess")
    for (let times = 0; times < 30; times++) assert.strictEqual((await attempt()).status, 403)
    const limited = await attempt()
    assert.strictEqual(limited.status, 429)
    assert.match(alertOf(limited), /^Too many refused logins from this address: try again in \d+ seconds\.$/)
    assert.match(limited.headers.get("retry-after") ?? "", /^\d+$/)
  })
})

describe("groups of the provider", () => {
  const claim = { SERVICE_OIDC_GROUPS_CLAIM: "groups" }

  /** An organization whose group `staff` reads, for the provider's group `eng`, with a member. */
  const mapped = async ({ program }: World, address: string) => {
    const token = await program.login("owner@example.com")
    const ask = async (method: string, path: string, body: unknown) => {
      const { status, text } = await program.call(method, `/api/orgs${path}`, { token, body })
      assert.isBelow(status, 300, text)
    }
    await ask("POST", "", { name: "acme" })
    await ask("POST", "/acme/projects", { name: "webshop" })
    await ask("POST", "/acme/members", { email: address, role: "developer" })
    await ask("POST", "/acme/groups", { name: "staff" })
    const rule = { subject_type: "group", group: "staff", permission: "read" }
    await ask("POST", "/acme/acl", { ...rule, project_pattern: "*", env_pattern: "dev" })
    await ask("PUT", "/acme/group-mappings", { mappings: [{ provider_group: "eng", group: "staff" }] })
    return async () => (await program.call("GET", "/api/orgs/acme/groups/staff/members", { token })).body.data as Json[]
  }

  const lists = async (reader: Browser) =>
    (await reader.call("GET", "/api/orgs/acme/projects/webshop/envs/dev/secrets")).status

  it("come from the userinfo endpoint or the token, for the scope, and give what the organization maps", async () => {
    for (const inToken of [false, true]) {
      const here = await world({ ...claim, SERVICE_OIDC_GROUPS_MAX_AGE: "2h" }, { inToken })
      const members = await mapped(here, "grace@example.com")
      const inGroups = (...groups: ReadonlyArray<string>) => ({ ...verified("grace"), groups })
      const address = new URL(await begin(new Browser(here.program.url)))
      assert.strictEqual(address.searchParams.get("scope"), "openid email groups")
      const { reader } = await logIn(here, inGroups("eng", "others"))
      assert.strictEqual(await lists(reader), 200)
      const [grace] = await members()
      assert.deepInclude(grace, { email: "grace@example.com", provider_group: "eng" })
      assert.notProperty(grace, "added_by")
      assert.closeTo(Date.parse(grace!.login_ends_at) - Date.now(), 2 * 3_600_000, 60_000)
      await logIn(here, inGroups("others"))
      assert.deepStrictEqual([await lists(reader), await members()], [403, []])
      // A provider sends one name alone, or leaves the claim out.
      await logIn(here, { ...verified("grace"), groups: "eng" })
      assert.strictEqual(await lists(reader), 200)
      await logIn(here, verified("grace"))
      assert.strictEqual(await lists(reader), 403)
    }
  })

  it("stop a login where the provider leaves them out, or sends something else, with a sentence that says what to do", async () => {
    const here = await world(claim, { inToken: true })
    const members = await mapped(here, "grace@example.com")
    const forged = (more: object) => {
      here.provider.forge = ({ groups: _, ...claims }: Json) => ({ ...claims, ...more })
    }
    const elsewhere =
      /left out your groups because there are too many for a token: its administrator has to let it send only the groups/
    const form = /^The claim of Test &amp; Co that should list your groups is no list of names/
    const overage = {
      _claim_names: { groups: "src1" },
      _claim_sources: { src1: { endpoint: "https://graph.invalid" } }
    }
    const many = Array.from({ length: 2_001 }, (_, index) => `g${index}`)
    const refusals: ReadonlyArray<readonly [object, RegExp, string]> = [
      [overage, elsewhere, "groups_overage"],
      [{ hasgroups: true }, elsewhere, "groups_overage"],
      [{ groups: { eng: true } }, form, "groups_form"],
      [{ groups: ["eng", 7] }, form, "groups_form"],
      [{ groups: many }, /sent more than 2,000 groups of yours/, "groups_many"]
    ]
    for (const [more, says, reason] of refusals) {
      forged(more)
      await assertRefused(await logIn(here, verified("grace")), says)
      const { metadata } = await newestEntry(here)
      assert.deepStrictEqual(metadata, { method: "oidc", reason })
    }
    // Claims that do not concern the groups, and the most groups that a token may have.
    for (const more of [
      { groups: ["eng"], hasgroups: true },
      { groups: [...many.slice(2), "eng"], _claim_names: { roles: "src1" } }
    ]) {
      forged(more)
      const { reader } = await logIn(here, verified("grace"))
      assert.strictEqual(await lists(reader), 200)
      assert.lengthOf(await members(), 1)
    }
  })

  it("count for nothing while the server takes no groups", async () => {
    const here = await world({}, { inToken: true })
    const members = await mapped(here, "grouped@example.com")
    const address = new URL(await begin(new Browser(here.program.url)))
    assert.strictEqual(address.searchParams.get("scope"), "openid email")
    here.provider.forge = (claims: Json) => ({ ...claims, groups: ["eng"] })
    const { page } = await logIn(here, { ...verified("grouped"), groups: ["eng"] })
    assert.strictEqual(page.status, 200)
    assert.deepStrictEqual(await members(), [])
  })
})

import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Answer, assertRefused, Program, type Json } from "../support/Program.js"

let program: Program

beforeAll(async () => {
  program = await Program.start()
})

afterAll(async () => {
  await program.remove()
})

const ask = async (email: string): Promise<Answer> => program.call("POST", "/api/auth/login", { body: { email } })
const other = (code: string): string => (code === "000000" ? "000001" : "000000")

/** `times` failed verifications, in a row. */
const fail = async (email: string, times: number): Promise<void> => {
  for (let i = 0; i < times; i++) {
    assertRefused(await program.verify(email, "123456"), 401, "INVALID_CODE")
  }
}

const assertRetryAfter = ({ headers }: Answer, most: number): void => {
  const seconds = headers.get("retry-after") ?? ""
  assert.match(seconds, /^[1-9]\d*$/)
  assert.isAtMost(Number(seconds), most)
}

/** The server dies without a word and is started again on the same files. */
const restartAfterKill = async (): Promise<void> => {
  await program.stop("SIGKILL")
  program = await Program.start({}, program.folder)
}

describe("a login", () => {
  it("goes from a code to a token that says who one is", async () => {
    const token = await program.login("ada@example.com")
    assert.match(token, /^svc_st_[0-9A-Za-z]{49}$/)
    const { body, status } = await program.call("GET", "/api/auth/me", { token })
    assert.strictEqual(status, 200)
    assert.match(body.id, /^[0-9a-f]{8}-[0-9a-f]{4}-4/)
    assert.deepStrictEqual(
      { ...body, id: "" },
      { id: "", type: "user", email: "ada@example.com", name: "ada", is_superadmin: false }
    )
  })

  it("is answered in the same words for everybody", async () => {
    const known = await ask("ada@example.com")
    const unknown = await ask("nobody@example.com")
    assert.strictEqual(unknown.text, known.text)
    assert.deepStrictEqual(Object.keys(known.body), ["message"])
  })

  it("takes a code once", async () => {
    const code = await program.codeFor("once@example.com")
    assert.strictEqual((await program.verify("once@example.com", code)).status, 200)
    assertRefused(await program.verify("once@example.com", code), 401, "INVALID_CODE")
  })

  it("is won by exactly one of many verifications that race with the right code", async () => {
    const code = await program.codeFor("race@example.com")
    const answers = await Promise.all(Array.from({ length: 6 }, async () => program.verify("race@example.com", code)))
    assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401, 401, 401])
    const { body } = answers.find(({ status }) => status === 200) ?? assert.fail()
    const sessions = await program.call("GET", "/api/auth/sessions", { token: body.token })
    assert.lengthOf(sessions.body.data, 1)
  })

  it("is over with one wrong guess: the right code is refused after it", async () => {
    const code = await program.codeFor("guess@example.com")
    const wrong = await program.verify("guess@example.com", other(code))
    assertRefused(wrong, 401, "INVALID_CODE")
    const right = await program.verify("guess@example.com", code)
    assert.strictEqual(right.text, wrong.text)
    assert.strictEqual(
      (await program.verify("guess@example.com", await program.codeFor("guess@example.com"))).status,
      200
    )
  })

  it("takes the last code alone when several were asked for", async () => {
    const first = await program.codeFor("twice@example.com")
    const second = await program.codeFor("twice@example.com")
    if (first !== second) assertRefused(await program.verify("twice@example.com", first), 401, "INVALID_CODE")
    const third = await program.codeFor("twice@example.com")
    assert.strictEqual((await program.verify("twice@example.com", third)).status, 200)
  })

  it("says the same of a code that was never requested as of a wrong one", async () => {
    const code = await program.codeFor("asked@example.com")
    const wrong = await program.verify("asked@example.com", other(code))
    const never = await program.verify("never@example.com", code)
    assertRefused(never, 401, "INVALID_CODE")
    assert.strictEqual(never.text, wrong.text)
  })

  it("does not take another person's code", async () => {
    const code = await program.codeFor("mine@example.com")
    assertRefused(await program.verify("yours@example.com", code), 401, "INVALID_CODE")
    assert.strictEqual((await program.verify("mine@example.com", code)).status, 200)
  })

  it("takes an address as it is meant, whatever its case and the spaces around it", async () => {
    const code = await program.codeFor("  Mixed.Case@Example.COM ")
    const { body } = await program.verify("mixed.case@example.com", code)
    const me = await program.call("GET", "/api/auth/me", { token: body.token })
    assert.strictEqual(me.body.email, "mixed.case@example.com")
  })
})

describe("a session", () => {
  it("is listed with the others of its person, ended alone, and known to nobody else", async () => {
    const email = "sessions@example.com"
    const [first, second, third] = [await program.login(email), await program.login(email), await program.login(email)]
    const list = async (token?: string) => program.call("GET", "/api/auth/sessions", { token })
    const { data } = (await list(first)).body
    assert.lengthOf(data, 3)
    assert.deepStrictEqual(Object.keys(data[0]).sort(), ["created_at", "current", "id", "ip_address", "last_used_at"])
    assert.deepStrictEqual(
      data.map(({ current }: Json) => current),
      [false, false, true]
    )
    assert.match(data[0].created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.strictEqual(data[0].ip_address, "127.0.0.1")

    const stranger = await program.login("stranger@example.com")
    const path = `/api/auth/sessions/${data[0].id}`
    assertRefused(await program.call("DELETE", path, { token: stranger }), 404, "NOT_FOUND")
    assert.strictEqual((await list(third)).status, 200)

    const ended = await program.call("DELETE", path, { token: first })
    assert.deepStrictEqual([ended.status, ended.text], [204, ""])
    assertRefused(await list(third), 401, "UNAUTHORIZED")
    assertRefused(await program.call("DELETE", path, { token: first }), 404, "NOT_FOUND")

    assert.strictEqual((await program.call("DELETE", "/api/auth/logout", { token: first })).status, 204)
    assertRefused(await list(first), 401, "UNAUTHORIZED")
    assert.lengthOf((await list(second)).body.data, 1)
  })

  it("ends with all the others when all are ended", async () => {
    const tokens = [await program.login("all@example.com"), await program.login("all@example.com")]
    const bystander = await program.login("bystander@example.com")
    assert.strictEqual((await program.call("DELETE", "/api/auth/sessions", { token: tokens[0] })).status, 204)
    for (const token of tokens) assertRefused(await program.call("GET", "/api/auth/me", { token }), 401, "UNAUTHORIZED")
    assert.strictEqual((await program.call("GET", "/api/auth/me", { token: bystander })).status, 200)
  })

  it("is one that was issued, to the letter", async () => {
    const token = await program.login("letter@example.com")
    const last = token.at(-1) === "a" ? "b" : "a"
    const headers: ReadonlyArray<Record<string, string>> = [
      {},
      { authorization: "" },
      { authorization: "Bearer" },
      { authorization: `Bearer ${token.slice(0, -1)}${last}` },
      { authorization: `Bearer ${token} x` },
      { authorization: `Basic ${token}` },
      { authorization: token },
      { "x-api-key": token },
      { authorization: `Bearer ${token}`, "x-api-key": "" },
      { cookie: `token=${token}` }
    ]
    for (const each of headers) {
      const answer = await program.call("GET", "/api/auth/me", { headers: each })
      assertRefused(answer, 401, "UNAUTHORIZED")
      assert.match(answer.headers.get("www-authenticate") ?? "", /^Bearer/)
    }
    assertRefused(await program.call("GET", `/api/auth/me?token=${token}`), 401, "UNAUTHORIZED")
    const lower = await program.call("GET", "/api/auth/me", { headers: { authorization: `bearer ${token}` } })
    assert.strictEqual(lower.status, 200)
  })

  it("notes the address that the proxy says, when it is one", async () => {
    const addressOf = async (headers: Record<string, string>) => {
      const email = `ip${Object.values(headers)
        .join("")
        .replace(/[^a-z0-9]/gi, "")}@example.com`
      const code = await program.codeFor(email)
      const { body } = await program.call("POST", "/api/auth/verify", { body: { email, code }, headers })
      return (await program.call("GET", "/api/auth/sessions", { token: body.token })).body.data[0].ip_address
    }
    assert.strictEqual(await addressOf({ "x-real-ip": "203.0.113.9" }), "203.0.113.9")
    assert.strictEqual(await addressOf({ "x-forwarded-for": "2001:db8::7, 10.0.0.1" }), "2001:db8::7")
    assert.strictEqual(await addressOf({ "x-real-ip": "<script>" }), "127.0.0.1")
  })
})

describe("asking for codes", () => {
  it.each([
    ["known", true],
    ["unknown", false]
  ])("is refused the sixth time within 15 minutes for one %s address", async (name, known) => {
    const email = `${name}.asker@example.com`
    if (known) await program.login(email)
    for (let i = known ? 1 : 0; i < 5; i++) assert.strictEqual((await ask(email)).status, 200)
    const sixth = await ask(email)
    assertRefused(sixth, 429, "RATE_LIMITED", /too many login requests/)
    assertRetryAfter(sixth, 15 * 60)
    assert.strictEqual((await ask("another.asker@example.com")).status, 200)
  })

  it("is counted together for all spellings of an address, and across a crash", async () => {
    for (const email of ["spell@example.com", "SPELL@example.com", " spell@example.com", "Spell@Example.Com\t"]) {
      assert.strictEqual((await ask(email)).status, 200)
    }
    const code = await program.codeFor("\nsPeLL@EXAMPLE.com  ")
    await restartAfterKill()
    const refused = await ask("spell@example.com")
    assertRefused(refused, 429, "RATE_LIMITED")
    assertRetryAfter(refused, 15 * 60)
    assertRefused(await ask("SPELL@EXAMPLE.COM"), 429, "RATE_LIMITED")
    assert.strictEqual((await program.verify("spell@example.com", code)).status, 200)
  })
})

describe("ten failed verifications within an hour", () => {
  it("lock an address out, even with the right code; sessions go on, and so does the lock after a crash", async () => {
    const email = "locked@example.com"
    const token = await program.login(email)
    await fail("LOCKED@example.com", 5)
    await fail(" Locked@Example.com ", 4)
    const code = await program.codeFor(email)
    await fail(email, 1)
    const after = await program.codeFor(email)
    for (const each of [code, after, other(after)]) {
      const refused = await program.verify(email, each)
      assertRefused(refused, 429, "LOCKED_OUT", /too many failed verifications/)
      assertRetryAfter(refused, 60 * 60)
    }
    assert.strictEqual((await program.call("GET", "/api/auth/me", { token })).status, 200)

    await restartAfterKill()
    const again = await program.verify("LockeD@example.com", after)
    assertRefused(again, 429, "LOCKED_OUT")
    assertRetryAfter(again, 60 * 60)
    assert.strictEqual((await program.call("GET", "/api/auth/me", { token })).status, 200)
    assert.isString(await program.login("free@example.com"))
  })

  it("lock an address out that nobody has used, in the same words", async () => {
    await fail("phantom@example.com", 10)
    const phantom = await program.verify("phantom@example.com", "123456")
    const known = await program.verify("locked@example.com", "123456")
    assertRefused(phantom, 429, "LOCKED_OUT")
    assert.strictEqual(phantom.body.error.message.replace(/\d+/, ""), known.body.error.message.replace(/\d+/, ""))
  })

  it("are counted one by one when they race", async () => {
    const answers = await Promise.all(
      Array.from({ length: 16 }, async () => program.verify("racing@example.com", "123456"))
    )
    assert.lengthOf(
      answers.filter(({ status }) => status === 401),
      10
    )
    assert.lengthOf(
      answers.filter(({ status }) => status === 429),
      6
    )
  })

  it("are not brought about by logins that succeed", async () => {
    await fail("nearly@example.com", 8)
    assert.isString(await program.login("nearly@example.com"))
    await fail("nearly@example.com", 1)
    assert.isString(await program.login("nearly@example.com"))
    await fail("nearly@example.com", 1)
    assertRefused(await program.verify("nearly@example.com", "123456"), 429, "LOCKED_OUT")
  })
})

it("asks for 30 codes in 15 minutes from one client's address, known e-mails or not", async () => {
  const ask = (email: string, ip: string) =>
    program.call("POST", "/api/auth/login", { body: { email }, headers: { "x-real-ip": ip } })
  for (let request = 0; request < 30; request++) {
    const ip = `2001:db8:7:7::${request.toString(16)}`
    assert.strictEqual((await ask(`invented-${request}@example.com`, ip)).status, 200)
  }
  for (const email of ["ada@example.com", "never-seen@example.com"]) {
    const refused = await ask(email, "2001:db8:7:7:8::1")
    assertRefused(refused, 429, "RATE_LIMITED", /from this address: try again in \d+ seconds$/)
    assert.match(refused.headers.get("retry-after") ?? "", /^(8\d\d|900)$/)
    assert.strictEqual((await ask(email, "2001:db8:7:8::1")).status, 200)
  }
})

import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  assertRefused,
  assertStandardHeaders,
  type Dialogue,
  parseRaw,
  Program,
  type RawAnswer
} from "../support/Program.js"

const secret = "/api/orgs/acme/projects/webshop/envs/dev/secrets/KEY"
const bundle = "/api/orgs/acme/projects/webshop/envs/dev/bundle"
const mark = "mark5f1b1e9a"

let program: Program
let token: string

const request = (lines: ReadonlyArray<string>, body = ""): string => `${lines.join("\r\n")}\r\n\r\n${body}`
const closing = ["Host: coffer.test", "Connection: close"]
const exchange = async (line: string, ...fields: ReadonlyArray<string>): Promise<RawAnswer> =>
  program.exchange(request([line, ...closing, ...fields]))

beforeAll(async () => {
  program = await Program.start()
  token = await program.login("ada@example.com")
  await program.call("POST", "/api/orgs", { token, body: { name: "acme" } })
  await program.call("POST", "/api/orgs/acme/projects", { token, body: { name: "webshop" } })
})

afterAll(async () => {
  assert.deepStrictEqual(
    program.log.split("\n").filter((line) => line.includes("defect")),
    []
  )
  assert.notInclude(program.log, mark)
  await program.remove()
})

describe("a path", () => {
  it.each([
    ["that nobody knows", "/nowhere"],
    ["in other letters", "/API/orgs"],
    ["in other letters further on", "/api/auth/ME"],
    ["with a slash at its end", "/health/"],
    ["with a slash after a parameter", "/api/orgs/acme/"],
    ["with an empty segment", "/api//orgs"],
    ["with an empty parameter", "/api/orgs//projects"],
    ["with two slashes first", "//health"],
    ["with a semicolon", "/health;a"],
    ["with a semicolon in a parameter", `${secret};x`],
    ["with a fragment", "/health#x"],
    ["with dot segments", "/health/../health"],
    ["with bad percent-encoding", "/api/orgs/%zz"],
    ["with bytes that are not UTF-8", "/api/orgs/%ff%fe"],
    ["with a parameter over 1,000 characters", `/api/orgs/${"a".repeat(1001)}`],
    ["that is an asterisk", "*"]
  ])("%s is not found", async (_name, path) => {
    assertRefused(
      await exchange(`${path === "*" ? "OPTIONS" : "GET"} ${path} HTTP/1.1`),
      404,
      "NOT_FOUND",
      /no such path/
    )
    assertRefused(await exchange(`HEAD ${path} HTTP/1.1`).then(withoutBody), 404, "NOT_FOUND")
  })

  it("with a parameter of up to 1,000 characters reaches its call, which refuses it by its rule", async () => {
    assertRefused(await exchange(`GET /api/orgs/${"a".repeat(1000)} HTTP/1.1`), 401, "UNAUTHORIZED")
    const answer = await program.call("GET", `/api/orgs/${"a".repeat(1000)}`, { token })
    assertRefused(answer, 400, "VALIDATION_ERROR", /^org_name: /)
  })

  it("may escape what it need not escape", async () => {
    assert.strictEqual((await exchange("GET /%68ealth HTTP/1.1")).status, 200)
  })

  it("may be part of an absolute target, whatever authority that names", async () => {
    for (const target of ["http://coffer.test/health", "HTTPS://elsewhere.example:8443/health?x=//"]) {
      assert.strictEqual((await exchange(`GET ${target} HTTP/1.1`)).status, 200, target)
    }
    assert.strictEqual((await exchange("GET http://coffer.test HTTP/1.1")).status, 200, "the root")
    assertRefused(await exchange("GET http://coffer.test/api/auth/me HTTP/1.1"), 401, "UNAUTHORIZED")
  })
})

/** An answer to HEAD has no body: the envelope that it stands for is filled in. */
const withoutBody = (answer: RawAnswer): RawAnswer => {
  assert.strictEqual(answer.text, "")
  return { ...answer, text: JSON.stringify({ error: { code: "NOT_FOUND", message: "(no body)" } }) }
}

describe("a method", () => {
  it.each([
    ["POST", "/health", "GET, HEAD"],
    ["OPTIONS", "/health", "GET, HEAD"],
    ["TRACE", "/health", "GET, HEAD"],
    ["PROPFIND", "/health", "GET, HEAD"],
    ["GET", "/api/auth/login", "POST"],
    ["HEAD", "/api/auth/login", "POST"],
    ["PUT", "/api/orgs", "GET, HEAD, POST"],
    ["POST", secret, "DELETE, GET, HEAD, PATCH, PUT"],
    ["DELETE", bundle, "GET, HEAD, PATCH"],
    ["OPTIONS", "/api/orgs/acme/projects/webshop/envs", "GET, HEAD, POST"]
  ])("%s that %s does not take is answered with those it takes", async (method, path, allow) => {
    const answer = await exchange(`${method} ${path} HTTP/1.1`)
    assert.strictEqual(answer.headers.get("allow")?.trim(), allow)
    if (method === "HEAD") assert.strictEqual(answer.status, 405)
    else assertRefused(answer, 405, "METHOD_NOT_ALLOWED", new RegExp(`does not take ${method}`))
  })

  it("HEAD is answered as GET is, without the body", async () => {
    const get = await exchange("GET /health HTTP/1.1")
    const head = await exchange("HEAD /health HTTP/1.1")
    assert.deepStrictEqual([head.status, head.text], [200, ""])
    assert.strictEqual(head.headers.get("content-length"), get.headers.get("content-length"))
    assertStandardHeaders(head)
  })
})

describe("what is not HTTP as it should be", () => {
  it.each([
    ["garbage", `\x16\x03\x01 ${mark}\r\n\r\n`],
    ["a target that is no path", request(["GET health HTTP/1.1", ...closing])],
    ["a raw byte over 127 in the path", request(["GET /\x80 HTTP/1.1", ...closing])],
    ["a header without a colon", request(["GET /health HTTP/1.1", ...closing, `X ${mark}`])],
    [
      "two lengths",
      request(["POST /api/auth/login HTTP/1.1", ...closing, "Content-Length: 2", "Content-Length: 3"], "{} ")
    ],
    [
      "a length and chunks",
      request(
        ["POST /api/auth/login HTTP/1.1", ...closing, "Content-Length: 2", "Transfer-Encoding: chunked"],
        "0\r\n\r\n"
      )
    ],
    ["a length that is no number", request(["POST /api/auth/login HTTP/1.1", ...closing, "Content-Length: two"], "{}")],
    ["HTTP of another version", request(["GET /health HTTP/3.0", ...closing])]
  ])("such as %s is refused with the envelope", async (_name, bytes) => {
    assertRefused(await program.exchange(bytes), 400, "VALIDATION_ERROR", /^the request is not well-formed HTTP$/)
  })

  it("is refused with 431 when its headers are larger than 16 KiB", async () => {
    const answer = await exchange("GET /health HTTP/1.1", `X-A: ${mark.repeat(2000)}`)
    assertRefused(answer, 431, "VALIDATION_ERROR", /headers exceed the limit of 16 KiB/)
  })

  it("is refused when a body ends before it is whole", async () => {
    const dialogue = program.dial()
    const line = `PUT ${secret} HTTP/1.1`
    dialogue.write(
      request(
        [line, ...closing, `Authorization: Bearer ${token}`, "Content-Type: application/json", "Content-Length: 99"],
        `{"value":"${mark}`
      )
    )
    dialogue.finish()
    await dialogue.closed
    assertRefused(parseRaw(dialogue.received), 400, "VALIDATION_ERROR")
    assertRefused(await program.call("GET", secret, { token }), 404, "NOT_FOUND")
  })

  it("is refused without a Host, with an empty one and with two", async () => {
    for (const hosts of [[], ["Host:"], ["Host: a", "Host: a"], ["Host: a", "host: b"]]) {
      const answer = await program.exchange(request(["GET /health HTTP/1.1", "Connection: close", ...hosts]))
      assertRefused(answer, 400, "VALIDATION_ERROR", /Host/)
    }
  })

  it("is refused when it expects what no server knows", async () => {
    const answer = await exchange(
      "GET /health HTTP/1.1",
      "Expect: foo",
      "X-Request-Id: 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"
    )
    assertRefused(answer, 400, "VALIDATION_ERROR", /100-continue/)
    assert.strictEqual(answer.headers.get("x-request-id")?.trim(), "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e")
  })

  it("is refused when it wants a tunnel", async () => {
    const answer = await program.exchange(request(["CONNECT example.com:443 HTTP/1.1", "Host: example.com:443"]))
    assertRefused(answer, 400, "VALIDATION_ERROR", /no proxy/)
  })

  it("never ends the server, however the connection breaks", async () => {
    const starts = [
      request(["CONNECT example.com:443 HTTP/1.1", "Host: x"]),
      "\x00\x01garbage",
      request(
        [
          `PUT ${secret} HTTP/1.1`,
          ...closing,
          `Authorization: Bearer ${token}`,
          "Content-Type: application/json",
          "Transfer-Encoding: chunked"
        ],
        '5\r\n{"val'
      ),
      request([`PUT ${secret} HTTP/1.1`, ...closing, "Content-Length: 9"], "{"),
      "GET /health HT"
    ]
    for (const start of starts) {
      const dialogue = program.dial()
      await dialogue.connected
      dialogue.write(start)
      dialogue.reset()
      await dialogue.closed
    }
    assert.strictEqual((await program.call("GET", "/health")).status, 200)
  })
})

describe("what HTTP allows", () => {
  it("is answered over HTTP/1.0, with or without a Host", async () => {
    for (const hosts of [[], ["Host: coffer.test"]]) {
      const answer = await program.exchange(request(["GET /health HTTP/1.0", ...hosts]))
      assert.deepStrictEqual([answer.status, answer.text], [200, `{"status":"ok"}`])
    }
  })

  it("is a client that waits for 100 Continue", async () => {
    const dialogue = program.dial()
    dialogue.write(
      request([
        "POST /api/auth/login HTTP/1.1",
        ...closing,
        "Expect: 100-continue",
        "Content-Type: application/json",
        "Content-Length: 2"
      ])
    )
    await dialogue.heard(/^HTTP\/1\.1 100 Continue/)
    dialogue.write("{}")
    await dialogue.closed
    assertRefused(parseRaw(dialogue.received), 400, "VALIDATION_ERROR", /^email: is required/)
  })

  it("is an offer to speak another protocol, which is passed over", async () => {
    const dialogue = program.dial()
    dialogue.write(
      request([
        "GET /health HTTP/1.1",
        "Host: x",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
      ])
    )
    await dialogue.heard(/^HTTP\/1\.1 200 OK[^]*\{"status":"ok"\}$/)
    dialogue.hangUp()
  })

  it("is such an offer in a request with a body, which arrives", async () => {
    const json = JSON.stringify({ value: "upgraded" })
    const answer = await program.exchange(
      request(
        [
          `PUT ${secret} HTTP/1.1`,
          "Host: x",
          "Connection: Upgrade, HTTP2-Settings, close",
          "Upgrade: h2c",
          "HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA",
          `Authorization: Bearer ${token}`,
          "Content-Type: application/json",
          `Content-Length: ${json.length}`
        ],
        json
      )
    )
    assert.strictEqual(answer.status, 200, answer.text)
    assert.strictEqual((await program.call("GET", secret, { token })).body.value, "upgraded")
  })

  it("is several requests in a row on one connection, answered in their order", async () => {
    const dialogue = program.dial()
    const ids = ["first", "second", "third"]
    dialogue.write(ids.map((id) => request(["GET /health HTTP/1.1", "Host: x", `X-Request-Id: ${id}`])).join(""))
    await dialogue.heard(/third/)
    assert.deepStrictEqual(
      [...dialogue.received.matchAll(/x-request-id: (\w+)/g)].map((found) => found[1]),
      ids
    )
    dialogue.hangUp()
  })
})

/** The target of a descriptor; nothing if it was closed since the directory was read, as that of a request's connection. */
const targetOf = (path: string): string => {
  try {
    return readlinkSync(path)
  } catch {
    return ""
  }
}

/** The TCP sockets that a process listens on, as the system knows them. */
const listenersOf = (pid: number): ReadonlyArray<string> => {
  const own = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    return /^socket:\[(\d+)\]$/.exec(targetOf(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
  })
  return readFileSync(`/proc/${pid}/net/tcp`, "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([, , , state, , , , , , inode = ""]) => (state === "0A" && own.includes(inode) ? [inode] : []))
}

describe("SIGUSR1", () => {
  it("opens no debugger, and the server goes on", async () => {
    for (let i = 0; i < 2; i++) {
      program.signal("SIGUSR1")
      assert.strictEqual((await program.call("GET", "/health")).status, 200)
    }
    assert.notMatch(program.log, /debugger/i)
    assert.lengthOf(listenersOf(program.pid), 1)
  })
})

describe("a browser of another origin", () => {
  it("gets nothing while no origin is allowed", async () => {
    const origin = "https://app.example.com"
    const preflight = { origin, "access-control-request-method": "PUT" }
    const asked = await program.call("OPTIONS", secret, { headers: preflight })
    assertRefused(asked, 405, "METHOD_NOT_ALLOWED")
    const got = await program.call("GET", "/health", { headers: { origin } })
    for (const { headers } of [asked, got]) assert.notMatch([...headers.keys()].join(" "), /access-control/)
  })
})

describe("a body's size", () => {
  const kib = 1024
  const calls = [
    { name: "a login", method: "POST", path: "/api/auth/login", json: `{"email":"big@example.com"}`, limit: 8 * kib },
    { name: "a verification", method: "POST", path: "/api/auth/verify", json: "{}", limit: 8 * kib },
    { name: "a secret", method: "PUT", path: secret, json: `{"value":"x"}`, limit: 1024 * kib },
    { name: "a bundle", method: "PATCH", path: bundle, json: `{"dry_run":true}`, limit: 16 * 1024 * kib }
  ] as const

  const padded = (json: string, size: number): string => json.padEnd(size, " ")
  const head = ({ method, path }: (typeof calls)[number], ...fields: ReadonlyArray<string>): string =>
    request([
      `${method} ${path} HTTP/1.1`,
      "Host: x",
      `Authorization: Bearer ${token}`,
      "Content-Type: application/json",
      ...fields
    ])
  const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

  it.each(calls)(
    "is taken up to the limit of $name, and refused a byte beyond it",
    async ({ json, limit, method, path }) => {
      const whole = await program.call(method, path, { token, raw: padded(json, limit) })
      assert.include([200, 400], whole.status, whole.text)
      const beyond = await program.call(method, path, { token, raw: padded(json, limit + 1) })
      assertRefused(beyond, 413, "PAYLOAD_TOO_LARGE", new RegExp(`${limit} bytes`))
    }
  )

  it.each(calls)("is judged for $name by the announced length, before anything is sent", async (call) => {
    const dialogue = program.dial()
    dialogue.write(head(call, `Content-Length: ${call.limit * 1000}`))
    await dialogue.heard(/PAYLOAD_TOO_LARGE[^]*\}$/)
    assertRefused(parseRaw(dialogue.received), 413, "PAYLOAD_TOO_LARGE")
    dialogue.hangUp()
  })

  it.concurrent.each(calls)(
    "is judged for $name while it streams in: it is answered, and then the connection is closed",
    async (call) => {
      const dialogue = program.dial()
      dialogue.write(head(call, "Transfer-Encoding: chunked"))
      dialogue.write(chunk(padded(call.json, call.limit)))
      dialogue.write(chunk(mark))
      await dialogue.heard(/PAYLOAD_TOO_LARGE[^]*\}$/)
      assertRefused(parseRaw(dialogue.received), 413, "PAYLOAD_TOO_LARGE")
      await sendWhileOpen(dialogue, chunk(" ".repeat(kib)))
    }
  )

  it.concurrent("beyond the limit troubles no other request", async () => {
    const flood = chunk(" ".repeat(64 * kib))
    const dialogues = calls.map((call) => {
      const dialogue = program.dial()
      dialogue.write(head(call, "Transfer-Encoding: chunked") + flood.repeat(Math.ceil(call.limit / (64 * kib)) + 1))
      return dialogue
    })
    const flooding = Promise.all(dialogues.map((dialogue) => sendWhileOpen(dialogue, flood)))
    await Promise.all(dialogues.map((dialogue) => dialogue.heard(/PAYLOAD_TOO_LARGE/)))
    for (let i = 0; i < 20; i++) {
      assert.strictEqual((await program.call("GET", "/api/orgs/acme", { token })).status, 200)
    }
    await flooding
  })

  it("is no reason to lose a connection whose body ends soon after", async () => {
    const dialogue = program.dial()
    const [login] = calls
    dialogue.write(head(login, `Content-Length: ${login.limit + 1}`) + padded(login.json, login.limit + 1))
    await dialogue.heard(/PAYLOAD_TOO_LARGE[^]*\}$/)
    dialogue.write(request(["GET /health HTTP/1.1", ...closing]))
    await dialogue.closed
    assert.match(dialogue.received, /\{"status":"ok"\}$/)
  })
})

/** Goes on sending, a little at a time, until the server closes the connection. */
const sendWhileOpen = async (dialogue: Dialogue, text: string): Promise<void> => {
  const sending = setInterval(() => {
    dialogue.write(text)
  }, 50)
  await dialogue.closed
  clearInterval(sending)
}

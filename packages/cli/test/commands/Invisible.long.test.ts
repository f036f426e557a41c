import { once } from "node:events"
import { createServer } from "node:http"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { TestHome } from "../support/Programs.js"
import { Terminal } from "../support/Terminal.js"
import { workplace } from "../support/Workplace.js"

/** A title, a clipboard, a C1 introducer, a bidirectional override, a tag character and a line separator. */
const hostile = "a\x1b]0;title\x07b\x1b]52;c;ZXZpbA==\x07c\x9b2Jd\u202eevil\u2066e\u{e0041}f\u2028g\x7f"

const acting = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u{e0000}-\u{e007f}]/u

const id = "0192f0c1-5b7e-7c3a-9d2e-000000000001"
const moment = "2026-01-31T12:00:00.000Z"

const answers: Readonly<Record<string, object>> = {
  "/api/orgs/acme/audit-logs": {
    data: [
      {
        ...{ id, seq: 1, actor_type: "user", actor_id: id, actor_name: hostile, action: hostile, created_at: moment },
        ...{ resource_type: hostile, resource_id: null, org_id: id, ip_address: hostile, metadata: { fact: hostile } }
      }
    ],
    pagination: { total: 1, limit: 20, has_next: false, next_cursor: null }
  },
  "/api/orgs/acme/members": {
    data: [{ user_id: id, email: "a@b.org", name: hostile, role: "owner", created_at: hostile }]
  },
  "/api/orgs/acme/acl": {
    data: [
      {
        ...{ id, subject_type: "user", subject_id: id, name: hostile, project_pattern: "*", env_pattern: "*" },
        ...{ permission: "read", created_by: hostile, created_at: moment, updated_at: moment }
      }
    ]
  },
  "/api/orgs/acme/projects/webshop/envs": { data: [{ id, name: "dev", created_at: hostile, updated_at: moment }] }
}

const requests: Array<string> = []
const server = createServer(({ url = "" }, response) => {
  requests.push(url)
  const answer = answers[url.replace(/\?.*$/, "")] ?? { error: { code: "NOT_FOUND", message: hostile } }
  response.writeHead("error" in answer ? 404 : 200, { "content-type": "application/json" }).end(JSON.stringify(answer))
})

let home: TestHome
beforeAll(async () => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  home = new TestHome(`http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`)
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  home?.remove()
})

const key = `svc_sa_${"x".repeat(49)}`

const env = { SERVICE_API_KEY: key, SERVICE_ORG: "acme", SERVICE_PROJECT: "webshop", SERVICE_ENV: "dev" }

describe("what a server sends does not act on a terminal", () => {
  const lists = [
    ["audit", "list"],
    ["member", "list"],
    ["acl", "list"],
    ["environment", "list"]
  ]

  it.each(lists)("%s %s", async (...args) => {
    const { code, stderr, stdout } = await home.coffer(args, { env })
    assert.strictEqual(code, 0, `${stderr} ${requests.join(" ")}`)
    assert.include(stdout, "evil")
    assert.notMatch(stdout + stderr, acting)
  })

  it.each([...lists, ["audit", "list", "--all"]])("%s %s --json, which means the same", async (...args) => {
    const { code, stderr, stdout } = await home.coffer([...args, "--json"], { env })
    assert.strictEqual(code, 0, stderr)
    assert.notMatch(stdout, acting)
    const { data }: { readonly data: unknown } = JSON.parse(stdout)
    const [path = ""] = Object.keys(answers).filter((each) =>
      each.endsWith({ audit: "logs", member: "members", acl: "acl" }[args[0] ?? ""] ?? "envs")
    )
    assert.deepInclude(answers[path], { data })
  })

  it("in an error", async () => {
    const { code, stderr } = await home.coffer(["org", "get"], { env })
    assert.strictEqual(code, 4)
    assert.include(stderr, "evil")
    assert.notMatch(stderr, acting)
  })
})

describe("a value", () => {
  const place = workplace()

  beforeAll(async () => {
    await place.prints("secret", "set", "HOSTILE", "--", hostile)
  })

  it("is shown with escapes at a terminal, and says how to see it as it is", async () => {
    const terminal = Terminal.coffer(place.home, "secret", "get", "HOSTILE")
    assert.strictEqual(await terminal.ended(), 0)
    assert.include(terminal.screen, "a\\u001b]0;title\\u0007b")
    assert.include(terminal.screen, "shown as escapes; --raw writes them as they are")
    assert.notMatch(terminal.screen.replaceAll("\r\n", "\n"), acting)
  })

  it("is written as it is with --raw", async () => {
    const terminal = Terminal.coffer(place.home, "secret", "get", "HOSTILE", "--raw")
    assert.strictEqual(await terminal.ended(), 0)
    assert.strictEqual(terminal.screen, `${hostile}\r\n`)
  })

  it("is shown with escapes in an export at a terminal", async () => {
    const terminal = Terminal.coffer(place.home, "secret", "export", "--format", "shell")
    assert.strictEqual(await terminal.ended(), 0)
    assert.include(terminal.screen, "export HOSTILE='a\\u001b]0;title")
    assert.notMatch(terminal.screen.replaceAll("\r\n", "\n"), acting)
  })

  it("of several lines and of letters of all kinds is shown as it is", async () => {
    const text = "línea\t1\n日本語 🔐\n"
    await place.prints("secret", "set", "PLAIN", text)
    const terminal = Terminal.coffer(place.home, "secret", "get", "PLAIN")
    assert.strictEqual(await terminal.ended(), 0)
    assert.strictEqual(terminal.screen.replaceAll("\r\n", "\n"), `${text}\n`)
  })

  it("is the same byte for byte where standard output is no terminal", async () => {
    assert.strictEqual(await place.prints("secret", "get", "HOSTILE"), hostile)
    assert.strictEqual(JSON.parse(await place.prints("secret", "get", "HOSTILE", "--json")).value, hostile)
  })
})

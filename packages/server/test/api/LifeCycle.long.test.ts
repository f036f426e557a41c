import { once } from "node:events"
import { chmodSync, copyFileSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { connect, createServer, type Server } from "node:net"
import { join } from "node:path"
import Sqlite from "better-sqlite3"
import { SMTPServer } from "smtp-server"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import {
  assertRefused,
  cleanUp,
  freshFolder,
  masterKey,
  parseRaw,
  Program,
  type Variables
} from "../support/Program.js"

const secret = "/api/orgs/acme/projects/webshop/envs/dev/secrets/KEY"

// Most of the time goes by while servers start: the tests run beside each other, each with a folder of its own.
vi.setConfig({ testTimeout: 60_000 })

const programs = new Set<Program>()
const start = async (variables?: Variables, folder?: string): Promise<Program> => {
  const program = await Program.start(variables, folder)
  programs.add(program)
  return program
}

afterAll(async () => {
  for (const program of programs) await program.remove()
  cleanUp()
})

/** The files of a server with a secret in it that was killed, and the owner's session. */
let killed: { readonly folder: string; readonly token: string }

beforeAll(async () => {
  const program = await start()
  const { folder } = program
  const token = await program.login("ada@example.com")
  await program.call("POST", "/api/orgs", { token, body: { name: "acme" } })
  await program.call("POST", "/api/orgs/acme/projects", { token, body: { name: "webshop" } })
  await program.call("PUT", secret, { token, body: { value: "kept across everything" } })
  const { code, signal } = await program.stop("SIGKILL")
  assert.deepStrictEqual([code, signal], [null, "SIGKILL"])
  killed = { folder, token }
})

/** A copy of those files, in a folder of its own. */
const copied = (): { readonly folder: string; readonly token: string } => {
  const folder = freshFolder()
  for (const file of readdirSync(killed.folder)) copyFileSync(join(killed.folder, file), join(folder, file))
  return { folder, token: killed.token }
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

/** Asserts that a refused start printed one sentence, and nothing of the program's internals. */
const assertSentence = (
  { code, log }: { readonly code: number | null; readonly log: string },
  sentence: RegExp,
  expected = 1
) => {
  assert.strictEqual(code, expected, log)
  assert.match(log, sentence)
  assert.match(log, /^coffer-server: /)
  assert.notMatch(log, /^\s+at |node:internal|node_modules|Error:/m)
  assert.notInclude(log, masterKey)
}

describe.concurrent("a server and its files", () => {
  it("keeps what it has acknowledged when it is killed or stopped, and starts again at once", async () => {
    const { folder, token } = copied()
    const second = await start({}, folder)
    assert.strictEqual((await second.call("GET", secret, { token })).body.value, "kept across everything")
    await second.call("PUT", secret, { token, body: { value: "written after" } })
    const files = readdirSync(folder)
    assert.includeMembers(files, ["service.db", "service.db-wal", "service.db-shm", "service.db.lock"])
    for (const file of files) {
      assert.strictEqual(modeOf(join(folder, file)), "600", file)
      assert.notMatch(readFileSync(join(folder, file), "latin1"), /kept across|written after/, file)
    }
    assert.deepStrictEqual(await second.stop("SIGTERM"), { code: 0, signal: null })
    assert.notInclude(readdirSync(folder).join(" "), "-wal")

    const third = await start({}, folder)
    const first = await third.call("GET", `${secret}?version=1`, { token })
    assert.strictEqual(first.body.value, "kept across everything")
    assert.strictEqual((await third.call("GET", secret, { token })).body.value, "written after")
    assert.deepStrictEqual(await third.stop("SIGINT"), { code: 0, signal: null })
  })

  it("refuses another master key, and leaves them as they were", async () => {
    const { folder, token } = copied()
    const refused = await Program.refused({ SERVICE_MASTER_KEY: "0".repeat(64) }, folder)
    assertSentence(refused, /SERVICE_MASTER_KEY does not open this database/)
    const again = await start({}, folder)
    assert.strictEqual((await again.call("GET", secret, { token })).body.value, "kept across everything")
  })

  it("belong together: a second server on them is refused while the first goes on", async () => {
    const { folder, token } = copied()
    const program = await start({}, folder)
    assertSentence(await Program.refused({}, folder), /is in use by another coffer-server/)
    assert.strictEqual((await program.call("GET", secret, { token })).status, 200)
  })

  it.each([
    ["", 0o640],
    ["", 0o602],
    ["-wal", 0o644]
  ])("are taken from others when service.db%s has the mode %o", async (suffix, mode) => {
    const { folder, token } = copied()
    const file = join(folder, `service.db${suffix}`)
    chmodSync(file, mode)
    const program = await start({}, folder)
    assert.strictEqual((await program.call("GET", secret, { token })).status, 200)
    assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    assert.match(program.log, /others could read or write \S*service\.db\S* \(mode 6\d\d\): its mode is 600 now/)
  })

  it("are refused when a newer program has written them", async () => {
    const { folder, token } = copied()
    const database = new Sqlite(join(folder, "service.db"))
    database.exec("INSERT INTO effect_sql_migrations (migration_id, name) VALUES (9999, 'later')")
    assertSentence(await Program.refused({}, folder), /has schema 9999, which is newer .*: run the newer coffer-server/)
    database.exec("DELETE FROM effect_sql_migrations WHERE migration_id = 9999")
    database.close()
    const again = await start({}, folder)
    assert.strictEqual((await again.call("GET", secret, { token })).body.value, "kept across everything")
  })

  it("are refused when they are links, folders or no database", async () => {
    const folder = freshFolder()
    writeFileSync(join(folder, "elsewhere"), "", { mode: 0o600 })
    symlinkSync(join(folder, "elsewhere"), join(folder, "service.db"))
    writeFileSync(join(folder, "text"), "this is no database, but a text of some length".repeat(40), { mode: 0o600 })
    const [link, directory, text] = await Promise.all([
      Program.refused({}, folder),
      Program.refused({ SERVICE_DB_PATH: folder }, folder),
      Program.refused({ SERVICE_DB_PATH: join(folder, "text") }, folder)
    ])
    assertSentence(link, /is not a regular file \(a link is refused too\)/)
    assert.strictEqual(statSync(join(folder, "elsewhere")).size, 0)
    assertSentence(directory, /is not a regular file/)
    assertSentence(text, /not a (usable )?database/)
  })
})

describe.concurrent("settings", () => {
  it("that are missing or wrong are all named at once, without what was given", async () => {
    const refused = await Program.refused({
      SERVICE_MASTER_KEY: undefined,
      SMTP_HOST: undefined,
      SERVICE_PORT: "mark-port",
      SERVICE_SIGNUP: "mark-signup",
      CORS_ALLOWED_ORIGINS: "mark-origin",
      SUPERADMIN_EMAIL_0: "mark-superadmin"
    })
    const unit = readFileSync(new URL("../../../../deploy/coffer.service", import.meta.url), "utf8")
    assert.include(unit, "\nRestartPreventExitStatus=78\n")
    assertSentence(refused, /6 settings are invalid/, 78)
    for (const name of [
      "SERVICE_MASTER_KEY",
      "SMTP_HOST",
      "SERVICE_PORT",
      "SERVICE_SIGNUP",
      "CORS_ALLOWED_ORIGINS",
      "SUPERADMIN_EMAIL_0"
    ]) {
      assert.match(refused.log, new RegExp(`^  ${name} `, "m"))
    }
    assert.notInclude(refused.log, "mark-")
    const noKey = { SERVICE_MASTER_KEY: undefined, SERVICE_MASTER_KEY_COMMAND: '["false"]' }
    assertSentence(await Program.refused(noKey), /SERVICE_MASTER_KEY_COMMAND/, 1)
  })

  it.each(["::1", "[::1]", "::"])("that name an address of IPv6 are taken, and its URL is logged: %s", async (host) => {
    const program = await Program.start({ SERVICE_HOST: host })
    const [, url = "", logged] = await program.said(/listening on (http:\/\/\[([:1]+)\]:\d+)"/)
    assert.strictEqual(logged, host.replace(/[[\]]/g, ""))
    assert.strictEqual((await fetch(`${url}/health`)).status, 200)
    await program.remove()
  })

  it("that name a port in use are refused in a sentence", async () => {
    const other = createServer().listen(0, "127.0.0.1")
    await once(other, "listening")
    const address = other.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    assertSentence(await Program.refused({ SERVICE_PORT: String(port) }), /cannot listen on/)
    other.close()
  })
})

describe.concurrent("being told to stop", () => {
  it("finishes the request in flight, takes no other, waits for no idle connection, and ends with 0", async () => {
    const { folder, token } = copied()
    const program = await start({}, folder)
    const json = JSON.stringify({ value: "written while stopping" })
    const slow = program.dial()
    const half = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`
    slow.write(
      [
        `PUT ${secret} HTTP/1.1`,
        "Host: x",
        "Expect: 100-continue",
        `Authorization: Bearer ${token}`,
        "Content-Type: application/json",
        "Transfer-Encoding: chunked\r\n\r\n"
      ].join("\r\n")
    )
    await slow.heard(/100 Continue/)
    slow.write(half(json.slice(0, 9)))
    const idle = program.dial()
    idle.write("GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
    await idle.heard(/ok/)
    const silent = program.dial()
    await silent.connected
    program.signal("SIGTERM")
    await refusesConnections(program.port)
    await Promise.all([idle.closed, silent.closed])
    // Had they been waited for, the drain would be over now, and this connection closed with them.
    assert.isTrue(slow.open)
    slow.write(`${half(json.slice(9))}0\r\n\r\n`)
    await slow.heard(/"version":2/)
    const answer = parseRaw(slow.received)
    assert.strictEqual(answer.status, 200)
    assert.strictEqual(answer.headers.get("connection"), "close")
    assert.deepStrictEqual(await program.ended, { code: 0, signal: null })
    const again = await start({}, folder)
    assert.strictEqual((await again.call("GET", secret, { token })).body.value, "written while stopping")
  })
})

/** Waits until nobody listens at a port any more. */
const refusesConnections = async (port: number): Promise<void> => {
  for (;;) {
    const socket = connect(port, "127.0.0.1")
    const refused = await once(socket, "connect").then(
      () => false,
      () => true
    )
    socket.destroy()
    if (refused) return
  }
}

describe.concurrent("browsers", () => {
  const origin = "https://app.example.com"
  const preflight = {
    origin,
    "access-control-request-method": "PUT",
    "access-control-request-headers": "authorization"
  }

  it("of an allowed origin may call and read what they need, and others may not", async () => {
    const program = await start({ CORS_ALLOWED_ORIGINS: `${origin},https://other.example.com:8443` })
    const asked = await program.call("OPTIONS", secret, { headers: preflight })
    assert.strictEqual(asked.status, 204)
    assert.strictEqual(asked.headers.get("access-control-allow-origin"), origin)
    for (const method of ["GET", "PUT", "PATCH", "POST", "DELETE"]) {
      assert.include(asked.headers.get("access-control-allow-methods"), method)
    }
    assert.match(asked.headers.get("access-control-allow-headers") ?? "", /authorization.*content-type/i)
    assert.isNull(asked.headers.get("access-control-allow-credentials"))

    const got = await program.call("GET", "/api/auth/me", { headers: { origin } })
    assertRefused(got, 401, "UNAUTHORIZED")
    assert.strictEqual(got.headers.get("access-control-allow-origin"), origin)
    assert.match(got.headers.get("vary") ?? "", /origin/i)
    for (const name of ["etag", "retry-after", "x-request-id"]) {
      assert.include(got.headers.get("access-control-expose-headers")?.toLowerCase(), name)
    }
    const unknown = await program.call("GET", "/nowhere", { headers: { origin } })
    assertRefused(unknown, 404, "NOT_FOUND")
    assert.strictEqual(unknown.headers.get("access-control-allow-origin"), origin)

    for (const foreign of ["https://evil.example.com", "http://app.example.com", `${origin}.evil.com`, "null"]) {
      const answer = await program.call("GET", "/health", { headers: { origin: foreign } })
      assert.notInclude([foreign, "*"], answer.headers.get("access-control-allow-origin"))
      const asked = await program.call("OPTIONS", secret, { headers: { ...preflight, origin: foreign } })
      assert.notInclude([foreign, "*"], asked.headers.get("access-control-allow-origin"))
    }
    assertRefused(await program.call("OPTIONS", secret), 405, "METHOD_NOT_ALLOWED")
  })
})

describe.concurrent("who may do what on a server", () => {
  it("is for superadmins as the settings have it at each start", async () => {
    const first = await start({ SUPERADMIN_EMAIL_0: "Root@Example.com", SUPERADMIN_EMAIL_7: "boss@example.com" })
    const { folder } = first
    const isSuperadmin = async (program: Program, token: string): Promise<boolean> =>
      (await program.call("GET", "/api/auth/me", { token })).body.is_superadmin
    const root = await first.login("root@example.com")
    const boss = await first.login("boss@example.com")
    const ada = await first.login("ada@example.com")
    assert.deepStrictEqual(await Promise.all([root, boss, ada].map((token) => isSuperadmin(first, token))), [
      true,
      true,
      false
    ])
    await first.call("POST", "/api/orgs", { token: ada, body: { name: "acme" } })
    const seen = await first.call("GET", "/api/orgs/acme", { token: root })
    assert.deepStrictEqual([seen.status, seen.body.role], [200, null])
    assert.lengthOf((await first.call("GET", "/api/orgs", { token: root })).body.data, 1)
    await first.stop("SIGKILL")

    const second = await start({ SUPERADMIN_EMAIL_0: "ada@example.com", SERVICE_ORG_CREATION: "superadmin" }, folder)
    assert.deepStrictEqual(await Promise.all([root, boss, ada].map((token) => isSuperadmin(second, token))), [
      false,
      false,
      true
    ])
    assertRefused(await second.call("GET", "/api/orgs/acme", { token: root }), 404, "NOT_FOUND")
    const create = async (token: string, name: string) => second.call("POST", "/api/orgs", { token, body: { name } })
    assertRefused(await create(root, "mine"), 403, "FORBIDDEN", /only superadmins create organizations/)
    assert.strictEqual((await create(ada, "ours")).status, 201)
    await second.stop("SIGKILL")

    const third = await start({}, folder)
    assert.deepStrictEqual(await Promise.all([root, boss, ada].map((token) => isSuperadmin(third, token))), [
      false,
      false,
      false
    ])
    assert.strictEqual((await third.call("POST", "/api/orgs", { token: root, body: { name: "mine" } })).status, 201)
  })
})

interface Mail {
  readonly to: ReadonlyArray<string>
  readonly text: string
}

/** A mail server on loopback that keeps what it is given. */
const mailServer = async () => {
  const mails: Array<Mail> = []
  const watchers = new Set<() => void>()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData: (stream, session, callback) => {
      const chunks: Array<Buffer> = []
      stream.on("data", (chunk: Buffer) => chunks.push(chunk))
      stream.on("end", () => {
        mails.push({
          to: session.envelope.rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString()
        })
        callback()
        for (const watch of watchers) watch()
      })
    }
  })
  server.listen(0, "127.0.0.1")
  await once(server.server, "listening")
  const address = server.server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const arrived = async (count: number): Promise<Mail> =>
    new Promise((resolve) => {
      const look = () => {
        const mail = mails[count - 1]
        if (mail !== undefined) resolve(mail)
      }
      watchers.add(look)
      look()
    })
  return { mails, arrived, port, close: async () => new Promise<void>((resolve) => server.close(resolve)) }
}

describe.concurrent("mail", () => {
  it("that hangs or refuses holds nobody up: the reply is the same and at once, and the log says what is wrong", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1")
    await once(silent, "listening")
    const portOf = (server: Server) => {
      const address = server.address()
      return typeof address === "object" && address !== null ? address.port : 0
    }
    const hanging = portOf(silent)
    const closed = createServer().listen(0, "127.0.0.1")
    await once(closed, "listening")
    const refusing = portOf(closed)
    closed.close()
    const mail = { SMTP_HOST: "127.0.0.1", SMTP_FROM: "Coffer <coffer@example.com>" }
    for (const [port, trouble] of [
      [hanging, null],
      [refusing, /a login code was not mailed[^\n]*ECONNREFUSED/]
    ] as const) {
      const program = await start({ ...mail, SMTP_PORT: String(port) })
      const asked = await program.call("POST", "/api/auth/login", { body: { email: "ada@example.com" } })
      assert.strictEqual(asked.status, 200, asked.text)
      if (trouble === null) assert.notInclude(program.log, "not mailed", "the answer does not wait for the mail")
      assert.strictEqual((await program.call("GET", "/health/ready")).status, 200)
      if (trouble !== null) await program.said(trouble)
      assert.notInclude(program.log, "ada@example.com")
      assert.deepStrictEqual(await program.stop(), { code: 0, signal: null })
    }
    silent.close()
  })

  it("brings the code to the person, and the log does not know it; strangers are not written to when signup is by invitation", async () => {
    const smtp = await mailServer()
    const program = await start({
      SMTP_HOST: "127.0.0.1",
      SMTP_PORT: String(smtp.port),
      SMTP_FROM: "Coffer <coffer@example.com>",
      SERVICE_SIGNUP: "invited",
      SERVICE_SIGNUP_DOMAINS: "corp.example",
      SUPERADMIN_EMAIL_0: "root@example.com",
      SERVICE_LOG_LEVEL: "debug"
    })
    const ask = async (email: string) => program.call("POST", "/api/auth/login", { body: { email } })
    const known = await ask("root@example.com")
    const mail = await smtp.arrived(1)
    assert.deepStrictEqual(mail.to, ["root@example.com"])
    const [, code = ""] = /login code is (\d{6})/.exec(mail.text) ?? []
    const stranger = await ask("stranger@example.com")
    const lookalike = await ask("x@notcorp.example")
    for (const answer of [stranger, lookalike]) {
      assert.deepStrictEqual([answer.status, answer.text], [known.status, known.text])
    }
    assert.strictEqual((await program.verify("root@example.com", code)).status, 200)
    assertRefused(await program.verify("stranger@example.com", code), 401, "INVALID_CODE")
    for (let i = 1; i < 5; i++) assert.strictEqual((await ask("stranger@example.com")).status, 200)
    assertRefused(await ask("stranger@example.com"), 429, "RATE_LIMITED")

    await ask("colleague@corp.example")
    const next = await smtp.arrived(2)
    assert.deepStrictEqual(next.to, ["colleague@corp.example"])
    await program.stop()
    assert.lengthOf(smtp.mails, 2)
    for (const text of [code, "root@example.com", "colleague", "stranger"]) assert.notInclude(program.log, text)
    await smtp.close()
  })
})

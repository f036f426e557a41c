import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { createServer as createHttp, type RequestListener, type Server as HttpServer } from "node:http"
import { createServer as createHttps } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { TestHome, Server } from "../support/Programs.js"

let server: Server
let ada: TestHome
let grace: TestHome
const listeners: Array<HttpServer> = []
const folders: Array<string> = []

/** A folder to work in. */
const place = (serviceFile?: string) => {
  const folder = mkdtempSync(join(tmpdir(), "coffer-place-"))
  folders.push(folder)
  if (serviceFile !== undefined) writeFileSync(join(folder, "service.yml"), serviceFile)
  return folder
}

const portOf = async (listener: HttpServer) => {
  listeners.push(listener)
  listener.listen(0, "127.0.0.1")
  await once(listener, "listening")
  const address = listener.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

/** The address of something that is not a Coffer server. */
const listen = async (answer: RequestListener) => `http://127.0.0.1:${await portOf(createHttp(answer))}`

/** An address where nobody listens. */
const nobody = async () => {
  const listener = createHttp()
  const url = `http://127.0.0.1:${await portOf(listener)}`
  listener.close()
  await once(listener, "close")
  return url
}

const html = (status: number, page: string) =>
  listen((_request, response) => response.writeHead(status, { "content-type": "text/html" }).end(page))

const json = (status: number, body: unknown): RequestListener => {
  const text = JSON.stringify(body)
  return (_request, response) => response.writeHead(status, { "content-type": "application/json" }).end(text)
}

const key = `svc_sa_${"x".repeat(49)}`
const at = ["--org", "acme", "--project", "webshop", "--env", "dev"]

beforeAll(async () => {
  server = await Server.start()
  ;[ada, grace] = [await server.login("ada@example.com"), await server.login("grace@example.com")]
  for (const args of [
    ["org", "create", "acme"],
    ["project", "create", "webshop", "--org", "acme"],
    ["member", "invite", "grace@example.com", "--role", "developer", "--org", "acme"]
  ]) {
    const { code, stderr } = await ada.coffer(args)
    assert.strictEqual(code, 0, stderr)
  }
})

afterAll(async () => {
  for (const listener of listeners) {
    listener.closeAllConnections()
    listener.close()
  }
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  ada?.remove()
  grace?.remove()
  await server?.stop()
})

interface Case {
  readonly what: string
  readonly code: number
  /** The problem that the sentence names. */
  readonly names: RegExp
  /** The next step that the sentence gives. */
  readonly says: RegExp
  readonly args: ReadonlyArray<string>
  readonly home?: () => TestHome
  readonly env?: () => Record<string, string> | Promise<Record<string, string>>
  readonly cwd?: () => string
}

const to = (url: string) => ({ SERVICE_SERVER_URL: url, SERVICE_API_KEY: key })

/** The home of somebody whose session file holds this. */
const sessionFile = (origin: string, token: string, mode = 0o600) => {
  const folder = place()
  mkdirSync(join(folder, "coffer"))
  writeFileSync(join(folder, "coffer", "session"), JSON.stringify({ [origin]: token }))
  chmodSync(join(folder, "coffer", "session"), mode)
  return { XDG_CONFIG_HOME: folder }
}

/** A TLS server with a certificate that nobody knows. */
const tls = async () => {
  const folder = place()
  const [keyFile, certificate] = [join(folder, "key"), join(folder, "certificate")]
  const request = `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout ${keyFile} -out ${certificate}`
  execFileSync("openssl", request.split(" "), { stdio: "ignore" })
  const options = { key: readFileSync(keyFile), cert: readFileSync(certificate) }
  return `https://127.0.0.1:${await portOf(createHttps(options, (_, response) => response.end()))}`
}

const cases: ReadonlyArray<Case> = [
  {
    what: "no server",
    args: ["org", "list"],
    env: async () => to(await nobody()),
    code: 1,
    names: /cannot reach http:\/\/127\.0\.0\.1:\d+: connection refused/,
    says: /see whether the server runs there, and check --server-url/
  },
  {
    what: "an unknown host",
    args: ["health", "--server-url", "http://coffer.invalid"],
    code: 1,
    names: /cannot reach http:\/\/coffer\.invalid: the host name/,
    says: /check --server-url/
  },
  {
    what: "a wrong URL",
    args: ["health", "--server-url", "localhost:7100"],
    code: 2,
    names: /server's address \(--server-url\)/,
    says: /must start with http:\/\/ or https:\/\//
  },
  {
    what: "a wrong address",
    args: ["org", "list"],
    env: async () => to(await listen((_, response) => response.writeHead(404).end("nothing"))),
    code: 1,
    names: /127\.0\.0\.1:\d+ answered 404, not as a Coffer server does/,
    says: /check --server-url/
  },
  {
    what: "a proxy's HTML page",
    args: ["org", "list"],
    env: async () => to(await html(403, "<html><h1>Denied</h1></html>")),
    code: 1,
    names: /answered 403, not as a Coffer server does/,
    says: /check --server-url/
  },
  {
    what: "a login page where the answer should be",
    args: ["org", "list"],
    env: async () => to(await html(200, "<html>Please log in</html>")),
    code: 1,
    names: /answered 200, not as a Coffer server does/,
    says: /check --server-url/
  },
  {
    what: "a redirect to another host",
    args: ["org", "list"],
    env: async () =>
      to(await listen((_, response) => response.writeHead(302, { location: "https://evil.example/login" }).end())),
    code: 1,
    names: /a redirect to https:\/\/evil\.example, which is not followed/,
    says: /check --server-url/
  },
  {
    what: "a TLS failure",
    args: ["org", "list"],
    env: async () => to(await tls()),
    code: 1,
    names: /cannot reach https:\/\/127\.0\.0\.1:\d+: its certificate is self-signed/,
    says: /NODE_EXTRA_CA_CERTS/
  },
  {
    what: "TLS where there is none",
    args: ["org", "list"],
    env: async () => to((await listen((_, response) => response.end())).replace("http:", "https:")),
    code: 1,
    names: /cannot reach https:.*does not speak TLS/,
    says: /is it http:\/\/ and not https:\/\/\?/
  },
  {
    what: "no session",
    args: ["org", "list"],
    env: () => ({ XDG_CONFIG_HOME: place() }),
    code: 3,
    names: /there is no session at http:\/\/127\.0\.0\.1/,
    says: /run coffer login, or set SERVICE_API_KEY/
  },
  {
    what: "an expired session",
    args: ["org", "list"],
    env: () => sessionFile(server.url, `svc_st_${"x".repeat(49)}`),
    code: 3,
    names: /your session at the server has ended/,
    says: /run coffer login$/
  },
  {
    what: "an expired session of a run",
    args: ["run", "--env", "acme/webshop/dev", "--", "true"],
    env: () => sessionFile(server.url, `svc_st_${"x".repeat(49)}`),
    code: 125,
    names: /your session at the server has ended/,
    says: /run coffer login$/
  },
  {
    what: "a revoked key",
    args: ["org", "list"],
    env: () => ({ SERVICE_API_KEY: key }),
    code: 3,
    names: /the server does not take your API key/,
    says: /check SERVICE_API_KEY/
  },
  {
    what: "what is no key at all",
    args: ["org", "list"],
    env: () => ({ SERVICE_API_KEY: "hunter2" }),
    code: 2,
    names: /SERVICE_API_KEY does not hold an API key/,
    says: /API keys start with svc_sa_/
  },
  {
    what: "a session of another server",
    args: ["org", "list", "--server-url", "http://127.0.0.1:1"],
    home: () => ada,
    code: 3,
    names: /there is no session at http:\/\/127\.0\.0\.1:1/,
    says: /run coffer login/
  },
  {
    what: "a session file that others can read",
    args: ["org", "list"],
    env: () => sessionFile(server.url, "svc_st_x", 0o644),
    code: 1,
    names: /session can be read by others/,
    says: /run: chmod 600/
  },
  {
    what: "an untrusted service.yml",
    args: ["org", "list"],
    env: () => ({ SERVICE_SERVER_URL: "", SERVICE_API_KEY: key }),
    cwd: () => place("server_url: https://coffer.evil.example\n"),
    code: 1,
    names:
      /https:\/\/coffer\.evil\.example comes from service\.yml and is not trusted, so your API key is not sent there/,
    says: /set SERVICE_SERVER_URL=.* or run: coffer trust/
  },
  {
    what: "an unknown key in service.yml",
    args: ["org", "list"],
    cwd: () => place("org: acme\nserver: x\n"),
    code: 2,
    names: /service\.yml, line 2: "server" is not a key/,
    says: /the keys are server_url, org, project, env/
  },
  {
    what: "a service.yml that is not YAML",
    args: ["org", "list"],
    cwd: () => place("org: acme\n\tproject: [\n"),
    code: 2,
    names: /service\.yml, line 2: not valid YAML/,
    says: /service\.yml, line 2/
  },
  {
    what: "a bad name in service.yml",
    args: ["project", "list"],
    cwd: () => place("org: Not A Name\n"),
    code: 2,
    names: /"Not A Name" \(service\.yml, line 1, org\)/,
    says: /2 to 50 characters/
  },
  {
    what: "no settings",
    args: ["secret", "list"],
    home: () => ada,
    code: 2,
    names: /no organization is given.*no project is given.*no environment is given/,
    says: /pass --env, set SERVICE_ENV, or write/
  },
  {
    what: "no rule",
    args: ["secret", "list", ...at],
    home: () => grace,
    code: 1,
    names: /rule with permission read for environment webshop\/dev of organization acme/,
    says: /ask for it with: coffer access request acme\/webshop\/dev read --for 1h --reason WHY$/
  },
  {
    what: "no role",
    args: ["member", "set-role", "ada@example.com", "member", "--org", "acme"],
    home: () => grace,
    code: 1,
    names: /role owner in organization acme/,
    says: /ask an owner of the organization$/
  },
  {
    what: "the last owner",
    args: ["member", "remove", "ada@example.com", "--org", "acme", "--yes"],
    home: () => ada,
    code: 1,
    names: /owner/,
    says: /owner/
  },
  {
    what: "a name that is in use",
    args: ["org", "create", "acme"],
    home: () => ada,
    code: 1,
    names: /acme/,
    says: /in use|taken|already/
  },
  {
    what: "a secret that is not there",
    args: ["secret", "get", "MISSING", ...at],
    home: () => ada,
    code: 4,
    names: /MISSING/,
    says: /coffer secret list acme\/webshop\/dev shows what exists/
  },
  {
    what: "another's organization",
    args: ["project", "list", "--org", "globex"],
    home: () => ada,
    code: 4,
    names: /globex/,
    says: /coffer org/
  },
  {
    what: "a person who is no member",
    args: ["member", "remove", "linus@example.com", "--org", "acme", "--yes"],
    home: () => ada,
    code: 4,
    names: /linus@example\.com is not a member of acme/,
    says: /coffer member list/
  },
  {
    what: "a service account that is not there",
    args: ["service-account", "rotate", "ghost", "--org", "acme"],
    home: () => ada,
    code: 4,
    names: /no service account ghost in acme/,
    says: /coffer service-account list/
  },
  {
    what: "a rule that is about nobody",
    args: ["acl", "revoke", "--email", "grace@example.com", "--org", "acme", "--yes"],
    home: () => ada,
    code: 4,
    names: /no access rule is about that/,
    says: /coffer acl list/
  },
  {
    what: "backups that are off",
    args: ["backup", "list"],
    env: async () => {
      const error = { code: "BACKUPS_DISABLED", message: "backups are off: BACKUP_S3_ENDPOINT is not set" }
      return to(await listen(json(503, { error })))
    },
    code: 1,
    names: /backups are off/,
    says: /BACKUP_S3_ENDPOINT/
  },
  {
    what: "a moment that is none",
    args: ["backup", "restore", "--before", "noon"],
    code: 2,
    names: /--before must be a date/,
    says: /2026-01-31T08:00:00Z/
  },
  {
    what: "a damaged backup, found by a drill",
    args: ["backup", "drill"],
    env: async () => {
      const id = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d90"
      const backup = {
        id,
        created_at: "2026-01-31T12:00:00.000Z",
        size_bytes: 1,
        trigger: "manual",
        key_fingerprint: "0",
        instance: "i"
      }
      const problems = [`version 2 of secret ${id} does not open`]
      return to(await listen(json(200, { backup, valid: false, problems, age_seconds: 60, seconds: 1, counts: null })))
    },
    code: 1,
    names: /backup 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d90, made 2026-01-31 12:00 UTC, is damaged/,
    says: /version 2 of secret 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d90 does not open/
  },
  {
    what: "an answer of a newer server",
    args: ["backup", "create"],
    env: async () => to(await listen(json(418, { error: { code: "TEAPOT", message: "short and stout" } }))),
    code: 1,
    names: /short and stout/,
    says: /update coffer/
  },
  {
    what: "a defect of the server",
    args: ["org", "list"],
    env: async () => to(await listen(json(500, { error: { code: "INTERNAL_ERROR", message: "internal error" } }))),
    code: 1,
    names: /internal error/,
    says: /contact the operator of the server/
  },
  {
    what: "an unknown command",
    args: ["sercet", "list"],
    code: 2,
    names: /unknown command sercet of coffer;/,
    says: /did you mean coffer secret\? see coffer --help/
  },
  ...(
    [
      ["invite", "coffer member invite"],
      ["list", "coffer secret list"],
      ["proj list", "coffer project"],
      ["secret lst", "coffer secret list"],
      ["secrets rm", "coffer secrets delete"],
      ["project mv", "coffer project rename"]
    ] as const
  ).map(([line, meant]) => ({
    what: `a command that is nearly ${meant}`,
    args: line.split(" "),
    code: 2,
    names: new RegExp(`did you mean ${meant}\\? see coffer`),
    says: /see coffer( [a-z]+)* --help$/
  })),
  {
    what: "a command that is like no other",
    args: ["frobnicate"],
    code: 2,
    names: /unknown command frobnicate of coffer;/,
    says: /see coffer --help$/
  },
  {
    what: "an unknown subcommand",
    args: ["member", "invit"],
    code: 2,
    names: /unknown command invit of coffer member;/,
    says: /coffer member --help/
  },
  {
    what: "an unknown flag",
    args: ["org", "list", "--jsn"],
    code: 2,
    names: /unknown option --jsn; did you mean --json\?/,
    says: /coffer org list --help/
  },
  {
    what: "an option that is nearly one",
    args: ["login", "--server", "https://coffer.example.com"],
    code: 2,
    names: /unknown option --server; did you mean --server-url\?/,
    says: /coffer login --help/
  },
  {
    what: "an option that is nearly one, where an argument can stand",
    args: ["member", "invite", "--server=https://coffer.example.com", "grace@example.com"],
    code: 2,
    names: /unknown option --server; did you mean --server-url\?/,
    says: /coffer member invite --help/
  },
  {
    what: "a missing argument",
    args: ["member", "invite"],
    code: 2,
    names: /name one EMAIL, or a file of people with --file/,
    says: /with --file$/
  },
  {
    what: "missing options",
    args: ["acl", "grant"],
    code: 2,
    names: /WHO, PLACE, PERMISSION are missing/,
    says: /coffer acl grant --help/
  },
  {
    what: "a bad e-mail address",
    args: ["member", "invite", "grace"],
    code: 2,
    names: /^coffer: EMAIL must be an e-mail address/,
    says: /such as ada@example\.com/
  },
  {
    what: "a bad e-mail address in an option",
    args: ["acl", "explain", "--email", "grace", "--project", "webshop", "--env", "dev"],
    code: 2,
    names: /^coffer: --email must be an e-mail address/,
    says: /such as ada@example\.com/
  },
  {
    what: "a bad pattern",
    args: [
      "acl",
      "grant",
      "--email",
      "g@x.org",
      "--project-pattern",
      "[a]",
      "--env-pattern",
      "*",
      "--permission",
      "read"
    ],
    code: 2,
    names: /^coffer: --project-pattern: a pattern/,
    says: /lowercase letters/
  },
  {
    what: "a bad number",
    args: ["service-account", "create", "ci", "--expires-in-days", "0"],
    code: 2,
    names: /--expires-in-days/,
    says: /from 1 to 3650/
  },
  {
    what: "a bad choice",
    args: ["member", "invite", "g@x.org", "--role", "king"],
    code: 2,
    names: /--role takes one of/,
    says: /member.*developer.*admin.*owner/
  },
  {
    what: "no subject",
    args: ["acl", "explain", ...at],
    home: () => ada,
    code: 2,
    names: /WHO is missing/,
    says: /coffer acl explain --help/
  },
  {
    what: "nobody to ask",
    args: ["org", "delete", "--org", "acme"],
    home: () => ada,
    code: 2,
    names: /nobody can be asked here/,
    says: /add --yes/
  },
  {
    what: "a file that is not there",
    args: ["secret", "import", "missing.env", ...at],
    home: () => ada,
    code: 1,
    names: /missing\.env cannot be read/,
    says: /it does not exist/
  },
  {
    what: "a file that is a directory",
    args: ["secret", "set", "K", "--file", "/", ...at],
    home: () => ada,
    code: 1,
    names: /\/ cannot be read/,
    says: /it is a directory/
  },
  {
    what: "a directory that is missing",
    args: ["secret", "export", "--output", "nowhere/all.env", ...at],
    home: () => ada,
    code: 1,
    names: /nowhere\/all\.env/,
    says: /directory that does not exist/
  },
  {
    what: "what only superadmins may do",
    args: ["user", "list"],
    home: () => grace,
    code: 1,
    names: /this needs a superadmin/,
    says: /ask a superadmin of the server$/
  },
  {
    what: "a format that nobody can tell",
    args: ["secret", "export", "--output", "secrets.txt", ...at],
    home: () => ada,
    code: 2,
    names: /the format of secrets\.txt is not known/,
    says: /add --format with one of env, shell, docker, json, yaml/
  },
  {
    what: "a device as the file",
    args: ["secret", "export", "--format", "json", "--output", "/dev/null", ...at],
    home: () => ada,
    code: 1,
    names: /\/dev\/null is not a file/,
    says: /without --output/
  },
  {
    what: "a proxy that takes no large requests",
    args: ["secret", "set", "K", "v", ...at],
    env: async () =>
      to(await listen((_, response) => response.writeHead(413).end("<h1>Request Entity Too Large</h1>"))),
    code: 1,
    names: /answered 413: a proxy in front of the server limits the size of requests/,
    says: /client_max_body_size of nginx$/
  },
  {
    what: "a proxy without a server",
    args: ["secret", "set", "K", "v", ...at],
    env: async () => to(await listen((_, response) => response.writeHead(502).end("<h1>Bad Gateway</h1>"))),
    code: 1,
    names: /answered 502: a proxy in front of the server does not reach the server/,
    says: /see whether the server runs$/
  },
  {
    what: "no credential and no home directory",
    args: ["secret", "list", ...at],
    env: () => ({ HOME: "" }),
    code: 3,
    names: /SERVICE_API_KEY is not set/,
    says: /set SERVICE_API_KEY$/
  },
  {
    what: "service.yaml",
    args: ["project", "list"],
    home: () => ada,
    cwd: () => {
      const folder = place("")
      renameSync(join(folder, "service.yml"), join(folder, "service.yaml"))
      return folder
    },
    code: 2,
    names: /no organization is given/,
    says: /service\.yaml is not read: rename it to service\.yml$/
  },
  {
    what: "the master key",
    args: ["master-key", "rotate", "--db", "service.db"],
    code: 2,
    names: /SERVICE_MASTER_KEY is not set/,
    says: /must hold the key that is in force now/
  }
]

describe("what a person is told", () => {
  it.each(["secret list", "run -- true", "init", "trust"])("about a removed directory: %s", async (line) => {
    const { code, stderr } = await ada.shell(`mkdir gone && cd gone && rmdir ../gone && $COFFER ${line}`)
    assert.strictEqual(code, line.startsWith("run") ? 125 : 2)
    assert.match(stderr, /^coffer: the current directory does not exist any more: change to another one\n$/)
  })

  it.concurrent.each(cases)("about $what", async ({ args, code, cwd, home, env, names, says }) => {
    const own = home?.() ?? new TestHome(server.url)
    if (home === undefined) folders.push(own.folder)
    const options = { ...(env === undefined ? {} : { env: await env() }), ...(cwd === undefined ? {} : { cwd: cwd() }) }
    const result = await own.coffer(args, options)
    const lines = result.stderr.trimEnd().split("\n")
    const sentence = lines.at(-1) ?? ""
    assert.strictEqual(result.code, code, result.stderr)
    assert.strictEqual(result.stdout, "")
    assert.match(sentence, names)
    assert.match(sentence, says)
    assert.match(sentence, /^coffer: \S/)
    // One sentence, and at most a warning before it.
    for (const line of lines.slice(0, -1)) assert.match(line, /^coffer: (warning: |service\.yml names )/)
    assert.notMatch(result.stderr, /_tag|\bat .*:\d+:\d+|node:|Error:|undefined|\[object|hunter2|svc_s[at]_x/)
  })
})

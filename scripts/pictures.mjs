/**
 * Takes the pictures of docs/console.md, of docs/mcp.md and of the README from the running product. With a folder as the argument, takes
 * every page at several widths, light and dark, into that folder instead.
 */
import { once } from "node:events"
import { createServer } from "node:net"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath, pathToFileURL } from "node:url"
import { startBuiltServer } from "../packages/client/dist/testing/BuiltServer.js"
import { chromiumFlags, chromiumPath, noChromium } from "./chromium.mjs"
import { tools } from "./test-tools.mjs"

const { chromium } = tools("playwright-core")

const root = new URL("../", import.meta.url)
const freePort = async () => {
  const probe = createServer().listen(0, "127.0.0.1")
  await once(probe, "listening")
  const { port } = probe.address()
  probe.close()
  await once(probe, "close")
  return port
}
const port = await freePort()
const url = `http://127.0.0.1:${port}`

const folder = await mkdtemp(join(tmpdir(), "coffer-pictures-"))

const headers = { "content-type": "application/json", "x-coffer": "1", origin: url }

/** The server runs some days behind: this file has how many milliseconds. */
const past = join(folder, "past")
const clock = join(folder, "clock.mjs")
await writeFile(past, "0")
await writeFile(
  clock,
  `import { readFileSync } from "node:fs"
const Real = Date
const now = () => Real.now() - Number(readFileSync(${JSON.stringify(past)}, "utf8"))
globalThis.Date = class extends Real {
  constructor(...parts) { super(...(parts.length === 0 ? [now()] : parts)) }
  static now() { return now() }
}`
)
const day = 86_400_000

/** Sets the clock of the server some days back. */
const setDaysAgo = (days) => writeFile(past, String(Math.round(days * day)))

const used = []

const login = async (email) => {
  const post = (path, body) => fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })
  await post("/api/auth/login", { email })
  const others = used.map((code) => `(?!${code})`).join("")
  const [, code = ""] = await server.err.said(new RegExp(`login code for ${email}: ${others}(\\d{6})`))
  used.push(code)
  const verified = await post("/api/auth/verify", { email, code, session: "cookie" })
  return /^coffer=([^;]+)/.exec(verified.headers.getSetCookie().join("\n"))[1]
}

const words = ["DATABASE", "STRIPE", "SMTP", "REDIS", "SENTRY", "OAUTH", "S3", "SEARCH", "QUEUE", "SESSION"]
const parts = ["URL", "API_KEY", "PASSWORD"]

const rowOf = (word, part) => words.indexOf(word) * parts.length + parts.indexOf(part)

/** The values of an environment; some are missing, and some the same everywhere. */
const valuesOf = (env, index) =>
  Object.fromEntries(
    words.flatMap((word) =>
      parts.flatMap((part) => {
        const number = rowOf(word, part)
        return (number + index * 4) % 9 === 0
          ? []
          : [[`${word}_${part}`, number % 4 === 0 ? "same" : `${env}-${number}`]]
      })
    )
  )

/** Calls below the organizations with a cookie or a key. */
const caller = (credential) => async (method, path, body) => {
  const answer = await fetch(`${url}/api/orgs${path}`, {
    method,
    headers: { ...headers, ...credential },
    ...(body !== undefined && { body: JSON.stringify(body) })
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${text}`)
  return text === "" ? undefined : JSON.parse(text)
}

const callAs = async (email) => caller({ cookie: `coffer=${await login(email)}` })

const account = async (call, name, more) => {
  const { api_key, id } = await call("POST", "/acme/service-accounts", { name, project: "webshop", ...more })
  const rule = { subject_type: "service_account", subject_id: id, project_pattern: "webshop", env_pattern: "prod" }
  await call("POST", "/acme/acl", { ...rule, permission: "read" })
  return caller({ "x-api-key": api_key })
}

/** Adds targets, connections, rotations and roles, none of which is reached: no program listens on this port. */
const renewing = async (call, env) => {
  const target = { credential_key: "SESSION_PASSWORD", prefix: "WEB_" }
  const place = { url: "http://127.0.0.1:9", mount: "secret", path: "webshop/staging" }
  await call("POST", `${env}/targets`, { name: "bao", kind: "vault", place, ...target })
  const repository = { repository: "acme/webshop" }
  await call("POST", `${env}/targets`, { name: "ci", kind: "github-actions", place: repository, ...target })
  await call("POST", `${env}/connections`, {
    ...{ name: "shop-db", host: "127.0.0.1", port: 9, database: "shop", user: "coffer_renewal" },
    password_key: "DATABASE_PASSWORD"
  })
  for (const [name, users, key, every] of [
    ["shop-app", ["app_a", "app_b"], "DATABASE_URL", "30d"],
    ["reports", ["reports"], "QUEUE_URL", "7d"]
  ]) {
    const writes = { [key]: "postgres://{user}:{password}@db.internal/shop" }
    await call("POST", `${env}/rotations`, { name, connection: "shop-db", users, writes, every })
  }
  await call("PATCH", `${env}/rotations/reports`, { paused: true })
  await call("POST", `${env}/roles`, { name: "app-role", connection: "shop-db" })
}

/** Makes a company as it is after five weeks. Returns the cookie of its owner. */
const prepare = async () => {
  const webshop = "/acme/projects/webshop/envs"
  await setDaysAgo(34)
  let ada = await callAs("ada@example.com")
  await ada("POST", "", { name: "acme" })
  for (const name of ["webshop", "website", "billing"]) await ada("POST", "/acme/projects", { name })
  for (const [index, env] of ["dev", "staging", "prod"].entries()) {
    await ada("PATCH", `${webshop}/${env}/bundle`, { set: valuesOf(env, index) })
  }
  await setDaysAgo(31)
  ada = await callAs("ada@example.com")
  for (const [email, role] of [
    ["grace@example.com", "admin"],
    ["hal@example.com", "developer"]
  ]) {
    await ada("POST", "/acme/members", { email, role })
  }
  for (const [name, ...people] of [["backend", "hal@example.com", "grace@example.com"], ["on call"]]) {
    await ada("POST", "/acme/groups", { name })
    for (const email of people) await ada("POST", `/acme/groups/${name}/members`, { email })
  }
  const group = { subject_type: "group", group: "backend", project_pattern: "*", env_pattern: "dev" }
  await ada("POST", "/acme/acl", { ...group, permission: "write" })
  const hals = { subject_type: "user", email: "hal@example.com" }
  await ada("POST", "/acme/acl", {
    ...hals,
    project_pattern: "web*",
    env_pattern: "{dev,staging}",
    permission: "write"
  })
  await ada("POST", "/acme/acl", { ...hals, project_pattern: "billing", env_pattern: "dev", permission: "read" })
  const backup = await account(ada, "nightly backup", {})
  const key = (number) => `${words[number % words.length]}_${parts[number % parts.length]}`
  for (let days = 30; days >= 1; days--) {
    const isWeekend = days % 7 < 2
    await setDaysAgo(days)
    await backup("GET", `${webshop}/prod/bundle`)
    // Entries of reads have the time at which they are written.
    await sleep(1_100)
    if (isWeekend || days % 2 === 0) continue
    await setDaysAgo(days - 0.4)
    const hal = await callAs("hal@example.com")
    for (let n = 0; n < 2 + (days % 4); n++) await hal("GET", `${webshop}/dev/secrets/REDIS_PASSWORD`)
    if (days % 3 !== 0) continue
    const grace = await callAs("grace@example.com")
    const set = { [key(days)]: `new-${days}`, [key(days + 1)]: `new-${days}` }
    await grace("PATCH", `${webshop}/${days % 2 === 0 ? "staging" : "dev"}/bundle`, { set })
    await grace("GET", `${webshop}/prod/secrets/STRIPE_API_KEY`)
  }
  await setDaysAgo(0)
  const cookie = await login("ada@example.com")
  ada = caller({ cookie: `coffer=${cookie}` })
  await ada("POST", "/acme/members", {
    ...{ email: "a-person-with-a-rather-long-address@a-subdomain.example.com", role: "member" }
  })
  await ada("PATCH", `${webshop}/prod/secrets/SESSION_URL`, { rotate_every_days: 30 })
  const some = { ...hals, project_pattern: "webshop", env_pattern: "prod", permission: "read" }
  await ada("POST", "/acme/acl", { ...some, key_pattern: "STRIPE_*" })
  await renewing(ada, `${webshop}/staging`)
  const deploy = await account(ada, "deploy", { expires_in_days: 10 })
  await account(ada, "review agent", { reveal: false, expires_in_days: 90 })
  await deploy("GET", `${webshop}/prod/bundle`)
  // Deliveries fail: no program listens on this port.
  for (const [path, format] of [
    ["/coffer", "coffer"],
    ["/services/T0/B0", "slack"]
  ]) {
    const hook = { url: `http://127.0.0.1:9${path}`, events: ["secret.*", "member.*"], environments: ["prod"], format }
    await ada("POST", "/acme/webhooks", hook)
  }
  await ada("PUT", "/acme/projects/billing/envs/prod/secrets/STRIPE_API_KEY", { value: "for the webhooks" })
  await ada("PUT", `${webshop}/prod/protection`, { needed: 1, approvers: "admins" })
  const request = await fetch(`${url}/api/orgs${webshop}/prod/bundle`, {
    method: "PATCH",
    headers: {
      ...{ ...headers, cookie: `coffer=${await login("grace@example.com")}`, prefer: "respond-async" },
      "x-coffer-reason": encodeURIComponent("the key of the test account expired")
    },
    body: JSON.stringify({ set: { STRIPE_API_KEY: "new" } })
  })
  if (!request.ok) throw new Error(await request.text())
  return cookie
}

/** The page on which a program asks for a part of a person's rights. */
const consent = async () => {
  const redirect_uri = "http://127.0.0.1:33418/callback"
  const registered = await fetch(`${url}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ redirect_uris: [redirect_uri], client_name: "Claude Code" })
  })
  const { client_id } = await registered.json()
  const query = new URLSearchParams({
    ...{ response_type: "code", client_id, redirect_uri, state: "xyz", scope: "read", resource: `${url}/mcp` },
    ...{ code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", code_challenge_method: "S256" }
  })
  return `/-/authorize?${query}`
}

const pages = {
  consent,
  organizations: "/",
  projects: "/acme",
  matrix: "/acme/webshop",
  compared: "/acme/webshop?base=dev&fold=DATABASE_,OAUTH_&sort=name",
  key: "/acme/webshop?key=OAUTH_API_KEY&env=prod",
  review: "/acme/webshop",
  palette: "/acme/webshop",
  empty: "/acme/website",
  members: "/acme/-/members",
  groups: "/acme/-/groups",
  group: "/acme/-/groups",
  rules: "/acme/-/rules",
  rule: "/acme/-/rules?new=1",
  accounts: "/acme/-/accounts",
  "service-account": "/acme/-/accounts",
  webhooks: "/acme/-/webhooks",
  deliveries: "/acme/-/webhooks",
  audit: "/acme/-/audit",
  history: "/acme/webshop/-/history",
  targets: "/acme/webshop/-/targets?env=staging",
  target: "/acme/webshop/-/targets?env=staging&target=bao",
  "new-target": "/acme/webshop/-/targets?env=staging&new=1",
  renewal: "/acme/webshop/-/renewal?env=staging",
  "new-connection": "/acme/webshop/-/renewal?env=staging&new=connection",
  "new-rotation": "/acme/webshop/-/renewal?env=staging&new=rotation",
  "edit-rotation": "/acme/webshop/-/renewal?env=staging&edit=shop-app",
  "new-role": "/acme/webshop/-/renewal?env=staging&new=role",
  who: "/acme/webshop/-/who",
  why: "/acme/webshop/-/who",
  secret: "/acme/webshop/STRIPE_API_KEY?env=prod",
  approvals: "/acme/-/approvals",
  settings: "/acme/-/settings",
  environments: "/acme/webshop/-/settings",
  server: "/-/server",
  account: "/-/account",
  people: "/-/users",
  backups: "/-/backups",
  missing: "/acme/-/nowhere",
  login: "/login"
}

/** Opens the drawer of the first row. */
const open = async (page) => {
  await page.locator(".row-link").first().click()
  await page.locator("dialog.drawer").waitFor()
}

/** The interaction with a page before its picture. */
const steps = {
  review: async (page) => {
    for (const [key, env, value] of [
      ["DATABASE_URL", "dev", "postgres://db.internal/webshop\u200b"],
      ["OAUTH_PASSWORD", "staging", "a new value"],
      ["OAUTH_URL", "staging", "https://login.example.com"]
    ]) {
      await page.getByRole("gridcell", { name: new RegExp(`^${key} in ${env}: `) }).click()
      await page
        .locator(".matrix-panel")
        .getByRole("button", { name: /^(Edit|Create)$/ })
        .click()
      await page.locator("#matrix-editor").fill(value)
      await page.keyboard.press("Enter")
    }
    await page.getByRole("gridcell", { name: /^QUEUE_URL in staging: / }).click()
    await page.locator(".matrix-panel").getByRole("button", { name: "Delete" }).click()
    await page.getByRole("button", { name: "Review and write" }).click()
    await page.getByLabel("Show new values").check()
  },
  palette: async (page) => {
    await page.keyboard.press("Control+k")
    await page.locator(".palette input").fill("re")
    await page.getByRole("group", { name: "Keys" }).waitFor()
  },
  consent: async (page) => {
    await page.getByLabel("Project").selectOption("webshop")
    await page.getByLabel("dev").check()
  },
  group: open,
  "service-account": async (page) => {
    await open(page)
    await page.locator("dialog.drawer .loading").waitFor({ state: "detached" })
  },
  deliveries: open,
  "new-role": async (page) => {
    await page.locator("summary", { hasText: "Statements" }).click()
  },
  why: async (page) => {
    await page
      .getByRole("button", { name: /: why$/ })
      .first()
      .click()
    await page.locator("dialog[open] .loading").waitFor({ state: "detached" })
  },
  rule: async (page) => {
    await page.getByLabel("Who").selectOption("hal@example.com")
    await page.getByLabel("Projects").first().fill("web*")
    await page.getByLabel("Environments").fill("{dev,staging}")
    await page.getByText("3 projects, where marked").waitFor()
  }
}

/** The pictures of the documents. */
const documented = [
  ["matrix", "matrix", { width: 1440, height: 760 }],
  ["key", "key", { width: 1440, height: 760, scheme: "dark" }],
  ["review", "review", { width: 1024, height: 700 }],
  ["rule", "rules", { width: 1024, height: 720 }],
  ["audit", "audit", { width: 1440, height: 860 }],
  ["consent", "consent", { width: 740, height: 960 }],
  ["members", "phone", { width: 390, height: 720, scheme: "dark" }]
]

const take = async (page, name, file, { scheme = "light", width = 1280, height = 800 } = {}) => {
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" })
  const address = pages[name]
  await page.goto(url + (typeof address === "string" ? address : await address()))
  await page.waitForLoadState("networkidle")
  await steps[name]?.(page)
  await page.waitForTimeout(100)
  if (!file.endsWith(".webp")) return void (await page.screenshot({ path: file }))
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 85 })
  await writeFile(file, Buffer.from(data, "base64"))
}

const path = chromiumPath()
if (path === undefined) throw new Error(noChromium)
const { server } = await startBuiltServer(folder, {
  NODE_OPTIONS: `--import=${pathToFileURL(clock).href}`,
  SERVICE_PORT: String(port),
  SERVICE_PUBLIC_URL: url,
  SUPERADMIN_EMAIL_0: "ada@example.com",
  SERVICE_BROKER: "1",
  SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8",
  SERVICE_RENEWAL_NETWORKS: "127.0.0.0/8",
  BACKUP_DIR: folder
})
const browser = await chromium.launch({ executablePath: path, args: chromiumFlags })
try {
  const cookie = await prepare()
  const context = await browser.newContext({ deviceScaleFactor: 1 })
  await context.addCookies([{ name: "coffer", value: cookie, url, httpOnly: true, sameSite: "Strict" }])
  const page = await context.newPage()
  const [target, ...only] = process.argv.slice(2)
  if (target === undefined) {
    const pictures = fileURLToPath(new URL("docs/pictures/", root))
    await mkdir(pictures, { recursive: true })
    for (const [name, file, look] of documented) await take(page, name, `${pictures}${file}.webp`, look)
  } else {
    await mkdir(target, { recursive: true })
    for (const name of only.length === 0 ? Object.keys(pages) : only) {
      for (const width of [390, 1024, 1440]) {
        for (const scheme of ["light", "dark"]) {
          await take(page, name, join(target, `${name}-${width}-${scheme}.png`), { scheme, width, height: 900 })
        }
      }
    }
  }
} finally {
  await browser.close()
  await server.stop()
  await rm(folder, { recursive: true })
}

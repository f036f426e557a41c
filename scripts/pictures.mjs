/**
 * Takes the pictures of docs/console.md and of the README from the running product. With a folder as the argument, takes
 * every page at several widths, light and dark, into that folder instead.
 */
import { once } from "node:events"
import { createServer } from "node:net"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
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

const login = async (email) => {
  const post = (path, body) => fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })
  await post("/api/auth/login", { email })
  const [, code] = await server.err.said(new RegExp(`login code for ${email}: (\\d{6})`))
  const verified = await post("/api/auth/verify", { email, code, session: "cookie" })
  return /^coffer=([^;]+)/.exec(verified.headers.getSetCookie().join("\n"))[1]
}

const words = ["DATABASE", "STRIPE", "SMTP", "REDIS", "SENTRY", "OAUTH", "S3", "SEARCH", "QUEUE", "SESSION"]
const parts = ["URL", "API_KEY", "PASSWORD"]

/** A company as it is after some weeks. */
const prepare = async (cookie) => {
  const call = async (method, path, body) => {
    const answer = await fetch(`${url}/api/orgs${path}`, {
      method,
      headers: { ...headers, cookie: `coffer=${cookie}` },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${text}`)
    return text === "" ? undefined : JSON.parse(text)
  }
  await call("POST", "", { name: "acme" })
  for (const name of ["webshop", "website", "billing"]) await call("POST", "/acme/projects", { name })
  for (const [index, env] of ["dev", "staging", "prod"].entries()) {
    const set = {}
    words.forEach((word, row) =>
      parts.forEach((part, column) => {
        const number = row * parts.length + column
        if ((number + index * 4) % 9 !== 0) set[`${word}_${part}`] = number % 4 === 0 ? "same" : `${env}-${number}`
      })
    )
    await call("PATCH", `/acme/projects/webshop/envs/${env}/bundle`, { set })
  }
  for (const [email, role] of [
    ["grace@example.com", "admin"],
    ["hal@example.com", "developer"],
    ["a-person-with-a-rather-long-address@a-subdomain.example.com", "member"]
  ]) {
    await call("POST", "/acme/members", { email, role })
  }
  for (const [name, ...people] of [["backend", "hal@example.com", "grace@example.com"], ["on call"]]) {
    await call("POST", "/acme/groups", { name })
    for (const email of people) await call("POST", `/acme/groups/${name}/members`, { email })
  }
  await call("POST", "/acme/acl", {
    ...{ subject_type: "group", group: "backend", project_pattern: "*", env_pattern: "dev", permission: "write" }
  })
  // Deliveries fail: no program listens on this port.
  for (const [path, format] of [
    ["/coffer", "coffer"],
    ["/services/T0/B0", "slack"]
  ]) {
    const hook = { url: `http://127.0.0.1:9${path}`, events: ["secret.*", "member.*"], environments: ["prod"], format }
    await call("POST", "/acme/webhooks", hook)
  }
  await call("PUT", "/acme/projects/billing/envs/prod/secrets/STRIPE_API_KEY", { value: "for the webhooks" })
  const rule = { subject_type: "user", email: "hal@example.com" }
  await call("POST", "/acme/acl", {
    ...rule,
    project_pattern: "web*",
    env_pattern: "{dev,staging}",
    permission: "write"
  })
  await call("POST", "/acme/acl", { ...rule, project_pattern: "billing", env_pattern: "dev", permission: "read" })
  for (const name of ["deploy", "nightly backup", "review agent"]) {
    const { id } = await call("POST", "/acme/service-accounts", {
      name,
      project: "webshop",
      reveal: name !== "review agent",
      ...(name === "deploy" && { expires_in_days: 10 }),
      ...(name === "review agent" && { expires_in_days: 90 })
    })
    const subject = { subject_type: "service_account", subject_id: id }
    await call("POST", "/acme/acl", { ...subject, project_pattern: "webshop", env_pattern: "prod", permission: "read" })
  }
}

const pages = {
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
  group: open,
  "service-account": open,
  deliveries: open,
  rule: async (page) => {
    await page.getByLabel("Who").selectOption("hal@example.com")
    await page.getByLabel("Projects").first().fill("web*")
    await page.getByLabel("Environments").fill("{dev,staging}")
    await page.getByText("3 projects, where marked").waitFor()
  }
}

const take = async (page, name, file, { scheme = "light", width = 1280, height = 800 } = {}) => {
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" })
  await page.goto(url + pages[name])
  await page.waitForLoadState("networkidle")
  await steps[name]?.(page)
  await page.waitForTimeout(100)
  await page.screenshot({ path: file, fullPage: height === 1 })
}

const path = chromiumPath()
if (path === undefined) throw new Error(noChromium)
const { server } = await startBuiltServer(folder, {
  SERVICE_PORT: String(port),
  SERVICE_PUBLIC_URL: url,
  SUPERADMIN_EMAIL_0: "ada@example.com",
  SERVICE_BROKER: "1",
  SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8",
  BACKUP_DIR: folder
})
const browser = await chromium.launch({ executablePath: path, args: chromiumFlags })
try {
  const cookie = await login("ada@example.com")
  await prepare(cookie)
  const context = await browser.newContext({ deviceScaleFactor: 1 })
  await context.addCookies([{ name: "coffer", value: cookie, url, httpOnly: true, sameSite: "Strict" }])
  const page = await context.newPage()
  const [target, ...only] = process.argv.slice(2)
  if (target === undefined) {
    const pictures = fileURLToPath(new URL("docs/pictures/", root))
    await mkdir(pictures, { recursive: true })
    for (const [name, file] of [["matrix"], ["rule", "rules"], ["audit"]]) {
      await take(page, name, `${pictures}${file ?? name}.png`, { height: 720 })
    }
  } else {
    await mkdir(target, { recursive: true })
    for (const name of only.length === 0 ? Object.keys(pages) : only) {
      for (const width of [390, 1280, 1920]) {
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

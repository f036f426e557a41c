import { afterAll, assert } from "vitest"
import { alertOf, Browser, type Page } from "../support/Browser.js"
import { freePort } from "../support/Port.js"
import { type Json, Program, type Variables } from "../support/Program.js"
import { type Account, TestProvider } from "../support/TestProvider.js"

const started: Array<{ remove: () => Promise<void> }> = []

afterAll(async () => {
  for (const one of started) await one.remove()
})

export interface World {
  readonly program: Program
  readonly provider: TestProvider
}

const settings = (provider: TestProvider, port: number): Variables => ({
  SERVICE_PORT: String(port),
  SERVICE_PUBLIC_URL: `http://127.0.0.1:${port}`,
  SERVICE_OIDC_ISSUER: provider.issuer,
  SERVICE_OIDC_CLIENT_ID: "coffer",
  SERVICE_OIDC_CLIENT_SECRET: "a secret: with/strange+characters",
  SERVICE_OIDC_NAME: "Test & Co",
  SERVICE_AUDIT_REQUIRED: "1",
  SUPERADMIN_EMAIL_0: "root@example.com"
})

export const world = async (
  variables: Variables = {},
  options: { inToken?: boolean; down?: boolean } = {}
): Promise<World> => {
  const port = await freePort()
  const provider = await TestProvider.make(`http://127.0.0.1:${port}/api/auth/oidc/callback`, options)
  if (options.down !== true) await provider.start()
  const program = await Program.start({ ...settings(provider, port), ...variables })
  started.push(program, { remove: () => provider.stop() })
  return { program, provider }
}

export const begin = async (reader: Browser): Promise<string> => {
  const answer = await reader.open("/login/provider")
  assert.strictEqual(answer.status, 303, answer.text)
  return answer.headers.get("location") ?? ""
}

export const comeBack = (reader: Browser, back: URL): Promise<Page> =>
  reader.open(back.pathname + back.search, { headers: { "sec-fetch-site": "cross-site" } })

/** The whole way of a person, in a new browser. */
export const logIn = async ({ program, provider }: World, account: Account, reader = new Browser(program.url)) => {
  provider.account = account
  await reader.open("/login")
  const page = await comeBack(reader, await provider.visit(await begin(reader)))
  return { page, reader }
}

export const userOf = async (reader: Browser): Promise<Json> => (await reader.call("GET", "/api/auth/me")).body

export const verified = (sub: string, email = `${sub}@example.com`): Account => ({ sub, email, email_verified: true })

/** The newest entries about logins, as a superadmin reads them. */
export const newestEntry = async ({ program }: World): Promise<Json> => {
  const token = await program.login("root@example.com")
  const { body } = await program.call("GET", "/api/audit-logs?limit=10", { token })
  return body.data.find(({ actor_name }: Json) => actor_name !== "root@example.com")
}

export const assertRefused = async (found: { page: Page; reader: Browser }, says: RegExp, status = 403) => {
  assert.strictEqual(found.page.status, status, found.page.text)
  assert.match(alertOf(found.page), says)
  assert.isFalse(found.reader.cookies.has("coffer"))
  assert.strictEqual((await found.reader.call("GET", "/api/auth/me")).status, 401)
}

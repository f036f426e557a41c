import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { assert, inject } from "vitest"
import { TestHome } from "../../../cli/test/support/Programs.js"

/** JSON as it came: tests look into it as they expect it to be. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = any

let clients = 0

/** Waits until a text has been found. */
export const until = async <A>(look: () => A | undefined, what: string): Promise<A> => {
  for (let tries = 0; tries < 400; tries++) {
    const found = look()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  return assert.fail(`waited in vain for ${what}`)
}

/** The login codes that an address was sent. */
export const codesFor = (email: string): ReadonlyArray<string> => {
  const line = new RegExp(`login code for ${email.replace(/[.+]/g, "\\$&")}: (\\d{6})`, "g")
  return [...readFileSync(inject("server").log, "utf8").matchAll(line)].map(([, code = ""]) => code)
}

/** A login code of an address, after `before` others. */
export const codeFor = (email: string, before = 0): Promise<string> =>
  until(() => codesFor(email)[before], `a code for ${email}`)

/** The headers of a script of the server's own pages. */
const ownPage = (url: string) => ({
  // A kept connection, which the server may close while this process works, loses the next request.
  connection: "close",
  "content-type": "application/json",
  "x-coffer": "1",
  origin: url
})

/** Logs an address in by its code. */
const verify = async (email: string, more: object = {}): Promise<Response> => {
  const { url } = inject("server")
  const headers = { ...ownPage(url), "x-real-ip": `198.18.${process.pid % 256}.${(++clients % 250) + 1}` }
  const post = (path: string, body: object) =>
    fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })
  const before = codesFor(email).length
  const asked = await post("/api/auth/login", { email })
  assert.strictEqual(asked.status, 200, await asked.text())
  return post("/api/auth/verify", { email, code: await codeFor(email, before), ...more })
}

/** The home of somebody who is logged in at a terminal. */
export const terminalOf = async (email: string): Promise<TestHome> => {
  const home = new TestHome(inject("server").url)
  const { token } = await (await verify(email)).json()
  mkdirSync(dirname(home.session), { recursive: true, mode: 0o700 })
  writeFileSync(home.session, `${JSON.stringify({ [home.serverUrl]: token })}\n`, { mode: 0o600 })
  return home
}

let root: { readonly since: number; readonly person: Promise<Person> } | undefined

/** A person with a session token, who prepares what a test looks at. */
export class Person {
  private constructor(
    readonly email: string,
    readonly token: string
  ) {}

  static async login(email: string): Promise<Person> {
    const verified = await verify(email, { session: "cookie" })
    assert.strictEqual(verified.status, 204, await verified.text())
    const [, token = ""] = /^coffer=([^;]+)/.exec(verified.headers.getSetCookie().join("\n")) ?? []
    return new Person(email, token)
  }

  /** The superadmin, with one login for all tests of a process: an address gets few codes. It is recent for five more minutes. */
  static root(): Promise<Person> {
    if (root === undefined || Date.now() - root.since > 9 * 60_000) {
      root = { since: Date.now(), person: Person.login("root@example.com") }
    }
    return root.person
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {}
  ): Promise<Json> {
    const answer = await fetch(inject("server").url + path, {
      method,
      headers: {
        ...ownPage(inject("server").url),
        cookie: `coffer=${this.token}`,
        ...headers
      },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    const text = await answer.text()
    assert.isBelow(answer.status, 300, `${method} ${path}: ${text}`)
    return text === "" ? undefined : JSON.parse(text)
  }

  /** Accepts all invitations, as a first call in each organization does. */
  async accept(): Promise<void> {
    const { data } = await this.call("GET", "/api/orgs")
    for (const { accepted, name } of data) if (accepted === false) await this.call("GET", `/api/orgs/${name}`)
  }

  /** Makes an organization with a project and some values. */
  async organization(org: string, values: Readonly<Record<string, Readonly<Record<string, string>>>> = {}) {
    await this.call("POST", "/api/orgs", { name: org })
    await this.call("POST", `/api/orgs/${org}/projects`, { name: "webshop" })
    for (const [env, set] of Object.entries(values)) {
      await this.call("PATCH", `/api/orgs/${org}/projects/webshop/envs/${env}/bundle`, { set })
    }
  }
}

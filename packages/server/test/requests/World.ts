import { Database } from "@coffer/server/database/Database"
import { query } from "@coffer/server/database/Query"
import { Effect } from "effect"
import { assert } from "vitest"
import { startPair } from "../authorization/Pair.js"
import { sceneSettings, type Stage } from "../authorization/Scene.js"
import { machines, word } from "../authorization/Service.js"
import type { Json } from "../support/Program.js"
import { email } from "../support/Services.js"

type Headers = Readonly<Record<string, string>>

export interface Answer {
  readonly status: number
  readonly body: Json
}

export const asking = { prefer: "respond-async" }

/** Two servers on PostgreSQL, or one on SQLite, and an organization with a protected environment for each test. */
export const startWorld = async (settings: Readonly<Record<string, string>> = {}) => {
  const pair = await startPair({ ...sceneSettings(), ...settings })

  const call = async (
    headers: Headers,
    method: string,
    path: string,
    body?: unknown,
    server: Stage = pair.first
  ): Promise<Answer> => {
    const sent = { method, path, headers, ...(body !== undefined && { body }) }
    const { status, text } = await server.send(sent)
    return { status, body: text === "" ? undefined : JSON.parse(text) }
  }

  /** An organization of people with roles, whose prod holds a secret and is not protected yet. */
  const organization = async () => {
    const org = `/api/orgs/org-${word()}`
    await pair.first.asRoot("POST", "/api/orgs", { name: org.slice("/api/orgs/".length) })
    await pair.first.asRoot("POST", `${org}/projects`, { name: "webshop" })
    const prod = `${org}/projects/webshop/envs/prod`
    await pair.first.asRoot("PUT", `${prod}/secrets/A`, { value: "one" })

    const member = async (role: string) => {
      const address = email(`${word()}@example.com`)
      const person = await pair.first.person(address)
      const { user_id } = await pair.first.asRoot("POST", `${org}/members`, { email: address, role })
      // Accepts: only then, the person counts as a voter.
      await pair.first.do(person.headers, "GET", org)
      return { ...person, email: address, member: `${org}/members/${user_id}` }
    }
    const owner = await member("owner")
    const admin = await member("admin")
    const other = await member("admin")
    const dev = await member("developer")
    const guest = await member("member")
    const rule = { subject_type: "user", email: dev.email, permission: "admin" }
    await pair.first.asRoot("POST", `${org}/acl`, { ...rule, project_pattern: "webshop", env_pattern: "*" })
    const { api_key, id } = await pair.first.asRoot("POST", `${org}/service-accounts`, { name: "ci" })
    const subject = { subject_type: "service_account", subject_id: id, permission: "write" }
    const { id: ciRule } = await pair.first.asRoot("POST", `${org}/acl`, {
      ...subject,
      project_pattern: "webshop",
      env_pattern: "*"
    })
    const ci = { headers: machines(api_key), rule: `${org}/acl/${ciRule}` }
    const protect = (terms: object = {}) =>
      call(owner.headers, "PUT", `${prod}/protection`, { needed: 1, approvers: "admins", ...terms })
    return { org, project: `${org}/projects/webshop`, prod, owner, admin, other, dev, guest, ci, protect }
  }
  type World = Awaited<ReturnType<typeof organization>>

  /** The same, protected. */
  const protectedOne = async (terms: object = {}) => {
    const world = await organization()
    const { body, status } = await world.protect(terms)
    assert.strictEqual(status, 200, JSON.stringify(body))
    return world
  }

  /** Asks for a change, and returns its request. */
  const propose = async (headers: Headers, method: string, path: string, body?: unknown): Promise<Json> => {
    const answer = await call({ ...headers, ...asking }, method, path, body)
    assert.strictEqual(answer.status, 202, JSON.stringify(answer.body))
    return answer.body
  }

  const vote = (world: World, headers: Headers, id: string, word = "approve", server: Stage = pair.first) =>
    call(headers, "POST", `${world.org}/requests/${id}/${word}`, undefined, server)

  const valueOf = async (world: World, key: string) =>
    (await call(pair.first.root, "GET", `${world.prod}/secrets/${key}`)).body?.value

  const logOf = async ({ org }: World): Promise<ReadonlyArray<Json>> => {
    const { data } = await pair.first.asRoot("GET", `${org}/audit-logs?limit=100`)
    return data
  }

  /** Makes a request end in some milliseconds, by the database's clock. */
  const end = (id: string, left: number): Promise<void> =>
    pair.first.run(
      Effect.gen(function* () {
        const { clock, transaction } = yield* Database
        const { write } = yield* query
        const set = write`UPDATE requests SET expires_at = ${"at"} WHERE id = ${"id"}`
        yield* transaction(set({ id, at: (yield* clock) + left }))
      })
    )

  return { ...pair, end, call, organization, protectedOne, propose, vote, valueOf, logOf }
}
export type World = Awaited<ReturnType<typeof startWorld>>

import { createServer, type Server, type Socket } from "node:net"
import { setTimeout } from "node:timers/promises"
import { Effect, Exit, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { renewedDatabase, type RenewedDatabase, renewerPassword } from "../support/postgres/RenewedDatabase.js"
import { cleanUp, type Json, Program } from "../support/Program.js"

/** As many as an environment may have. */
const hanging = 20

let program: Program
let database: RenewedDatabase
let silent: Server
let token: string
const scope = Effect.runSync(Scope.make())
const sockets = new Set<Socket>()

const ask = async (method: string, path: string, body?: unknown): Promise<Json> => {
  const answer = await program.call(method, `/api/orgs${path}`, { token, ...(body !== undefined && { body }) })
  assert.isBelow(answer.status, 300, `${method} ${path}: ${answer.text}`)
  return answer.body
}

const env = (org: string) => `/${org}/projects/webshop/envs/prod`

/** An organization with a connection to a port of this machine. */
const prepare = async (org: string, connection: object) => {
  await ask("POST", "", { name: org })
  await ask("POST", `/${org}/projects`, { name: "webshop" })
  await ask("PATCH", `${env(org)}/bundle`, { set: { RENEWER: renewerPassword } })
  await ask("POST", `${env(org)}/connections`, {
    ...{ name: "db", host: "127.0.0.1", user: "renewer", password_key: "RENEWER", tls: "verify-ca" },
    ...connection
  })
}

const rotate = (org: string, name: string) =>
  ask("POST", `${env(org)}/rotations`, {
    ...{ name, connection: "db", users: ["app_a", "app_b"] },
    writes: { [`${name.toUpperCase()}_URL`]: "https://{user}:{password}@localhost" }
  })

beforeAll(async () => {
  database = await Effect.runPromise(Scope.extend(renewedDatabase, scope))
  await database.query("GRANT ALL ON SCHEMA public TO renewer WITH GRANT OPTION")
  silent = createServer((socket) => sockets.add(socket.on("error", () => undefined)))
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve))
  const address = silent.address()
  program = await Program.start({
    ...{ SUPERADMIN_EMAIL_0: "root@example.com", SERVICE_RENEWAL_NETWORKS: "127.0.0.0/8" }
  })
  token = await program.login("root@example.com")
  const { ca, port } = database
  await prepare("slow", {
    ...{ kind: "http", port: typeof address === "object" ? address?.port : 0, database: "renewal", ca }
  })
  await prepare("acme", { kind: "postgres", port, database: "postgres", ca })
  await ask("POST", `${env("acme")}/roles`, { name: "app", connection: "db" })
  for (let at = 0; at < hanging; at++) await rotate("slow", `r${at}`)
  await rotate("acme", "shop")
}, 120_000)

afterAll(async () => {
  await program.remove()
  for (const socket of sockets) socket.destroy()
  silent.close()
  cleanUp()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

describe("databases of one tenant that do not respond", () => {
  it("hold up no turn and no lease of another tenant", { timeout: 120_000 }, async () => {
    await program.execute("UPDATE rotations SET due_at = 0 WHERE name <> 'shop'")
    while (sockets.size === 0) await setTimeout(20)
    await program.execute("UPDATE rotations SET due_at = 1 WHERE name = 'shop'")
    const lease = await ask("POST", `${env("acme")}/roles/app/leases`, {})
    assert.isTrue(await database.admits(lease.username, lease.password))
    const rotated = async () => (await ask("GET", `${env("acme")}/rotations/shop`)).rotated_at !== null
    while (!(await rotated())) await setTimeout(20)
    const { data } = await ask("GET", `${env("slow")}/rotations`)
    const waiting = data.filter(({ failures }: Json) => failures === 0)
    assert.isAtLeast(waiting.length, hanging / 2, "the others still wait for their database")
  })
})

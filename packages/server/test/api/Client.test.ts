import { type CofferClient, makeClient } from "@coffer/client/internal/CofferClient"
import { parseServerUrl } from "@coffer/client/internal/ServerUrl"
import { EnvName, OrgName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import { Effect, Either, Exit, Option, Redacted, Schema, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Email } from "@coffer/domain/base/Names"
import { listOf } from "@coffer/domain/secrets/Bundle"
import { SecretValue } from "@coffer/domain/secrets/SecretValues"
import { Program } from "../support/Program.js"

const scope = Effect.runSync(Scope.make())
let program: Program
let adaToken: string
let client: CofferClient
let outsider: CofferClient

const clientFor = async (token: string | null): Promise<CofferClient> =>
  Effect.runPromise(
    Scope.extend(
      makeClient({
        server: Either.getOrThrow(parseServerUrl(program.url, "flag")),
        credential: Option.map(Option.fromNullable(token), (text) => ({
          type: "session" as const,
          secret: Redacted.make(text)
        })),
        program: "cli",
        version: "0.0.0"
      }),
      scope
    )
  )

const email = Schema.decodeSync(Email)
const value = (text: string) => Redacted.make(SecretValue.make(text))
const org = { org_name: OrgName.make("acme") }
const project = { ...org, project_name: ProjectName.make("webshop") }
const env = { ...project, env_name: EnvName.make("dev") }
const secret = { ...env, key: SecretKey.make("API_KEY") }

beforeAll(async () => {
  program = await Program.start()
  adaToken = await program.login("ada@example.com")
  client = await clientFor(adaToken)
  outsider = await clientFor(await program.login("eve@example.com"))
})

afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await program.remove()
})

const run = Effect.runPromise
const failing = async <A, E>(effect: Effect.Effect<A, E>): Promise<E> => run(Effect.flip(effect))

describe("a path with names that cannot be names", () => {
  it.each(["acme%00", "acme%2Fwebshop", "%F0%9F%94%91", "ACME"])("is refused, and not looked for: %s", async (name) => {
    for (const path of [
      `/api/orgs/${name}`,
      `/api/orgs/acme/projects/${name}`,
      `/api/orgs/acme/projects/web/envs/${name}/bundle`
    ]) {
      assert.strictEqual((await program.call("GET", path, { token: adaToken })).status, 400, path)
    }
  })
})

describe("the typed client", () => {
  it("logs a person in, and out again", async () => {
    const anonymous = await clientFor(null)
    const ada = email("new@example.com")
    const { message } = await run(anonymous.call("auth", (api) => api.login({ payload: { email: ada } })))
    assert.include(message, "code")
    const [, code = ""] = await program.said(/login code for new@example\.com: (\d{6})/)
    const answer = await run(
      anonymous.call("auth", (api) => api.verify({ payload: { email: ada, code: Redacted.make(code) } }))
    )
    const session = await clientFor(Redacted.value(answer?.token ?? assert.fail("there is no token")))
    const me = await run(session.call("auth", (api) => api.me()))
    assert.deepInclude(me, { type: "user", email: ada, is_superadmin: false })
    assert.isTrue((await run(session.call("auth", (api) => api.sessions()))).data[0]?.current)
    await run(session.call("auth", (api) => api.logout()))
    assert.strictEqual((await failing(session.call("auth", (api) => api.me())))._tag, "Unauthorized")
    const wrong = await failing(
      anonymous.call("auth", (api) => api.verify({ payload: { email: ada, code: Redacted.make(code) } }))
    )
    assert.strictEqual(wrong._tag, "InvalidCode")
  })

  it("makes an organization, a project and an environment, and finds them again", async () => {
    const made = await run(client.call("organizations", (api) => api.create({ payload: { name: org.org_name } })))
    assert.strictEqual(made.role, "owner")
    await run(client.call("projects", (api) => api.create({ path: org, payload: { name: project.project_name } })))
    const names = await run(client.call("environments", (api) => api.list({ path: project })))
    assert.sameMembers(
      names.data.map(({ name }) => String(name)),
      ["dev", "staging", "prod"]
    )
    await run(
      client.call("environments", (api) => api.create({ path: project, payload: { name: EnvName.make("qa") } }))
    )
    const again = await failing(
      client.call("environments", (api) => api.create({ path: project, payload: { name: EnvName.make("qa") } }))
    )
    assert.strictEqual(again._tag, "Conflict")
  })

  it("keeps a secret with its versions", async () => {
    const first = await run(
      client.call("secrets", (api) => api.set({ path: secret, payload: { value: value("one") } }))
    )
    assert.strictEqual(first.version, 1)
    await run(
      client.call("secrets", (api) => api.set({ path: secret, payload: { value: value("two"), expected_version: 1 } }))
    )
    const now = await run(client.call("secrets", (api) => api.get({ path: secret, urlParams: {} })))
    assert.deepStrictEqual([Redacted.value(now.value), now.version], ["two", 2])
    const then = await run(client.call("secrets", (api) => api.get({ path: secret, urlParams: { version: 1 } })))
    assert.strictEqual(Redacted.value(then.value), "one")
    const stale = await failing(
      client.call("secrets", (api) =>
        api.set({ path: secret, payload: { value: value("three"), expected_version: 1 } })
      )
    )
    assert.strictEqual(stale._tag, "Conflict")
    assert.strictEqual(
      (await failing(client.call("secrets", (api) => api.delete({ path: secret, urlParams: { expected_version: 1 } }))))
        ._tag,
      "Conflict"
    )
  })

  it("reads and writes a bundle, with a key that objects lose", async () => {
    const set = new Map([
      [SecretKey.make("__proto__"), value("kept")],
      [SecretKey.make("ZED"), value("z")]
    ])
    const written = await run(
      client.call("environments", (api) =>
        api.writeBundle({ path: env, headers: {}, payload: { set, delete: [secret.key] } })
      )
    )
    assert.deepStrictEqual(
      written.data.map(({ change, key }) => [String(key), change]),
      [
        ["API_KEY", "deleted"],
        ["ZED", "created"],
        ["__proto__", "created"]
      ]
    )
    const bundle = await run(
      client.call("environments", (api) => api.bundle({ path: env, headers: {}, urlParams: {} }))
    )
    assert.deepStrictEqual(
      listOf(bundle)?.data.map(({ key, value }) => [String(key), Redacted.value(value)]),
      [
        ["ZED", "z"],
        ["__proto__", "kept"]
      ]
    )
  })

  it("gets each refusal as an error of its own kind", async () => {
    const anonymous = await clientFor(null)
    const kinds = [
      (await failing(outsider.call("organizations", (api) => api.get({ path: org }))))._tag,
      (await failing(client.call("secrets", (api) => api.get({ path: secret, urlParams: {} }))))._tag,
      (await failing(anonymous.call("organizations", (api) => api.list())))._tag,
      (await failing(client.call("organizations", (api) => api.create({ payload: { name: org.org_name } }))))._tag
    ]
    assert.deepStrictEqual(kinds, ["NotFound", "NotFound", "Unauthorized", "Conflict"])
  })

  it("knows a server that has gone", async () => {
    const lost = await clientFor(null)
    await program.stop("SIGKILL")
    const error = await failing(lost.call("auth", (api) => api.login({ payload: { email: email("ada@example.com") } })))
    assert.strictEqual(error._tag, "ServerUnreachable")
  })
})

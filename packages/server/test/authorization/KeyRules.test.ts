import { type Action, needs } from "@coffer/domain/access/Permissions"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endpoints, useRuleBody } from "./Contract.js"
import { type Caller, type Person, Service } from "./Service.js"

const project = "/api/orgs/:org_name/projects/:project_name"
const env = `${project}/envs/:env_name`
const secret = `${env}/secrets/:key`

/**
 * How rules that name keys apply to each call that an access rule decides on, or that shows keys by rules. `key`: the call names one
 * key, and is refused for another. `part`: it shows, counts and changes only the keys that rules give. `whole`: it needs all keys.
 */
const calls: Readonly<Record<string, "key" | "part" | "whole">> = {
  [`PUT ${secret}`]: "key",
  [`GET ${secret}`]: "key",
  [`DELETE ${secret}`]: "key",
  [`GET ${secret}/references`]: "key",
  [`GET ${secret}/versions`]: "key",
  [`POST ${secret}/rollback`]: "key",
  [`POST ${secret}/undelete`]: "key",
  [`POST ${secret}/destroy`]: "key",
  [`PATCH ${secret}`]: "key",
  [`GET ${secret}/use-rules`]: "key",
  [`POST ${secret}/use-rules`]: "key",
  [`PATCH ${secret}/use-rules/:use_rule_id`]: "key",
  [`DELETE ${secret}/use-rules/:use_rule_id`]: "key",
  [`GET ${env}/secrets`]: "part",
  [`GET ${env}/bundle`]: "part",
  [`PATCH ${env}/bundle`]: "part",
  [`POST ${env}/copy`]: "part",
  [`GET ${env}/diff`]: "part",
  [`GET ${env}/revisions`]: "part",
  [`GET ${env}/uses`]: "part",
  [`POST ${env}/use`]: "part",
  [`GET ${project}/matrix`]: "part",
  [`GET ${project}/revisions`]: "part",
  [`GET ${project}/declared`]: "part",
  [`GET ${project}/declared/:key`]: "part",
  "GET /api/orgs/:org_name/keys": "part",
  "GET /api/orgs/:org_name/secrets/due": "part",
  [`POST ${env}/revert`]: "whole",
  [`GET ${env}/check`]: "whole",
  [`GET ${env}/targets`]: "whole",
  [`POST ${env}/targets`]: "whole",
  [`GET ${env}/targets/:target_name`]: "whole",
  [`DELETE ${env}/targets/:target_name`]: "whole",
  [`POST ${env}/targets/:target_name/plan`]: "whole",
  [`POST ${env}/targets/:target_name/push`]: "whole",
  [`POST ${env}/targets/:target_name/check`]: "whole",
  [`PATCH ${env}/targets/:target_name`]: "whole",
  [`GET ${env}/leases`]: "whole",
  [`POST ${env}/roles/:role_name/leases`]: "whole",
  [`POST ${env}/leases/:lease_id/renew`]: "whole",
  [`DELETE ${env}/leases/:lease_id`]: "whole"
}

/** Calls of which the path names no environment, or that show no keys although an action with a rule stands in their contract. */
const elsewhere: ReadonlyArray<string> = []

const isByRule = (requires: string | undefined): boolean =>
  requires !== undefined && requires in needs && "permission" in needs[requires as Action]

const id = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"
const at = (name: string) => `/api/orgs/acme/projects/webshop/envs/${name}`
const prod = at("prod")

let service: Service
let ada: Person
/** May write the keys API_* of both environments. */
let dev: Person
/** May do everything there but with STRIPE_KEY. */
let lead: Person

const limit = async (subject: Person, permission: string, key_pattern: string, denies = false): Promise<void> => {
  await service.grant(ada, "acme", subject, permission, "webshop", "{prod,dev}", { key_pattern, denies })
}

const get = async (caller: Caller, path: string) => service.do(caller, "GET", path)
const keysIn = (rows: ReadonlyArray<{ readonly key: string }>) => rows.map(({ key }) => key)

beforeAll(async () => {
  service = await Service.start({ SERVICE_BROKER: "1" })
  ada = await service.person("ada@example.com")
  await service.do(ada, "POST", "/api/orgs", { name: "acme" })
  await service.do(ada, "POST", "/api/orgs/acme/projects", { name: "webshop" })
  for (const name of ["prod", "dev"]) {
    const existing: ReadonlyArray<{ readonly name: string }> = (await get(ada, "/api/orgs/acme/projects/webshop/envs"))
      .data
    if (existing.every((one) => one.name !== name))
      await service.do(ada, "POST", "/api/orgs/acme/projects/webshop/envs", { name })
  }
  dev = await service.member(ada, "acme", "dev@example.com", "developer")
  lead = await service.member(ada, "acme", "lead@example.com", "developer")
  const set = { API_KEY: "the key of prod", API_URL: "a", DB_URL: "the database", STRIPE_KEY: "the money" }
  await service.do(ada, "PATCH", `${prod}/bundle`, {
    set,
    references: { API_DSN: "${DB_URL}/x", API_SELF: "${API_KEY}/y" },
    note: "the first"
  })
  await service.do(ada, "PATCH", `${at("dev")}/bundle`, { set: { ...set, API_KEY: "the key of dev" } })
  await limit(dev, "write", "API_*")
  await service.grant(ada, "acme", lead, "admin", "webshop", "{prod,dev}")
  await limit(lead, "use", "STRIPE_*", true)
}, 120_000)

afterAll(() => service.remove())

describe("rules that name keys", () => {
  it("are known for every call on which an access rule decides, and for no removed call", () => {
    const byRule = endpoints.filter(({ requires }) => isByRule(requires)).map(({ call }) => call)
    assert.isAbove(byRule.length, 25)
    assert.deepStrictEqual(
      byRule.filter((call) => !(call in calls) && !elsewhere.includes(call)),
      []
    )
    const known = new Set(endpoints.map(({ call }) => call))
    assert.deepStrictEqual(
      [...Object.keys(calls), ...elsewhere].filter((call) => !known.has(call)),
      []
    )
  })

  it("refuse calls for another key, existing or not, and admit to those for a key that they give", async () => {
    const bodies: Readonly<Record<string, unknown>> = {
      PUT: { value: "new" },
      PATCH: { owner: "dev@example.com" },
      [`POST ${secret}/rollback`]: { version: 1 },
      [`POST ${secret}/destroy`]: { versions: [1] },
      [`POST ${secret}/use-rules`]: useRuleBody,
      [`PATCH ${secret}/use-rules/:use_rule_id`]: { per_day: 1 }
    }
    for (const [call] of Object.entries(calls).filter(([, how]) => how === "key")) {
      const [method = "", path = ""] = call.split(" ")
      const of = (key: string) => path.replace(env, prod).replace(":key", key).replace(":use_rule_id", id)
      const body = bodies[call] ?? bodies[method]
      for (const key of ["DB_URL", "ABSENT"])
        assert.strictEqual(await service.status(dev, method, of(key), body), 403, `${call} ${key}`)
      assert.strictEqual(await service.status(lead, method, of("STRIPE_KEY"), body), 403, call)
      assert.notStrictEqual(await service.status(lead, method, of("ABSENT"), body), 403, call)
      const mayDo = !/\/(?:destroy|use-rules)/.test(call)
      assert.strictEqual((await service.status(dev, method, of("API_ABSENT"), body)) !== 403, mayDo, call)
    }
    await service.do(ada, "PATCH", `${prod}/bundle`, { delete: ["ABSENT", "API_ABSENT"] })
  })

  it("refuse calls that are about all keys", async () => {
    for (const [call] of Object.entries(calls).filter(([, how]) => how === "whole")) {
      const [method = "", path = ""] = call.split(" ")
      const body = call.endsWith("/revert") ? { to: 1 } : /^(?:POST|PATCH)/.test(method) ? {} : undefined
      for (const caller of [dev, lead]) {
        const status = await service.status(
          caller,
          method,
          path
            .replace(env, prod)
            .replace(/:(?:target|role)_name/, "k8s")
            .replace(":lease_id", id),
          body
        )
        assert.include(body === undefined || call.endsWith("/revert") ? [403] : [400, 403], status, call)
      }
    }
  })

  it("list, bundle and search only the keys that they give", async () => {
    assert.deepStrictEqual(keysIn((await get(dev, `${prod}/secrets`)).data), [
      "API_DSN",
      "API_KEY",
      "API_SELF",
      "API_URL"
    ])
    assert.notInclude(keysIn((await get(lead, `${prod}/secrets`)).data), "STRIPE_KEY")
    const bundle = await get(dev, `${prod}/bundle`)
    assert.deepStrictEqual(keysIn(bundle.data), ["API_KEY", "API_SELF", "API_URL"])
    assert.deepStrictEqual(keysIn(bundle.errors), ["API_DSN"])
    assert.notInclude(JSON.stringify(bundle), "the database")
    assert.strictEqual(await service.status(dev, "GET", `${prod}/bundle?keys=API_KEY,DB_URL`), 403)
    assert.deepStrictEqual(keysIn((await get(dev, "/api/orgs/acme/keys?query=url")).data), ["API_URL", "API_URL"])
    assert.deepStrictEqual(keysIn((await get(dev, "/api/orgs/acme/keys?query=db")).data), [])
    assert.deepStrictEqual(keysIn((await get(dev, "/api/orgs/acme/keys?query=api&limit=1")).data), ["API_KEY"])
    assert.deepStrictEqual(keysIn((await get(lead, "/api/orgs/acme/keys?query=stripe")).data), [])
  })

  it("refuse the use of another key, and of several with another among them", async () => {
    const request = { method: "GET", url: "https://api.invalid/v1/x" }
    for (const secrets of [["DB_URL"], ["API_KEY", "DB_URL"]]) {
      assert.strictEqual(await service.status(dev, "POST", `${prod}/use`, { ...request, secrets }), 403)
    }
  })

  it("give a bundle of its own ETag, so that one caller's is never another's", async () => {
    const tagOf = async (caller: Caller) =>
      (await service.call(caller, "GET", `${prod}/bundle`)).headers.get("etag") ?? ""
    const [whole, part, other] = [await tagOf(ada), await tagOf(dev), await tagOf(lead)]
    assert.strictEqual(new Set([whole, part, other]).size, 3)
    const again = await service.call(dev, "GET", `${prod}/bundle`, { headers: { "if-none-match": part } })
    assert.strictEqual(again.status, 304)
    assert.strictEqual(
      (await service.call(dev, "GET", `${prod}/bundle`, { headers: { "if-none-match": whole } })).status,
      200
    )
  })

  it("let no reference lead past them", async () => {
    assert.strictEqual((await get(dev, `${prod}/secrets/API_SELF`)).value, "the key of prod/y")
    const refused = await service.call(dev, "GET", `${prod}/secrets/API_DSN`)
    assert.notInclude(refused.text, "the database")
    assert.strictEqual(refused.body.error.code, "REFERENCE_REFUSED")
    const written = await service.call(dev, "PUT", `${prod}/secrets/API_NEW`, {
      body: { value: "${DB_URL}", kind: "reference" }
    })
    assert.strictEqual(written.body.error.code, "REFERENCE_REFUSED")
    const around = await get(dev, `${prod}/secrets/API_KEY/references`)
    assert.deepStrictEqual([keysIn(around.referred_by), around.hidden], [["API_SELF"], 0])
  })

  it("refuse a bulk write of another key before they say anything of it, and nothing of it is written", async () => {
    for (const body of [
      { set: { API_KEY: "x", DB_URL: "x" } },
      { set: { API_KEY: "x" }, delete: ["STRIPE_KEY"] },
      { delete: ["ABSENT"] },
      { set: { DB_URL: "the database" }, dry_run: true }
    ]) {
      assert.strictEqual(await service.status(dev, "PATCH", `${prod}/bundle`, body), 403)
    }
    assert.strictEqual((await get(ada, `${prod}/secrets/API_KEY`)).value, "the key of prod")
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`OTHER_${index}`, "x"]))
    assert.strictEqual(await service.status(dev, "PATCH", `${prod}/bundle`, { set: many, dry_run: true }), 403)
  })

  it("compare and copy the part that they give in both environments, and say how many keys are left out", async () => {
    const diff = await get(dev, `${prod}/diff?with=dev`)
    assert.deepStrictEqual(
      diff.data.map(({ key, status }: { readonly key: string; readonly status: string }) => [key, status]),
      [
        ["API_DSN", "only_here"],
        ["API_KEY", "different"],
        ["API_SELF", "only_here"],
        ["API_URL", "same"]
      ]
    )
    assert.strictEqual(diff.left_out, 2)
    assert.notProperty(await get(ada, `${prod}/diff?with=dev`), "left_out")
    const dry = await service.do(dev, "POST", `${at("prod")}/copy`, { from: "dev", dry_run: true })
    assert.deepStrictEqual([keysIn(dry.data), dry.left_out], [["API_KEY", "API_URL"], 2])
    assert.strictEqual(
      await service.status(dev, "POST", `${at("prod")}/copy`, { from: "dev", keys: ["DB_URL"], dry_run: true }),
      403
    )
  })

  it("show the revisions of an environment and of a project without other keys, and a note only with one of theirs", async () => {
    await service.do(ada, "PATCH", `${prod}/bundle`, { set: { DB_URL: "other" }, note: "the database moved" })
    for (const path of [`${prod}/revisions`, "/api/orgs/acme/projects/webshop/revisions"]) {
      const { text } = await service.call(dev, "GET", path)
      for (const word of ["DB_URL", "STRIPE_KEY", "the database moved"]) assert.notInclude(text, word, path)
      assert.include(text, "API_URL")
      assert.include(text, "the first")
    }
  })

  it("show the matrix with the cells that they give, and say how many there are besides", async () => {
    const matrix = await get(dev, "/api/orgs/acme/projects/webshop/matrix")
    assert.deepStrictEqual(keysIn(matrix.data), ["API_DSN", "API_KEY", "API_SELF", "API_URL"])
    const [column] = matrix.environments.filter(({ name }: { readonly name: string }) => name === "prod")
    assert.deepStrictEqual([column.left_out, column.allowed], [2, ["use", "read", "write"]])
  })

  it("show due dates, declared keys and values of requests of their keys alone", async () => {
    for (const key of ["API_KEY", "DB_URL"]) {
      await service.do(ada, "PATCH", `${prod}/secrets/${key}`, { expires_at: "2026-01-01T00:00:00Z" })
      await service.do(ada, "PUT", `/api/orgs/acme/projects/webshop/declared/${key}`, { required_in: "*" })
    }
    assert.deepStrictEqual(keysIn((await get(dev, "/api/orgs/acme/secrets/due?within=1d")).data), ["API_KEY"])
    assert.deepStrictEqual(keysIn((await get(dev, `${prod}/secrets?due_within=1d`)).data), ["API_KEY"])
    assert.deepStrictEqual(keysIn((await get(dev, "/api/orgs/acme/projects/webshop/declared")).data), ["API_KEY"])
    assert.strictEqual(await service.status(dev, "GET", "/api/orgs/acme/projects/webshop/declared/DB_URL"), 404)
    assert.strictEqual((await get(dev, "/api/orgs/acme/projects/webshop/declared/API_KEY")).key, "API_KEY")
  })

  it("limit what a delegation of the person gives", async () => {
    const { token } = await service.do(dev, "POST", "/api/auth/delegations", {
      ...{ name: "agent", org: "acme", project: "webshop", env: "prod" },
      ...{ permission: "read", reveal: true, expires_in: 3_600 }
    })
    const agent: Caller = { id: "", headers: { authorization: `Bearer ${token}` } }
    assert.strictEqual((await get(agent, `${prod}/secrets/API_KEY`)).value, "the key of prod")
    assert.strictEqual(await service.status(agent, "GET", `${prod}/secrets/DB_URL`), 403)
    assert.deepStrictEqual(keysIn((await get(agent, `${prod}/secrets`)).data), [
      "API_DSN",
      "API_KEY",
      "API_SELF",
      "API_URL"
    ])
  })

  it("explain themselves, for a key and for the environment", async () => {
    const explain = async (email: string, query = "") =>
      get(
        ada,
        `/api/orgs/acme/acl/explain?subject_type=user&email=${email}@example.com&project=webshop&env=prod${query}`
      )
    const patterns = (because: ReadonlyArray<{ readonly key_pattern?: string; readonly denies?: boolean }>) =>
      because.map(({ denies, key_pattern }) => [key_pattern, denies])
    const whole = await explain("dev")
    assert.deepStrictEqual([whole.allowed, whole.allowed_for_some], [[], ["use", "read", "write"]])
    assert.deepStrictEqual(patterns(whole.because), [["API_*", undefined]])
    const other = await explain("dev", "&key=DB_URL")
    assert.deepStrictEqual([other.allowed, other.because], [[], []])
    assert.notProperty(other, "allowed_for_some")
    assert.deepStrictEqual((await explain("dev", "&key=API_KEY")).allowed, ["use", "read", "write"])
    const denied = await explain("lead", "&key=STRIPE_KEY")
    assert.deepStrictEqual(denied.allowed, [])
    assert.sameDeepMembers(patterns(denied.because), [
      [undefined, undefined],
      ["STRIPE_*", true]
    ])
    const { data } = await get(ada, "/api/orgs/acme/access?subject=lead@example.com")
    const [row] = data.filter(({ env }: { readonly env: string }) => env === "prod")
    assert.deepStrictEqual([row.permission, row.permission_for_some], [null, "admin"])
    assert.strictEqual(row.because.limited_by, "rules that deny STRIPE_*")
  })

  it("say who can, for a key and for the environment", async () => {
    const who = async (query: string) =>
      (await get(ada, `${prod}/access?permission=read${query}`)).data.flatMap(
        ({ email }: { readonly email?: string }) => (email === undefined ? [] : [email])
      )
    assert.sameMembers(await who(""), ["ada@example.com", "dev@example.com", "lead@example.com"])
    assert.sameMembers(await who("&key=DB_URL"), ["ada@example.com", "lead@example.com"])
    assert.sameMembers(await who("&key=STRIPE_KEY"), ["ada@example.com"])
    assert.sameMembers(await who("&key=API_KEY"), ["ada@example.com", "dev@example.com", "lead@example.com"])
  })
})

import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  type Endpoint,
  askOf,
  endpoints,
  parametersOf,
  pathOf,
  type Place,
  useRuleBody
} from "../authorization/Contract.js"
import { startWorld, type World } from "../requests/World.js"
import { endEnvironment, inDays } from "./Support.js"

// An environment that has ended is none: every call answers as for one that was removed.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

const name = "pr-1"
const none = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"

type Ready = Awaited<ReturnType<typeof ready>>

/** An organization with an environment that ends, to which everything refers that can. */
const ready = async () => {
  const made = await world.organization()
  const { ci, org, owner, project } = made
  const envs = `${project}/envs`
  const ask = async (method: string, path: string, body?: unknown, headers = owner.headers) => {
    const answer = await world.call(headers, method, path, body)
    assert.isBelow(answer.status, 300, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  await ask("POST", envs, { name: "preview" })
  await ask("PATCH", `${envs}/preview/bundle`, { set: { A: "long enough" }, references: { REFERS: "${A}" } })
  await ask("POST", envs, { name, from: "preview", expires_at: inDays(7) })
  await ask("PUT", `${envs}/${name}/secrets/A`, { value: "second, long enough" })
  await ask("PATCH", `${envs}/${name}/secrets/A`, { expires_at: inDays(1) })
  await ask("POST", `${envs}/${name}/secrets/A/use-rules`, { ...useRuleBody, accounts: ["ci"], approval: "each" })
  await ask("PUT", `${envs}/${name}/secrets/UP`, { value: "${prod:A}", kind: "reference" })
  await ask("PUT", `${envs}/prod/secrets/OTHER`, { value: "${" + name + ":A}", kind: "reference" })
  await ask("PATCH", project, { order: [name, "prod"] })
  await world.call(ci.headers, "POST", `${envs}/${name}/use`, {
    method: "GET",
    url: "https://api.invalid/v1/x",
    secrets: ["A"]
  })
  const { token } = await ask("POST", "/api/auth/delegations", {
    name: "agent",
    org: org.slice("/api/orgs/".length),
    project: "webshop",
    env: name,
    permission: "read",
    expires_in: 3_600
  })
  const place: Place = {
    org_name: org.slice("/api/orgs/".length),
    project_name: "webshop",
    env_name: name,
    key: "A",
    user_id: none,
    rule_id: none,
    sa_id: none,
    group_name: "g",
    federation_id: none,
    use_rule_id: none,
    connection_name: "shop-db",
    rotation_name: "shop-app",
    role_name: "shop-role",
    lease_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dce",
    target_name: "target",
    approval_id: none,
    request_id: none,
    webhook_id: none,
    export_id: none,
    import_id: none,
    removed_id: none,
    delivery_id: none,
    session_id: none,
    delegation_id: none,
    passkey_id: none,
    backup_id: none
  }
  return { ...made, ask, envs, place, delegated: { authorization: `Bearer ${token}` } }
}

/** An answer without what differs between two organizations. */
const normal = (text: string, { place }: Ready): string =>
  text
    .replaceAll(place.org_name, "ORG")
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, "ID")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replace(/[a-z0-9.]+(?:@|%40)example\.com/g, "MAIL")
    .replace(/"etag":"\\"[^"]*"/g, "ETAG")

interface Asked {
  readonly headers: Readonly<Record<string, string>>
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

/** Every call below an environment, and each list that could have something of it. */
const calls = (of: Ready): ReadonlyArray<Asked> => {
  const { ci, dev, envs, org, owner, place, project } = of
  const about = { place, fresh: "F", self: {}, patterns: { project_pattern: "*", env_pattern: "*" } }
  const request = (endpoint: Endpoint) => {
    const { body, query } = askOf(endpoint, about)
    const path = pathOf(endpoint, place) + (query === undefined ? "" : `?${new URLSearchParams(query).toString()}`)
    return { method: endpoint.method, path, ...(body !== undefined && { body }) }
  }
  const below = endpoints.filter((endpoint) => parametersOf(endpoint).includes("env_name")).map(request)
  const reads = [
    envs,
    project,
    `${project}/matrix`,
    `${project}/matrix?envs=${name}`,
    `${project}/revisions`,
    `${project}/previews`,
    `${project}/declared`,
    `${org}/keys?query=A`,
    `${org}/overview`,
    `${org}/secrets/due?within=366d`,
    `${org}/approvals`,
    `${org}/access`,
    `${org}/acl/explain?subject_type=user&email=${encodeURIComponent(dev.email)}&project=webshop&env=${name}`,
    `${envs}/prod/bundle`,
    `${envs}/prod/secrets/OTHER`,
    `${envs}/prod/secrets/OTHER/references`,
    `${envs}/prod/secrets/A/references`,
    `${envs}/prod/diff?with=${name}`,
    `${envs}/prod/check`,
    "/api/auth/delegations"
  ].map((path) => ({ method: "GET", path }))
  const others = [
    ...reads,
    { method: "POST", path: `${envs}/prod/copy`, body: { from: name } },
    { method: "POST", path: envs, body: { name: "pr-2", from: name } },
    { method: "PUT", path: `${envs}/prod/secrets/MORE`, body: { value: "${" + name + ":A}", kind: "reference" } },
    { method: "PATCH", path: project, body: { order: [name] } },
    { method: "DELETE", path: `${envs}/prod/secrets/A` },
    { method: "PUT", path: `${project}/previews`, body: { from: name, pattern: "pr-*" } },
    { method: "POST", path: "/api/auth/delegations", body: { ...delegation(place) } },
    {
      method: "POST",
      path: `${org}/requests`,
      body: { kind: "access", project: "webshop", env: name, permission: "read", expires_in: 600, reason: "INC-1" }
    }
  ]
  const vault = { "x-vault-namespace": place.org_name, "x-vault-token": ci.headers["x-api-key"] ?? "" }
  return [
    ...[...below, ...others].map((call) => ({ ...call, headers: owner.headers })),
    ...[...below, ...reads].map((call) => ({ ...call, headers: ci.headers })),
    { method: "GET", path: `${envs}/${name}/secrets/A`, headers: of.delegated },
    { method: "GET", path: "/api/auth/me", headers: of.delegated },
    { method: "GET", path: "/v1/webshop/metadata?list=true", headers: vault },
    { method: "GET", path: `/v1/webshop/data/${name}`, headers: vault }
  ]
}

const delegation = ({ org_name: org }: Place) => ({
  name: "second",
  org,
  project: "webshop",
  env: name,
  permission: "read",
  expires_in: 3_600
})

const answersOf = async (of: Ready): Promise<ReadonlyArray<string>> => {
  const answers: Array<string> = []
  for (const { headers, ...call } of calls(of)) {
    const { status, text } = await world.second.send({ ...call, headers })
    answers.push(normal(`${call.method} ${call.path} -> ${status} ${text}`, of))
  }
  return answers
}

describe("an environment that has ended", () => {
  it("does not exist, whatever is asked: each answer is the one for a removed environment", async () => {
    const [ended, removed] = [await ready(), await ready()]
    // Everything that is asked for exists beforehand: otherwise the test would prove nothing.
    for (const path of [`${ended.envs}/${name}/bundle`, `${ended.envs}/prod/secrets/OTHER`]) {
      assert.strictEqual((await world.call(ended.owner.headers, "GET", path)).status, 200, path)
    }
    assert.strictEqual((await world.call(ended.delegated, "GET", "/api/auth/me")).status, 200)
    for (const list of ["approvals", "secrets/due?within=366d", "access", "keys?query=UP"]) {
      const { data } = await ended.ask("GET", `${ended.org}/${list}`)
      assert.include(JSON.stringify(data), `"env":"${name}"`, list)
    }
    await endEnvironment(world.first, ended.place.org_name, name)
    await removed.ask("DELETE", `${removed.envs}/${name}?force=1`)
    const [these, those] = [await answersOf(ended), await answersOf(removed)]
    assert.isAbove(these.length, 70)
    assert.deepStrictEqual(these, those)
    const below = these.filter((answer) => answer.includes(`/envs/${name} ->`) || answer.includes(`/envs/${name}/`))
    assert.deepStrictEqual(
      below.filter((answer) => !/-> 40[14] /.test(answer)),
      []
    )
  })

  it("gives its name to another, which starts empty, and is removed by that", async () => {
    const of = await ready()
    await endEnvironment(world.first, of.place.org_name, name)
    await of.ask("POST", of.envs, { name })
    assert.deepStrictEqual(await of.ask("GET", `${of.envs}/${name}/secrets`), { data: [] })
    const log = await world.logOf(of)
    assert.deepStrictEqual(
      log
        .filter(({ metadata }) => metadata.name === name)
        .map(({ action, actor_name }) => `${action} by ${actor_name}`)
        .slice(0, 2),
      [`env.create by ${of.owner.email}`, "env.expire by expiry"]
    )
  })
})

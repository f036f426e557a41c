import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Agent, bin, clearAway, TestHome } from "./support/Agent.js"
import { Listener, Service } from "./support/Service.js"

const health = '{"status":"ok"}'
const noOrgs = '{"data":[]}'

let service: Service
let key: string
/** A server that answers everything with an empty list, and counts. */
let listener: Listener

beforeAll(async () => {
  service = await Service.start()
  key = (await service.account("agent", "admin")).key
  await service.post("/api/orgs/acme/projects", { name: "blog" })
  for (const [project, env] of [
    ["shop", "dev"],
    ["shop", "prod"],
    ["blog", "dev"]
  ]) {
    const path = `/api/orgs/acme/projects/${project}/envs/${env}/secrets/${project}.${env}`
    await service.request("PUT", path, { value: "x" })
  }
  listener = await Listener.answering(200, noOrgs)
})
afterAll(async () => {
  await clearAway()
  await listener.stop()
  await service.stop()
})

const keysOf = async (agent: Agent, parameters = {}) => {
  const { data } = await agent.use("secret_list", parameters)
  return data.map((secret: { key: string }) => secret.key).join()
}

describe("the place of a call", () => {
  it("is the parameter's before the variable's before service.yml's, each name by itself", async () => {
    const yml = `server_url: ${service.url}\norg: acme\nproject: shop\nenv: dev\n`
    const fromFile = await Agent.start({ SERVICE_API_KEY: key }, new TestHome().serviceYml(yml))
    assert.strictEqual(await keysOf(fromFile), "shop.dev")
    assert.strictEqual(await keysOf(fromFile, { project: "blog" }), "blog.dev")

    const home = new TestHome().serviceYml(
      "server_url: http://127.0.0.1:1\norg: nowhere\nproject: shop\nenv: staging\n"
    )
    const variables = {
      SERVICE_SERVER_URL: service.url,
      SERVICE_API_KEY: key,
      SERVICE_ORG: "acme",
      SERVICE_ENV: "prod"
    }
    const fromBoth = await Agent.start(variables, home)
    assert.strictEqual(await keysOf(fromBoth), "shop.prod")
    assert.strictEqual(await keysOf(fromBoth, { env: "dev" }), "shop.dev")
    assert.strictEqual(await keysOf(fromBoth, { env: "dev", project: "blog" }), "blog.dev")
  })

  it("is read anew for each call, so that what was missing can be given while the program runs", async () => {
    const home = new TestHome()
    const agent = await Agent.start({ SERVICE_SERVER_URL: service.url, SERVICE_API_KEY: key }, home)
    await agent.refused("secret_list", {}, "MISSING_SETTINGS")
    home.serviceYml("org: acme\nproject: shop\nenv: prod\n")
    assert.strictEqual(await keysOf(agent), "shop.prod")
  })

  it("with everything missing: one answer names it all", async () => {
    const agent = await Agent.start()
    const text = await agent.refused("secret_get", {}, "VALIDATION_ERROR", "MISSING_SETTINGS", "NOT_AUTHENTICATED")
    assert.include(text, "key is required")
    for (const name of ["org", "project", "env"]) {
      assert.include(
        text,
        `pass the parameter ${name}, set SERVICE_${name.toUpperCase()}, or write "${name}: …" in service.yml`
      )
    }
    assert.include(text, "run coffer login, or set SERVICE_API_KEY")
  })

  it("given wrongly is not called missing as well", async () => {
    const agent = await Agent.start()
    const text = await agent.refused(
      "secret_list",
      { org: "Not A Name" },
      "VALIDATION_ERROR",
      "MISSING_SETTINGS",
      "NOT_AUTHENTICATED"
    )
    assert.notInclude(text, "SERVICE_ORG")
    assert.include(text, "SERVICE_PROJECT")
  })

  it("only asks for what the tool needs", async () => {
    const agent = await Agent.start({ SERVICE_SERVER_URL: service.url, SERVICE_API_KEY: key })
    assert.strictEqual((await agent.use("org_list")).data.length, 1)
    const text = await agent.refused("project_list", {}, "MISSING_SETTINGS")
    assert.notInclude(text, "SERVICE_PROJECT")
    assert.strictEqual((await agent.use("project_list", { org: "acme" })).data.length, 2)
  })

  it("that a variable or service.yml gives wrongly is told with where it stands", async () => {
    const variable = await Agent.start(service.at(key, { SERVICE_ORG: "No Name" }))
    assert.include(await variable.refused("secret_list", {}, "BAD_SETTING"), "SERVICE_ORG")
    const address = await Agent.start({ SERVICE_SERVER_URL: "ftp://user:hunter2@host" })
    assert.notInclude(await address.refused("health_check", {}, "BAD_SETTING"), "hunter2")
    const file = await Agent.start({}, new TestHome().serviceYml("org: acme\nenviron: dev\n"))
    assert.match(await file.refused("health_check", {}, "BAD_SERVICE_FILE"), /service\.yml, line 2/)
  })
})

describe("the credential", () => {
  it("is the key before the session, from a file too, and the key needs no warning", async () => {
    const home = new TestHome().session(service.url, service.owner)
    const keyFile = join(home.home, "key")
    writeFileSync(keyFile, `${key}\n`)
    const { SERVICE_API_KEY: _, ...place } = service.at(key)
    for (const variables of [service.at(key), { ...place, SERVICE_API_KEY_FILE: keyFile }]) {
      const agent = await Agent.start(variables, home)
      const [org] = (await agent.use("org_list")).data
      assert.isNull(org.role)
      assert.notInclude(agent.log, "warning")
    }
  })

  it("is a person's session if there is no key, with one warning of it", async () => {
    const agent = await Agent.start(service.at(""), new TestHome().session(service.url, service.owner))
    const [org] = (await agent.use("org_list")).data
    assert.strictEqual(org.role, "owner")
    await Promise.all(Array.from({ length: 5 }, () => agent.use("secret_list")))
    const warnings = agent.log.split("\n").filter((line) => line.includes("warning"))
    assert.strictEqual(warnings.length, 1, agent.log)
    assert.match(warnings[0] ?? "", /a person's session is used/)
    assert.notInclude(agent.log, service.owner)
  })

  it("that comes while the program runs is used with the next call", async () => {
    const home = new TestHome()
    const agent = await Agent.start(service.at(""), home)
    await agent.refused("secret_list", {}, "NOT_AUTHENTICATED")
    home.session(service.url, service.owner)
    await agent.use("secret_list")
  })

  it("that others can read, or whose text is no credential, is refused", async () => {
    const open = await Agent.start(service.at(""), new TestHome().session(service.url, service.owner, 0o644))
    assert.match(await open.refused("secret_list", {}, "UNSAFE_FILE"), /chmod 600/)
    const nonsense = await Agent.start(service.at("hunter2"))
    assert.notInclude(await nonsense.refused("secret_list", {}, "BAD_SETTING"), "hunter2")
  })

  it("does not follow a service.yml to a server that nobody trusts; not even the connection is made", async () => {
    const foreign = await Listener.answering(200, noOrgs)
    const home = new TestHome().serviceYml(`server_url: ${foreign.foreignUrl}\norg: acme\nproject: shop\nenv: dev\n`)
    home.session(service.url, service.owner)
    const agent = await Agent.start({ SERVICE_API_KEY: key }, home)
    const tools = (await agent.client.listTools()).tools.filter(({ name }) => name !== "health_check")
    for (const { inputSchema, name } of tools) {
      const filler = name.startsWith("secret") ? { key: "A", value: "b" } : { name: "other" }
      const parameters = Object.fromEntries(
        Object.entries(filler).filter(([name]) => name in (inputSchema.properties ?? {}))
      )
      assert.match(await agent.refused(name, parameters, "UNTRUSTED_SERVER"), /coffer trust/)
    }
    assert.strictEqual(foreign.requests.length, 0)

    // A call that needs no credential goes there, and takes none along.
    await agent.call("health_check")
    assert.strictEqual(foreign.requests.length, 1)
    assert.notProperty(foreign.requests[0]?.headers, "x-api-key")
    assert.notProperty(foreign.requests[0]?.headers, "authorization")

    const session = await Agent.start({}, home)
    await session.refused("org_list", {}, "NOT_AUTHENTICATED")
    assert.strictEqual(foreign.requests.length, 1)
    await foreign.stop()
  })

  it("goes to a server that service.yml names and somebody trusts, or a variable names, with a warning of plain HTTP, once", async () => {
    const { foreignUrl } = listener
    const trusting = new TestHome().serviceYml(`server_url: ${foreignUrl}\n`).trust(foreignUrl)
    for (const agent of [
      await Agent.start({ SERVICE_API_KEY: key }, trusting),
      await Agent.start({ SERVICE_API_KEY: key, SERVICE_SERVER_URL: foreignUrl })
    ]) {
      const before = listener.requests.length
      await Promise.all(Array.from({ length: 5 }, () => agent.use("org_list")))
      assert.strictEqual(listener.requests.length, before + 5)
      assert.strictEqual(listener.requests.at(-1)?.headers["x-api-key"], key)
      assert.strictEqual(listener.requests.at(-1)?.headers["x-coffer-client"], "mcp")
      assert.strictEqual(agent.log.match(/warning: .* is not https/g)?.length, 1, agent.log)
      assert.notInclude(agent.log, key)
    }
  })

  it("is not warned of where it is not sent, or where the server is this machine", async () => {
    const answering = await Listener.answering(200, health)
    const bare = await Agent.start({ SERVICE_API_KEY: key, SERVICE_SERVER_URL: answering.foreignUrl })
    await bare.use("health_check")
    const local = await Agent.start({ SERVICE_API_KEY: key, SERVICE_SERVER_URL: listener.url })
    await local.use("org_list")
    assert.notInclude(bare.log + local.log, "warning")
    await answering.stop()
  })

  it("does not follow a redirect", async () => {
    const trap = await Listener.answering(200, noOrgs)
    const redirecting = await Listener.answering(307, "", { location: trap.foreignUrl })
    const agent = await Agent.start({ SERVICE_API_KEY: key, SERVICE_SERVER_URL: redirecting.url })
    assert.match(await agent.refused("org_list", {}, "UNEXPECTED_RESPONSE"), /redirect/)
    assert.strictEqual(trap.requests.length, 0)
    await Promise.all([trap.stop(), redirecting.stop()])
  })
})

describe("SERVICE_MCP_PIN=1", () => {
  const pinned = (more = {}) => service.at(key, { SERVICE_MCP_PIN: "1", ...more })

  it("uses the configured place, named or not", async () => {
    const agent = await Agent.start(pinned())
    assert.strictEqual(await keysOf(agent), "shop.dev")
    assert.strictEqual(await keysOf(agent, { org: "acme", project: "shop", env: "dev" }), "shop.dev")
    assert.include(agent.log, "pinned")
  })

  it("refuses every call that names another place, also as the name of what is made or removed, and sends nothing", async () => {
    const agent = await Agent.start({ ...pinned(), SERVICE_SERVER_URL: listener.url })
    const before = listener.requests.length
    const { tools } = await agent.client.listTools()
    for (const { inputSchema, name } of tools) {
      const filler = name.startsWith("secret")
        ? { key: "A", value: "b" }
        : { name: name.startsWith("env") ? "dev" : "shop" }
      const parameters = Object.fromEntries(
        Object.entries(filler).filter(([name]) => name in (inputSchema.properties ?? {}))
      )
      for (const elsewhere of ["org", "project", "env"]) {
        const text = await agent.refused(name, { ...parameters, [elsewhere]: "elsewhere" }, "PINNED")
        assert.include(text, `may not choose its ${elsewhere}`)
      }
    }
    for (const name of ["project_create", "project_delete", "env_create", "env_delete"]) {
      await agent.refused(name, { name: "elsewhere" }, "PINNED")
    }
    assert.strictEqual(listener.requests.length, before)
  })

  it("with nothing configured leaves an agent nothing to choose", async () => {
    const agent = await Agent.start({ SERVICE_SERVER_URL: service.url, SERVICE_API_KEY: key, SERVICE_MCP_PIN: "1" })
    await agent.refused("secret_list", { org: "acme", project: "shop", env: "dev" }, "PINNED")
    const text = await agent.refused("secret_list", {}, "MISSING_SETTINGS")
    assert.match(text, /set SERVICE_ORG, SERVICE_PROJECT, SERVICE_ENV, and to start coffer-mcp again/)
    assert.notInclude(text, "pass the parameter")
  })

  it("does not move with a service.yml written later", async () => {
    const home = new TestHome().serviceYml(`server_url: ${service.url}\norg: acme\nproject: shop\nenv: dev\n`)
    const agent = await Agent.start({ SERVICE_API_KEY: key, SERVICE_MCP_PIN: "1" }, home)
    const before = listener.requests.length
    home.serviceYml(`server_url: ${listener.url}\norg: acme\nproject: shop\nenv: prod\n`)
    assert.strictEqual(await keysOf(agent), "shop.dev")
    await agent.refused("secret_list", { env: "prod" }, "PINNED")
    assert.strictEqual(listener.requests.length, before)
  })

  it("stays closed when service.yml cannot be read at the start", async () => {
    const home = new TestHome().serviceYml("org: [")
    const agent = await Agent.start({ SERVICE_API_KEY: key, SERVICE_MCP_PIN: "1" }, home)
    home.serviceYml(`server_url: ${service.url}\norg: acme\nproject: shop\nenv: dev\n`)
    await agent.refused("secret_list", {}, "BAD_SERVICE_FILE")
  })
})

describe("a misspelt restraint", () => {
  it("is not taken for a missing one: the program does not start", () => {
    for (const name of [
      "SERVICE_MCP_READ_ONLY",
      "SERVICE_MCP_REVEAL",
      "SERVICE_MCP_PIN",
      "SERVICE_MCP_EXTRA",
      "SERVICE_MCP_USE"
    ]) {
      const { status, stderr, stdout } = spawnSync(process.execPath, [bin], {
        env: { [name]: "yes" },
        encoding: "utf8"
      })
      assert.deepStrictEqual(
        { status, stdout, stderr },
        { status: 1, stdout: "", stderr: `coffer-mcp: ${name} must be 0 or 1\n` }
      )
    }
  })
})

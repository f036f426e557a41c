import { type ProgramName, programPieces } from "@coffer/domain/guides/Programs"
import { chmodSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Account, type Person, Service } from "../authorization/Service.js"
import { freshFolder, type Variables } from "../support/Program.js"
import { file } from "./real/Client.js"
import { install, unpack } from "./real/Installed.js"
import { isThere, type Ran, run } from "./real/Run.js"

// The programs' own code as the registry has it, set up by the lines of docs/connect/works-with.md. It is installed for the test, or on
// the PATH already, so that this file is part of a soak. WorksWith.test.ts makes the same calls in each run.

const acme = "/api/orgs/acme"

let service: Service
let ada: Person
let deploy: Account
let folder: string

beforeAll(async () => {
  folder = freshFolder()
  service = await Service.start({ SERVICE_VAULT_API: "1" })
  ada = await service.person("ada@example.com")
  await service.do(ada, "POST", "/api/orgs", { name: "acme" })
  await service.do(ada, "POST", `${acme}/projects`, { name: "webshop" })
  const set = { DATABASE_URL: "postgres://prod", OPENAI_API_KEY: "sk-prod" }
  await service.do(ada, "PATCH", `${acme}/projects/webshop/envs/prod/bundle`, { set })
  deploy = await service.account(ada, "acme", { name: "deploy pipeline", project: "webshop" })
  await service.grant(ada, "acme", deploy, "read", "webshop", "prod")
})

afterAll(async () => {
  await service.remove()
})

const linesFor = (name: ProgramName): ReadonlyArray<string> =>
  programPieces(name, {
    ...{ server: service.program.url, org: "acme", account: deploy.name, project: "webshop", env: "prod" },
    hasKey: true
  }).map(({ lines }) => lines)

const node = (words: ReadonlyArray<string>, variables: Variables, cwd: string, input?: string): Promise<Ran> =>
  run(process.execPath, words, { HOME: folder, ...variables }, { cwd, seconds: 60, input })

const refusedOf = ({ err, out }: Ran, says: RegExp) => {
  assert.match(out + err, says)
  assert.notInclude(out + err, "postgres://")
}

describe("varlock 1.20.0 with its plugin 2.1.0", () => {
  it("loads an environment by its schema, and says what a wrong key is", async () => {
    const app = join(folder, "varlock")
    await install(app, ["varlock@1.20.0", "@varlock/hashicorp-vault-plugin@2.1.0"])
    const [, schema = ""] = linesFor("varlock")
    file(app, ".env.schema", schema)
    const load = (COFFER_KEY: string) =>
      node(["node_modules/varlock/bin/cli.js", "load", "--format", "json"], { COFFER_KEY }, app)
    const ran = await load(deploy.key)
    assert.strictEqual(ran.code, 0, ran.out + ran.err)
    assert.deepStrictEqual(JSON.parse(ran.out), { DATABASE_URL: "postgres://prod" })
    refusedOf(await load("wrong"), /AppRole login/)
  })
})

const ofFnox = ["fnox", "vault"].filter((name) => !isThere(name))
if (ofFnox.length > 0) process.stderr.write(`${ofFnox.join(", ")}: not on this machine, fnox is skipped\n`)

describe.skipIf(ofFnox.length > 0)("fnox 1.46.0", () => {
  it("starts a program with its secret, and says what a wrong key is, and that nothing is written", async () => {
    const app = join(folder, "fnox")
    mkdirSync(app)
    const [settings = "", commands = ""] = linesFor("fnox")
    file(app, "fnox.toml", settings)
    file(app, "deploy.key", `${deploy.key}\n`)
    chmodSync(file(app, "server", '#!/bin/sh\necho "started with $DATABASE_URL"\n'), 0o700)
    const started = await run("sh", ["-c", commands], { HOME: folder }, { cwd: app })
    assert.deepStrictEqual([started.code, started.out], [0, "started with postgres://prod\n"], started.err)
    const fnox = (key: string, ...words: ReadonlyArray<string>) =>
      run("fnox", words, { HOME: folder, FNOX_VAULT_TOKEN: key }, { cwd: app })
    assert.strictEqual((await fnox(deploy.key, "get", "DATABASE_URL")).out, "postgres://prod\n")
    refusedOf(await fnox("wrong", "get", "DATABASE_URL"), /permission denied/)
    refusedOf(await fnox(deploy.key, "set", "--provider", "coffer", "DATABASE_URL", "postgres"), /405/)
    assert.strictEqual((await fnox(deploy.key, "get", "DATABASE_URL")).out, "postgres://prod\n")
  })
})

describe("OpenClaw 2026.9.6", () => {
  it("resolves its references, by a file with the key and by a pod's token", async () => {
    const app = join(folder, "openclaw")
    await install(app, ["@openclaw/fs-safe@0.18.1"])
    await unpack(app, "openclaw", "2026.9.6", ["dist/extensions/vault"])
    const [environment = ""] = linesFor("openclaw")
    const settings = Object.fromEntries(environment.split("\n").map((line) => line.split("=")))
    const resolve = async (key: string, ids: ReadonlyArray<string>, more: Variables = {}) => {
      const VAULT_TOKEN_FILE = file(app, "coffer.key", `${key}\n`)
      const words = ["node_modules/openclaw/dist/extensions/vault/vault-secret-ref-resolver.js"]
      const input = JSON.stringify({ protocolVersion: 1, ids })
      return JSON.parse((await node(words, { ...settings, VAULT_TOKEN_FILE, ...more }, app, input)).out)
    }
    const found = await resolve(deploy.key, ["prod/OPENAI_API_KEY", "prod/NONE", "dev/OPENAI_API_KEY"])
    assert.deepStrictEqual(found.values, { "prod/OPENAI_API_KEY": "sk-prod" })
    assert.match(found.errors["prod/NONE"].message, /did not contain a string field/)
    assert.match(found.errors["dev/OPENAI_API_KEY"].message, /403/)
    // The failure of the provider: a 403 that is the token's, and not one of the environment's.
    assert.strictEqual((await resolve("wrong", ["prod/NONE"])).errors.request.message, "Vault read failed (403).")
    await service.federation(ada, "acme", deploy)
    const pod = {
      OPENCLAW_VAULT_AUTH_METHOD: "kubernetes",
      OPENCLAW_VAULT_AUTH_ROLE: `acme/${deploy.name}`,
      OPENCLAW_VAULT_JWT_FILE: file(app, "pod.jwt", await service.podToken(deploy))
    }
    assert.deepStrictEqual((await resolve("", ["prod/DATABASE_URL"], pod)).values, {
      "prod/DATABASE_URL": "postgres://prod"
    })
  })
})

/** Connects as n8n does, and prints what n8n then has. */
const asN8n = `
const { VaultProvider } = require("n8n/dist/modules/external-secrets.ee/providers/vault.js")
const vault = new VaultProvider()
const run = async () => {
  await vault.init({ connected: true, connectedAt: null, settings: JSON.parse(process.env.SETTINGS) })
  await vault.connect()
  if (vault.state !== "connected") return vault.state
  await vault.update()
  return { test: await vault.test(), names: vault.getSecretNames(), secrets: vault.getSecret("webshop") }
}
run().then((found) => { console.log(JSON.stringify(found)); return vault.disconnect() })
`

describe("n8n 2.41.3", () => {
  it("reads the environments that its account may read, with LIST and with GET", async () => {
    const app = join(folder, "n8n")
    const own = ["backend-common@1.41.1", "backend-network@1.15.1", "config@2.39.0", "constants@0.39.0", "di@0.17.0"]
    await install(app, [...own.map((name) => `@n8n/${name}`), "p-limit@3.1.0"])
    await unpack(app, "n8n", "2.41.3", ["package.json", "dist/modules/external-secrets.ee"])
    mkdirSync(join(app, "home"))
    const [form = ""] = linesFor("n8n")
    const fields = new Map(form.split("\n").map((line) => [line.split(": ")[0], line.split(": ")[1]]))
    const settings = {
      url: fields.get("Vault URL"),
      authMethod: "appRole",
      roleId: fields.get("Role ID"),
      kvMountPath: fields.get("KV Mount Path"),
      kvVersion: "2"
    }
    const connect = (secretId: string, N8N_EXTERNAL_SECRETS_PREFER_GET: string) => {
      const SETTINGS = JSON.stringify({ ...settings, secretId })
      return node(["-e", asN8n], { SETTINGS, N8N_EXTERNAL_SECRETS_PREFER_GET, HOME: join(app, "home") }, app)
    }
    for (const prefersGet of ["false", "true"]) {
      const { err, out } = await connect(deploy.key, prefersGet)
      const found = JSON.parse(out.trim().split("\n").at(-1) ?? "")
      assert.deepStrictEqual(found.test, [true], out + err)
      assert.deepStrictEqual(found.secrets, {
        prod: { DATABASE_URL: "postgres://prod", OPENAI_API_KEY: "sk-prod" }
      })
      assert.deepStrictEqual(found.names, ["webshop.prod.DATABASE_URL", "webshop.prod.OPENAI_API_KEY"])
    }
    refusedOf(await connect("wrong", "false"), /AppRole|error/)
  }, 400_000)
})

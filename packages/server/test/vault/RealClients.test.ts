import { spawn, spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Account, type Person, Service } from "../authorization/Service.js"
import { freshFolder, type Variables } from "../support/Program.js"

// Vault's clients as they are published. Each is skipped where it is not on the PATH. External Secrets' own client is built
// from external-secrets/main.go; hvac is a package of Python.

const has = (program: string, ...words: ReadonlyArray<string>): boolean =>
  spawnSync(program, words, { stdio: "ignore" }).status === 0

const clients = {
  bao: has("bao", "version"),
  "consul-template": has("consul-template", "-version"),
  envconsul: has("envconsul", "-version"),
  "external-secrets-client": has("which", "external-secrets-client"),
  hvac: has("python3", "-c", "import hvac")
}
const isAny = Object.values(clients).includes(true)
for (const [name, isThere] of Object.entries(clients)) {
  if (isAny && !isThere) process.stderr.write(`${name} is not on this machine: its tests are skipped\n`)
}

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

let service: Service
let ada: Person
let deploy: Account
let folder: string

const pem = 'first\n"second"\n'

beforeAll(async () => {
  if (!isAny) return
  folder = freshFolder()
  service = await Service.start({ SERVICE_VAULT_API: "1" })
  ada = await service.person("ada@example.com")
  for (const org of ["acme", "other"]) {
    await service.do(ada, "POST", "/api/orgs", { name: org })
    await service.do(ada, "POST", `/api/orgs/${org}/projects`, { name: "webshop" })
    const set = { DATABASE_URL: `postgres://${org}`, PEM: pem }
    await service.do(ada, "PATCH", `/api/orgs/${org}/projects/webshop/envs/prod/bundle`, { set })
  }
  deploy = await another()
})

afterAll(async () => {
  if (isAny) await service.remove()
})

const another = async (): Promise<Account> => {
  const account = await service.account(ada, "acme")
  await service.grant(ada, "acme", account, "read")
  await service.federation(ada, "acme", account)
  return account
}

/** Runs a program to its end; one that goes on after 20 seconds is killed. */
const run = (program: string, words: ReadonlyArray<string>, variables: Variables = {}): Promise<Ran> =>
  new Promise((resolve) => {
    const { url } = service.program
    const env = { PATH: process.env["PATH"], HOME: folder, VAULT_ADDR: url, BAO_ADDR: url, ...variables }
    const child = spawn(program, words, { env, cwd: folder, timeout: 20_000, killSignal: "SIGKILL" })
    let [out, err] = ["", ""]
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text))
    child.on("close", (code) => {
      resolve({ code, out, err })
    })
  })

const file = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

describe.skipIf(!clients.bao)("bao", () => {
  const bao = (token: string, ...words: ReadonlyArray<string>) => run("bao", words, { BAO_TOKEN: token })
  const login = async ({ key, name }: Account): Promise<string> =>
    (
      await bao("", "write", "-field=token", "auth/approle/login", `role_id=acme/${name}`, `secret_id=${key}`)
    ).out.trim()

  it("logs in, reads, lists, renews, looks up and revokes", async () => {
    const token = await login(deploy)
    const read = await bao(token, "kv", "get", "-format=json", "webshop/prod")
    assert.deepStrictEqual(JSON.parse(read.out).data.data, { DATABASE_URL: "postgres://acme", PEM: pem })
    assert.strictEqual((await bao(token, "kv", "get", "-mount=webshop", "-field=PEM", "prod")).out, pem)
    assert.include((await bao(token, "kv", "list", "webshop")).out, "prod")
    assert.match((await bao(token, "token", "renew")).out, /token_duration\s+1h/)
    assert.match((await bao(token, "token", "lookup")).out, /type\s+service/)
    assert.match((await bao(token, "status")).out, /Sealed\s+false/)
    assert.strictEqual((await bao(token, "token", "revoke", "-self")).code, 0)
    assert.match((await bao(token, "kv", "get", "webshop/prod")).err, /403[^]*permission denied/)
  })

  it("is told of a wrong key, of what is not there, and that nothing is written", async () => {
    const wrong = await bao("", "write", "auth/approle/login", `role_id=acme/${deploy.name}`, "secret_id=wrong")
    assert.match(wrong.err, /400[^]*invalid role or secret ID/)
    const token = await login(deploy)
    const absent = await bao(token, "kv", "get", "webshop/nope")
    assert.deepStrictEqual([absent.code, /No value found/.test(absent.out + absent.err)], [2, true])
    assert.match((await bao(token, "kv", "put", "webshop/prod", "A=b")).err, /405[^]*read-only/)
    for (const namespace of ["other", "nobody"]) {
      const { code, err, out } = await bao(token, "kv", "get", `-namespace=${namespace}`, "webshop/prod")
      assert.deepStrictEqual([code, out + err], [2, "No value found at webshop/prod\n"])
    }
  })

  it("loses a token with its key", async () => {
    const account = await another()
    const token = await login(account)
    assert.strictEqual((await bao(token, "kv", "get", "webshop/prod")).code, 0)
    await service.do(ada, "POST", `/api/orgs/acme/service-accounts/${account.id}/rotate`, {})
    assert.match((await bao(token, "kv", "get", "webshop/prod")).err, /403[^]*permission denied/)
  })

  it("takes an account's key as a token", async () => {
    assert.strictEqual(
      (await bao(deploy.key, "kv", "get", "-field=DATABASE_URL", "webshop/prod")).out,
      "postgres://acme"
    )
  })
})

const template = `{{ with secret "webshop/data/prod" }}{{ .Data.data.DATABASE_URL }} {{ .Data.metadata.version }}{{ end }}
{{ with secret "webshop/prod" }}{{ .Data.data.DATABASE_URL }}{{ end }}
{{ range secrets "webshop/" }}- {{ . }}
{{ end }}`

describe.skipIf(!clients["consul-template"])("consul-template", () => {
  const fill = (token: string, variables: Variables = {}) => {
    const path = file("in.ctmpl", template)
    const words = ["-once", "-dry", "-vault-retry-attempts=1", "-template", `${path}:${join(folder, "out")}`]
    return run("consul-template", words, { VAULT_TOKEN: token, ...variables })
  }

  it("fills a template, with a key as its token", async () => {
    const { err, out } = await fill(deploy.key)
    assert.include(out, "postgres://acme 1\npostgres://acme\n", err)
    assert.include(out, "- prod\n")
  })

  it("is told of a wrong token and finds nothing in the namespace of another tenant", async () => {
    for (const { code, out } of [await fill("wrong"), await fill(deploy.key, { VAULT_NAMESPACE: "other" })]) {
      assert.notStrictEqual(code, 0)
      assert.notInclude(out, "postgres://")
    }
  })
})

describe.skipIf(!clients.envconsul)("envconsul", () => {
  it("gives a command the secrets, by both forms of the path", async () => {
    for (const path of ["webshop/data/prod", "webshop/prod"]) {
      const { err, out } = await run("envconsul", ["-once", "-no-prefix", "-secret", path, "env"], {
        VAULT_TOKEN: deploy.key
      })
      assert.include(out, "DATABASE_URL=postgres://acme\n", err)
    }
  })
})

describe.skipIf(!clients["external-secrets-client"])("External Secrets' own client", () => {
  const kubeconfig = () =>
    file(
      "kubeconfig",
      JSON.stringify({
        apiVersion: "v1",
        kind: "Config",
        clusters: [{ name: "none", cluster: { server: "http://127.0.0.1:1" } }],
        contexts: [{ name: "none", context: { cluster: "none", user: "none" } }],
        users: [{ name: "none", user: {} }],
        "current-context": "none"
      })
    )
  const client = (variables: Variables) =>
    run("external-secrets-client", [], { KUBECONFIG: kubeconfig(), KEY: deploy.key, JWT: "-", ...variables })

  it("reads a whole environment, one key and all environments, by each way of signing in", async () => {
    const ROLE = `acme/${deploy.name}`
    const JWT = await service.podToken(deploy)
    for (const METHOD of ["approle", "token", "jwt", "kubernetes"]) {
      const { err, out } = await client({ METHOD, ROLE, JWT })
      assert.match(out, /^validate: Ready <nil>$/m, METHOD + err)
      assert.match(out, /^map: map\["DATABASE_URL":"postgres:\/\/acme" "PEM":"first/m, METHOD)
      assert.match(out, /^one: "postgres:\/\/acme" <nil>$/m, METHOD)
      assert.match(out, /^find: map\["prod":/m, METHOD)
      assert.match(out, /^no such environment: Secret does not exist true$/m, METHOD)
      assert.match(out, /^close: <nil>$/m, METHOD)
    }
  })

  it("makes 1,000 reads", async () => {
    const { out } = await client({ METHOD: "approle", ROLE: `acme/${deploy.name}`, READS: "1000" })
    assert.match(out, /^reads: 1000 /m)
  })

  it("is told of a wrong key, and finds nothing in the namespace of another tenant", async () => {
    const wrong = await client({ METHOD: "approle", ROLE: `acme/${deploy.name}`, KEY: "wrong" })
    assert.deepStrictEqual([wrong.code, /invalid role or secret ID/.test(wrong.out)], [1, true])
    const elsewhere = await client({ METHOD: "token", NS: "other" })
    assert.match(elsewhere.out, /^map: map\[\] Secret does not exist$/m)
    assert.notInclude(elsewhere.out, "postgres://")
  })
})

describe.skipIf(!clients.hvac)("hvac", () => {
  it("logs in, reads, lists with the method LIST, renews and revokes", async () => {
    const path = file(
      "hvac_client.py",
      `import hvac, os
client = hvac.Client(url=os.environ["VAULT_ADDR"])
client.auth.approle.login(role_id=os.environ["ROLE"], secret_id=os.environ["KEY"])
kv = client.secrets.kv.v2
print(kv.read_secret_version(path="prod", mount_point="webshop", raise_on_deleted_version=True)["data"]["data"]["DATABASE_URL"])
print(kv.list_secrets(path="", mount_point="webshop")["data"]["keys"])
print(client.auth.token.renew_self()["auth"]["lease_duration"])
client.auth.token.revoke_self()
print(client.is_authenticated())
`
    )
    const { err, out } = await run("python3", [path], { ROLE: `acme/${deploy.name}`, KEY: deploy.key })
    assert.strictEqual(out, "postgres://acme\n['dev', 'prod', 'staging']\n3600\nFalse\n", err)
  })
})

import { execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { freePort } from "../../../server/test/support/Port.js"
import { node, until } from "../support/Programs.js"
import { client, Terminal } from "../support/Terminal.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { ok, prints } = place

const put = (name: string, value: unknown) =>
  writeFileSync(join(place.home.folder, name), typeof value === "string" ? value : JSON.stringify(value))

const fails = async (code: number, ...args: ReadonlyArray<string>) => {
  const result = await place.home.coffer(args)
  assert.strictEqual(result.code, code, result.stderr)
  return result
}

/** Gets what is below an environment, `[PROJECT/]ENV`. A command would take longer than the import. */
const get = (at: string, below: string) => {
  const [env, project = "webshop"] = at.split("/").reverse()
  const path = `/api/orgs/acme/projects/${project}/envs/${env}/${below}`
  return place.server.call("GET", path, { token: place.home.token ?? assert.fail("not logged in") })
}

const valuesOf = (at: string): Promise<unknown> => get(at, "bundle?format=object")

const revisionsOf = async (at: string): Promise<ReadonlyArray<{ readonly note?: string; readonly revision: number }>> =>
  (await get(at, "revisions")).data

const doppler = (config: string, values: Readonly<Record<string, string>>) => ({
  ...values,
  DOPPLER_CONFIG: config,
  DOPPLER_ENVIRONMENT: config,
  DOPPLER_PROJECT: "webshop"
})

describe("coffer import, from a file", () => {
  const prd = { API_KEY: "k-8c1f", MULTILINE: "a\nb", PORT: "8080" }

  it("shows a plan without values, writes it with a note, and finds nothing to do afterwards", async () => {
    put("prd.json", doppler("prd", prd))
    await ok("secret", "set", "PORT", "80", "--env", "prod")
    const plan = await ok("import", "doppler", "prd.json", "--map", "prd=prod")
    assert.strictEqual(
      plan.stdout,
      [
        "API_KEY\tnew",
        "MULTILINE\tnew",
        "PORT\tdifferent",
        "DOPPLER_CONFIG\tleft",
        "DOPPLER_ENVIRONMENT\tleft",
        "DOPPLER_PROJECT\tleft",
        ""
      ].join("\n")
    )
    assert.strictEqual(
      plan.stderr,
      "coffer: doppler:webshop/prd -> webshop/prod: 2 new, 1 different, 0 the same, 3 left\ncoffer: nothing was written; --apply writes it\n"
    )
    assert.deepStrictEqual(await valuesOf("prod"), { PORT: "80" })

    const apply = ["import", "doppler", "prd.json", "--map", "prd=prod", "--apply"]
    const refused = await fails(2, ...apply)
    assert.include(
      refused.stderr,
      "this would overwrite secrets of webshop/prod, and nobody can be asked here: add --yes"
    )
    const done = await ok(...apply, "--yes")
    assert.include(done.stderr, "coffer: webshop/prod written, revision 2\n")
    assert.deepStrictEqual(JSON.parse(await prints("secret", "export", "--format", "json", "--env", "prod")), prd)
    assert.strictEqual((await revisionsOf("prod"))[0]?.note, "imported from doppler:webshop/prd")

    const again = await ok(...apply)
    assert.include(again.stderr, "0 new, 0 different, 3 the same")
    assert.include(again.stderr, "nothing to write: all keys are the same")
    assert.lengthOf(await revisionsOf("prod"), 2)
  })

  it("creates what does not exist, references included, and reports it for programs", async () => {
    const raw = (values: Readonly<Record<string, string>>) =>
      Object.fromEntries(Object.entries(values).map(([key, text]) => [key, { raw: text, computed: text }]))
    put(
      "two.json",
      [
        raw(doppler("qa", { URL: "https://${stg.TOKEN}@shop", LOCAL: "${URL}/x" })),
        raw({ ...doppler("stg", { TOKEN: "t-1" }) }),
        raw({ ...doppler("main", { KEY: "b-1" }), DOPPLER_PROJECT: "billing" })
      ]
        .map((each) => JSON.stringify(each))
        .join("\n")
    )
    const plan = await ok("import", "doppler", "two.json", "--json")
    const found = JSON.parse(plan.stdout)
    assert.deepStrictEqual(
      found.data.map(({ env, exists, keys, project }: never) => [project, env, exists, Object.keys(keys).length]),
      [
        ["webshop", "stg", false, 4],
        ["webshop", "qa", false, 5],
        ["billing", "main", false, 4]
      ]
    )
    const done = await ok("import", "doppler", "two.json", "--apply")
    assert.include(done.stderr, "the environment webshop/qa does not exist: --apply creates it")
    assert.include(done.stderr, "billing/main does not exist, nor does its project: --apply creates both")
    assert.deepStrictEqual(await valuesOf("qa"), { LOCAL: "https://t-1@shop/x", URL: "https://t-1@shop" })
    assert.strictEqual(await prints("secret", "get", "URL", "--env", "qa", "--raw"), "https://${stg:TOKEN}@shop")
    assert.deepStrictEqual(await valuesOf("billing/main"), { KEY: "b-1" })
    assert.include((await ok("import", "doppler", "two.json", "--apply")).stderr, "all keys are the same")
  })

  it("names what cannot be stored, and writes nothing unless told to skip it", async () => {
    put("odd.json", { ok: "1", "a b": "hunter2-canary", big: "hunter2-canary".repeat(6_000) })
    await ok("env", "create", "odd")
    const at = ["import", "phase", "odd.json", "--env", "odd", "--apply"]
    const refused = await fails(1, ...at)
    assert.match(refused.stderr, /webshop\/odd, a b, line 1: has a name that cannot be stored: .* --map-key "a b=NAME"/)
    assert.match(refused.stderr, /webshop\/odd, big, line 1: has a value that cannot be stored: .*64 KB/)
    assert.match(refused.stderr, /nothing was written: 2 keys cannot be stored; .* --skip-unsupported/)
    assert.notInclude(refused.stderr + refused.stdout, "hunter2-canary")
    assert.deepStrictEqual(await valuesOf("odd"), {})
    await ok(...at, "--skip-unsupported", "--map-key", "ok=FINE")
    assert.deepStrictEqual(await valuesOf("odd"), { FINE: "1" })
    await ok("secret", "set", "A", "mine", "--env", "odd")
  })

  it("refuses what is another tool's, encrypted or cut off, without a value", async () => {
    put("sealed.yml", "A: ENC[AES256_GCM,data:hunter2-canary,type:str]\nsops:\n  mac: x\n")
    const sealed = await fails(1, "import", "sops", "sealed.yml", "--apply")
    assert.match(sealed.stderr, /sealed\.yml, line 1: is a value that sops encrypted; .* sops --decrypt FILE/)
    put("cut.json", '{"A": "hunter2-canary",')
    const cut = await fails(1, "import", "doppler", "cut.json")
    assert.include(cut.stderr, "cut.json, line 1: the document ends here: it was cut off")
    const other = await fails(1, "import", "infisical", "prd.json")
    assert.include(other.stderr, "use coffer import doppler")
    assert.notInclude(sealed.stderr + cut.stderr + other.stderr, "hunter2-canary")
    put("plain.json", '{"A": 1}')
    const plain = await fails(1, "secret", "import", "plain.json")
    assert.match(
      plain.stderr,
      /A must have a text in double quotes .*; coffer import takes numbers, true, false and null/
    )
    const none = await fails(2, "import", "phase")
    assert.include(none.stderr, "phase is read from a file: name FILE, or - for standard input")
  })

  it("leaves each environment whole or empty where it is killed, and continues when it is run again", async () => {
    const keys = Array.from({ length: 200 }, (_, index) => [`KEY_${index}`, "x".repeat(1_000)])
    const configs = ["k1", "k2", "k3", "k4"]
    put("killed.json", configs.map((config) => JSON.stringify(doppler(config, Object.fromEntries(keys)))).join("\n"))
    const token = place.home.token ?? assert.fail("not logged in")
    for (const name of configs) {
      await place.server.call("POST", "/api/orgs/acme/projects/webshop/envs", { body: { name }, token })
    }
    const counts = () =>
      Promise.all(configs.map(async (config) => (await get(config, "secrets")).data.length as number))
    const child = place.home.spawn(node, [client, "import", "doppler", "killed.json", "--apply"])
    const ended = once(child, "close")
    while ((await counts()).every((count) => count === 0) && child.exitCode === null);
    child.kill("SIGKILL")
    await ended
    for (const count of await counts()) assert.include([0, 200], count)
    await ok("import", "doppler", "killed.json", "--apply")
    assert.deepStrictEqual(await counts(), [200, 200, 200, 200])
    for (const config of configs) assert.lengthOf(await revisionsOf(config), 1)
  })

  it("asks at a terminal before it overwrites, and writes only what it compared", async () => {
    put("raced.json", { A: "theirs" })
    const terminal = Terminal.coffer(place.home, "import", "phase", "raced.json", "--env", "odd", "--apply")
    await terminal.sees("Overwrite the secrets of webshop/odd that are different? [y/N] ")
    const path = "/api/orgs/acme/projects/webshop/envs/odd/secrets/A"
    await place.server.call("PUT", path, { body: { value: "raced" }, token: place.home.token ?? "" })
    terminal.type("y\r")
    await terminal.sees("environment odd has changed")
    assert.strictEqual(await terminal.ended(), 1)
    assert.deepInclude(await valuesOf("odd"), { A: "raced" })
  })

  it("asks for votes where an environment is protected, and writes the others", async () => {
    await ok("member", "invite", "grace@example.com", "--role", "owner")
    await ok("env", "create", "guarded")
    await ok("env", "create", "open")
    await ok("env", "protect", "guarded", "--needed", "1", "--may-break-glass", "ada@example.com")
    put(
      "votes.json",
      [doppler("guarded", { A: "1", URL: "https://${open.A}" }), doppler("open", { A: "1" })]
        .map((each) => JSON.stringify(each))
        .join("\n")
    )
    const plan = await ok("import", "doppler", "votes.json")
    assert.include(plan.stdout, "\nURL\t-\tsame import, reference\n")
    const { stderr, stdout } = await fails(5, "import", "doppler", "votes.json", "--apply", "--json")
    assert.match(stderr, /webshop\/guarded is protected, and request \S+ waits/)
    const { applied, data, requests } = JSON.parse(stdout)
    const shown = data.map(({ env, request, revision }: never) => ({ env, request, revision }))
    assert.deepStrictEqual(
      shown,
      [
        { env: "open", revision: 1 },
        { env: "guarded", request: requests[0].id }
      ].map((each) => ({ request: undefined, revision: undefined, ...each }))
    )
    assert.deepStrictEqual([applied, requests.length, requests[0].env], [true, 1, "guarded"])
    assert.deepStrictEqual(await valuesOf("open"), { A: "1" })
  })
})

/** Returns the response to a request for a path: a status and a body. */
type Answer = (url: URL) => readonly [status: number, body: unknown]

describe("coffer import, live", () => {
  let server: Server
  let url: string
  let answer: Answer = () => [500, {}]
  let seen: Array<IncomingMessage> = []

  beforeAll(async () => {
    server = createServer((request, response) => {
      seen.push(request)
      const [status, body] = answer(new URL(request.url ?? "/", url))
      response.writeHead(status, { "content-type": "application/json" })
      response.end(JSON.stringify(body))
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => server.close())

  const run = (env: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) => {
    seen = []
    return place.home.coffer(["import", ...args], { env })
  }

  it("reads the configs of a project of Doppler, by its API", async () => {
    const secrets: Readonly<Record<string, object>> = {
      live_dev: { TOKEN: { raw: "t", computed: "t" }, URL: { raw: "x-${TOKEN}", computed: "x-t" } },
      "live-prd": { TOKEN: { raw: "p", computed: "p" } }
    }
    answer = ({ pathname, searchParams }) => {
      if (pathname === "/v3/configs") return [200, { configs: Object.keys(secrets).map((name) => ({ name })) }]
      const found = secrets[searchParams.get("config") ?? ""]
      return pathname === "/v3/configs/config/secrets" && found !== undefined
        ? [200, { secrets: found, success: true }]
        : [404, {}]
    }
    const env = { DOPPLER_API_HOST: url, DOPPLER_TOKEN: "dp.pt.hunter2" }
    const found = await run(env, "doppler", "--from", "shop", "--map", "live_dev=live-dev", "--apply")
    assert.strictEqual(found.code, 0, found.stderr)
    assert.isTrue(seen.every(({ headers }) => headers.authorization === "Bearer dp.pt.hunter2"))
    assert.deepStrictEqual(await valuesOf("live-dev"), { TOKEN: "t", URL: "x-t" })
    assert.deepStrictEqual(await valuesOf("live-prd"), { TOKEN: "p" })
    assert.strictEqual((await revisionsOf("live-dev"))[0]?.note, "imported from doppler:shop/live_dev")

    answer = () => [403, { messages: ["hunter2 is wrong"] }]
    const refused = await run(env, "doppler", "--from", "shop")
    assert.strictEqual(refused.code, 1)
    assert.match(
      refused.stderr,
      /^coffer: Doppler at http:\/\/127\S+ refused the token \(403\): see whether DOPPLER_TOKEN/
    )
    const clear = await run({ ...env, DOPPLER_API_HOST: "http://doppler.example.com" }, "doppler")
    assert.include(clear.stderr, "DOPPLER_API_HOST is not https: the token of Doppler would travel in clear text")
    const none = await run({ DOPPLER_API_HOST: url }, "doppler")
    assert.deepStrictEqual([none.code, none.stderr.includes("set DOPPLER_TOKEN; or name a file")], [2, true])
    assert.notInclude(refused.stderr + clear.stderr + none.stderr, "hunter2")
  })

  it("reads the environments of a project of Infisical, with what they import", async () => {
    const secret = (secretKey: string, secretValue: string, secretPath = "/") => ({
      secretKey,
      secretValue,
      secretPath
    })
    answer = ({ pathname, searchParams }) => {
      if (pathname === "/api/v1/workspace/p-1") {
        return [200, { workspace: { name: "Web Shop", environments: [{ slug: "inf-a" }, { slug: "inf-b" }] } }]
      }
      if (pathname !== "/api/v3/secrets/raw" || searchParams.get("workspaceId") !== "p-1") return [404, {}]
      return searchParams.get("environment") === "inf-a"
        ? [
            200,
            {
              secrets: [secret("URL", "${inf-b.HOST}/${PASSWORD}"), secret("PASSWORD", "pw", "/db")],
              imports: [
                { secretPath: "/", environment: "shared", secrets: [secret("SHARED", "s"), secret("URL", "no")] }
              ]
            }
          ]
        : [200, { secrets: [secret("HOST", "h")], imports: [] }]
    }
    const env = { INFISICAL_API_URL: `${url}/api`, INFISICAL_TOKEN: "st.hunter2", INFISICAL_PROJECT_ID: "p-1" }
    const found = await run(env, "infisical", "--apply")
    assert.strictEqual(found.code, 0, found.stderr)
    assert.deepStrictEqual(await valuesOf("inf-a"), { PASSWORD: "pw", SHARED: "s", URL: "h/pw" })
    answer = () => [200, { hunter2: 1 }]
    const other = await run(env, "infisical")
    assert.match(other.stderr, /Infisical at \S+ did not respond as Infisical does: check the address/)
  })

  it("reads Secrets by kubectl", async () => {
    const bin = join(place.home.folder, "kubectl-bin")
    mkdirSync(bin)
    const list = {
      apiVersion: "v1",
      kind: "List",
      items: [{ apiVersion: "v1", kind: "Secret", metadata: { name: "a", namespace: "ns" }, data: { A: "MQ==" } }]
    }
    put("list.json", list)
    const program = `#!/bin/sh\necho "$*" > ${place.home.folder}/kubectl.args\ncat ${place.home.folder}/list.json\n`
    writeFileSync(join(bin, "kubectl"), program)
    chmodSync(join(bin, "kubectl"), 0o755)
    const PATH = `${bin}:${place.home.environment["PATH"] ?? ""}`
    const found = await run({ PATH }, "kubernetes", "--from", "ns", "--json")
    assert.strictEqual(found.code, 0, found.stderr)
    assert.strictEqual(JSON.parse(found.stdout).data[0].source, "kubernetes:ns")
    const args = execFileSync("cat", [join(place.home.folder, "kubectl.args")], { encoding: "utf8" })
    assert.strictEqual(args, "get secrets --output=json --namespace=ns\n")
    const none = await run({ PATH: "/nonexistent" }, "kubernetes")
    assert.include(none.stderr, "kubectl cannot be started: install it")
  })

  const bao = ["bao", "vault"].find((name) => spawnSync(name, ["version"]).status === 0)

  it.skipIf(bao === undefined)(
    "reads a whole mount of OpenBao, in both versions (needs bao in the PATH)",
    { timeout: 60_000 },
    async () => {
      const program = bao ?? assert.fail()
      const port = await freePort()
      const address = `http://127.0.0.1:${port}`
      const env = { ...process.env, BAO_ADDR: address, VAULT_ADDR: address, BAO_TOKEN: "root", VAULT_TOKEN: "root" }
      const dev = [
        "server",
        "-dev",
        "-dev-no-store-token",
        "-dev-root-token-id=root",
        `-dev-listen-address=127.0.0.1:${port}`
      ]
      const child = spawn(program, dev, { env, stdio: "ignore" })
      try {
        const vault = (...args: ReadonlyArray<string>) => execFileSync(program, args, { env, encoding: "utf8" })
        await until(() => (spawnSync(program, ["status"], { env }).status === 0 ? true : undefined), "OpenBao")
        vault("secrets", "enable", "-path=old", "-version=1", "kv")
        vault("kv", "put", "-mount=secret", "webshop/bao-a", "A=1", "B=two words")
        vault("kv", "put", "-mount=secret", "webshop/bao-b/db", "PASSWORD=pw")
        vault("kv", "put", "-mount=secret", "webshop/bao-gone", "A=1")
        vault("kv", "delete", "-mount=secret", "webshop/bao-gone")
        vault("kv", "put", "-mount=old", "webshop/bao-c", "C=3")
        const token = { BAO_ADDR: address, BAO_TOKEN: "root" }
        const found = await run(token, "vault", "--from", "secret/webshop", "--apply")
        assert.strictEqual(found.code, 0, found.stderr)
        assert.deepStrictEqual(await valuesOf("bao-a"), { A: "1", B: "two words" })
        assert.deepStrictEqual(await valuesOf("bao-b"), { db__PASSWORD: "pw" })
        assert.strictEqual((await run(token, "vault", "--from", "old", "--env", "bao-a", "--apply")).code, 0)
        assert.deepStrictEqual(await valuesOf("bao-a"), { A: "1", B: "two words", C: "3" })
        put("get.json", vault("kv", "get", "-format=json", "-mount=secret", "webshop/bao-a"))
        const again = await ok("import", "vault", "get.json", "--env", "bao-a")
        assert.include(again.stderr, "0 new, 0 different, 2 the same")
        const denied = await run({ ...token, BAO_TOKEN: "hunter2" }, "vault", "--from", "secret")
        assert.match(denied.stderr, /Vault at \S+ refused the token \(403\): see whether BAO_TOKEN is valid/)
      } finally {
        child.kill()
      }
    }
  )
})

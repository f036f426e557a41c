import { createHash, createHmac } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { certificateFor } from "../../../server/test/federations/Issuer.js"
import { type Arrived, Upstream } from "../../../server/test/use/Upstream.js"
import { pages } from "../support/Documents.js"
import { workplace } from "../support/Workplace.js"

// The recipes of docs/agents.md as they are written, against other sides that check what the real ones check. Their names
// resolve to this machine, and the tests add a port to the hosts.

const page = pages.find(({ path }) => path === "docs/agents.md")?.text ?? ""
const [, recipesOfPage = ""] = page.split("\n## Recipes\n")
const recipes = new Map(
  [...recipesOfPage.matchAll(/^\| ([^|]+?) +\| `([^`]+)` +\|$/gm)].map(([, title = "", options = ""]) => [
    title,
    options
  ])
)

const secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
const names = [...recipesOfPage.matchAll(/--host ([a-z0-9.-]+)/g)].map(([, name = ""]) => name)
const folder = mkdtempSync(join(tmpdir(), "coffer-recipes-"))
const certificate = certificateFor(...names)
writeFileSync(join(folder, "ca.pem"), certificate.cert)
writeFileSync(
  join(folder, "names.mjs"),
  `import dns from "node:dns/promises"
import { syncBuiltinESMExports } from "node:module"
dns.lookup = async () => [{ address: "127.0.0.1", family: 4 }]
syncBuiltinESMExports()
`
)

const place = workplace("ada@example.com", () => ({
  SERVICE_BROKER: "1",
  SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8",
  NODE_EXTRA_CA_CERTS: join(folder, "ca.pem"),
  NODE_OPTIONS: `--import ${join(folder, "names.mjs")}`
}))

let api: Upstream
let key: string

/** Runs commands as the page has them. */
const run = async (script: string): Promise<string> => {
  const { code, stderr, stdout } = await place.home.shell(`coffer() { $COFFER "$@"; }\n${script}`)
  assert.strictEqual(code, 0, `${script}\n${stderr}`)
  return stdout
}

beforeAll(async () => {
  api = await Upstream.start(certificate)
  key = (await run("coffer service-account create agent --project webshop --no-reveal")).trim()
  await run(
    "coffer acl grant --service-account agent --project-pattern webshop --env-pattern dev --permission use\n" +
      `printf '%s' '${secret}' | coffer secret set API_KEY`
  )
})

afterAll(async () => {
  await api.stop()
  rmSync(folder, { recursive: true, force: true })
})

interface Request {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Makes the rule of a recipe, and returns how the agent sends requests to its host. */
const follow = async (title: string) => {
  const { port } = api
  const options = recipes.get(title) ?? assert.fail(`the page has no recipe for ${title}`)
  const [, host = ""] = /--host ([a-z0-9.-]+)/.exec(options) ?? []
  await run(`coffer use allow API_KEY --account agent ${options.replace(/--host \S+/, `--host ${host}:${port}`)}`)
  return async ({ path, ...request }: Request) => {
    const answer = await fetch(`${place.server.url}/api/orgs/acme/projects/webshop/envs/dev/use`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({
        method: "GET",
        url: `https://${host}:${port}${path}`,
        secrets: ["API_KEY"],
        ...request
      })
    })
    const text = await answer.text()
    assert.notInclude(text, secret)
    return JSON.parse(text)
  }
}

/** Answers as an API does that knows its callers by a token. */
const asApi =
  (answer: (arrived: Arrived) => unknown): Upstream["answer"] =>
  (response, arrived) => {
    const isKnown = arrived.headers.authorization === `Bearer ${secret}` && arrived.headers["user-agent"] !== undefined
    const value = isKnown ? answer(arrived) : { error: "unknown token" }
    response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" }).end(JSON.stringify(value))
  }

/** The signature of a request (AWS Signature Version 4), computed from what arrived as AWS describes it. */
const signatureOf = ({ headers, method, url }: Arrived, key: string): string => {
  const [, scope = "", signed = ""] =
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/(\S+), SignedHeaders=(\S+), /.exec(headers.authorization ?? "") ?? []
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")
  const mac = (secret: string | Buffer, text: string) => createHmac("sha256", secret).update(text).digest()
  const [path = "", query = ""] = url.split("?")
  const lines = signed.split(";").map((name) => `${name}:${String(headers[name]).trim()}\n`)
  const hash = String(headers["x-amz-content-sha256"])
  const canonical = [method, path, query.split("&").sort().join("&"), lines.join(""), signed, hash].join("\n")
  const toSign = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, sha256(canonical)].join("\n")
  const signingKey = scope.split("/").reduce<string | Buffer>(mac, `AWS4${key}`)
  return mac(signingKey, toSign).toString("hex")
}

describe("the recipes of docs/agents.md", () => {
  it("are those that are tested here", () => {
    assert.deepStrictEqual(
      [...recipes.keys()],
      [
        "Stripe: refunds",
        "GitHub: read the issues of one repository",
        "an API like OpenAI's",
        "AWS S3: read from one bucket",
        "an internal service, each request approved",
        "a hook that wants a signature of the body"
      ]
    )
  })

  it("refund at Stripe, and do nothing else there", async () => {
    const use = await follow("Stripe: refunds")
    api.answer = asApi(({ body }) => ({ id: "re_1", charge: new URLSearchParams(body).get("charge") }))
    const headers = { "content-type": "application/x-www-form-urlencoded", "idempotency-key": "1" }
    const made = await use({ method: "POST", path: "/v1/refunds", headers, body: "charge=ch_1" })
    assert.deepStrictEqual(JSON.parse(made.body), { id: "re_1", charge: "ch_1" })
    assert.strictEqual((await use({ path: "/v1/refunds/re_1" })).status, 200)
    assert.match((await use({ path: "/v1/charges" })).error.message, /path \/v1\/charges is in no rule/)
  })

  it("read the issues of one repository at GitHub", async () => {
    const use = await follow("GitHub: read the issues of one repository")
    api.answer = asApi(({ url }) => [{ title: url }])
    const headers = { accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" }
    const read = await use({ path: "/repos/acme/webshop/issues?state=open", headers })
    assert.include(read.body, "state=open")
    assert.strictEqual((await use({ path: "/repos/acme/webshop/issues/7/comments", headers })).status, 200)
    assert.strictEqual((await use({ path: "/repos/acme/other/issues", headers })).error.code, "USE_REFUSED")
    const comment = { method: "POST", path: "/repos/acme/webshop/issues/7/comments", body: "{}" }
    assert.match((await use(comment)).error.message, /method POST is in no rule/)
  })

  it("ask a model", async () => {
    const use = await follow("an API like OpenAI's")
    api.answer = asApi(({ body }) => ({ model: JSON.parse(body).model, choices: [] }))
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hello" }] })
    const headers = { "content-type": "application/json" }
    const answer = await use({ method: "POST", path: "/v1/chat/completions", headers, body })
    assert.deepStrictEqual(JSON.parse(answer.body), { model: "m", choices: [] })
    assert.strictEqual((await use({ path: "/v1/models" })).error.code, "USE_REFUSED")
  })

  it("read from a bucket that checks the signature", async () => {
    const use = await follow("AWS S3: read from one bucket")
    let isForged = false
    api.answer = (response, arrived) => {
      const { authorization = "", host = "" } = arrived.headers
      assert.match(authorization, /\/eu-central-1\/s3\/aws4_request, SignedHeaders=(?:\S+;)?host;/)
      assert.match(host, /^bucket\.s3\./)
      const wanted = signatureOf(arrived, isForged ? "another key" : secret)
      const isRight = authorization.endsWith(`, Signature=${wanted}`)
      response.writeHead(isRight ? 200 : 403, { "content-type": "text/csv" }).end(isRight ? "day,sum" : "")
    }
    assert.strictEqual((await use({ path: "/reports/2026.csv" })).body, "day,sum")
    assert.strictEqual((await use({ path: "/reports/a%20b.csv?versionId=1&a=2" })).status, 200)
    assert.strictEqual((await use({ path: "/private/2026.csv" })).error.code, "USE_REFUSED")
    isForged = true
    assert.strictEqual((await use({ path: "/reports/2026.csv" })).status, 403)
  })

  it("wait for a person before an internal service is called", async () => {
    const use = await follow("an internal service, each request approved")
    const basic = `Basic ${Buffer.from(`coffer:${secret}`).toString("base64")}`
    api.answer = (response, { headers }) => response.writeHead(headers.authorization === basic ? 201 : 401).end()
    const invoice = { method: "POST", path: "/invoices/7", body: "sum=3" }
    const { error } = await use(invoice)
    assert.strictEqual(error.code, "APPROVAL_NEEDED")
    const [command = ""] = /coffer request approve [0-9a-f-]+/.exec(error.message) ?? []
    await run(command)
    assert.strictEqual((await use(invoice)).status, 201)
    assert.strictEqual((await use(invoice)).error.code, "APPROVAL_NEEDED")
  })

  it("sign the body for a hook", async () => {
    const use = await follow("a hook that wants a signature of the body")
    api.answer = (response, { body, headers }) => {
      const mac = createHmac("sha256", secret).update(body).digest("hex")
      response.writeHead(headers["x-signature"] === `sha256=${mac}` ? 204 : 401).end()
    }
    const sent = await use({ method: "POST", path: "/events", body: '{"paid":true}' })
    assert.deepStrictEqual(sent, { status: 204, headers: {}, truncated: false, scrubbed: 0 })
  })

  it("end with the proof for an auditor", async () => {
    const [, proof = ""] = page.split("\n## Prove to an auditor that no value left\n")
    const commands = [...proof.matchAll(/`(coffer [^`]+)`/g)].map(([, command = ""]) =>
      command.replace(/(--env |webshop\/)prod/, "$1dev").replace("STRIPE_KEY", "API_KEY")
    )
    assert.lengthOf(commands, 5)
    const [explained = "", reads, uses = "", verified = "", rules = ""] = await Promise.all(commands.map(run))
    assert.match(explained, /^allowed in webshop\/dev: use\n/)
    assert.strictEqual(reads, "")
    assert.strictEqual(uses.match(/secret\.use/g)?.length, 10)
    assert.match(verified, /^the audit log of acme is whole: /)
    assert.strictEqual(rules.trim().split("\n").length, recipes.size)
  })
})

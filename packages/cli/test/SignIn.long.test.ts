import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Cluster, TokenService } from "./support/Federations.js"
import { type RunOptions, finish, TestHome, until } from "./support/Programs.js"
import { workplace } from "./support/Workplace.js"

const place = workplace("ada@example.com", (url) => ({ SERVICE_PUBLIC_URL: url }))
const account = { SERVICE_ACCOUNT: "acme/deploy" }
const at = { SERVICE_ORG: "acme", SERVICE_PROJECT: "webshop", SERVICE_ENV: "dev" }

let cluster: Cluster
let service: TokenService
/** A home where nobody is logged in. */
let job: TestHome
const secrets: Array<string> = []

const token = async (more?: Readonly<Record<string, unknown>>) => {
  const made = await cluster.token(more)
  secrets.push(made)
  return made
}

const assertSilent = (text: string) => {
  assert.notInclude(text, "svc_ft_")
  assert.notInclude(text, "request-token")
  for (const secret of secrets) assert.notInclude(text, secret)
}

const coffer = async (args: ReadonlyArray<string>, env: Record<string, string>, options: RunOptions = {}) => {
  const result = await job.coffer(args, { ...options, env: { ...at, ...account, ...env } })
  assertSilent(result.stdout + result.stderr)
  return result
}

const actions = () => ({
  GITHUB_ACTIONS: "true",
  ACTIONS_ID_TOKEN_REQUEST_URL: service.address,
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: "request-token"
})

beforeAll(async () => {
  cluster = await Cluster.start(place)
  service = await TokenService.start((aud) => token({ aud }))
  job = new TestHome(place.server.url)
  await place.ok("secret", "set", "GREETING", "hello")
})
afterAll(() => {
  service.stop()
  job.remove()
})

describe("coffer signs in by itself", () => {
  it("with GitHub's tokens, which it asks for with the account's audience", async () => {
    const { code, stderr, stdout } = await coffer(["whoami", "--json"], actions())
    assert.strictEqual(code, 0, stderr)
    const { name, via } = JSON.parse(stdout)
    assert.deepStrictEqual({ name, via }, { name: "deploy", via: "federation cluster" })
    const { host } = new URL(place.server.url)
    const audience = encodeURIComponent(`coffer:${host}/acme/deploy`)
    assert.deepStrictEqual(service.asked, [
      { url: `/idtoken/1/2?api-version=2.0&audience=${audience}`, authorization: "Bearer request-token" }
    ])
  })

  it("when the token service fails once, but not when it refuses", async () => {
    service.statuses.push(503)
    assert.strictEqual((await coffer(["whoami"], actions())).code, 0)
    service.statuses.push(403)
    const { code, stderr } = await coffer(["whoami"], actions())
    assert.strictEqual(code, 3)
    assert.match(
      stderr,
      /gives no identity token \(status 403\); see whether the job has the permission id-token: write/
    )
  })

  it("with GitLab's variable and with a pod's file", async () => {
    const file = join(job.folder, "token")
    writeFileSync(file, `${await token()}\n`)
    for (const env of [{ SERVICE_ID_TOKEN: await token() }, { SERVICE_ID_TOKEN_FILE: file }]) {
      const { code, stderr, stdout } = await coffer(["secret", "get", "GREETING"], env)
      assert.strictEqual(code, 0, stderr)
      assert.strictEqual(stdout, "hello")
    }
  })

  it("before a stored session, and after an API key", async () => {
    const env = { ...account, SERVICE_ID_TOKEN: await token() }
    const session = await place.home.coffer(["whoami", "--json"], { env })
    assert.strictEqual(JSON.parse(session.stdout).name, "deploy")
    const key = await place.home.coffer(["whoami"], { env: { ...env, SERVICE_API_KEY: "svc_sa_wrong" } })
    assert.include(key.stderr, "does not take your API key")
  })

  it("in doctor, which says so", async () => {
    const { stdout } = await coffer(["doctor"], { SERVICE_ID_TOKEN: await token() })
    assert.match(stdout, /a session without a stored key \(SERVICE_ACCOUNT\) of the service account deploy/)
  })
})

describe("a sign-in that fails", () => {
  const cases: ReadonlyArray<[string, () => Record<string, string> | Promise<Record<string, string>>, RegExp]> = [
    [
      "names the claim that does not fit",
      async () => ({ SERVICE_ID_TOKEN: await token({ aud: "other" }) }),
      /aud is "other"; compare it with: coffer service-account trust list 'deploy' --org acme/
    ],
    ["says that there is no token", () => ({}), /no identity token to sign in with; set SERVICE_ID_TOKEN or/],
    ["names GitHub's permission", () => ({ GITHUB_ACTIONS: "true" }), /permission id-token: write/],
    ["names GitLab's keyword", () => ({ GITLAB_CI: "true" }), /SERVICE_ID_TOKEN under id_tokens/],
    ["names the pod's mount", () => ({ KUBERNETES_SERVICE_HOST: "10.0.0.1" }), /\/var\/run\/secrets\/coffer\/token/],
    [
      "does not repeat what is no token",
      () => ({ SERVICE_ID_TOKEN: "request-token" }),
      /SERVICE_ID_TOKEN is not a signed token/
    ],
    [
      "names a file that is missing",
      () => ({ SERVICE_ID_TOKEN_FILE: "missing" }),
      /missing cannot be read: it does not exist/
    ],
    ["takes one place for the token", () => ({ SERVICE_ID_TOKEN: "a", SERVICE_ID_TOKEN_FILE: "b" }), /both set/],
    ["wants the account with its organization", () => ({ SERVICE_ACCOUNT: "deploy" }), /must be ORGANIZATION\/ACCOUNT/]
  ]

  it.each(cases)("%s", async (_, env, message) => {
    for (const args of [["whoami"], ["run", "--", "true"]]) {
      const { code, stderr } = await coffer(args, await env())
      assert.notStrictEqual(code, 0)
      assert.match(stderr, message)
    }
  })

  it("sends no token to a server that only service.yml names", async () => {
    writeFileSync(join(job.folder, "service.yml"), "server_url: https://evil.example\n")
    const { stderr } = await coffer(["whoami"], { SERVICE_SERVER_URL: "", SERVICE_ID_TOKEN: await token() })
    assert.match(stderr, /not trusted, so a token for acme\/deploy is not sent there/)
    writeFileSync(join(job.folder, "service.yml"), "")
  })
})

describe("coffer run", () => {
  it("gives the command the secrets, and nothing to sign in with", async () => {
    for (const env of [actions(), { SERVICE_ID_TOKEN: await token() }]) {
      const { code, stderr, stdout } = await coffer(["run", "--", "env"], env)
      assert.strictEqual(code, 0, stderr)
      assert.include(stdout, "GREETING=hello")
      assert.notMatch(stdout, /SERVICE_ACCOUNT|SERVICE_ID_TOKEN|ACTIONS_ID_TOKEN/)
    }
  })

  it("keeps no copy for --offline-fallback, and says so", async () => {
    const { code, stderr } = await coffer(["run", "--offline-fallback", "--", "true"], {
      SERVICE_ID_TOKEN: await token()
    })
    assert.strictEqual(code, 0, stderr)
    assert.include(stderr, "--offline-fallback keeps no copy here")
  })

  it("--watch signs in again when its session has ended", async () => {
    const script = 'echo "it is $GREETING"; while :; do sleep 0.1; done'
    const child = job.start(["run", "--watch", "--watch-interval", "1s", "--", "sh", "-c", script], {
      env: { ...at, ...account, ...actions() }
    })
    let stdout = ""
    child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()))
    const end = finish(child)
    await until(() => (stdout.includes("it is hello") ? true : undefined), "the command")
    await cluster.endSessions()
    await place.ok("secret", "set", "GREETING", "goodbye")
    await until(() => (stdout.includes("it is goodbye") ? true : undefined), "the command with the change")
    child.kill("SIGTERM")
    const result = await end
    assertSilent(result.stdout + result.stderr)
    assert.include(result.stderr, "changes are followed again")
  })
})

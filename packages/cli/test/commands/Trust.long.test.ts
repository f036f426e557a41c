import { writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { parse } from "yaml"
import { clusterIssuer, podClaims, Signer } from "../../../server/test/federations/Signer.js"
import { workplace } from "../support/Workplace.js"

const place = workplace("ada@example.com", (url) => ({ SERVICE_PUBLIC_URL: url }))
const trust = (...args: ReadonlyArray<string>) => ["service-account", "trust", ...args]

let api: Server
let apiUrl: string
const asked: Array<{ readonly url: string | undefined; readonly authorization: string | undefined }> = []
let signer: Signer
let audience: string

beforeAll(async () => {
  api = createServer(({ headers, url }, response) => {
    asked.push({ url, authorization: headers.authorization })
    const isKnown = url === "/api/v3/repos/octo-org/octo-repo" || url === "/api/v4/projects/acme%2Fwebshop"
    response.writeHead(isKnown ? 200 : 404, { "content-type": "application/json" })
    response.end(JSON.stringify(isKnown ? { id: 74, owner: { id: 65 } } : { message: "Not Found" }))
  })
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve))
  apiUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}`
  signer = await Signer.make()
  writeFileSync(join(place.home.folder, "jwks.json"), JSON.stringify(signer.jwks))
  audience = `coffer:${new URL(place.server.url).host}/acme/ci`
  await place.ok("service-account", "create", "ci")
})
afterAll(() => {
  api.close()
})

const list = async () => JSON.parse(await place.prints(...trust("list", "ci", "--json"))).data
const revoke = (name: string) => place.ok(...trust("revoke", "ci", name, "--yes"))

const token = (more: Readonly<Record<string, unknown>> = {}) =>
  signer.sign({ ...podClaims("acme/ci", Math.floor(Date.now() / 1000)), aud: audience, ...more })

describe("service-account trust", () => {
  it("asks GitHub's API for the ids, and prints the lines of a job", async () => {
    const args = [
      "ci",
      "--github",
      "octo-org/octo-repo",
      "--environment",
      "production",
      "--api-url",
      `${apiUrl}/api/v3`
    ]
    const { code, stderr, stdout } = await place.home.coffer(trust(...args), { env: { GITHUB_TOKEN: "ghp_x" } })
    assert.strictEqual(code, 0, stderr)
    assert.deepStrictEqual(asked.pop(), { url: "/api/v3/repos/octo-org/octo-repo", authorization: "Bearer ghp_x" })
    const { deploy } = parse(stdout).jobs
    assert.deepStrictEqual(deploy.permissions, { contents: "read", "id-token": "write" })
    assert.deepStrictEqual(deploy.env, { SERVICE_SERVER_URL: place.server.url, SERVICE_ACCOUNT: "acme/ci" })
    assert.strictEqual(deploy.environment, "production")
    const [made] = await list()
    assert.deepStrictEqual(made.conditions, {
      "/repository_id": "74",
      "/repository_owner_id": "65",
      "/environment": "production"
    })
    assert.strictEqual(made.issuer, "https://token.actions.githubusercontent.com")
    await revoke("github")
  })

  it("says what to do when the API does not know the repository", async () => {
    const { code, stderr } = await place.home.coffer(trust("ci", "--github", "octo-org/other", "--api-url", apiUrl))
    assert.strictEqual(code, 1)
    assert.match(stderr, /answered 404; set GITHUB_TOKEN for a private repository, or give --repository-id/)
  })

  it("asks GitLab's API, and prints the lines of a job", async () => {
    const args = ["ci", "--gitlab", "acme/webshop", "--ref", "main", "--api-url", `${apiUrl}/api/v4`, "--ttl", "60"]
    const { deploy } = parse(await place.prints(...trust(...args)))
    assert.deepStrictEqual(deploy.id_tokens, { SERVICE_ID_TOKEN: { aud: audience } })
    assert.strictEqual(deploy.variables.SERVICE_ACCOUNT, "acme/ci")
    const [{ conditions, issuer, ttl }] = await list()
    assert.deepStrictEqual(
      { conditions, issuer, ttl },
      {
        conditions: { "/project_id": "74", "/ref": "main" },
        issuer: "https://gitlab.com",
        ttl: 60
      }
    )
    await revoke("gitlab")
  })

  it("takes a cluster's keys and any issuer's claims", async () => {
    const cluster = ["--kubernetes", "shop/deploy", "--jwks", "jwks.json", "--issuer", clusterIssuer]
    const { spec } = parse(await place.prints(...trust("ci", ...cluster)))
    assert.deepStrictEqual(spec.volumes[0].projected.sources[0].serviceAccountToken, {
      path: "token",
      audience,
      expirationSeconds: 600
    })
    assert.strictEqual(spec.containers[0].volumeMounts[0].mountPath, "/var/run/secrets/coffer")
    const claims = ["--claim", "namespace_id=72", "--claim", "/a/b=c=d", "--expires-at", "2099-01-31T08:00:00Z"]
    const lines = await place.prints(...trust("ci", "--issuer", "https://gitlab.com", ...claims, "--name", "any"))
    assert.strictEqual(parse(lines).env.SERVICE_ACCOUNT, "acme/ci")
    const [any] = await list()
    assert.deepStrictEqual(any.conditions, { "/namespace_id": "72", "/a/b": "c=d" })
    await revoke("any")
  })

  it("says whether a token would be taken, and which condition fails", async () => {
    const attempt = async (input: string) => place.home.coffer(trust("try", "ci", "--token", "-"), { input })
    const good = await token()
    const taken = await attempt(`${good}\n`)
    assert.strictEqual(taken.code, 0, taken.stderr)
    assert.include(taken.stdout, "acme/ci signs in with this token, via federation kubernetes")
    const other = { "kubernetes.io": { namespace: "shop", serviceaccount: { name: "other" } } }
    const refused = await attempt(await token(other))
    assert.strictEqual(refused.code, 1)
    assert.include(refused.stderr, 'kubernetes: /kubernetes.io/serviceaccount/name must be "deploy", and is "other"')
    assert.include((await attempt(await token({ iss: "https://x.example" }))).stderr, "no federation is for the issuer")
    assert.strictEqual((await attempt("hunter2")).code, 2)
    for (const { stderr, stdout } of [taken, refused]) assert.notMatch(stdout + stderr, /eyJ|svc_ft_/)
  })

  it("trusts pipelines of Buildkite and projects of CircleCI, and installs the client in their lines", async () => {
    const [pipeline, project] = ["0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d50", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d51"]
    const keys = ["--jwks", "jwks.json", "--ref", "main"]
    const { steps } = parse(await place.prints(...trust("ci", "--buildkite", pipeline, ...keys)))
    assert.include(steps[0].commands.join("\n"), `--audience '${audience}' --claim pipeline_id)"`)
    assert.match(steps[0].commands.join("\n"), /"\$\$COFFER_RELEASE[^]*\nnpm install --global/)
    const { jobs } = parse(await place.prints(...trust("ci", "--circleci", `${pipeline}/${project}`, ...keys)))
    assert.include(jobs.deploy.steps[1].run, `--claims '{"aud":"${audience}"}'`)
    const conditions = (await list()).map((made: { readonly issuer: string; readonly conditions: object }) => [
      made.issuer,
      made.conditions
    ])
    assert.deepStrictEqual(conditions, [
      ["https://agent.buildkite.com", { "/pipeline_id": pipeline, "/build_branch": "main" }],
      [
        `https://oidc.circleci.com/org/${pipeline}`,
        { "/oidc.circleci.com~1project-id": project, "/oidc.circleci.com~1vcs-ref": "main" }
      ],
      [clusterIssuer, conditions[2][1]]
    ])
    await revoke("buildkite")
    await revoke("circleci")
  })

  it("lets an account sign in that never had a key", async () => {
    const { stderr, stdout } = await place.ok("service-account", "create", "keyless", "--no-key")
    assert.strictEqual(stdout, "")
    assert.match(stderr, /it has no key: let it sign in with coffer service-account trust 'keyless'/)
    assert.match(await place.prints("service-account", "list"), /keyless.*none/)
    const cluster = ["--kubernetes", "shop/deploy", "--jwks", "jwks.json", "--issuer", clusterIssuer]
    await place.ok(...trust("keyless", ...cluster))
    const input = await token({ aud: audience.replace(/ci$/, "keyless") })
    const taken = await place.home.coffer(trust("try", "keyless", "--token", "-"), { input })
    assert.include(taken.stdout, "acme/keyless signs in with this token")
    const made = JSON.parse(await place.prints("service-account", "create", "quiet", "--no-key", "--json"))
    assert.strictEqual(made.key_hint, "")
    assert.match(await place.prints("service-account", "rotate", "quiet"), /^svc_sa_/)
  })

  const wrong: ReadonlyArray<[args: string, message: RegExp]> = [
    ["ci", /name one: --github, --gitlab, --kubernetes, --buildkite, --circleci, or --issuer with --claim/],
    ["ci --github a/b --gitlab a/b", /name one/],
    ["ci --github a/b --ref r --environment e", /give --environment or --ref, not both/],
    ["ci --kubernetes shop/deploy", /kubectl get --raw \/openid\/v1\/jwks/],
    ["ci --github webshop", /--github must be OWNER\/REPO/],
    ["ci --issuer https://gitlab.com --claim x", /--claim must be CLAIM=VALUE/],
    ["ci --kubernetes shop/deploy --jwks service.yml", /not a set of public keys/],
    ["list", /ACCOUNT is missing|NAME_OR_ID|missing/],
    ["revoke ci none --yes", /has no federation none/],
    ["try ci --token secret", /can be read by others/]
  ]

  it.each(wrong)("%s is refused", async (args, message) => {
    const { code, stderr } = await place.home.coffer(trust(...args.split(" ")))
    assert.notStrictEqual(code, 0)
    assert.match(stderr, message)
  })
})

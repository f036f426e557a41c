import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { parse } from "yaml"
import { Cluster, TokenService } from "../support/Federations.js"
import { blocksOf, pages, root } from "../support/Documents.js"
import { finish, TestHome } from "../support/Programs.js"
import { workplace } from "../support/Workplace.js"

// The action's step as a runner starts it, with what a runner does with the output and with the file of variables. No runner of
// GitHub or GitLab is needed: only their variables.

const folder = join(root, "integrations/github-action")
const action = parse(readFileSync(join(folder, "action.yml"), "utf8"))
const integrations = pages.find(({ path }) => path === "docs/connect/ci.md") ?? assert.fail("the page is not there")
/** The workflows of the page. */
const snippets = blocksOf(integrations)
  .filter(({ language, text }) => language === "yaml" && /^(?:jobs|deploy):$/m.test(text))
  .map(({ text }) => parse(text))

const certificate = "-----BEGIN KEY-----\nMIIB+lin%0Ae1/\r\n  indented line \n-----END KEY-----\n"
const values = {
  API_KEY: "sk_live_Canary::add-mask::7",
  CERTIFICATE: certificate,
  EMPTY: "",
  ODD: "%25 'quoted' $(date) `date` coffer_",
  TRICKY: "a first line\nPATH<<EOF\n::stop-commands::x"
}

const place = workplace("ada@example.com", (url) => ({ SERVICE_PUBLIC_URL: url }))
let cluster: Cluster
let tokens: TokenService
let job: TestHome
let variables: string

beforeAll(async () => {
  cluster = await Cluster.start(place)
  tokens = await TokenService.start((aud) => cluster.token({ aud }))
  job = new TestHome(place.server.url)
  mkdirSync(join(job.folder, "bin"))
  symlinkSync(fileURLToPath(new URL("../../bin/coffer.js", import.meta.url)), join(job.folder, "bin/coffer"))
  const dev = "/api/orgs/acme/projects/webshop/envs/dev"
  const set = { ...values, NODE_OPTIONS: "--require ./evil.cjs", ACTIONS_RUNTIME_URL: "https://evil.test" }
  await place.server.call("PATCH", `${dev}/bundle`, { body: { set }, token: place.home.token })
})
beforeEach(() => {
  variables = join(job.folder, "variables")
  writeFileSync(variables, "BEFORE=1\n")
})
afterAll(() => {
  tokens.stop()
  job.remove()
})

/** Starts what a runner starts, with the variables that it sets. */
const start = (shell: ReadonlyArray<string>, script: string, env: Readonly<Record<string, string>>) => {
  const [program = "", ...words] = shell
  const path = `${join(job.folder, "bin")}:${process.env["PATH"] ?? ""}`
  return finish(job.spawn(program, [...words, script], { env: { PATH: path, ...env } }))
}

/** Runs the action as a step of a job. */
const step = async (inputs: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) => {
  const given = {
    "server-url": place.server.url,
    account: "acme/deploy",
    place: "acme/webshop/dev",
    ...inputs
  }
  const [only] = action.runs.steps
  assert.lengthOf(action.runs.steps, 1)
  assert.strictEqual(only.shell, "bash")
  assert.notInclude(only.run, "${{")
  const inputOf = (expression: unknown) => {
    const [, name = ""] = /^\$\{\{ inputs\.([a-z-]+) \}\}$/.exec(String(expression)) ?? []
    assert.property(action.inputs, name)
    return { ...given }[name] ?? action.inputs[name].default
  }
  const mapped = Object.entries(only.env).map(([name, expression]) => [name, String(inputOf(expression))])
  return start(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"], only.run, {
    GITHUB_ACTIONS: "true",
    GITHUB_ACTION_PATH: folder,
    GITHUB_ENV: variables,
    ACTIONS_ID_TOKEN_REQUEST_URL: tokens.address,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: "request-token",
    ...Object.fromEntries(mapped),
    ...env
  })
}

/** Processes an output as the runner does: it takes the masks, and masks the rest. */
const runner = (output: string) => {
  const masks: Array<string> = []
  const log = output.split("\n").map((line) => {
    const [, mask] = /^::add-mask::(.*)$/.exec(line) ?? []
    if (mask === undefined) return masks.reduce((text, one) => text.replaceAll(one, "***"), line)
    masks.push(mask.replaceAll("%0A", "\n").replaceAll("%0D", "\r").replaceAll("%25", "%"))
    return ""
  })
  return { masks, log: log.join("\n") }
}

/** Reads the file of variables as the runner does. */
const readVariables = (): Readonly<Record<string, string>> => {
  const found: Record<string, string> = {}
  const lines = readFileSync(variables, "utf8").split("\n")
  while (lines.length > 1) {
    const line = lines.shift() ?? ""
    const [, name = "", delimiter] = /^([^=<]+)(?:<<(.+)|=.*)$/.exec(line) ?? assert.fail(line)
    if (delimiter === undefined) continue
    const end = lines.indexOf(delimiter)
    assert.isAtLeast(end, 0)
    found[name] = lines.splice(0, end).join("\n")
    lines.shift()
  }
  return found
}

const linesOf = (value: string) => value.split(/[\r\n]+/).filter((line) => line.trim() !== "")

describe("the action for GitHub", () => {
  it("gives the next steps all values whole, and masks each line of them", async () => {
    const { code, stderr, stdout } = await step({})
    assert.strictEqual(code, 0, stderr)
    assert.deepStrictEqual(readVariables(), values)
    assert.match(stderr, /left out NODE_OPTIONS/)
    const { log, masks } = runner(stdout)
    assert.match(log, /^::warning::left out ACTIONS_RUNTIME_URL/m)
    for (const value of Object.values(values)) {
      for (const line of linesOf(value)) {
        assert.include(masks, line)
        assert.notInclude(log + stderr, line.trim())
      }
    }
    assert.match(log, /5 secrets for the next steps: API_KEY, CERTIFICATE, EMPTY, ODD, TRICKY/)
    const later = runner(stdout + Object.values(values).join("\n"))
    for (const line of Object.values(values).flatMap(linesOf)) assert.notInclude(later.log, line.trim())
    assert.isTrue(stdout.startsWith("::add-mask::"), "masks come first")
  })

  it("gives some of them, with a key instead of the job's identity", async () => {
    const key = (await place.prints("service-account", "create", "ci")).trim()
    await place.ok(..."acl grant --service-account ci --project-pattern * --env-pattern * --permission read".split(" "))
    const { code, stderr } = await step({ account: "", only: "EMPTY,API_KEY" }, { SERVICE_API_KEY: key })
    assert.strictEqual(code, 0, stderr)
    assert.deepStrictEqual(readVariables(), { API_KEY: values.API_KEY, EMPTY: "" })
    assert.notInclude(readFileSync(variables, "utf8"), key)
  })

  it("runs one script with them, and ends as it does", async () => {
    const run =
      'echo "key $API_KEY"; echo "$CERTIFICATE"; echo "[$ACTIONS_ID_TOKEN_REQUEST_TOKEN$SERVICE_ACCOUNT]"; false | cat; echo no'
    const { code, stderr, stdout } = await step({ run })
    assert.strictEqual(code, 1, stderr)
    assert.match(stdout, /^key <masked by coffer>$/m)
    assert.match(stdout, /^\[\]$/m)
    assert.notMatch(stdout, /^no$/m)
    for (const line of linesOf(certificate)) assert.notInclude(stdout + stderr, line.trim())
    assert.strictEqual(readFileSync(variables, "utf8"), "BEFORE=1\n")
  })

  it("fails without a value when it may not sign in, and when there is no client", async () => {
    tokens.statuses.push(403)
    const refused = await step({})
    assert.strictEqual(refused.code, 125)
    assert.match(refused.stderr, /id-token: write/)
    const absent = await step({}, { PATH: `${join(process.execPath, "..")}:/usr/bin:/bin` })
    assert.strictEqual(absent.code, 127, absent.stderr)
    assert.match(absent.stderr, /^::error::the client does not start/m)
    assert.deepStrictEqual(readVariables(), {})
  })

  it("is used on the page with inputs that it has", () => {
    const used = snippets
      .flatMap(({ jobs }) => Object.values<{ steps?: ReadonlyArray<never> }>(jobs ?? {}))
      .flatMap(({ steps = [] }): ReadonlyArray<{ uses?: string; with?: object }> => steps)
      .filter(({ uses }) => uses === "./.github/actions/coffer")
    assert.lengthOf(used, 1)
    for (const name of Object.keys(used[0]?.with ?? {})) assert.property(action.inputs, name)
    assert.isTrue(existsSync(join(folder, "coffer.mjs")))
  })
})

it("the job for GitLab runs its script with the secrets of the place", async () => {
  const { deploy } = snippets.find((one) => one.deploy?.id_tokens !== undefined)
  assert.deepStrictEqual(Object.keys(deploy.id_tokens), ["SERVICE_ID_TOKEN"])
  writeFileSync(join(job.folder, "deploy.sh"), '#!/bin/sh\necho "key $API_KEY"\n', { mode: 0o755 })
  const script = deploy.script.join("\n").replace("webshop/prod", "webshop/dev")
  const { code, stderr, stdout } = await start(["bash", "-eo", "pipefail", "-c"], script, {
    ...deploy.variables,
    SERVICE_SERVER_URL: place.server.url,
    SERVICE_ID_TOKEN: await cluster.token()
  })
  assert.strictEqual(code, 0, stderr)
  assert.strictEqual(stdout, "key <masked by coffer>\n")
})

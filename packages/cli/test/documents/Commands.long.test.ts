import { copyFileSync, existsSync, readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { parse, parseAllDocuments } from "yaml"
import { type Block, blocksOf, pages, root, shownIn } from "../support/Documents.js"
import { Stage } from "../support/Stage.js"

/** Recorded by a script, or run with what can go wrong in between: each has its own test. */
const recorded = ["docs/cli.md"]
const isProcedure = (path: string) => path.startsWith("docs/operations/")

/** Pages whose reader has an organization and a project already, and `service.yml` in the working directory. */
const furnished = [
  "docs/agents.md",
  "docs/applications.md",
  "docs/concepts.md",
  "docs/connect/ci.md",
  "docs/connect/containers.md",
  "docs/connect/helpers.md",
  "docs/connect/import.md",
  "docs/connect/kubernetes.md",
  "docs/connect/own-machine.md",
  "docs/connect/vault-programs.md",
  "docs/declared-keys.md",
  "docs/mcp.md",
  "docs/observability.md",
  "docs/previews.md",
  "docs/proxy.md",
  "docs/who-can.md",
  "docs/render.md",
  "docs/requests.md",
  "docs/run.md",
  "docs/values.md",
  "docs/webhooks.md"
]

const isShell = ({ language }: Block) => ["sh", "bash", "shell", "console"].includes(language)
const isTested = ({ info }: Block) => !info.startsWith("no-test")

const written = pages.filter(({ path }) => !recorded.includes(path))
const shell = written.flatMap(blocksOf).filter(isShell)

it("leaves few blocks of commands out, each for a reason that the page shows", () => {
  const left = shell.filter((block) => !isTested(block))
  for (const { info, line, path } of shell) assert.match(info, /^(no-test \([^)]{8,}\))?$/, `${path}:${line}`)
  const elsewhere = left.filter(({ info }) => /\.test\.ts\b/.test(info))
  for (const { info } of elsewhere) {
    for (const file of info.match(/[\w./-]+\.test\.ts\b/g) ?? []) assert.isTrue(existsSync(`${root}${file}`), file)
  }
  assert.isAtMost(left.length - elsewhere.length, shell.length * 0.3)
})

const withCommands = written.filter(
  (page) => !isProcedure(page.path) && blocksOf(page).some((block) => isShell(block) && isTested(block))
)

describe.concurrent.each(withCommands)("the commands of $path", (page) => {
  let stage: Stage

  beforeAll(async () => {
    stage = await Stage.set({ furnished: furnished.includes(page.path) })
    const exports = fileURLToPath(new URL("exports/", import.meta.url))
    for (const file of readdirSync(exports)) copyFileSync(exports + file, `${stage.home.folder}/${file}`)
    // A program that the pages only name; here it ends by itself.
    await stage.run("printf '#!/bin/sh\n' > server; chmod +x server")
  })
  afterAll(() => stage.clear())

  it("do what the page says, in its order", { timeout: 180_000 }, async () => {
    for (const block of blocksOf(page).filter((one) => isShell(one) && isTested(one))) {
      const where = `${block.path}:${block.line}`
      if (block.language !== "console") {
        const { code, stderr, stdout } = await stage.run(block.text)
        assert.strictEqual(code, 0, `${where}\n${block.text}\n${stdout}${stderr}`)
        continue
      }
      for (const { command, output } of shownIn(block.text)) {
        if (await stage.loggedIn(command, output)) continue
        const { code, stdout } = await stage.run(`exec 2>&1; ${command}`)
        assert.strictEqual(code, 0, `${where}: ${command}\n${stdout}`)
        assert.strictEqual(stage.asWritten(stdout.trimEnd()), stage.asWritten(output), `${where}: ${command}`)
      }
    }
    if (page.path === "docs/connect/import.md") await checkImports(stage)
    if (page.path === "docs/connect/ci.md") await checkWorkflow(stage)
    if (page.path === "docs/connect/kubernetes.md") await checkStore(stage)
    if (page.path === "docs/mcp.md") await checkTools(stage)
  })
})

const exportedFrom = async (stage: Stage, env: string) => {
  const { stdout } = await stage.run(`coffer secret export --env ${env} --format json`)
  return JSON.parse(stdout) as Record<string, string>
}

/** Checks that the environments hold the exports of the tools, to the byte. */
const checkImports = async (stage: Stage) => {
  assert.deepStrictEqual(await exportedFrom(stage, "prod"), {
    API_KEY: "k-8c1f$HOME`id`",
    DATABASE_URL: "postgres://app:p%40ss@db.internal:5432/shop?sslmode=verify-full",
    EMPTY: "",
    GREETING: "Grüße, \"you\" & 'them' \\n",
    LIMITS: '{"rps":50}',
    PORT: "8443",
    TLS_KEY: "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIH\n-----END PRIVATE KEY-----\n"
  })
  assert.deepStrictEqual(await exportedFrom(stage, "staging"), {
    DATABASE_URL: "postgres://app@db.internal/shop",
    QUOTES: 'it\'s "quoted" = #not a comment',
    SSH_KEY: "line one\nline two\n"
  })
  assert.deepStrictEqual(await exportedFrom(stage, "dev"), {
    API_KEY: "k-8c1f",
    DATABASE_URL: "postgres://app@db.internal/shop",
    FEATURES: '{"beta":true}',
    PADDED: "  spaces around  "
  })
  assert.deepStrictEqual(await exportedFrom(stage, "qa"), await exportedFrom(stage, "prod"))
}

const yamlOf = (path: string) =>
  blocksOf(pages.find((page) => page.path === path)!).filter(({ language }) => language === "yaml")

/** The last step of the workflow, as a runner would run it. */
const checkWorkflow = async (stage: Stage) => {
  const yaml = yamlOf("docs/connect/ci.md")
  await stage.run("coffer import vault vault.json --env prod --apply")
  const workflow = parse(yaml.find(({ text }) => text.includes("runs-on"))!.text)
  const { env, run } = workflow.jobs.deploy.steps.at(-1)
  const { stdout: key } = await stage.run("cat deploy.key")
  const variables = Object.entries<string>(env).map(
    ([name, value]) => `export ${name}='${value.replace("${{ secrets.COFFER_API_KEY }}", key.trim())}'`
  )
  const deployed = await stage.run(
    `rm service.yml; printf '#!/bin/sh\\necho "$LIMITS $SERVICE_API_KEY"' > deploy.sh; chmod +x deploy.sh
    mkdir runner; ln -s /opt/coffer runner/coffer; export RUNNER_TEMP=runner; ${variables.join("\n")}\n${run}`
  )
  assert.strictEqual(deployed.stdout, '{"rps":50} \n', deployed.stderr)
}

/** The request of the webhook provider, and the part of the answer that it takes. */
const checkStore = async (stage: Stage) => {
  const yaml = yamlOf("docs/connect/kubernetes.md")
  await stage.run("coffer import vault vault.json --env prod --apply")
  const prod = await exportedFrom(stage, "prod")
  const { stdout: key } = await stage.run(
    "coffer service-account create reader && coffer acl grant --service-account reader --project-pattern webshop --env-pattern prod --permission read >&2"
  )
  const [, store, external] = parseAllDocuments(yaml.find(({ text }) => text.includes("SecretStore"))!.text)
  const { headers, result, url } = (store!.toJS() as { spec: { provider: { webhook: Webhook } } }).spec.provider.webhook
  assert.strictEqual(result.jsonPath, "$.value")
  const [wanted] = (external!.toJS() as { spec: { data: ReadonlyArray<Wanted> } }).spec.data
  const answer = await fetch(stage.here(url).replace("{{ .remoteRef.key }}", wanted!.remoteRef.key), {
    headers: { "X-API-Key": headers["X-API-Key"].replace("{{ .auth.key }}", key.trim()) }
  })
  assert.deepInclude(await answer.json(), { value: prod["DATABASE_URL"] })
}

/** The host's configuration, as a host would start it: the tools are there, and the server behind them. */
const checkTools = async (stage: Stage) => {
  const json = blocksOf(pages.find(({ path }) => path === "docs/mcp.md")!).find(({ text }) =>
    text.includes("mcpServers")
  )
  const { command, env }: Host = JSON.parse(stage.here(json!.text)).mcpServers.coffer
  const variables = Object.entries(env).map(
    ([name, value]) => `${name}='${value.replace("/home/ada", stage.home.folder)}'`
  )
  const said = [
    {
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "host", version: "1" } }
    },
    { method: "notifications/initialized" },
    { id: 1, method: "tools/list" },
    { id: 2, method: "tools/call", params: { name: "secret_list", arguments: {} } }
  ].map((message) => JSON.stringify({ jsonrpc: "2.0", ...message }))
  const { stderr, stdout } = await stage.run(
    `(printf '%s\\n' '${said.join("' '")}'; sleep 4) | env ${variables.join(" ")} ${command}`
  )
  const answers = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
  const answer = (wanted: number) => answers.find(({ id }) => id === wanted)?.result
  assert.lengthOf(answer(1)?.tools ?? [], 15, stderr)
  assert.deepStrictEqual(answer(2)?.structuredContent, { data: [], total: 0, next_cursor: null }, stdout)
}

interface Host {
  readonly command: string
  readonly env: Readonly<Record<string, string>>
}

interface Webhook {
  readonly url: string
  readonly headers: { readonly "X-API-Key": string }
  readonly result: { readonly jsonPath: string }
}

interface Wanted {
  readonly remoteRef: { readonly key: string }
}

describe("the other blocks", () => {
  const blocks = written.flatMap(blocksOf)

  it("are YAML and JSON where they say so", () => {
    for (const { language, line, path, text } of blocks) {
      if (language === "json") assert.doesNotThrow(() => JSON.parse(text), `${path}:${line}`)
      if (language !== "yaml") continue
      for (const document of parseAllDocuments(text)) assert.deepStrictEqual(document.errors, [], `${path}:${line}`)
    }
  })

  it("say what language they are in", () => {
    for (const { language, line, path } of blocks) assert.notStrictEqual(language, "", `${path}:${line}`)
  })
})

import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { tree } from "../../src/Commands.js"
import type { Leaf } from "../../src/grammar/Command.js"
import { Stage } from "../support/Stage.js"
import { type Scene, scenesOf, type Step } from "./Scenes.js"

interface Example {
  readonly path: string
  readonly line: string
  readonly leaf: Leaf
}

const examples: ReadonlyArray<Example> = tree.nodes.flatMap((node) =>
  (node.type === "command" ? [node] : node.commands).flatMap((leaf) =>
    leaf.examples.map((line) => ({
      path: node.type === "command" ? leaf.name : `${node.name} ${leaf.name}`,
      line,
      leaf
    }))
  )
)

/** The first id that a list shows. */
const firstId = (list: string) => `$(coffer ${list} --json | sed -n 's/^ *"id": "\\(.*\\)",$/\\1/p' | head -n 1)`

/** Examples that need an other side or another person: the tests of these commands have them. */
const needsOtherSide =
  /^coffer (import vault|push bao|target check|verify-release|use request|access request|approval (approve|refuse)|org export (approve|end)|org leave|webhook (test|resend)) /

/** Examples that ask a person: BrowserLogin.long.test.ts has one at a terminal, with a browser, and Passkeys.long.test.ts a passkey. */
const asksPerson = [
  // Needs a clipboard: Clip.long.test.ts has one.
  "coffer get API_KEY --clip",
  "coffer secret get API_KEY --clip",
  "coffer login",
  "coffer login --device",
  "coffer reauthenticate",
  "coffer passkey remove adas-laptop"
]

/** Examples that take something away from those behind them. */
const last = ["org delete", "session end", "logout", "master-key rotate"]
const endsSession = ["session end", "logout"]

/** Examples of what needs votes. */
const waits = ["environment unprotect"]

const files = `
printf 's3cret' > key.txt
printf 'A=1\\n' > .env
printf '{"A":"1"}' > secrets.json
printf '{"scripts":{"start":"true"}}' > package.json
`

/** A moment after everything that the test has done: moments have whole seconds, and a backup is made within one. */
const soon = () => new Date(Date.now() + 60_000).toISOString().replace(/\.\d+/, "")

/** The lists that have the ids of examples. */
const idLists: Readonly<Record<string, string>> = {
  "acl revoke": "acl list",
  "use edit": "use list STRIPE_KEY",
  "use revoke": "use list STRIPE_KEY",
  "org export end": "org export list",
  "request show": "request list",
  "request approve": "request list",
  "request refuse": "request list",
  "request withdraw": "request list",
  "webhook edit": "webhook list",
  "webhook delete": "webhook list",
  "webhook rotate": "webhook list",
  "webhook deliveries": "webhook list"
}

/** An example as it can be run here: ids, moments and questions are of the page's machine. */
const runnable = ({ leaf, line, path }: Example) => {
  const known = line
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, firstId(idLists[path] ?? "session list"))
    .replace("--before 2026-01-31T12:00:00Z", `--before ${soon()}`)
  const asks = leaf.options.some(({ name }) => name === "yes") && !line.includes("--yes")
  return asks ? `${known} --yes` : known
}

describe("the examples of the help", () => {
  let stage: Stage
  let scenes: Readonly<Record<string, Scene>>

  beforeAll(async () => {
    stage = await Stage.set({ furnished: true, isPublic: true })
    const { code, stderr } = await stage.run(files)
    assert.strictEqual(code, 0, stderr)
    scenes = scenesOf(stage)
  })
  afterAll(() => stage.clear())

  it("name their own command", () => {
    for (const { line, path } of examples) {
      assert.include(line.replace("coffer env ", "coffer environment "), `coffer ${path}`)
    }
  })

  it("are there for every command", () => {
    const leaves = tree.nodes.flatMap((node) => (node.type === "command" ? [node] : node.commands))
    for (const { examples, name } of leaves) assert.isAbove(examples.length, 0, name)
  })

  const sorted = [
    ...examples.filter(
      ({ line, path }) => !last.includes(path) && !asksPerson.includes(line) && !needsOtherSide.test(line)
    ),
    ...last.flatMap((wanted) => examples.filter(({ path }) => path === wanted))
  ]

  let isLoggedIn = true

  const take = async (steps: ReadonlyArray<Step> = []) => {
    for (const step of steps) {
      if (typeof step !== "string") await step()
      else {
        const { code, stderr } = await stage.run(step)
        assert.strictEqual(code, 0, `${step}\n${stderr}`)
      }
    }
  }

  it.each(sorted)("$line works", { timeout: 60_000 }, async (example) => {
    const { after, before } = scenes[example.path] ?? scenes[`secret ${example.path}`] ?? {}
    if (!isLoggedIn) await stage.logIn("ada@example.com")
    isLoggedIn = !endsSession.includes(example.path) || example.line.includes("--others")
    await take(before)
    writeFileSync(join(stage.home.folder, "example.sh"), `${stage.here(runnable(example))}\n`)
    const key = example.path === "master-key rotate" ? 'export SERVICE_MASTER_KEY="$(cat /etc/coffer/master.key)"' : ":"
    const { code, stderr, stdout } = await stage.run(`${key}\nEDITOR=true bash -eu example.sh`)
    assert.strictEqual(code, waits.includes(example.path) ? 5 : 0, `${example.line}\n${stdout}${stderr}`)
    await take(after)
  })
})

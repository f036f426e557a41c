import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { tree } from "../../src/Commands.js"
import { locate } from "../../src/grammar/Tree.js"
import { readWords } from "../../src/grammar/Words.js"
import { runInProcess } from "../support/InProcess.js"
import { Server, type TestHome } from "../support/Programs.js"
import { RecordedRequests } from "../support/RecordedRequests.js"
import { type Row, rows } from "./OldFormRows.js"

const wordsOf = (line: string) => line.split(" ")

const anyId = "00000000-0000-7000-8000-000000000000"

/** The hidden options and commands of the client, as the rows have to name them. */
const hidden = tree.nodes.flatMap((node) => {
  const leaves = node.type === "command" ? [node] : node.commands
  return leaves.flatMap((leaf) => {
    const path = node.type === "command" ? leaf.name : `${node.name} ${leaf.name}`
    const options = leaf.options.filter(({ isOld }) => isOld === true).map(({ name }) => `${path} --${name}`)
    return node.isOld === true || leaf.isOld === true ? [path, ...options] : options
  })
})

/** The hidden options and commands of a line. */
const hiddenIn = (line: string): ReadonlyArray<string> => {
  const found = locate(tree, wordsOf(line.replace("ID", anyId)))
  if (found.type !== "command") assert.fail(`${line}: ${found.type}`)
  const reading = readWords(found.leaf, found.words)
  if (reading.type !== "words") assert.fail(`${line}: ${reading.type === "wrong" ? reading.message : "help"}`)
  const path = found.group === undefined ? found.leaf.name : `${found.group.name} ${found.leaf.name}`
  const options = [...reading.options.keys()].map((name) => `${path} --${name}`)
  return [path, ...options].filter((each) => hidden.includes(each))
}

describe("the table of old forms", () => {
  it("has a row for each option and command that help hides", () => {
    assert.deepStrictEqual([...new Set(rows.flatMap(({ old }) => hiddenIn(old)))].sort(), [...hidden].sort())
    assert.isAbove(hidden.length, 30)
  })

  it("has no hidden option or command on the side of the new forms", () => {
    assert.deepStrictEqual(
      rows.flatMap(({ now }) => hiddenIn(now)),
      []
    )
  })
})

/** A server with the same organization as another one. */
class World {
  private constructor(
    private readonly server: Server,
    private readonly recorded: RecordedRequests,
    private readonly homes: Readonly<Record<string, TestHome>>
  ) {}

  static async make(): Promise<World> {
    const server = await Server.start((url) => ({ SERVICE_BROKER: "1", SERVICE_PUBLIC_URL: url }))
    const names = ["ada", "grace", "linus"] as const
    const homes: Record<string, TestHome> = {}
    const recorded = await RecordedRequests.before(server.url)
    for (const name of names) {
      const home = await server.login(`${name}@example.com`)
      // A session belongs to an address.
      writeFileSync(home.session, `${JSON.stringify({ [server.url]: home.token, [recorded.url]: home.token })}\n`)
      homes[name] = home
    }
    const world = new World(server, recorded, homes)
    for (const line of [
      "org create acme",
      "project create webshop",
      "member invite grace@example.com --role owner",
      "member invite linus@example.com --role developer",
      "service-account create ci --no-key",
      "group create backend",
      "secret set API_KEY one",
      "secret set STRIPE_KEY not-a-real-key",
      "use allow STRIPE_KEY --host api.stripe.com --path /v1/* --account ada@example.com --as-query key --approval each",
      "env protect prod --self",
      "use request GET https://api.stripe.com/v1/balance --secret STRIPE_KEY"
    ]) {
      await world.run(line)
    }
    // An export that waits, because an environment is protected.
    await server.call("POST", "/api/orgs/acme/exports", { body: {}, token: homes["ada"]!.token })
    world.recorded.take()
    return world
  }

  /** Runs a line, as one who is set up to work in webshop/dev. */
  async run(line: string, who: string = "ada") {
    const home = this.homes[who]!
    const env = {
      ...home.environment,
      SERVICE_SERVER_URL: this.recorded.url,
      SERVICE_ORG: "acme",
      SERVICE_PROJECT: "webshop",
      SERVICE_ENV: "dev"
    }
    const result = await Effect.runPromise(runInProcess(wordsOf(line), env))
    return { ...result, requests: this.recorded.take() }
  }

  async idFor({ id, who }: Row): Promise<string> {
    if (id === undefined) return ""
    const { stderr, stdout } = await this.run(`${id} --json`, who)
    return /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(stdout)?.[0] ?? assert.fail(`${id}: ${stdout}${stderr}`)
  }

  /** A text without what differs between two servers. */
  plain(text: string): string {
    return text
      .replaceAll(this.recorded.url, "URL")
      .replaceAll(this.server.url, "URL")
      .replaceAll(new URL(this.recorded.url).host, "HOST")
      .replaceAll(new URL(this.server.url).host, "HOST")
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID")
      .replace(/[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.]+Z| [0-9:]+ UTC)/g, "TIME")
      .replace(/svc_[a-z]+_[0-9A-Za-z]+|…[0-9A-Za-z]{4}/g, "KEY")
  }

  async end() {
    await this.recorded.stop()
    for (const home of Object.values(this.homes)) home.remove()
    await this.server.stop()
  }
}

describe("an old form", () => {
  let old: World
  let now: World

  beforeAll(async () => {
    const worlds = await Promise.all([World.make(), World.make()])
    old = worlds[0]
    now = worlds[1]
  }, 120_000)
  afterAll(async () => {
    await Promise.all([old.end(), now.end()])
  })

  const seen = async (world: World, row: Row, line: string) => {
    if (row.before !== undefined) await world.run(row.before)
    const id = await world.idFor(row)
    const { code, requests, stderr, stdout } = await world.run(line.replace("ID", id), row.who)
    return {
      code,
      stdout: world.plain(stdout),
      stderr: world.plain(stderr),
      requests: requests.map(({ body, method, status, url }) =>
        world.plain(`${status} ${method} ${decodeURIComponent(url)} ${body}`)
      )
    }
  }

  it.each(rows)("$old is $now", { timeout: 60_000 }, async (row) => {
    const [before, after] = await Promise.all([seen(old, row, row.old), seen(now, row, row.now)])
    assert.strictEqual(before.code, 0, before.stderr)
    const changes = ({ requests }: typeof before) => requests.filter((each) => /^2\d\d (?!GET )/.test(each))
    assert.deepStrictEqual(changes(after), changes(before))
    assert.strictEqual(after.code, before.code)
    if (row.wider === undefined) assert.deepStrictEqual(after, before)
    else if (!row.old.endsWith(" list")) assert.strictEqual(after.stdout, before.stdout)
  })
})

import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { tree } from "../../src/Commands.js"
import { runInProcess } from "../support/InProcess.js"
import { Terminal } from "../support/Terminal.js"
import { workplace } from "../support/Workplace.js"

const place = workplace("ada@example.com", (url) => ({
  SUPERADMIN_EMAIL_0: "ada@example.com",
  SERVICE_PUBLIC_URL: url
}))

let webhook = ""
const long = "a-very-long-name-that-somebody-chose-with-care-50"
const key = "THE_ADDRESS_AND_THE_PASSWORD_OF_THE_DATABASE_OF_THE_SHOP"

/** Each list of the client, with something in it but for those of other sides. */
const lists: ReadonlyArray<readonly [name: string, ...more: ReadonlyArray<string>]> = [
  ["session list"],
  ["passkey list"],
  ["delegate list"],
  ["org list"],
  ["org export list"],
  ["member list"],
  ["user list"],
  ["project list"],
  ["project history"],
  ["environment list"],
  ["environment revisions"],
  ["secret list"],
  ["ls"],
  ["secret find", "DATABASE"],
  ["secret due"],
  ["secret versions", key],
  ["declare list"],
  ["acl list"],
  ["acl table"],
  ["acl who"],
  ["group list"],
  ["group members", "backend"],
  ["group mappings"],
  ["use list", key],
  ["approval list"],
  ["request list"],
  ["service-account list"],
  ["service-account trust list", long],
  ["webhook list"],
  ["webhook deliveries", "WEBHOOK"],
  ["audit list"],
  ["audit activity"],
  ["backup list"],
  ["settings"]
]

const names = { SERVICE_ORG: "acme", SERVICE_PROJECT: "webshop", SERVICE_ENV: "dev" }
const empty = new Set([
  "passkey list",
  "delegate list",
  "org export list",
  "webhook deliveries",
  "backup list",
  "secret due"
])
const columnsOf = (line: string) => [...line].length

beforeAll(async () => {
  const { ok, server } = place
  const { token } = place.home
  const post = (path: string, body: unknown) => server.call("POST", `/api/orgs/acme${path}`, { body, token })
  const email = "grace.brewster.murray.hopper@navy.example.com"
  await post("/projects", { name: long })
  await post("/members", { email, role: "developer" })
  await post("/groups", { name: "backend" })
  await post("/groups/backend/members", { email })
  const mappings = [{ provider_group: "cn=platform-team,ou=groups,dc=example,dc=com", group: "backend" }]
  await server.call("PUT", "/api/orgs/acme/group-mappings", { body: { mappings }, token })
  await post("/acl", {
    ...{ subject_type: "user", email, project_pattern: long, env_pattern: "{dev,staging,preview}", permission: "write" }
  })
  await post("/service-accounts", { name: long })
  await ok("secret", "set", key, "planted-value", "--env", "staging")
  await ok("env", "protect", "staging", "--self")
  const asked = ["secret", "set", key, "planted-value-2", "--env", "staging"]
  const { code } = await place.home.coffer([
    ...asked,
    "--reason",
    "A long reason, which the people who vote should read"
  ])
  assert.strictEqual(code, 5)
  const made = await post("/webhooks", {
    url: "https://hooks.invalid/a/long/path/to/a/receiver?of=events",
    events: ["acl.*"]
  })
  webhook = made.id
  await ok("secret", "set", key, "planted-value")
  await ok("declare", key, "--pattern", ".*", "--description", "What the shop needs to reach its database, in one text")
  await ok("use", "allow", key, ..."--host api.example.com --path /v1/* --as-query key --account".split(" "), long)
  const trust = ["service-account", "trust", long, "--github", "acme/webshop", "--repository-id", "74"]
  await ok(...trust, "--owner-id", "65", "--environment", "production")
})

describe("each list", () => {
  it("has --wide, and is known to this test", () => {
    const wide = tree.nodes.flatMap((node) =>
      (node.type === "command" ? [node] : node.commands)
        .filter(({ options }) => options.some(({ name }) => name === "wide"))
        .map(({ name }) => (node.type === "command" ? name : `${node.name} ${name}`))
    )
    assert.sameMembers(
      wide,
      lists.map(([name]) => name)
    )
  })

  it.live.each(lists)("%s fits 60, 80 and 120 columns, and with --wide has every word", ([name, ...more]) =>
    Effect.gen(function* () {
      const argv = [...name.split(" "), ...more.map((word) => (word === "WEBHOOK" ? webhook : word))]
      const env = { ...place.home.environment, ...names }
      const shown = (width: number, ...options: ReadonlyArray<string>) =>
        runInProcess([...argv, ...options], env, { isTerminal: true, width })
      for (const width of [60, 80, 120]) {
        const { stderr, stdout } = yield* shown(width)
        const lines = stdout.split("\n").slice(0, -1)
        for (const line of lines) assert.isAtMost(columnsOf(line), width, stdout)
        if (empty.has(name)) continue
        assert.isAbove(lines.length, 1, `${stdout}${stderr}`)
        const [head = ""] = lines
        if (stderr.includes("no room for: ")) assert.notInclude(stdout, "\t")
        else assert.isAbove(head.split(/ {2,}/).length, 1)
      }
      const [wide, plain] = [yield* shown(60, "--wide"), yield* runInProcess(argv, env)]
      for (const word of plain.stdout.split(/\s+/)) assert.include(wide.stdout, word)
      assert.notInclude(wide.stdout + plain.stdout, "planted-value")
    })
  )
})

/** The list as it is at a real terminal, without escape sequences. */
const atTerminal = async (
  columns: number,
  rows: number,
  args: ReadonlyArray<string>,
  env: Record<string, string> = {}
) => {
  const terminal = Terminal.sized(place.home, columns, rows, args, { env })
  assert.strictEqual(await terminal.ended(), 0, terminal.screen)
  return terminal.screen.replaceAll("\r", "")
}

describe("a list at a real terminal", () => {
  it("fits its columns", async () => {
    for (const columns of [60, 80, 120]) {
      for (const line of ["acl list", "audit list --limit 5", "webhook list"]) {
        const screen = await atTerminal(columns, 50, line.split(" "))
        const [list = "", note = ""] = screen.split("coffer: ")
        for (const row of list.split("\n")) assert.isAtMost(columnsOf(row), columns, screen)
        if (columns === 60) assert.match(note, /^no room for: .*; --wide shows all\n$/)
      }
    }
  })

  it("goes through the pager where it is longer than the terminal, and only there", async () => {
    const { home } = place
    const log = join(home.folder, "paged")
    const pager = join(home.folder, "pager")
    writeFileSync(pager, `#!/bin/sh\nprintf '%s\\n' "$LESS" > ${log}; tee -a ${log}\n`)
    chmodSync(pager, 0o755)
    const env = { PAGER: pager }
    const paged = async (rows: number, ...args: ReadonlyArray<string>) => {
      rmSync(log, { force: true })
      const screen = await atTerminal(100, rows, args, env)
      try {
        return { screen, log: readFileSync(log, "utf8") }
      } catch {
        return { screen, log: undefined }
      }
    }
    const short = await paged(10, "env", "list")
    assert.isUndefined(short.log)
    const longer = await paged(3, "env", "list")
    assert.strictEqual(longer.log, `FRX\n${longer.screen}`)
    assert.strictEqual(longer.screen, short.screen)
    for (const args of [
      ["secret", "list"],
      ["env", "list", "--wide"]
    ])
      assert.isDefined((await paged(1, ...args)).log, args.join())
    for (const args of [["secret", "get", key], ["secret", "export"], ["env", "list", "--json"], ["whoami"]]) {
      assert.isUndefined((await paged(1, ...args)).log, args.join())
    }
    const piped = await home.shell(`$COFFER env list > list`, { env })
    assert.deepInclude(piped, { code: 0, stderr: "" })
    assert.match(readFileSync(join(home.folder, "list"), "utf8"), /^dev\t/)
  })

  it("is shown without a pager that cannot start, and by one that stops reading", async () => {
    const whole = await atTerminal(100, 50, ["audit", "list"])
    const missing = await atTerminal(100, 5, ["audit", "list"], { PAGER: "/no/such/pager" })
    assert.isTrue(missing.endsWith(whole), missing)
    assert.strictEqual(await atTerminal(100, 5, ["audit", "list"], { PAGER: "" }), whole)
    const quit = await atTerminal(100, 5, ["settings"], { PAGER: "head -n 1" })
    assert.match(quit, /^SETTING[^\n]*\n$/)
    const less = Terminal.sized(place.home, 100, 5, ["settings"], { env: { PAGER: "less", TERM: "xterm" } })
    await less.sees("SETTING")
    // The terminal drops what is typed together with ctrl-C.
    less.type("\x03")
    await new Promise((resolve) => setTimeout(resolve, 500))
    less.type("q")
    assert.strictEqual(await less.ended(), 0)
  })
})

import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll } from "vitest"
import { tree } from "../../src/Commands.js"
import { runInProcess, type TerminalOptions } from "../support/InProcess.js"
import type { TestHome } from "../support/Programs.js"
import { workplace } from "../support/Workplace.js"

const place = workplace("ada@example.com", () => ({ SERVICE_RENEWAL_NETWORKS: "127.0.0.0/8" }))
const at = { SERVICE_ORG: "acme", SERVICE_PROJECT: "webshop", SERVICE_ENV: "prod" }

const people: Record<string, TestHome> = {}
let ci: Readonly<Record<string, string>>

beforeAll(async () => {
  people["ada"] = place.home
  for (const [name, role] of [
    ["grace", "admin"],
    ["linus", "admin"],
    ["mona", "member"]
  ] as const) {
    await place.ok("member", "invite", `${name}@example.com`, "--role", role)
    const home = await place.server.login(`${name}@example.com`)
    people[name] = home
    // Accepts: only then, the person counts as a voter.
    await place.server.call("GET", "/api/orgs/acme", { token: home.token })
  }
  const key = (await place.prints("service-account", "create", "ci")).trim()
  ci = { ...place.home.environment, ...at, SERVICE_API_KEY: key }
  const patterns = ["--project-pattern", "webshop", "--env-pattern", "*"]
  await place.ok("acl", "grant", "--service-account", "ci", ...patterns, "--permission", "write")
  await place.ok("secret", "set", "API_KEY", "first", "--env", "prod")
  await place.ok("secret", "set", "OTHER", "other", "--env", "prod")
  await place.ok("secret", "set", "OTHER", "changed", "--env", "prod")
})
afterAll(() => {
  for (const home of Object.values(people)) if (home !== place.home) home.remove()
})

const run = (line: string, env: Readonly<Record<string, string>>, options?: TerminalOptions) =>
  runInProcess(line.split(" "), env, options)

/** A command of a person, at prod. */
const as = (who: string, line: string, options?: TerminalOptions) =>
  run(line, { ...(people[who] ?? assert.fail(who)).environment, ...at }, options)

const done = (who: string, line: string, options?: TerminalOptions) =>
  Effect.map(as(who, line, options), ({ code, stderr, stdout }) => {
    assert.strictEqual(code, 0, `${who}: ${line}: ${stderr}`)
    return stdout
  })

const idIn = (text: string) => /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(text)?.[0] ?? assert.fail(text)

/** The id of the request of a command that must wait. */
const waits = (who: string, line: string) =>
  Effect.map(as(who, line), ({ code, stderr, stdout }) => {
    assert.deepStrictEqual([code, stdout], [5, ""], `${line}: ${stderr}`)
    return idIn(stderr)
  })

describe("a protected environment", () => {
  it.live("lets a change wait until two people have approved it, one of them at a terminal", () =>
    Effect.gen(function* () {
      const said = yield* done("ada", "env protect prod --needed 2 --may-break-glass ada@example.com")
      assert.strictEqual(
        said,
        "webshop/prod is protected: changes need the approval of 2 people, of admins and owners\n"
      )

      const asked = yield* run("secret set API_KEY second-canary --reason INC-12", ci)
      const id = idIn(asked.stderr)
      assert.strictEqual(asked.code, 5)
      assert.strictEqual(asked.stdout, "")
      assert.match(
        asked.stderr,
        new RegExp(
          `^coffer: nothing was changed yet: webshop/prod is protected, and request ${id} waits until 2 people approve it, at most until 20[-0-9]+ [0-9:]+ UTC; see it with: coffer request show ${id}; voters run: coffer request approve ${id}\n$`
        )
      )
      assert.strictEqual(yield* done("ada", "secret get API_KEY"), "first")

      const shown = yield* done("grace", `request show ${id}`)
      assert.match(shown, /^requester\tci$/m)
      assert.match(shown, /^asks to\tset 1 secret in webshop\/prod$/m)
      assert.match(shown, /^reason\tINC-12$/m)
      assert.match(shown, /^approvers\tadmins and owners$/m)
      assert.match(shown, /^API_KEY\tupdated\t1$/m)
      assert.notInclude(shown, "canary")
      assert.match(yield* done("ada", `request show ${id} --reveal`), /^API_KEY: .*second-canary/m)
      const record = JSON.parse(yield* done("ada", `request show ${id} --json --reveal`))
      assert.deepInclude(record, { id, state: "pending", values: [{ key: "API_KEY", value: "second-canary" }] })
      assert.match(
        yield* done("grace", "request list"),
        new RegExp(`^${id}\tchange\tpending\twebshop/prod\tAPI_KEY updated\tci\tINC-12\t0 of 2\t`)
      )
      assert.match(
        yield* done("grace", "approval list"),
        new RegExp(`^${id}\tchange\tpending\tci\twebshop/prod\tAPI_KEY\t`)
      )
      const { data, requests } = JSON.parse(yield* done("grace", "approval list --json"))
      assert.deepStrictEqual([data.length, requests.length, requests[0].id], [0, 1, id])

      assert.strictEqual((yield* as("grace", `request approve ${id}`)).code, 2)
      const first = yield* as("grace", `request approve ${id}`, { answers: ["y"] })
      assert.match(first.stderr, /requester +ci\n.*changes +API_KEY updated\n.*Approve request \S+\? \[y\/N\] $/s)
      assert.strictEqual(first.stdout, `request ${id} of ci for webshop/prod waits: 1 of 2 approvals\n`)
      assert.match((yield* as("grace", `request approve ${id} --yes`)).stderr, /you have voted on request/)
      assert.strictEqual((yield* as("linus", `request approve ${id}`, { answers: ["n"] })).code, 1)
      assert.match(
        yield* done("linus", `request approve ${id} --yes`),
        /^request \S+ of ci for webshop\/prod is approved, and the change is made, as revision 4\n$/
      )
      assert.strictEqual(yield* done("ada", "secret get API_KEY"), "second-canary")
      assert.match(yield* done("ada", "request list --all --kind change"), /\tdone\t/)
    })
  )

  it.live("names the key that a request is outdated by, and who can ask again", () =>
    Effect.gen(function* () {
      const id = yield* waits("grace", "secret set API_KEY third")
      yield* done("ada", "secret set API_KEY now --break-glass INC-13")
      const { code, stderr } = yield* as("linus", `request approve ${id} --yes`)
      const late = yield* as("ada", `request approve ${id} --yes`)
      const [outdated] = [stderr, late.stderr].filter((text) => text.includes("outdated"))
      assert.include(
        outdated,
        "API_KEY is at version 3, and was at version 2; grace@example.com can run the change again, which makes a new request"
      )
      assert.include([code, late.code], 1)
      const shown = yield* as("grace", `request show ${id}`)
      assert.match(shown.stdout, /^changed since\tAPI_KEY is at version 3/m)
      assert.include(shown.stderr, "run the command of the change again")
    })
  )

  it.live("is changed at once by those whom its protection names, with a reason, and by nobody else", () =>
    Effect.gen(function* () {
      const refused = yield* as("linus", "secret set API_KEY x --break-glass INC-14")
      assert.strictEqual(refused.code, 1)
      assert.match(refused.stderr, /does not let you change it at once: ask for approval\n$/)
      assert.strictEqual((yield* as("ada", "secret set API_KEY x --break-glass=")).code, 2)
      assert.match(yield* done("ada", "audit list --action secret.break_glass"), /INC-13/)
    })
  )

  it.live("takes a request back from whoever asked, and ends it at the first refusal", () =>
    Effect.gen(function* () {
      const mine = yield* waits("grace", "secret delete API_KEY --yes")
      assert.strictEqual((yield* as("ada", `request withdraw ${mine}`)).code, 1)
      assert.include(yield* done("grace", `request withdraw ${mine}`), "is withdrawn")
      const other = yield* waits("grace", "secret delete API_KEY --yes")
      assert.include(yield* done("ada", `request refuse ${other} --comment INC-14`), "is refused")
      assert.match(
        yield* done("grace", `request show ${other}`),
        /^votes\trefuse by ada@example.com at 20[-\d]+ [\d:]+ UTC: INC-14$/m
      )
      assert.match((yield* as("linus", `request approve ${other} --yes`)).stderr, /is refused: nobody can decide/)
      const none = yield* as("ada", "request show 00000000-0000-7000-8000-000000000000")
      assert.deepInclude(none, { code: 4 })
      assert.include(none.stderr, "coffer request list --org acme shows what exists")
    })
  )

  it.live("stays protected until its votes end that, and shows how it is", () =>
    Effect.gen(function* () {
      const weaker = yield* waits("ada", "env protect prod --needed 1")
      yield* done("ada", `request withdraw ${weaker}`)
      yield* done("ada", "env protect prod --passkey --may-break-glass none")
      const shown = JSON.parse(yield* done("mona", "env protection prod --json"))
      assert.deepInclude(shown, { needed: 2, approvers: "admins", passkey: true, break_glass: [], version: 2 })
      assert.match(yield* done("mona", "env protection prod"), /^break glass\tnobody$/m)
      const missing = yield* as("ada", "env protection dev")
      assert.deepInclude(missing, { code: 4 })
      assert.include(missing.stderr, "coffer env protect dev --project acme/webshop makes one")
      for (const wrong of ["--needed 4", "--approvers nobody", "--expires-after 5", "--self --not-self"]) {
        assert.strictEqual((yield* as("ada", `env protect prod ${wrong}`)).code, 2, wrong)
      }
    })
  )
})

const login = "--host 127.0.0.1 --database shop --user renewer --password-key API_KEY"
const written = "--connection shop-db --user app_a --write DB_URL=postgres://{user}:{password}@127.0.0.1/shop"
const bao = "--kind vault --place url=https://bao.test --place mount=secret --place path=a --credential API_KEY"

/** Each command that changes an environment, as it is asked for at a protected one. */
const changes: ReadonlyArray<readonly [command: string, line: string]> = [
  ["set", "set API_KEY=x"],
  ["edit", "edit API_KEY OTHER --owner ada@example.com"],
  ["secret set", "secret set API_KEY x"],
  ["secret edit", "secret edit API_KEY OTHER --owner ada@example.com"],
  ["secret delete", "secret delete API_KEY OTHER --yes"],
  ["secret rename", "secret rename API_KEY NEW_KEY"],
  ["secret copy", "secret copy FROM_DEV --env dev --to qa --yes"],
  ["secret rollback", "secret rollback OTHER --to 1"],
  ["secret undelete", "secret undelete GONE"],
  ["secret destroy", "secret destroy OTHER --versions 1 --yes"],
  ["secret import", "secret import FILE --yes"],
  ["environment create", "env create gone"],
  ["environment copy", "env copy dev qa --yes"],
  ["environment revert", "env revert --to 1 --yes"],
  ["import", "import dotenvx FILE --env qa --apply --yes"],
  ["environment extend", "env extend qa --expires 7d"],
  ["environment delete", "env delete qa --yes"],
  ["environment restore", "env restore gone"],
  ["environment erase", "env erase gone --yes"],
  ["environment protect", "env protect qa --self"],
  ["environment unprotect", "env unprotect qa --yes"],
  ["project create", "project create freed"],
  ["project rename", "project rename other another"],
  ["project delete", "project delete other --yes"],
  ["org create", "org create first"],
  ["org rename", "org rename tiny --org small"],
  ["project restore", "project restore gone"],
  ["project erase", "project erase gone --yes"],
  ["org delete", "org delete --org small --yes"],
  ["use allow", "use allow API_KEY --host a.test --path /v1 --account ci --as-query key"],
  ["use edit", "use edit API_KEY RULE --per-day 5"],
  ["use revoke", "use revoke API_KEY RULE --yes"],
  ["target create", `target create second ${bao}`],
  ["target edit", "target edit bao --automatic off"],
  ["target pause", "target pause bao"],
  ["target resume", "target resume stopped"],
  ["target delete", "target delete bao --yes"],
  ["connection create", `connection create second ${login}`],
  ["connection delete", "connection delete unused --yes"],
  ["rotation create", `rotation create second ${written}`],
  ["rotation edit", "rotation edit shop-app --every 14d"],
  ["rotation pause", "rotation pause shop-app"],
  ["rotation resume", "rotation resume paused"],
  ["rotation delete", "rotation delete shop-app --yes"],
  ["role create", "role create second --connection shop-db"],
  ["role delete", "role delete app-role --yes"]
]

describe("every command that changes an environment", () => {
  it("takes a reason and breaks the glass, and is in this table", () => {
    const taking = tree.nodes.flatMap((node) =>
      (node.type === "command" ? [node] : node.commands)
        .filter(({ options }) => options.some(({ name }) => name === "break-glass"))
        .map(({ name }) => (node.type === "command" ? name : `${node.name} ${name}`))
    )
    assert.sameMembers(
      taking,
      changes.map(([command]) => command)
    )
  })

  it.live("waits where the environment is protected: exit code 5, and the request as JSON", () =>
    Effect.gen(function* () {
      const file = join(place.home.folder, "new.env")
      writeFileSync(file, "FROM_FILE=1\n")
      const env = { ...place.home.environment, ...at, SERVICE_ENV: "qa" }
      const must = (line: string, more: Readonly<Record<string, string>> = {}) =>
        Effect.map(run(line, { ...env, ...more }), ({ code, stderr, stdout }) => {
          assert.strictEqual(code, 0, `${line}: ${stderr}`)
          return stdout
        })
      for (const line of [
        "env create qa",
        "secret set API_KEY 1",
        "secret set OTHER 1",
        "secret set OTHER 2",
        "secret set GONE 1",
        "secret delete GONE --yes",
        "secret set FROM_DEV 1 --env dev",
        `target create bao ${bao}`,
        `target create stopped ${bao}`,
        "target pause stopped",
        `connection create shop-db ${login}`,
        `connection create unused ${login}`,
        `rotation create shop-app ${written}`,
        `rotation create paused ${written.replace("DB_URL", "OTHER_URL")}`,
        "rotation pause paused",
        "role create app-role --connection shop-db",
        "env create gone",
        "env protect gone --may-break-glass ada@example.com",
        "env delete gone --yes --break-glass once",
        "project create gone",
        "env protect prod --project gone --may-break-glass ada@example.com",
        "project delete gone --yes --break-glass once",
        "project create other",
        "env protect prod --project other",
        // Names that protected places had.
        "project create freed",
        "env protect prod --project freed --may-break-glass ada@example.com",
        "project rename freed kept --break-glass moved",
        "org create first",
        // Somebody else who votes.
        "member invite grace@example.com --role admin --org first",
        "project create webshop --org first",
        "env protect prod --org first --may-break-glass ada@example.com",
        "org rename second --org first --break-glass moved",
        "org create small",
        "member invite grace@example.com --role admin --org small",
        "project create webshop --org small",
        "env protect prod --org small --may-break-glass ada@example.com"
      ]) {
        yield* must(line)
      }
      const rule = idIn(yield* must("use allow API_KEY --host a.test --path /v1 --account ci --as-query key"))
      yield* must("env protect qa --approvers grace@example.com,linus@example.com")

      for (const [command, line] of changes) {
        const words = line.replace("FILE", file).replace("RULE", rule)
        const { code, stderr, stdout } = yield* run(`${words} --json --reason why`, env)
        assert.strictEqual(code, 5, `${line}: ${stderr}${stdout}`)
        // An import prints its plan, with the requests of all environments.
        const printed = JSON.parse(stdout)
        const request = printed.requests?.[0] ?? printed
        assert.deepInclude(request, { kind: "change", state: "pending", reason: "why" }, command)
        assert.include(stderr, `coffer request show ${request.id}`)
        // At most 20 of a person may wait in an environment.
        if (/^(?:secret|use|target|connection) /.test(command)) yield* must(`request withdraw ${request.id}`)
      }
      // A dry run shows what would be changed, as ever.
      assert.strictEqual((yield* run(`secret import ${file} --dry-run`, env)).code, 0)
      assert.match(yield* must("secret list"), /^API_KEY\t1\t.*\nOTHER\t2\t/)
    })
  )
})

describe("coffer access request", () => {
  it.live("gives a permission for a while, once people have approved it", () =>
    Effect.gen(function* () {
      const denied = yield* as("mona", "secret get OTHER --env staging")
      assert.notStrictEqual(denied.code, 0)
      const line = "access request --env staging --permission read --for 1h --reason INC-12"
      const said = yield* done("mona", line)
      const id = idIn(said)
      assert.match(said, /^request \S+ asks for read for 1h in webshop\/staging, and waits for approval; /)
      const shown = yield* as("mona", `request show ${id}`)
      assert.match(shown.stdout, /^asks for\tread for 1h$/m)
      assert.match(shown.stdout, /^approvers\tadmins and owners$/m)
      assert.include(shown.stderr, `coffer request withdraw ${id}`)
      const approved = JSON.parse(yield* done("ada", `request approve ${id} --yes --comment INC-15 --json`))
      assert.deepInclude(approved, { state: "done", permission: "read" })
      assert.deepInclude(approved.votes[0], { vote: "approve", comment: "INC-15" })
      yield* done("ada", "secret set OTHER here --env staging")
      assert.strictEqual(yield* done("mona", "secret get OTHER --env staging"), "here")
      assert.match(yield* done("ada", "acl list"), new RegExp(`${approved.rule_id}\tmona@example.com\t.*\tread\t20`))
      assert.strictEqual((yield* as("mona", line)).code, 1)
      for (const wrong of ["--for 1", "--for 31d", "--permission all"]) {
        const options = {
          "--for": "1h",
          "--permission": "read",
          [wrong.split(" ")[0] ?? ""]: wrong.split(" ")[1] ?? ""
        }
        const words = Object.entries(options).map((pair) => pair.join(" "))
        assert.strictEqual((yield* as("mona", `access request ${words.join(" ")} --reason x`)).code, 2, wrong)
      }
    })
  )
})

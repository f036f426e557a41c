import { once } from "node:events"
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer, request } from "node:http"
import { join } from "node:path"
import { secretKeyForm } from "@coffer/domain/base/NameForms"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { blocksOf, pages } from "../support/Documents.js"
import { type TestHome, Server } from "../support/Programs.js"
import { tricky } from "../formats/Support.js"

let server: Server
let home: TestHome

/** Between the client and the server: counts what goes by. */
const seen: Array<string> = []
const between = createServer((incoming, response) => {
  const { headers, method, url = "" } = incoming
  seen.push(`${method ?? ""} ${url.split("/").slice(-2).join("/")}`)
  const outgoing = request(server.url + url, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 0, answer.headers)
    answer.pipe(response)
  })
  incoming.pipe(outgoing)
})
let counted: string

beforeAll(async () => {
  server = await Server.start()
  home = await server.login("ada@example.com")
  between.listen(0, "127.0.0.1")
  await once(between, "listening")
  const address = between.address()
  counted = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  const session = join(home.folder, ".config", "coffer", "session")
  const sessions: Record<string, string> = JSON.parse(readFileSync(session, "utf8"))
  writeFileSync(session, JSON.stringify({ ...sessions, [counted]: sessions[server.url] }))
  await ok("org", "create", "acme")
  await ok("project", "create", "webshop", "--org", "acme")
  await ok("init", "--org", "acme", "--project", "webshop", "--env", "dev")
}, 300_000)

afterAll(async () => {
  between.closeAllConnections()
  between.close()
  home?.remove()
  await server?.stop()
})

const ok = async (...args: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await home.coffer(args)
  assert.strictEqual(code, 0, `${args.join(" ")}: ${stderr}`)
  return { stderr, stdout }
}

const fails = async (...args: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await home.coffer(args)
  assert.strictEqual(code, 1, `${args.join(" ")}: ${stderr}`)
  assert.strictEqual(stdout, "")
  return stderr
}

const inHome = (name: string) => join(home.folder, name)
const put = (name: string, text: string) => writeFileSync(inHome(name), text)
const values = Object.fromEntries(tricky.map((value, index) => [`TRICKY_${index}`, value]))

describe("import", () => {
  it("shows and writes all of a file by one request each, and export reads all by one", async () => {
    put("all.json", JSON.stringify(values))
    seen.length = 0
    const { stderr } = await ok("secret", "import", "all.json", "--server-url", counted)
    assert.match(stderr, new RegExp(`webshop/dev: ${tricky.length} created, 0 updated, 0 unchanged`))
    assert.deepStrictEqual(seen, ["PATCH dev/bundle", "PATCH dev/bundle"])
    seen.length = 0
    await ok("secret", "import", "all.json", "--yes", "--server-url", counted)
    assert.deepStrictEqual(seen, ["PATCH dev/bundle"])
    seen.length = 0
    const { stdout } = await ok("secret", "export", "--format", "json", "--server-url", counted)
    assert.deepStrictEqual(seen, ["GET dev/bundle"])
    assert.deepStrictEqual(JSON.parse(stdout), values)
  })

  it.each(["env", "sh"])("takes back what export wrote as %s", async (extension) => {
    const format = extension === "sh" ? "shell" : extension
    const taken = Object.fromEntries(
      Object.entries(values).filter(([, value]) => !/[\0\r\n\\]|['"`].*['"`]|\$\{/.test(value))
    )
    put("taken.json", JSON.stringify(taken))
    const [from, to] = [`from-${extension}`, `to-${extension}`]
    await Promise.all([from, to].map((name) => ok("env", "create", name)))
    await ok("secret", "import", "taken.json", "--env", from)
    const file = `secrets.${extension}`
    await ok("secret", "export", "--env", from, "--output", file, "--format", format)
    await ok("secret", "import", file, "--env", to, "--format", format)
    const { stdout } = await ok("secret", "export", "--env", to, "--format", "json")
    assert.deepStrictEqual(JSON.parse(stdout), taken)
  })

  it("shows what it would do, and does nothing", async () => {
    put("change.env", "TRICKY_0=changed\nTRICKY_2=yes\nNEW=1\n")
    const { stderr, stdout } = await ok("secret", "import", "change.env", "--dry-run")
    assert.sameMembers(stdout.trimEnd().split("\n"), [
      "TRICKY_0\tupdated\t2",
      "TRICKY_2\tunchanged\t1",
      "NEW\tcreated\t1"
    ])
    assert.match(stderr, /would be 1 created, 1 updated, 1 unchanged; nothing was written/)
    const versions = await ok("secret", "versions", "TRICKY_0", "--json")
    assert.lengthOf(JSON.parse(versions.stdout).data, 1)
  })

  it.each([
    ["twice.env", "A=1\n\nA=2\n", /twice\.env, line 3: A is here again, after line 1/],
    ["number.json", '{\n"A": "hunter2",\n"B": 8080\n}', /number\.json, line 3: B must have a text/],
    ["key.yaml", 'A: "hunter2"\n"1bad": "x"\n', /key\.yaml, line 2: "1bad": a secret key has/],
    ["large.json", `{"A": "x",\n"B": "${"x".repeat(65_537)}"}`, /large\.json, line 2: B: .*64 KB/],
    ["latin.env", Buffer.from([0x41, 0x3d, 0xe4, 0x0a]), /latin\.env is not UTF-8/]
  ])("refuses %s before anything is sent", async (name, content, problem) => {
    writeFileSync(inHome(name), content)
    seen.length = 0
    const stderr = await fails("secret", "import", name, "--server-url", counted)
    assert.match(stderr, problem)
    assert.notInclude(stderr, "hunter2")
    assert.deepStrictEqual(seen, [])
  })

  it("names every mistake of a file, in the order of its lines, and writes nothing", async () => {
    put("mistakes.env", "A=hunter2\nno assignment\nA=again\n1BAD=hunter2\nB=hunter2#3\n.=hunter2\n")
    const stderr = await fails("secret", "import", "mistakes.env", "--server-url", counted)
    assert.deepStrictEqual(stderr.split("\n"), [
      "coffer: mistakes.env, line 2: is not KEY=value",
      "coffer: mistakes.env, line 3: A is here again, after line 1; remove one",
      `coffer: mistakes.env, line 4: "1BAD": ${secretKeyForm.message}`,
      ...stderr.split("\n").slice(3, 4),
      `coffer: mistakes.env, line 6: ".": ${secretKeyForm.message}`,
      "coffer: mistakes.env has 5 mistakes, so nothing was written; correct them and try again",
      ""
    ])
    assert.match(stderr, /^coffer: mistakes\.env, line 5: B/m)
    assert.notInclude(stderr, "hunter2")

    put("many.env", Array.from({ length: 30 }, (_, index) => `${index}=x\n`).join(""))
    const lines = (await fails("secret", "import", "many.env")).trimEnd().split("\n")
    assert.deepStrictEqual(lines.slice(19), [
      `coffer: many.env, line 20: "19": ${secretKeyForm.message}`,
      "coffer: and 10 more",
      "coffer: many.env has 30 mistakes, so nothing was written; correct them and try again"
    ])
  })

  it("notes which values keep what other readers replace", async () => {
    put("kept.env", `KEPT="say \\"x\\""\nHOME_URL=\${HOME}/x\nPLAIN='\${HOME}'\n`)
    const { stderr } = await ok("secret", "import", "kept.env", "--dry-run")
    const notes = ['line 1: KEPT contains \\"', "line 2: HOME_URL contains ${…}"]
    assert.deepStrictEqual(
      stderr.split("\n").slice(0, 2),
      notes.map((text) => `coffer: kept.env, ${text}, which is kept as it is`)
    )
    put("kept.env", Array.from({ length: 15 }, (_, index) => `KEPT_${index}=\${HOME}\n`).join(""))
    const many = (await ok("secret", "import", "kept.env", "--dry-run")).stderr.split("\n")
    assert.match(many[9] ?? "", /line 10: KEPT_9/)
    assert.strictEqual(many[10], "coffer: and 5 more such values")
  })

  it("writes nothing when the server refuses one of many", async () => {
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`MANY_${index}`, "x".repeat(60_000)]))
    put("many.json", JSON.stringify(many))
    await ok("env", "create", "many")
    const stderr = await fails("secret", "import", "many.json", "--env", "many")
    assert.match(stderr, /8 MiB/)
    assert.strictEqual((await ok("secret", "list", "--env", "many", "--json")).stdout.replace(/\s/g, ""), '{"data":[]}')
  })

  it("shows a progress bar on a terminal, on standard error alone", async () => {
    put("bar.env", "BAR=1\n")
    const script = `script -qec "$COFFER secret import bar.env --env staging --json --yes" /dev/null`
    const { stdout } = await home.shell(script)
    assert.match(stdout, /\[#+-*\] 1 secret checked/)
    assert.match(stdout, /\[-*#+-*\] writing 1 secret/)
    const redirected = await home.shell(
      `script -qec "$COFFER secret import bar.env --env staging --json --yes 2>error.txt" /dev/null`
    )
    assert.strictEqual(JSON.parse(redirected.stdout).data[0].change, "unchanged")
    assert.strictEqual(readFileSync(inHome("error.txt"), "utf8"), "")
  })
})

describe("export", () => {
  it("writes a file for its owner alone, over what was there", async () => {
    put("out.json", "old")
    assert.match(await fails("secret", "export", "--output", "out.json"), /out\.json exists, and is not an earlier/)
    assert.strictEqual(readFileSync(inHome("out.json"), "utf8"), "old")
    await ok("secret", "export", "--output", "out.json", "--force")
    await ok("secret", "export", "--output", "out.json")
    assert.strictEqual(statSync(inHome("out.json")).mode & 0o777, 0o600)
    assert.deepStrictEqual(JSON.parse(readFileSync(inHome("out.json"), "utf8")), values)
  })

  it("leaves everything as it was when it cannot write all", async () => {
    put("out.env", "old")
    symlinkSync(inHome("out.env"), inHome("link.env"))
    mkdirSync(inHome("directory.env"))
    const before = readdirSync(home.folder).sort()
    const refused = await fails("secret", "export", "--output", "out.env", "--format", "docker", "--force")
    assert.match(refused, /TRICKY_\d+ has a value of several lines/)
    assert.match(refused, /json or yaml can hold them: choose with --format/)
    assert.match(await fails("secret", "export", "--output", "link.env", "--format", "json"), /symbolic link/)
    assert.match(await fails("secret", "export", "--output", "directory.env", "--format", "json"), /is not a file/)
    assert.match(await fails("secret", "export", "--output", "no/such/x.json"), /directory that does not exist/)
    assert.strictEqual(readFileSync(inHome("out.env"), "utf8"), "old")
    assert.deepStrictEqual(readdirSync(home.folder).sort(), before)
    assert.isFalse(existsSync(inHome("no")))
  })

  it("writes the chosen keys", async () => {
    const chosen = async (...args: ReadonlyArray<string>) =>
      Object.keys(JSON.parse((await ok("secret", "export", "--format", "json", ...args)).stdout)).sort()
    assert.deepStrictEqual(await chosen("--only", "TRICKY_2,TRICKY_0"), ["TRICKY_0", "TRICKY_2"])
    const others = Object.keys(values).filter((key) => key !== "TRICKY_0" && key !== "TRICKY_2")
    assert.deepStrictEqual(await chosen("--except", "TRICKY_0,TRICKY_2"), others.sort())
    const refused = await home.coffer(["secret", "export", "--except", "TRICKY_0,TYPO", "--output", "typo.env"])
    assert.deepStrictEqual([refused.code, refused.stdout], [4, ""])
    assert.match(refused.stderr, /^coffer: TYPO of --except is not in webshop\/dev; /)
    assert.isFalse(existsSync(inHome("typo.env")))
    assert.strictEqual((await home.coffer(["secret", "export", "--only", "A", "--except", "B"])).code, 2)
  })

  it("leaves out what the format cannot hold when asked to, and names it", async () => {
    await ok("env", "create", "odd")
    put("odd.json", JSON.stringify({ A: "it's", "odd.key": "x", MULTI: "a\nb" }))
    await ok("secret", "import", "odd.json", "--env", "odd")
    const refused = await home.coffer(["secret", "export", "--env", "odd", "--format", "shell"])
    assert.deepStrictEqual([refused.code, refused.stdout], [1, ""])
    const shell = await ok("secret", "export", "--env", "odd", "--format", "shell", "--skip-unsupported")
    assert.strictEqual(shell.stdout, "export A='it'\"'\"'s'\nexport MULTI='a\nb'\n")
    assert.match(shell.stderr, /^coffer: left out of the format shell: odd\.key [^\n]*\n$/)
    const docker = await ok(
      "secret",
      "export",
      "--env",
      "odd",
      "--output",
      "odd.env",
      "--format",
      "docker",
      "--skip-unsupported"
    )
    assert.match(
      docker.stderr,
      /left out of the format docker: MULTI has a value of several lines\n.*: 2 secrets of webshop\/odd written/
    )
  })
})

it("a shell gets no name that makes it run code, and no credential, unless it is named", async () => {
  await ok("env", "create", "names")
  const values = { A: "1", PROMPT_COMMAND: "touch F", LD_PRELOAD: "/tmp/x.so", SERVICE_API_KEY: "svc_sa_x" }
  put("names.json", JSON.stringify(values))
  await ok("secret", "import", "names.json", "--env", "names")
  const refused = await home.coffer(["secret", "export", "--env", "names", "--format", "shell"])
  assert.deepStrictEqual([refused.code, refused.stdout], [1, ""])
  assert.match(refused.stderr, /PROMPT_COMMAND can make other programs run code.*--allow-env PROMPT_COMMAND/s)
  const shell = (...args: ReadonlyArray<string>) =>
    ok("secret", "export", "--env", "names", "--format", "shell", "--skip-unsupported", ...args)
  const { stderr, stdout } = await shell()
  assert.strictEqual(stdout, "export A='1'\n")
  for (const name of ["PROMPT_COMMAND", "LD_PRELOAD", "SERVICE_API_KEY"]) assert.include(stderr, `${name} can make`)
  assert.include((await shell("--allow-env", "LD_PRELOAD")).stdout, "export LD_PRELOAD='/tmp/x.so'\n")
})

it("the recipe for direnv survives a key that no shell takes", async () => {
  const page = pages.find(({ path }) => path === "docs/connect/own-machine.md")
  const recipe = page && blocksOf(page).find(({ text }) => text.startsWith('eval "$(coffer secret export'))
  assert.isDefined(recipe)
  put("direnv.json", JSON.stringify({ GOOD: "it's\n$(date)", "odd.key": "x" }))
  await ok("secret", "import", "direnv.json", "--env", "staging")
  const script = recipe.text.replace("coffer ", "$COFFER ").replace("--env dev", "--env staging")
  const { code, stderr, stdout } = await home.shell(`set -e\n${script}\nprintf %s "$GOOD"`)
  assert.deepStrictEqual([code, stdout], [0, "it's\n$(date)"])
  assert.match(stderr, /odd\.key/)
})

import { once } from "node:events"
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { finish, type RunOptions, TestHome } from "../support/Programs.js"
import { Recorder } from "../support/Recorder.js"
import {
  assertLinesOfZsh,
  assertOffers,
  type Case,
  needs,
  offersOfBash,
  offersOfFish,
  writeScripts
} from "../support/Shells.js"
import { workplace } from "../support/Workplace.js"

const place = workplace("ada@example.com", (url) => ({ SERVICE_PUBLIC_URL: url }))

let recorder: Recorder

const cacheFolder = () => join(place.home.folder, ".cache/coffer/names")

const clearCache = () => rmSync(cacheFolder(), { recursive: true, force: true })

beforeAll(async () => {
  await place.ok("project", "create", "intranet", "--org", "acme")
  await place.ok("org", "create", "globex")
  await place.ok("project", "create", "web", "--org", "globex")
  await place.ok("env", "create", "qa", "--org", "globex", "--project", "web")
  await place.ok("env", "create", "preview")
  for (const key of ["API_KEY", "API_TOKEN", "DATABASE_URL"]) await place.ok("secret", "set", key, `value of ${key}`)
  await place.ok("secret", "set", "ONLY_PROD", "value", "--env", "prod")
  await place.ok("secret", "set", "DELETED", "value")
  await place.ok("secret", "delete", "DELETED", "--yes")
  await place.ok("member", "invite", "grace@example.com")
  await place.ok("service-account", "create", "ci")
  await place.ok("service-account", "create", "two words")
  const trust = ["service-account", "trust", "ci", "--github", "acme/webshop", "--repository-id", "74"]
  await place.ok(...trust, "--owner-id", "65")
  await writeScripts(place.home)
  recorder = await Recorder.before(place.server.url)
  // The same session at the recorder.
  const session = place.home.session
  const [token = ""] = Object.values(JSON.parse(readFileSync(session, "utf8")) as Record<string, string>)
  writeFileSync(session, JSON.stringify({ [place.server.url]: token, [recorder.url]: token }))
})

afterAll(() => recorder.stop())

beforeEach(() => {
  recorder.answer = undefined
  recorder.look()
  clearCache()
})

const atRecorder = (env: Record<string, string> = {}) => ({ env: { SERVICE_SERVER_URL: recorder.url, ...env } })

const complete = (syntax: string, words: ReadonlyArray<string>, options: RunOptions = atRecorder()) =>
  place.home.coffer(["__complete", syntax, String(words.length - 1), ...words], options)

/** The home's service.yml names acme/webshop/dev. */
const cases: ReadonlyArray<Case> = [
  ["coffer secret get API", ["API_KEY", "API_TOKEN"]],
  ["coffer secret get API_KEY ", ["API_TOKEN", "DATABASE_URL"]],
  ["coffer secret get --env prod ", ["ONLY_PROD"]],
  ["coffer secret get --env=prod ", ["ONLY_PROD"]],
  ["coffer secret get --env acme/webshop/prod --json ", ["ONLY_PROD"]],
  ["coffer secret set DATA", ["DATABASE_URL"]],
  ["coffer secret set API_KEY API", []],
  ["coffer secret rename API_K", ["API_KEY"]],
  ["coffer secret rename API_KEY API", []],
  ["coffer secret undelete ", []],
  ["coffer secret copy DATA", ["DATABASE_URL"]],
  ["coffer secret copy DATABASE_URL --to pr", ["prod", "preview"]],
  ["coffer secret export --only API_KEY,", ["API_KEY,API_TOKEN", "API_KEY,DATABASE_URL"]],
  ["coffer run --only DATA", ["DATABASE_URL"]],
  ["coffer secret list --env ", ["dev", "staging", "prod", "preview"]],
  ["coffer secret list --env webshop/pre", ["webshop/preview"]],
  ["coffer secret list --env globex/", ["globex/web/"]],
  [
    "coffer secret list --env globex/web/",
    ["globex/web/dev", "globex/web/staging", "globex/web/prod", "globex/web/qa"]
  ],
  ["coffer secret list --org globex --project ", ["web"]],
  ["coffer secret list --project we", ["webshop"]],
  ["coffer secret list --project globex/", ["globex/web"]],
  ["coffer project get in", ["intranet"]],
  ["coffer project create in", []],
  ["coffer env diff staging pr", ["prod", "preview"]],
  ["coffer env copy pre", ["preview"]],
  ["coffer env delete q", []],
  ["coffer org get --org ", ["acme", "globex"]],
  ["coffer run we", ["webshop/"]],
  ["coffer run glo", ["globex/"]],
  ["coffer run globex/web/q", ["globex/web/qa"]],
  ["coffer run -- globex/web/q", []],
  ["coffer run acme/webshop/prod -- webshop/", []],
  ["coffer init --org g", ["globex"]],
  ["coffer member remove gr", ["grace@example.com"]],
  ["coffer acl table ada", ["ada@example.com"]],
  ["coffer acl grant acc", ["account:ci"]],
  ["coffer acl grant ada@example.com pre", ["preview"]],
  ["coffer acl explain ada@example.com webshop/pre", ["webshop/preview"]],
  ["coffer secret get -e prod ", ["ONLY_PROD"]],
  ["coffer get -e prod ", ["ONLY_PROD"]],
  ["coffer ls pre", ["preview"]],
  ["coffer env delete pre", ["preview"]],
  ["coffer service-account rotate ", ["ci"]],
  ["coffer service-account trust ", ["list", "revoke", "try"]],
  ["coffer service-account trust c", ["ci"]],
  ["coffer service-account trust list ", ["ci"]],
  ["coffer service-account trust revoke ci ", ["github"]],
  ["coffer member invite ", []]
]

const typed = cases.map(([line]) => line)

describe("names at the tab key", () => {
  it("are those of the server in bash", async () => assertOffers(cases, await offersOfBash(place.home, typed)))

  it("are those of the server in fish", async (context) => {
    needs(context, "fish")
    assertOffers(cases, await offersOfFish(place.home, typed))
  })

  it("are those of the server in zsh", async (context) => {
    needs(context, "zsh")
    await assertLinesOfZsh(place.home, [
      ["coffer secret get DATA", "coffer secret get DATABASE_URL "],
      ["coffer secret get --env=pre", "coffer secret get --env=preview "],
      ["coffer secret get --env prod ", "coffer secret get --env prod ONLY_PROD "],
      ["coffer secret export --only API_KEY,D", "coffer secret export --only API_KEY,DATABASE_URL "],
      ["coffer run glob", "coffer run globex/"],
      ["coffer run globex/web/q", "coffer run globex/web/qa "],
      ["coffer secret import coffer.ba", "coffer secret import coffer.bash "]
    ])
  })

  it("put environments in the order of their stages, as every list does, and no shell sorts them", async () => {
    const inOrder = ["dev", "staging", "preview", "prod"]
    assert.deepStrictEqual((await complete("env", [""])).stdout.split("\n").slice(0, -1), inOrder)
    const [offered] = await offersOfBash(place.home, ["coffer secret list --env "])
    assert.deepStrictEqual(offered, inOrder)
    const unsorted = { bash: "compopt -o nosort", zsh: "compadd -V ", fish: "complete -c coffer -f -k " }
    for (const [shell, flag] of Object.entries(unsorted)) {
      assert.include(readFileSync(join(place.home.folder, `coffer.${shell}`), "utf8"), flag)
    }
  })

  it("of people are cut in bash where it makes a word of what follows the @", async () => {
    const script = `COMP_WORDBREAKS='@:='; . ./coffer.bash; COMP_WORDS=(coffer member remove grace @ ex); COMP_CWORD=5; _coffer; echo "\${COMPREPLY[*]}"`
    const env = { PATH: `${place.home.folder}/bin:${place.home.environment["PATH"] ?? ""}` }
    assert.strictEqual((await finish(place.home.spawn("bash", ["-c", script], { env }))).stdout, "example.com\n")
  })

  it("are ids of rules and webhooks", async () => {
    const rule = ["--email", "grace@example.com", "--project-pattern", "webshop", "--env-pattern", "dev"]
    const granted = JSON.parse(await place.prints("acl", "grant", ...rule, "--permission", "read", "--json"))
    assert.strictEqual((await complete("rule", [""])).stdout, `${granted.id}\n`)
    await place.ok("webhook", "create", "https://hooks.invalid/", "--event", "acl.*")
    const { data } = JSON.parse(await place.prints("webhook", "list", "--json"))
    assert.strictEqual((await complete("webhook", [""])).stdout, `${data[0].id}\n`)
  })

  it("obey the options on both sides of the word", async () => {
    const words = ["ONLY", "--org", "acme", "--project=webshop", "--env", "prod"]
    const { stdout } = await place.home.coffer(["__complete", "key...", "0", ...words], atRecorder())
    assert.strictEqual(stdout, "ONLY_PROD\n")
  })

  it("are the names that the lists of the client show", async () => {
    const lists: ReadonlyArray<readonly [kind: string, ...list: ReadonlyArray<string>]> = [
      ["org", "org", "list"],
      ["project", "project", "list"],
      ["env", "env", "list"],
      ["key", "secret", "list"]
    ]
    for (const [kind, ...list] of lists) {
      const { stdout } = await complete(kind, [""])
      const { data } = JSON.parse(await place.prints(...list, "--json")) as {
        data: ReadonlyArray<{ name?: string; key?: string }>
      }
      // A shell has an order of its own.
      const names = data.map(({ key, name }) => key ?? name)
      assert.sameOrderedMembers(stdout.trim().split("\n").sort(), names.sort(), kind)
    }
  })

  it("are asked for without a value", async () => {
    assertOffers(cases, await offersOfBash(place.home, typed, atRecorder()))
    const asked = [...new Set(recorder.look())]
    const [acme, globex] = ["/api/orgs/acme/projects", "/api/orgs/globex/projects"]
    assert.include(asked, `GET ${acme}/webshop/envs/dev/secrets`)
    for (const request of asked) {
      assert.match(
        request,
        /^GET \/api\/orgs(\/[a-z]+\/(members|groups|service-accounts(\/[0-9a-f-]+\/federations)?|projects(\/[a-z]+\/envs(\/[a-z]+\/secrets)?)?))?$/
      )
    }
    assert.include(asked, `GET ${globex}`)
  })
})

describe("names of a hostile server", () => {
  const hostile = [
    "$(touch planted)",
    "`touch planted`",
    "; touch planted",
    "a b",
    "A\nB",
    "ok\u202e",
    "-rf",
    "../..",
    "'",
    '"',
    "\\",
    "*",
    "",
    "x".repeat(101),
    7,
    null,
    ["GOOD"],
    "GOOD",
    "good"
  ]

  it.each([
    ["key", ["GOOD", "good"]],
    ["org", ["good"]],
    ["env", ["good"]]
  ])("are dropped where %s is meant", async (kind, left) => {
    recorder.answer = { data: hostile.map((text) => ({ key: text, name: text, value: "SECRET_VALUE" })) }
    for (let times = 0; times < 2; times++) {
      const { code, stderr, stdout } = await complete(kind, [""])
      assert.deepStrictEqual([code, stderr, stdout.split("\n").slice(0, -1)], [0, "", left])
    }
    assert.lengthOf(recorder.look(), 1)
    for (const name of readdirSync(cacheFolder())) {
      assert.notInclude(readFileSync(join(cacheFolder(), name), "utf8"), "SECRET_VALUE")
    }
  })

  it.each([
    [[]],
    [null],
    ["text"],
    [{ data: 7 }],
    [{ data: [7, null, "x"] }],
    [{ error: { code: "NOT_FOUND", message: "" } }]
  ])("are not offered where the answer is %j", async (answer) => {
    recorder.answer = answer
    assert.deepInclude(await complete("key", [""]), { code: 0, stderr: "", stdout: "" })
  })

  it("run nothing in bash, with words that only a shell would read", async () => {
    recorder.answer = { data: hostile.map((text) => ({ key: text })) }
    const lines = [
      "coffer secret get ",
      "coffer secret get $(touch planted)",
      "coffer secret export --only $(touch planted),"
    ]
    const [found] = await offersOfBash(place.home, lines, atRecorder())
    assert.deepStrictEqual(found, ["GOOD", "good"])
    assert.notInclude(readdirSync(place.home.folder), "planted")
  })
})

describe("the cache of names", () => {
  it("is a file that only its user can read, and says nothing of the place", async () => {
    await complete("key", [""])
    const [name = "", ...others] = readdirSync(cacheFolder())
    assert.match(name, /^[0-9a-f]{64}$/)
    assert.lengthOf(others, 0)
    assert.strictEqual(statSync(cacheFolder()).mode & 0o777, 0o700)
    assert.strictEqual(statSync(join(cacheFolder(), name)).mode & 0o777, 0o600)
  })

  it("is used for a minute, and removed after it", async () => {
    await complete("org", [""])
    await complete("key", [""])
    assert.lengthOf(recorder.look(), 2)
    assert.strictEqual((await complete("key", [""])).stdout, "API_KEY\nAPI_TOKEN\nDATABASE_URL\n")
    assert.lengthOf(recorder.look(), 0)
    const minuteAgo = Date.now() - 61_000
    for (const name of readdirSync(cacheFolder())) {
      const file = join(cacheFolder(), name)
      const text = readFileSync(file, "utf8").replace(/"at":[0-9]+/, `"at":${minuteAgo}`)
      writeFileSync(file, text)
      utimesSync(file, minuteAgo / 1000, minuteAgo / 1000)
    }
    assert.strictEqual((await complete("key", [""])).stdout, "API_KEY\nAPI_TOKEN\nDATABASE_URL\n")
    assert.lengthOf(recorder.look(), 1)
    assert.lengthOf(readdirSync(cacheFolder()), 1)
  })

  it.each([
    ["of the future", (text: string) => text.replace(/"at":/, '"at":9')],
    ["that is no JSON", () => "GOOD"],
    ["with other things than names", (text: string) => text.replace(/"names":.*/, '"names":7}')]
  ])("is not used for a file %s", async (_, change) => {
    await complete("key", [""])
    const [name = ""] = readdirSync(cacheFolder())
    const file = join(cacheFolder(), name)
    writeFileSync(file, change(readFileSync(file, "utf8")))
    recorder.look()
    assert.strictEqual((await complete("key", [""])).stdout, "API_KEY\nAPI_TOKEN\nDATABASE_URL\n")
    assert.lengthOf(recorder.look(), 1)
  })

  it("is another one for each credential and each server", async () => {
    const account = async (name: string, env: string) => {
      const made = await place.prints("service-account", "create", name)
      const rule = ["--project-pattern", "webshop", "--env-pattern", env, "--permission", "read"]
      await place.ok("acl", "grant", "--service-account", name, ...rule)
      return made.trim()
    }
    const [may, mayNot] = [await account("may", "dev"), await account("may-not", "prod")]
    const keys = async (env: Record<string, string>) =>
      (await complete("key", [""], { env })).stdout.split("\n").length - 1
    const counts = [
      await keys({ SERVICE_SERVER_URL: recorder.url, SERVICE_API_KEY: may }),
      await keys({ SERVICE_SERVER_URL: recorder.url, SERVICE_API_KEY: mayNot }),
      await keys({ SERVICE_SERVER_URL: recorder.url })
    ]
    assert.deepStrictEqual(counts, [3, 0, 3])
    assert.lengthOf(recorder.look(), 3)
    recorder.answer = { data: [{ key: "ONLY_HERE" }] }
    clearCache()
    assert.strictEqual(await keys({ SERVICE_SERVER_URL: recorder.url }), 1)
    assert.strictEqual(await keys({ SERVICE_SERVER_URL: place.server.url }), 3)
  })

  it("follows XDG_CACHE_HOME, and is done without where it cannot be written", async () => {
    const folder = join(place.home.folder, "elsewhere")
    await complete("key", [""], atRecorder({ XDG_CACHE_HOME: folder }))
    assert.lengthOf(readdirSync(join(folder, "coffer/names")), 1)
    writeFileSync(join(place.home.folder, "file"), "")
    const options = atRecorder({ XDG_CACHE_HOME: join(place.home.folder, "file") })
    assert.strictEqual((await complete("key", [""], options)).stdout, "API_KEY\nAPI_TOKEN\nDATABASE_URL\n")
  })
})

describe("completion that cannot ask", () => {
  const key = `svc_sa_${"x".repeat(49)}`

  it.each([
    ["no server", { SERVICE_SERVER_URL: "http://127.0.0.1:1" }],
    ["a wrong address", { SERVICE_SERVER_URL: "file:///etc/passwd" }],
    [
      "another address over http, which a warning belongs to",
      { SERVICE_SERVER_URL: "http://192.0.2.1", SERVICE_API_KEY: key }
    ],
    ["a credential that is none", { SERVICE_API_KEY: "nonsense" }],
    ["a refused credential", { SERVICE_API_KEY: key }],
    ["no home", { HOME: "" }]
  ])("prints nothing with %s", async (_, env) => {
    const begin = performance.now()
    const result = await complete("key", [""], { env })
    assert.deepInclude(result, { code: 0, stderr: "", stdout: "" })
    assert.isBelow(performance.now() - begin, 10_000)
  })

  it.each([
    ["nothing", []],
    ["an unknown kind", ["pass", "0", ""]],
    ["no index", ["key", "x", ""]],
    ["a word that does not exist", ["key", "7", ""]],
    ["a path out of the API", ["place", "0", "../../"]],
    ["a path with names that are none", ["env-path", "0", "A/../"]]
  ])("prints nothing for %s", async (_, args) => {
    assert.deepInclude(await place.home.coffer(["__complete", ...args], atRecorder()), {
      code: 0,
      stderr: "",
      stdout: ""
    })
    assert.lengthOf(recorder.look(), 0)
  })

  it("prints nothing where service.yml is wrong", async () => {
    const cwd = join(place.home.folder, "wrong")
    mkdirSync(cwd)
    writeFileSync(join(cwd, "service.yml"), "org: [\n")
    assert.deepInclude(await complete("key", [""], { ...atRecorder(), cwd }), {
      code: 0,
      stderr: "",
      stdout: ""
    })
  })

  it("sends nothing in clear text to another machine: nobody would see the warning", async () => {
    const { port } = new URL(recorder.url)
    const env = { SERVICE_SERVER_URL: `http://0.0.0.0:${port}`, SERVICE_API_KEY: key }
    assert.strictEqual((await place.home.coffer(["org", "list"], { env })).code, 3)
    assert.lengthOf(recorder.look(), 1)
    assert.deepInclude(await complete("org", [""], { env }), { code: 0, stderr: "", stdout: "" })
    assert.lengthOf(recorder.look(), 0)
  })

  it("sends no API key to a server that only service.yml names, until that server is trusted", async () => {
    let connections = 0
    const listener = createServer((socket) => {
      connections += 1
      socket.destroy()
    }).listen(0, "127.0.0.1")
    await once(listener, "listening")
    const address = listener.address()
    const url = `https://0.0.0.0:${typeof address === "object" && address !== null ? address.port : 0}`
    const home = new TestHome("")
    writeFileSync(join(home.folder, "service.yml"), `server_url: "${url}"\n`)
    const ask = () => home.coffer(["__complete", "org", "0", ""], { env: { SERVICE_API_KEY: key } })
    assert.deepInclude(await ask(), { code: 0, stderr: "", stdout: "" })
    assert.strictEqual(connections, 0)
    await home.coffer(["trust", url])
    assert.deepInclude(await ask(), { code: 0, stderr: "", stdout: "" })
    assert.strictEqual(connections, 1)
    home.remove()
    listener.close()
  })

  it("gives up after a second where the server does not answer", async () => {
    recorder.answer = "nothing"
    const begin = performance.now()
    assert.deepInclude(await complete("key", [""]), { code: 0, stderr: "", stdout: "" })
    const took = performance.now() - begin
    assert.isAbove(took, 900)
    assert.isBelow(took, 10_000)
  })
})

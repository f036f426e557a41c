import { execFileSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { assert, beforeAll, describe, it } from "vitest"
import { finish, type RunOptions, until } from "../support/Programs.js"
import { Recorder } from "../support/Recorder.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const render = (args: ReadonlyArray<string>, options: RunOptions = {}) =>
  place.home.coffer(["render", ...args], options)
const set = (key: string, value: string, env = "dev") =>
  place.server.call("PUT", `/api/orgs/acme/projects/webshop/envs/${env}/secrets/${key}`, {
    body: { value },
    token: place.home.token
  })

const path = (name: string) => join(place.home.folder, name)
const put = (name: string, text: string | Buffer) => {
  writeFileSync(path(name), text)
  return path(name)
}
const read = (name: string) => readFileSync(path(name), "utf8")
const modeOf = (name: string) => (statSync(path(name)).mode & 0o7777).toString(8)

const hostile = `it's "{{OTHER}}" \${API_KEY} $(date)\n`

beforeAll(async () => {
  await set("API_KEY", hostile)
  await set("OTHER", "other")
  await set("SHARED", "of prod", "prod")
}, 300_000)

describe("coffer render", () => {
  it("keeps every byte around the values, and expands nothing in them", async () => {
    const around = Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x0d, 0x0a, 0x7b, 0x7d])
    put("raw.tpl", Buffer.concat([around, Buffer.from("{{API_KEY}}{{{{OTHER}}{{{ OTHER }}}"), around]))
    const { code, stderr } = await render(["raw.tpl", "--output", "raw"])
    assert.deepStrictEqual([code, stderr], [0, "coffer: raw written\n"])
    const wanted = Buffer.concat([around, Buffer.from(`${hostile}{{OTHER}}{other}`), around])
    assert.isTrue(readFileSync(path("raw")).equals(wanted))
    assert.strictEqual(modeOf("raw"), "600")
    const printed = await render(["-"], { input: "{{API_KEY | json}} {{prod:SHARED}}\r\n" })
    assert.deepStrictEqual([printed.code, printed.stdout], [0, `${JSON.stringify(hostile)} of prod\r\n`])
  })

  it("reads each environment once, and asks for its keys alone", async () => {
    const recorder = await Recorder.before(place.server.url)
    mkdirSync(path(".config/coffer"), { recursive: true })
    const env = { SERVICE_SERVER_URL: recorder.url, SERVICE_API_KEY: await account() }
    put("two.tpl", "{{OTHER}}{{API_KEY | url}}{{dev:OTHER}}{{prod:SHARED}}")
    const { code, stderr } = await render(["two.tpl"], { env })
    assert.strictEqual(code, 0, stderr)
    const bundles = recorder.look().filter((asked) => asked.includes("/bundle"))
    assert.deepStrictEqual(
      bundles.map((asked) => decodeURIComponent(asked.replace(/^.*\/envs\//, "").replace(/&.*/, ""))),
      ["dev/bundle?keys=API_KEY,OTHER", "prod/bundle?keys=SHARED"]
    )
    // A template that names the environment of each secret needs none of its own.
    const elsewhere = await render(["--env", "not-there", put("named.tpl", "{{prod:SHARED}}")], { env })
    assert.deepStrictEqual([elsewhere.stdout, recorder.look().length], ["of prod", 1])
    await recorder.stop()
  })

  it("names everything missing or wrong, and writes nothing", async () => {
    const fails = async (template: string, code: number, message: RegExp) => {
      const found = await render([put("bad.tpl", template), "--output", "bad"])
      assert.strictEqual(found.code, code, found.stderr)
      assert.match(found.stderr, message)
      assert.isFalse(existsSync(path("bad")))
    }
    await fails(
      "{{A}} {{OTHER}} {{B|json}} {{prod:A}}",
      4,
      /webshop\/dev has no A, B; webshop\/prod has no A; coffer sec/
    )
    await fails("{{nowhere:A}}", 4, /environment \S*nowhere does not exist/)
    await fails(
      "\n{{#if OTHER}}\n{{OTHER | upper}}",
      1,
      /bad\.tpl, line 2: .*\n.*line 3: OTHER has no filter[^]*2 mistakes/
    )
    await set("DUAL", "a\0b")
    await fails("{{DUAL | shell}}", 1, /dev:DUAL has a value with a NUL byte, which no shell can hold/)
    await fails("{{API_KEY | env}}", 1, /dev:API_KEY has a value with \$\{…\}, which python-dotenv replaces/)
    assert.deepStrictEqual(
      readdirSync(place.home.folder).filter((name) => /^\.[0-9a-f]{8}-/.test(name)),
      []
    )
  })

  it("keeps the owner and the permissions of a file, and replaces it in one piece", async () => {
    put("kept.tpl", "{{OTHER}}\n")
    const created = await render(["kept.tpl", "--output", "kept", "--mode", "0640"])
    assert.deepStrictEqual([created.code, modeOf("kept")], [0, "640"])
    const { ino } = statSync(path("kept"))
    const again = await render(["kept.tpl", "--output", "kept"])
    assert.deepStrictEqual([again.stderr, statSync(path("kept")).ino], ["coffer: kept is up to date\n", ino])
    put("kept", "old")
    chmodSync(path("kept"), 0o604)
    if (process.getuid?.() === 0) execFileSync("chown", ["12345:23456", path("kept")])
    const { gid, uid } = statSync(path("kept"))
    const refused = await render(["kept.tpl", "--output", "kept"])
    const foreign = "kept exists, and is not an earlier output of this command: name another file"
    assert.deepStrictEqual([refused.code, read("kept")], [1, "old"])
    assert.include(refused.stderr, `${foreign}, or replace it with --force`)
    await render(["kept.tpl", "--output", "kept", "--mode", "0600", "--force"])
    const replaced = statSync(path("kept"))
    assert.deepStrictEqual([read("kept"), modeOf("kept")], ["other\n", "604"])
    assert.deepStrictEqual([replaced.uid, replaced.gid], [uid, gid])
    symlinkSync("kept", path("link"))
    assert.match((await render(["kept.tpl", "--output", "link"])).stderr, /link is a symbolic link/)
  })

  it("says with --check whether the file would change, without values, and writes nothing", async () => {
    put("checked.tpl", "{{OTHER}}\n")
    const check = () => render(["checked.tpl", "--output", "checked", "--check"])
    const absent = await check()
    assert.deepStrictEqual([absent.code, absent.stderr], [1, "coffer: checked does not exist yet\n"])
    put("checked", "other\n")
    const same = await check()
    assert.deepStrictEqual([same.code, same.stdout, same.stderr], [0, "", "coffer: checked is up to date\n"])
    put("checked", "else\n")
    const other = await check()
    assert.deepStrictEqual([other.code, other.stderr], [1, "coffer: checked would change\n"])
    assert.strictEqual(read("checked"), "else\n")
  })

  it("refuses a file that a commit would take along, unless it is forced", async () => {
    const repository = path("repository")
    mkdirSync(join(repository, "conf"), { recursive: true })
    const git = (...args: ReadonlyArray<string>) => execFileSync("git", ["-C", repository, ...args])
    git("init", "--quiet")
    put("git.tpl", "{{OTHER}}")
    put("repository/.gitignore", "ignored\ntracked\n")
    put("repository/tracked", "old")
    git("add", "--force", "tracked")
    const at = (name: string, ...args: ReadonlyArray<string>) =>
      render(["git.tpl", "--output", `repository/${name}`, ...args], { env: { GIT_DIR: "/nowhere" } })
    for (const name of ["plain", "conf/plain", "tracked", ":(top)ignored"]) {
      const { code, stderr } = await at(name)
      assert.strictEqual(code, 1, stderr)
      assert.include(stderr, `repository/${name} is in a git work tree that does not ignore it`)
    }
    assert.strictEqual(read("repository/tracked"), "old")
    assert.deepStrictEqual([(await at("conf/ignored")).code, read("repository/conf/ignored")], [0, "other"])
    assert.deepStrictEqual([(await at("plain", "--force")).code, read("repository/plain")], [0, "other"])
    put("repository/.git/HEAD", "broken")
    assert.match((await at("ignored")).stderr, /in a git work tree that cannot be asked \(fatal: /)
  })

  it("explains options that do not go together, and mistyped ones", async () => {
    put("any.tpl", "{{OTHER}}")
    for (const [line, message] of [
      ["any.tpl --check", "--check needs a file: give --output"],
      ["any.tpl --signal HUP", "--signal says what --watch does: give --watch too"],
      ["any.tpl -- true", "COMMAND says what --watch does: give --watch too"],
      ["any.tpl --watch --output o --signal HUP", "--signal needs a process: give --pid-file, or a COMMAND behind --"],
      ["any.tpl --watch --output o --pid-file p", "--pid-file needs a signal to send, such as --signal HUP"],
      ["any.tpl other.tpl", "one template is rendered at a time; a command stands behind --"],
      ["any.tpl --output -", "--output takes the name of a file; without it, standard output is written"],
      ["any.tpl --mode 7777", "--mode takes three octal digits, such as 0640"],
      ["any.tpl --outptu x", "unknown option --outptu; did you mean --output?"],
      ["", "TEMPLATE is missing"]
    ] as const) {
      const { code, stderr } = await render(line.split(" ").filter((word) => word !== ""))
      assert.deepStrictEqual([code, stderr.includes(message)], [2, true], `${line}: ${stderr}`)
    }
    assert.include((await render(["--help"])).stdout, "Write a file from a template")
  })
})

const account = async () => {
  const { token } = place.home
  const { api_key, id } = await place.server.call("POST", "/api/orgs/acme/service-accounts", {
    body: { name: "renderer" },
    token
  })
  await place.server.call("POST", "/api/orgs/acme/acl", {
    body: {
      ...{ subject_type: "service_account", subject_id: id, permission: "read" },
      ...{ project_pattern: "*", env_pattern: "*" }
    },
    token
  })
  return String(api_key)
}

/** Follows an environment of its own, and waits for what is said. */
const watching = async (name: string, args: ReadonlyArray<string>) => {
  const env = `watch-${name}`
  const { token } = place.home
  await place.server.call("POST", "/api/orgs/acme/projects/webshop/envs", { body: { name: env }, token })
  await set("COLOUR", "red", env)
  put(`${name}.tpl`, "colour={{COLOUR}}\n")
  const watch = ["--watch", "--watch-interval", "200ms", "--env", env, ...args]
  const child = place.home.start(["render", `${name}.tpl`, "--output", name, ...watch])
  let said = ""
  child.stderr?.on("data", (chunk: Buffer) => (said += chunk.toString()))
  const ended = finish(child)
  const sees = (text: RegExp) => until(() => (text.test(said) ? true : undefined), `${text} in ${said}`)
  await sees(/ written/)
  return { child, ended, sees, change: (value: string) => set("COLOUR", value, env), env }
}

describe.concurrent("coffer render --watch", () => {
  it("writes the file again, and starts its command again", async () => {
    const script = 'echo "$$ $(cat restarted) ${COLOUR-none} ${SERVICE_API_KEY-none}" >> starts; exec sleep 300'
    const { change, child, ended, sees } = await watching("restarted", ["--", "sh", "-c", script])
    await until(() => (existsSync(path("starts")) ? true : undefined), "the first start")
    await change("green")
    await sees(/restarted written\n.*the environment has changed \(changed COLOUR\): the command is started again/)
    const starts = await until(() => {
      const lines = read("starts").trim().split("\n")
      return lines.length === 2 ? lines : undefined
    }, "the second start")
    assert.deepStrictEqual(
      starts.map((line) => line.replace(/^\d+ /, "")),
      ["colour=red none none", "colour=green none none"]
    )
    child.kill("SIGTERM")
    const { code, signal } = await ended
    assert.deepStrictEqual([code, signal], [null, "SIGTERM"])
    for (const line of starts) assert.throws(() => process.kill(Number(line.split(" ")[0]), 0))
  })

  it("signals the process of a file, which it reads each time, and ends by a signal", async () => {
    const { change, child, ended, env, sees } = await watching("signalled", ["--signal", "HUP", "--pid-file", "pid"])
    await change("green")
    await sees(/SIGHUP is not sent to the process of pid: it does not exist/)
    const script = 'trap "cat signalled > got" HUP; echo $$ > pid; while :; do sleep 0.1; done'
    const reader = place.home.spawn("sh", ["-c", script])
    await until(() => (existsSync(path("pid")) && read("pid") !== "" ? true : undefined), "the process")
    await set("UNRELATED", "1", env)
    await change("blue")
    await until(() => (existsSync(path("got")) && read("got") === "colour=blue\n" ? true : undefined), "the signal")
    put("pid", "-1\n")
    await change("white")
    await sees(/SIGHUP is not sent to the process of pid: it holds no process id/)
    await place.server.call("DELETE", `/api/orgs/acme/projects/webshop/envs/${env}/secrets/COLOUR`, {
      token: place.home.token
    })
    await sees(/changes are not followed: secret COLOUR does not exist/)
    assert.strictEqual(read("signalled"), "colour=white\n")
    child.kill("SIGINT")
    assert.strictEqual((await ended).signal, "SIGINT")
    reader.kill("SIGKILL")
  })
})

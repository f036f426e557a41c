import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, beforeAll, describe, it } from "vitest"
import { finish, type RunOptions, until } from "./support/Programs.js"
import { Terminal } from "./support/Terminal.js"
import { workplace } from "./support/Workplace.js"

const place = workplace()
const run = (args: ReadonlyArray<string>, options: RunOptions = {}) => place.home.coffer(["run", ...args], options)
const sh = (script: string) => ["--", "sh", "-c", script]

const tls = "-----BEGIN KEY-----\nfirst-line\nend\n"

beforeAll(async () => {
  await place.ok("secret", "set", "TOKEN", "s3cr3t-token")
  await place.ok("secret", "set", "PIN", "123")
  await place.ok("secret", "set", "TLS", "--", tls)
  await place.ok("secret", "set", "PYTHONPATH", "/secret/modules")
  await place.ok("secret", "set", "a.b", "dotted-value")
}, 300_000)

describe("--no-override", () => {
  it("lets an inherited variable win, and names it", async () => {
    const env = { TOKEN: "inherited", PIN: "123" }
    const all = await run(["--only", "TOKEN,PIN", "--", "printenv", "TOKEN"], { env })
    assert.deepStrictEqual([all.stdout, all.stderr], ["s3cr3t-token\n", ""])
    const kept = await run(["--only", "TOKEN,PIN", "--no-override", "--", "printenv", "TOKEN"], { env })
    assert.deepStrictEqual([kept.code, kept.stdout], [0, "inherited\n"])
    assert.strictEqual(kept.stderr, "coffer: kept the inherited TOKEN, as --no-override says\n")
  })
})

describe("--quiet", () => {
  it("writes no notes, but why the command did not start", async () => {
    const args = ["--no-override", "--mask", "--", "printenv", "TLS"]
    const loud = await run(args, { env: { TOKEN: "inherited" } })
    assert.strictEqual(loud.stderr.split("\n").length, 5, loud.stderr)
    const quiet = await run(["--quiet", ...args], { env: { TOKEN: "inherited" } })
    assert.deepStrictEqual([quiet.code, quiet.stderr], [0, ""])
    const failed = await run(["--quiet", "--", "not-there"])
    assert.deepStrictEqual([failed.code, failed.stderr], [127, "coffer: not-there: there is no such command\n"])
  })
})

describe("allow_env in service.yml", () => {
  const folder = (name: string, source: string) => {
    const path = join(place.home.folder, name)
    mkdirSync(path)
    writeFileSync(join(path, "service.yml"), source)
    return path
  }
  const settings = "org: acme\nproject: webshop\nenv: dev\n"
  const only = ["--only", "PYTHONPATH", "--", "printenv", "PYTHONPATH"]

  it.each([
    ["flow", "allow_env: [PYTHONPATH, IFS]\n"],
    ["block", "allow_env:\n  - IFS\n  - PYTHONPATH\n"]
  ])("passes keys on once the file is trusted, until it changes: as a %s list", async (name, list) => {
    const cwd = folder(name, settings + list)
    const stranger = await run(only, { cwd })
    assert.deepStrictEqual([stranger.code, stranger.stdout], [1, ""])
    assert.include(stranger.stderr, "coffer: left out PYTHONPATH, which can make other programs run code")
    assert.include(
      stranger.stderr,
      "coffer: PYTHONPATH: service.yml allows that, but is not trusted; read it, then run: coffer trust\n"
    )

    const trusted = await place.home.coffer(["trust"], { cwd })
    assert.match(trusted.stdout, /service\.yml is trusted as it is now: coffer run passes on .*PYTHONPATH/)
    const passed = await run(only, { cwd })
    assert.deepStrictEqual([passed.code, passed.stdout, passed.stderr], [0, "/secret/modules\n", ""])

    appendFileSync(join(cwd, "service.yml"), "# changed\n")
    const changed = await run(only, { cwd })
    assert.strictEqual(changed.code, 1)
    assert.include(changed.stderr, "service.yml allows that, but has changed since it was trusted; read it, then run")
    const flag = await run(["--allow-env", "PYTHONPATH", ...only], { cwd })
    assert.deepStrictEqual([flag.code, flag.stdout, flag.stderr], [0, "/secret/modules\n", ""])
  })

  it("is trusted when init writes it, in that folder alone", async () => {
    const cwd = folder("written", settings)
    const args = ["--org", "acme", "--project", "webshop", "--env", "dev", "--allow-env", "PYTHONPATH,IFS", "--force"]
    const init = await place.home.coffer(["init", ...args], { cwd })
    assert.strictEqual(init.code, 0, init.stderr)
    assert.strictEqual((await run(only, { cwd })).stdout, "/secret/modules\n")
    const copy = folder("copied", readFileSync(join(cwd, "service.yml"), "utf8"))
    assert.include((await run(only, { cwd: copy })).stderr, "is not trusted")
  })

  it("is no need for coffer trust without an address, but a file is", async () => {
    const cwd = folder("nothing", settings)
    const { code, stdout } = await place.home.coffer(["trust"], { cwd })
    assert.strictEqual(code, 0)
    assert.match(stdout, /\/nothing\/service\.yml is trusted as it is now: coffer helper takes the place from it\n$/)
    const absent = await place.home.coffer(["trust"], { cwd: "/" })
    assert.include(absent.stderr, "there is no service.yml here; coffer init writes one")
  })
})

describe("--mask", () => {
  const mask = "<masked by coffer>"

  it("masks the values in both streams, by line, also where the command writes them in pieces", async () => {
    const script = `printf 's3cr3t'; sleep 0.3; printf -- "-token %s\\n" "$TOKEN"; printenv TLS
      echo "$TOKEN$TOKEN" >&2; echo "$PIN" >&2; printf %s "$TOKEN" | base64; exit 7`
    const { code, stderr, stdout } = await run(["--mask", "--only", "TOKEN,TLS,PIN", ...sh(script)])
    const lines = [`${mask} ${mask}`, mask, mask, "end", "", mask, ""]
    assert.strictEqual(stdout, lines.join("\n"))
    const note = "coffer: not masked, because the value is shorter than 4 characters: PIN\n"
    assert.deepStrictEqual([code, stderr], [7, `${note}${mask}${mask}\n123\n`])
  })

  it("keeps all other bytes, however many, and the signal that ends the command", async () => {
    const script = "head -c 3000000 /dev/urandom > random; cat random; kill -TERM $$"
    const child = place.home.start(["run", "--mask", "--only", "TOKEN", ...sh(script)])
    const chunks: Array<Buffer> = []
    child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk))
    await new Promise((resolve) => child.once("close", resolve))
    assert.isTrue(Buffer.concat(chunks).equals(readFileSync(join(place.home.folder, "random"))))
    assert.strictEqual(child.signalCode, "SIGTERM")
  })

  it("ends with its reader, as the command alone does", async () => {
    const { stdout } = await place.home.shell("{ $COFFER run --mask --only TOKEN -- yes; echo $? >&2; } | head -n 1")
    assert.strictEqual(stdout, "y\n")
  })

  it.each([
    ["has ended", "echo first; sleep 60 & echo $! > left; exit 3", [3, null]],
    ["ends by it", "echo first; sleep 60 & echo $! > left; touch ready; wait", [null, "SIGTERM"]]
  ])("a signal ends the wait for others that hold the output of a command that %s", async (_, script, expected) => {
    const child = place.home.start(["run", "--mask", "--only", "TOKEN", ...sh(script)])
    const left = join(place.home.folder, "left")
    await until(() => (existsSync(left) && readFileSync(left, "utf8").endsWith("\n") ? true : undefined), "the command")
    await new Promise((resolve) => setTimeout(resolve, 500))
    const started = performance.now()
    child.kill("SIGTERM")
    const { code, signal, stdout } = await finish(child)
    process.kill(Number(readFileSync(left, "utf8")))
    rmSync(left)
    assert.deepStrictEqual([code, signal, stdout], [...expected, "first\n"])
    assert.isBelow(performance.now() - started, 20_000)
  })

  it("shows a question at once, and takes the answer from the terminal", async () => {
    const script = 'test -t 1 && echo terminal; printf "Name: "; read name; echo "$TOKEN is of $name"'
    const terminal = Terminal.coffer(place.home, "run", "--mask", "--only", "TOKEN", ...sh(script))
    await terminal.answer("Name: ", "ada\r")
    await terminal.sees(`${mask} is of ada`)
    assert.strictEqual(await terminal.ended(), 0)
    assert.notInclude(terminal.screen, "terminal")
  })

  it("masks the new values after a change", async () => {
    const args = ["--mask", "--watch", "--watch-interval", "200ms", "--only", "COLOUR"]
    await place.ok("secret", "set", "COLOUR", "first-value")
    const child = place.home.start(["run", ...args, ...sh('echo "sees $COLOUR"; exec sleep 300')])
    let said = ""
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (said += chunk.toString()))
    const seen = (text: string) => until(() => (said.includes(text) ? true : undefined), `${text} in ${said}`)
    await seen(`sees ${mask}\n`)
    await place.ok("secret", "set", "COLOUR", "second-value")
    await seen("coffer: the environment has changed (changed COLOUR): the command is started again\n")
    await seen(`again\nsees ${mask}\n`)
    child.kill("SIGTERM")
    await new Promise((resolve) => child.once("close", resolve))
  })
})

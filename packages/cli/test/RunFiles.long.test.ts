import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, beforeAll, describe, it } from "vitest"
import { finish, type RunOptions, until } from "./support/Programs.js"
import { Recorder } from "./support/Recorder.js"
import { workplace } from "./support/Workplace.js"

const place = workplace()

const pem = "-----BEGIN KEY-----\nline\n"

const folders = { count: 0 }

/** A folder in memory of its own for each test, where the private folder is made. */
const runtime = () => {
  const path = join(place.home.folder, `runtime${folders.count++}`)
  mkdirSync(path, { mode: 0o700 })
  return { path, env: { XDG_RUNTIME_DIR: path }, left: () => readdirSync(path) }
}

const run = (args: ReadonlyArray<string>, options: RunOptions) => place.home.coffer(["run", ...args], options)

beforeAll(async () => {
  await place.ok("secret", "set", "TLS_KEY", "--", pem)
  await place.ok("secret", "set", "TOKEN", "s3cr3t-token")
  await place.ok("secret", "set", "a.b", "dotted")
  await place.ok("secret", "set", "BASH_ENV", "/evil")
  await place.home.coffer(["secret", "set", "NUL"], { input: Buffer.from("a\0b") })
}, 300_000)

describe("run --file", () => {
  it("gives a value as a private file, whose path is the variable, and removes it at the end", async () => {
    const { env, left, path } = runtime()
    const script = `d=$(dirname "$TLS_KEY"); stat -c %a "$TLS_KEY" "$d" "$(dirname "$d")"
      echo "$TLS_KEY|$TOKEN"; cat "$TLS_KEY" "$NUL"; ln -s ../../../keep "$d/link"; echo own > "$d/own"; exit 7`
    const files = ["--file", "TLS_KEY=tls/key.pem", "--file", "NUL=nul", "--only", "TLS_KEY,TOKEN,NUL"]
    await place.home.shell("echo kept > keep")
    const { code, stderr, stdout } = await run([...files, "sh", "-c", script], { env })
    assert.deepStrictEqual([code, stderr], [7, ""])
    const [fileMode, ...lines] = stdout.split("\n")
    assert.deepStrictEqual([fileMode, ...lines.slice(0, 2)], ["600", "700", "700"])
    assert.match(lines[2] ?? "", new RegExp(`^${path}/coffer-run-\\w+/tls/key\\.pem\\|s3cr3t-token$`))
    assert.strictEqual(lines.slice(3).join("\n"), `${pem}a\0b`)
    assert.deepStrictEqual(left(), [])
    assert.strictEqual(readFileSync(join(place.home.folder, "keep"), "utf8"), "kept\n")
  })

  it("gives every value as a file with --files, also where no variable can hold or be called so", async () => {
    const { env, left } = runtime()
    const script = `cd "$(dirname "$TOKEN")" && pwd && ls -A && cat a.b BASH_ENV && echo "\${BASH_ENV-none}" && cat "$TLS_KEY"`
    const all = ["--files", "secrets", "--file", "TLS_KEY=secrets/tls"]
    const { code, stderr, stdout } = await run([...all, "--", "sh", "-c", script], { env })
    assert.strictEqual(code, 0, stderr)
    assert.match(stdout, /\/coffer-run-\w+\/secrets\nBASH_ENV\nNUL\nTOKEN\na\.b\ntls\ndotted\/evilnone\n/)
    assert.strictEqual(stderr.match(/left out [^,]*/g)?.join(), "left out BASH_ENV")
    assert.deepStrictEqual(left(), [])
    const masked = await run(["--files", ".", "--mask", "--", "sh", "-c", 'cat "$TOKEN"'], { env })
    assert.strictEqual(masked.stdout, "<masked by coffer>")
  })

  it("does not start with a key that was not read, or with one path for two", async () => {
    const { env, left } = runtime()
    const problem = async (...args: ReadonlyArray<string>) => {
      const { code, stderr, stdout } = await run([...args, "--only", "TOKEN,TLS_KEY", "--", "echo", "started"], { env })
      assert.deepStrictEqual([code, stdout, left()], [125, "", []])
      return stderr
    }
    assert.include(await problem("--file", "NUL=x", "--file", "NONE=y"), "NUL, NONE: --file names what was not read")
    assert.include(
      await problem("--file", "TOKEN=x", "--file", "TLS_KEY=x"),
      ": another file or directory has its path"
    )
    assert.include(
      await problem("--file", "TOKEN=x/y", "--file", "TLS_KEY=x"),
      ": another file or directory has its path"
    )
    assert.include(await problem("--files", ".", "--file", "TOKEN=TLS_KEY"), "another file or directory has its path")
  })

  it.for(["SIGTERM", "SIGINT", "SIGHUP"] as const)("removes the files after %s", async (signal) => {
    const { env, left, path } = runtime()
    const where = join(place.home.folder, `where-${signal}`)
    const command = ["sh", "-c", `echo "$TLS_KEY" > ${where}; exec sleep 300`]
    const child = place.home.start(["run", "--file", "TLS_KEY=key", "--only", "TLS_KEY", "--", ...command], { env })
    const ended = finish(child)
    const file = await until(
      () => (existsSync(where) && readFileSync(where, "utf8").endsWith("\n") ? readFileSync(where, "utf8") : undefined),
      "the command"
    )
    assert.strictEqual(statSync(file.trim()).mode & 0o777, 0o600)
    assert.strictEqual(dirname(dirname(file.trim())), path)
    child.kill(signal)
    assert.strictEqual((await ended).signal, signal)
    assert.deepStrictEqual(left(), [])
  })

  it("removes the folder when a signal comes before there is a command", async () => {
    const recorder = await Recorder.before(place.server.url)
    recorder.answer = "nothing"
    const { env, left } = runtime()
    const variables = { ...env, SERVICE_SERVER_URL: recorder.url, SERVICE_API_KEY: `svc_sa_${"x".repeat(49)}` }
    const child = place.home.start(["run", "--files", ".", "--", "true"], { env: variables })
    const ended = finish(child)
    await until(() => (recorder.asked.length > 0 ? true : undefined), "the request")
    assert.lengthOf(left(), 1)
    child.kill("SIGTERM")
    assert.strictEqual((await ended).signal, "SIGTERM")
    assert.deepStrictEqual(left(), [])
    await recorder.stop()
  })

  it("writes new values to the same paths while it watches", async () => {
    const { env, left } = runtime()
    await place.ok("env", "create", "watched")
    for (const key of ["ONE", "TWO"]) await place.ok("secret", "set", key, "old", "--env", "watched")
    const script = `cd "$(dirname "$ONE")"; trap 'echo "$(cat "$ONE") $(ls | tr "\\n" " ")"' HUP
      echo "$(cat ONE) $(ls | tr "\\n" " ")"; while :; do sleep 0.1; done`
    const watch = ["--watch", "--watch-interval", "200ms", "--signal", "HUP"]
    const command = ["run", "--env", "watched", "--files", ".", ...watch, "--", "sh", "-c", script]
    const child = place.home.start(command, { env })
    let said = ""
    child.stdout?.on("data", (chunk: Buffer) => (said += chunk.toString()))
    const ended = finish(child)
    const says = (text: string) => until(() => (said.includes(text) ? true : undefined), `${text} in ${said}`)
    await says("old ONE TWO \n")
    await place.ok("secret", "set", "ONE", "new", "--env", "watched")
    await says("new ONE TWO \n")
    await place.ok("secret", "delete", "TWO", "--env", "watched", "--yes")
    await says("new ONE \n")
    child.kill("SIGTERM")
    assert.strictEqual((await ended).signal, "SIGTERM")
    assert.deepStrictEqual(left(), [])
  })
})

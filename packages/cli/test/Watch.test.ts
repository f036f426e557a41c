import { readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { ChildProcess } from "node:child_process"
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { type Desk, finish, type Result, Server, until } from "./support/Programs.js"

let server: Server
let desk: Desk

beforeAll(async () => {
  server = await Server.start()
  desk = await server.login("ada@example.com")
  for (const args of [
    ["org", "create", "acme"],
    ["project", "create", "webshop", "--org", "acme"],
    ["init", "--org", "acme", "--project", "webshop", "--env", "dev"]
  ]) {
    await coffer(...args)
  }
}, 60_000)

afterAll(async () => {
  desk?.remove()
  await server?.stop()
})

const coffer = async (...args: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await desk.coffer(args)
  assert.strictEqual(code, 0, `${args.join(" ")}: ${stderr}`)
  return stdout
}

const set = (value: string) => coffer("secret", "set", "COLOUR", value)

const alive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** What the commands of a test said: a line each, with the process and the value that it saw. */
const said = () => {
  try {
    return readFileSync(join(desk.home, "said"), "utf8").trim().split("\n")
  } catch {
    return []
  }
}
const pids = () => said().map((line) => Number(line.split(" ")[0]))

/** Says who it is and what it sees, and stays. */
const stay = 'echo "$$ $COLOUR" >> said; exec sleep 300'

let client: ChildProcess
let result: Promise<Result>
let stderr: string

const watch = (script: string, options: ReadonlyArray<string> = [], env: Record<string, string> = {}) => {
  client = desk.start(["run", "--watch", "--watch-interval", "200ms", ...options, "--", "sh", "-c", script], { env })
  stderr = ""
  client.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
  result = finish(client)
}

const saying = (line: number, value: string) =>
  until(
    () => (said()[line]?.endsWith(` ${value}`) === true ? true : undefined),
    `line ${line} to say ${value}: ${stderr}`
  )

const noted = (text: RegExp) => until(() => (text.test(stderr) ? true : undefined), `${text} in ${stderr}`)

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

beforeEach(async () => {
  rmSync(join(desk.home, "said"), { force: true })
  await set("red")
})

afterEach(async () => {
  if (client.exitCode === null && client.signalCode === null) client.kill("SIGTERM")
  await result
  // Whatever happened, nothing that was started is left.
  for (const pid of pids()) assert.isFalse(alive(pid), `process ${pid} is left`)
})

describe("run --watch", () => {
  it("starts the command again with the new value, and ends as the command ends", async () => {
    watch('echo "$$ $COLOUR" >> said; [ "$COLOUR" = green ] && exit 7; exec sleep 300')
    await saying(0, "red")
    await set("green")
    await saying(1, "green")
    const { code, stderr } = await result
    assert.strictEqual(code, 7)
    assert.match(stderr, /^coffer: the environment has changed: the command is started again$/m)
  })

  it("starts it again when a secret is deleted", async () => {
    watch(stay)
    await saying(0, "red")
    await coffer("secret", "delete", "COLOUR", "--yes")
    await until(() => (/^[0-9]+ $/.test(`${said()[1]?.trim()} `) ? true : undefined), "a start without the secret")
  })

  it("takes ten changes at once for one", async () => {
    watch(stay)
    await saying(0, "red")
    const values = Array.from({ length: 10 }, (_, at) => `shade${at}`)
    const session = JSON.parse(readFileSync(join(desk.home, ".config/coffer/session"), "utf8"))[server.url]
    for (const value of values) {
      const answer = await fetch(`${server.url}/api/orgs/acme/projects/webshop/envs/dev/secrets/COLOUR`, {
        method: "PUT",
        headers: { authorization: `Bearer ${session}`, "content-type": "application/json" },
        body: JSON.stringify({ value })
      })
      assert.isTrue(answer.ok)
    }
    await saying(1, "shade9")
    await pause(1500)
    assert.lengthOf(said(), 2)
  })

  it("leaves the command alone when nothing that it sees has changed", async () => {
    watch(stay, ["--only", "COLOUR"])
    await saying(0, "red")
    await coffer("secret", "set", "OTHER", "x")
    await set("blue")
    await set("red")
    await pause(2500)
    assert.lengthOf(said(), 1)
  })

  it("keeps the command running while the server is away, says so once, and follows again", async () => {
    watch(stay)
    await saying(0, "red")
    await server.kill()
    await noted(/changes are not followed until the server is back: cannot reach /)
    await pause(1500)
    await server.restart()
    await set("white")
    await saying(1, "white")
    assert.lengthOf(stderr.match(/changes are not followed/g) ?? [], 1)
    assert.match(stderr, /coffer: changes are followed again/)
  })

  it("keeps the command running when the account is revoked, and says that it no longer follows", async () => {
    const { api_key: apiKey, id } = JSON.parse(await coffer("service-account", "create", "watcher", "--json"))
    await coffer(
      ...["acl", "grant", "--service-account", id, "--project-pattern", "webshop", "--env-pattern", "dev"],
      ...["--permission", "read"]
    )
    watch(stay, [], { SERVICE_API_KEY: apiKey })
    await saying(0, "red")
    await coffer("service-account", "revoke", "watcher", "--yes")
    await noted(/changes are not followed: .*SERVICE_API_KEY/)
    assert.isTrue(alive(pids()[0] ?? 0))
    assert.notInclude(stderr, apiKey)
  })

  it("kills a command that does not end when it is asked to", async () => {
    watch('trap "" TERM; echo "$$ $COLOUR" >> said; while :; do sleep 0.1; done', ["--stop-timeout", "500ms"])
    await saying(0, "red")
    await set("green")
    await saying(1, "green")
    assert.match(stderr, /has not ended within 0\.5 s of SIGTERM: it is killed/)
    assert.isFalse(alive(pids()[0] ?? 0))
    client.kill("SIGTERM")
    await pause(300)
    for (const pid of pids().filter(alive)) process.kill(pid, "SIGKILL")
    assert.strictEqual((await result).signal, "SIGKILL")
  })

  it("ends it with the signal that was chosen", async () => {
    watch('trap "echo $$ asked >> said; exit 0" INT; echo "$$ $COLOUR" >> said; while :; do sleep 0.1; done', [
      "--stop-signal",
      "INT"
    ])
    await saying(0, "red")
    await set("green")
    await saying(1, "asked")
    await saying(2, "green")
    client.kill("SIGINT")
  })

  it("sends a signal instead of starting again", async () => {
    watch('trap "echo $$ told >> said" HUP; echo "$$ $COLOUR" >> said; while :; do sleep 0.1; done', [
      "--signal",
      "HUP"
    ])
    await saying(0, "red")
    await set("green")
    await saying(1, "told")
    assert.strictEqual(new Set(pids()).size, 1)
  })

  it("goes on as it was when no command could be started with what is there now", async () => {
    watch(stay)
    await saying(0, "red")
    await desk.coffer(["secret", "set", "COLOUR"], { input: Buffer.from("a\0b") })
    await noted(/the command goes on as it was: COLOUR: the value holds a NUL byte/)
    await set("blue")
    await saying(1, "blue")
  })

  it("passes signals on, and does not start again what was told to end", async () => {
    watch('trap "sleep 1; exit 5" TERM; echo "$$ $COLOUR" >> said; while :; do sleep 0.1; done')
    await saying(0, "red")
    await set("green")
    client.kill("SIGTERM")
    const { code } = await result
    assert.strictEqual(code, 5)
    assert.lengthOf(said(), 1)
  })
})

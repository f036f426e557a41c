import type { ChildProcess } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type TestHome, finish, type Result, Server, until } from "./support/Programs.js"

let server: Server
let home: TestHome
let session: string

beforeAll(async () => {
  server = await Server.start()
  home = await server.login("ada@example.com")
  session = home.token
  await call("POST", "", { name: "acme" })
  await call("POST", "/acme/projects", { name: "webshop" })
}, 300_000)

afterAll(async () => {
  home?.remove()
  await server?.stop()
})

const call = async (method: string, path: string, body?: object) => {
  const answer = await fetch(`${server.url}/api/orgs${path}`, {
    method,
    headers: { authorization: `Bearer ${session}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await answer.text()
  assert.isTrue(answer.ok, `${method} ${path}: ${text}`)
  return text === "" ? undefined : JSON.parse(text)
}

const alive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Less than a change has to stay before it is followed, in milliseconds. */
const calm = 800

const timed = async (work: Promise<unknown>): Promise<number> => {
  const begun = performance.now()
  await work
  return performance.now() - begun
}

/** Says who it is and what it sees, and stays. */
const stay = 'echo "$$ $COLOUR" >> said; exec sleep 300'

/** An environment of its own, and a client that follows it. */
class Scene {
  private static count = 0
  private client: ChildProcess | undefined
  private end: Promise<Result> | undefined
  stderr = ""

  private constructor(
    private readonly env: string,
    private readonly folder: string
  ) {}

  static async open(): Promise<Scene> {
    const env = `scene${Scene.count++}`
    const folder = join(home.folder, env)
    mkdirSync(folder)
    writeFileSync(join(folder, "service.yml"), `org: acme\nproject: webshop\nenv: ${env}\n`)
    await call("POST", "/acme/projects/webshop/envs", { name: env })
    const scene = new Scene(env, folder)
    await scene.set("red")
    return scene
  }

  private secret(key: string) {
    return `/acme/projects/webshop/envs/${this.env}/secrets/${key}`
  }

  set(value: string, key = "COLOUR") {
    return call("PUT", this.secret(key), { value })
  }

  delete() {
    return call("DELETE", this.secret("COLOUR"))
  }

  watch(script: string, options: ReadonlyArray<string> = [], env: Record<string, string> = {}) {
    const args = ["run", "--watch", "--watch-interval", "200ms", ...options, "--", "sh", "-c", script]
    this.client = home.start(args, { env, cwd: this.folder })
    this.client.stderr?.on("data", (chunk: Buffer) => (this.stderr += chunk.toString()))
    this.end = finish(this.client)
  }

  kill(signal: NodeJS.Signals) {
    this.client?.kill(signal)
  }

  async ended(): Promise<Result> {
    return (await this.end) ?? assert.fail("nothing was started")
  }

  /** Returns the lines that the commands wrote: one each, with the process ID and the value that it saw. */
  said(): ReadonlyArray<string> {
    try {
      return readFileSync(join(this.folder, "said"), "utf8").trim().split("\n")
    } catch {
      return []
    }
  }

  pids() {
    return this.said().map((line) => Number(line.split(" ")[0]))
  }

  saying(line: number, value: string) {
    const isSaid = () => (this.said()[line]?.endsWith(` ${value}`) === true ? true : undefined)
    return until(isSaid, `line ${line} to say ${value}: ${this.stderr}`)
  }

  noted(text: RegExp) {
    return until(() => (text.test(this.stderr) ? true : undefined), `${text} in ${this.stderr}`)
  }

  killAll() {
    for (const pid of this.pids().filter(alive)) process.kill(pid, "SIGKILL")
  }

  async close() {
    if (this.client?.exitCode === null && this.client.signalCode === null) this.client.kill("SIGTERM")
    // A command that survives SIGTERM would keep a failed test waiting.
    const patience = setTimeout(() => this.killAll(), 10_000)
    await this.end
    clearTimeout(patience)
    // Whatever happened, nothing that was started is left.
    for (const pid of this.pids()) assert.isFalse(alive(pid), `process ${pid} is left`)
  }
}

const inScene = (title: string, act: (scene: Scene) => Promise<void>) =>
  it(title, async () => {
    const scene = await Scene.open()
    try {
      await act(scene)
    } finally {
      await scene.close()
    }
  })

describe.concurrent("run --watch", () => {
  inScene("starts the command again with the new value, and ends as the command ends", async (scene) => {
    scene.watch('echo "$$ $COLOUR" >> said; [ "$COLOUR" = green ] && exit 7; exec sleep 300')
    await scene.saying(0, "red")
    await scene.set("green")
    await scene.saying(1, "green")
    const { code } = await scene.ended()
    assert.strictEqual(code, 7)
    await scene.noted(/^coffer: the environment has changed \(changed COLOUR\): the command is started again$/m)
  })

  inScene("starts it again when a secret is deleted", async (scene) => {
    scene.watch(stay)
    await scene.saying(0, "red")
    await scene.delete()
    await until(
      () => (/^[0-9]+ $/.test(`${scene.said()[1]?.trim()} `) ? true : undefined),
      "a start without the secret"
    )
  })

  inScene("takes ten changes at once for one", async (scene) => {
    scene.watch(stay)
    await scene.saying(0, "red")
    let apart = 0
    for (let at = 0; at < 10; at++) if ((await timed(scene.set(`shade${at}`))) > calm) apart++
    await until(() => (scene.said().at(-1)?.endsWith(" shade9") === true ? true : undefined), "the last value")
    await pause(1500)
    // Values that a slow machine sets more than a moment apart are seen apart.
    assert.isAtMost(scene.said().length, 2 + apart)
  })

  inScene("leaves the command alone when nothing that it sees has changed", async (scene) => {
    scene.watch(stay, ["--only", "COLOUR"])
    await scene.saying(0, "red")
    await scene.set("x", "OTHER")
    await pause(2500)
    assert.lengthOf(scene.said(), 1)
    const [there, back] = [await timed(scene.set("blue")), await timed(scene.set("red"))]
    await pause(2500)
    // On a slow machine the value in between is there for long enough to be seen.
    if (there + back < calm) assert.lengthOf(scene.said(), 1)
  })

  inScene(
    "keeps the command running when the account is revoked, and says that it no longer follows",
    async (scene) => {
      const account = "/acme/service-accounts"
      const { api_key: apiKey, id } = await call("POST", account, { name: "watcher" })
      await call("POST", "/acme/acl", {
        ...{ subject_type: "service_account", subject_id: id, permission: "read" },
        ...{ project_pattern: "webshop", env_pattern: "*" }
      })
      scene.watch(stay, [], { SERVICE_API_KEY: apiKey })
      await scene.saying(0, "red")
      await call("DELETE", `${account}/${id}`)
      await scene.noted(/changes are not followed: .*SERVICE_API_KEY/)
      assert.isTrue(alive(scene.pids()[0] ?? 0))
      assert.notInclude(scene.stderr, apiKey)
    }
  )

  inScene("kills a command that does not end when it is asked to", async (scene) => {
    scene.watch('trap "" TERM; echo "$$ $COLOUR" >> said; while :; do sleep 0.1; done', ["--stop-timeout", "500ms"])
    await scene.saying(0, "red")
    await scene.set("green")
    await scene.saying(1, "green")
    await scene.noted(/has not ended within 0\.5 s of SIGTERM: it is killed/)
    assert.isFalse(alive(scene.pids()[0] ?? 0))
    scene.kill("SIGTERM")
    await pause(300)
    scene.killAll()
    assert.strictEqual((await scene.ended()).signal, "SIGKILL")
  })

  inScene("ends it with the signal that was chosen", async (scene) => {
    scene.watch('trap "echo $$ asked >> said; exit 0" INT; echo "$$ $COLOUR" >> said; while :; do sleep 0.1; done', [
      "--stop-signal",
      "INT"
    ])
    await scene.saying(0, "red")
    await scene.set("green")
    await scene.saying(1, "asked")
    await scene.saying(2, "green")
    scene.kill("SIGINT")
  })

  inScene("sends a signal instead of starting again", async (scene) => {
    scene.watch('trap "echo $$ told >> said" HUP; echo "$$ $COLOUR" >> said; while :; do sleep 0.1; done', [
      "--signal",
      "HUP"
    ])
    await scene.saying(0, "red")
    await scene.set("green")
    await scene.saying(1, "told")
    assert.strictEqual(new Set(scene.pids()).size, 1)
  })

  inScene("goes on as it was when no command could be started with what is there now", async (scene) => {
    scene.watch(stay)
    await scene.saying(0, "red")
    await scene.set("a\0b")
    await scene.noted(/the command keeps running unchanged: COLOUR: the value holds a NUL byte/)
    await scene.set("blue")
    await scene.saying(1, "blue")
  })

  inScene("passes signals on, and does not start again what was told to end", async (scene) => {
    scene.watch('trap "sleep 2; exit 5" TERM; echo "$$ $COLOUR" >> said; while :; do sleep 0.1; done')
    await scene.saying(0, "red")
    await scene.set("green")
    scene.kill("SIGTERM")
    const { code } = await scene.ended()
    assert.strictEqual(code, 5)
    assert.lengthOf(scene.said(), 1)
  })
})

describe("run --watch", () => {
  inScene("keeps the command running while the server is away, says so once, and follows again", async (scene) => {
    scene.watch(stay)
    await scene.saying(0, "red")
    await server.kill()
    await scene.noted(/changes are not followed until the server is back: cannot reach /)
    // That takes longer than the next two questions.
    await server.restart()
    await scene.set("white")
    await scene.saying(1, "white")
    await scene.noted(/coffer: changes are followed again/)
    // Once for each reason: while it starts, a server may be reached and not be ready yet.
    const complaints = scene.stderr.match(/changes are not followed.*/g) ?? []
    assert.strictEqual(new Set(complaints).size, complaints.length)
  })
})

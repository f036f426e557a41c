import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { rotate } from "@coffer/server/rotation"
import { Effect, Redacted } from "effect"
import { afterAll, assert, describe, it } from "vitest"
import { parseExposition, valueOf } from "../observability/Exposition.js"
import { masterKey, Program } from "../support/Program.js"
import { type Received, Receiver } from "./Receiver.js"

const page = readFileSync(fileURLToPath(new URL("../../../../docs/webhooks.md", import.meta.url)), "utf8")
const folder = mkdtempSync(join(tmpdir(), "coffer-webhooks-"))

afterAll(() => {
  rmSync(folder, { recursive: true })
})

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await sleep(20)
}

/** The scripts of docs/webhooks.md, as they are written there. */
const scripts = ["node verify.mjs", "python3 verify.py"].map((line) => {
  const [program = "", file = ""] = line.split(" ")
  const [, text = ""] = new RegExp(`\`\`\`\\w+\\n((?://|#) ${file.replace(".", "\\.")}: [^]*?)\`\`\``).exec(page) ?? []
  const path = join(folder, file)
  writeFileSync(path, text)
  return { program, path, text }
})

/** Returns the exit codes of the scripts for a body and its signature. */
const verdicts = (key: string, { headers, text }: Received, body = text): ReadonlyArray<number | null> =>
  scripts.map(
    ({ path, program }) =>
      spawnSync(program, [path, key, String(headers["x-coffer-signature"])], { input: body, encoding: "utf8" }).status
  )

const newKey = "feed".padEnd(64, "1")
const settings = { SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8", SERVICE_METRICS_PORT: "0" }

describe("a server killed between a delivery and its record", () => {
  it("sends it again, and loses no delivery, with the same key after the master key was rotated", async () => {
    assert.isTrue(scripts.every(({ text }) => text !== ""))
    const receiver = await Receiver.start()
    let program = await Program.start(settings)
    const token = await program.login("ada@example.com")
    const call = async (method: string, path: string, body: unknown) => {
      const answer = await program.call(method, `/api/orgs${path}`, { token, body })
      assert.isBelow(answer.status, 300, answer.text)
      return answer.body
    }
    const set = (key: string) => call("PUT", `/acme/projects/web/envs/prod/secrets/${key}`, { value: "canary-9" })
    await call("POST", "", { name: "acme" })
    await call("POST", "/acme/projects", { name: "web" })
    const url = `${receiver.url}/hook`
    const { signing_key: key } = await call("POST", "/acme/webhooks", { url, events: ["secret.*"] })

    receiver.answer = () => {
      program.signal("SIGKILL")
    }
    await set("FIRST")
    await set("SECOND").catch(() => undefined)
    await program.ended
    const killed = receiver.received[0] ?? assert.fail("nothing was sent")
    assert.strictEqual(killed.event.key, "FIRST")
    receiver.answer = (response) => void response.writeHead(204).end()
    receiver.received.length = 0

    const options = {
      db: program.file(),
      oldKey: Redacted.make(masterKey),
      newKey: Redacted.make(newKey),
      publish: () => Effect.void,
      progress: () => Effect.void
    }
    await Effect.runPromise(rotate(options))
    program = await Program.start({ ...settings, SERVICE_MASTER_KEY: newKey }, program.folder)
    await until(() => receiver.received.length > 0)
    const again = receiver.received[0] ?? assert.fail("nothing was sent")
    assert.deepStrictEqual([again.event.id, again.text], [killed.event.id, killed.text])
    await call("PUT", "/acme/projects/web/envs/prod/secrets/THIRD", { value: "canary-9" })
    await until(() => receiver.secrets.includes("prod THIRD 1"))
    assert.deepStrictEqual(
      receiver.secrets.filter((text) => !text.includes("SECOND")),
      ["prod FIRST 1", "prod THIRD 1"]
    )
    assert.deepStrictEqual(verdicts(key, again), [0, 0])
    assert.deepStrictEqual(verdicts(key, again, `${again.text} `), [1, 1])
    assert.deepStrictEqual(verdicts(`${key}x`, again), [1, 1])
    const old = { ...again, headers: { "x-coffer-signature": "t=1,v1=00" } }
    assert.deepStrictEqual(verdicts(key, old), [1, 1])

    const [, metrics = ""] = await program.said(/metrics are at (http:\/\/[\d.:]+\/metrics)/)
    const samples = parseExposition(await (await fetch(metrics)).text())
    assert.isAtLeast(valueOf(samples, "coffer_webhook_deliveries_total", { result: "delivered" }) ?? 0, 2)
    assert.notInclude(program.log, "canary-9")
    await receiver.stop()
    await program.remove()
  })
})

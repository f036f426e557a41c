import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, copyFileSync, mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, describe, it } from "vitest"
import { cleanUp, freshFolder, type Json } from "../support/Program.js"

const root = fileURLToPath(new URL("../../../../", import.meta.url))

afterAll(cleanUp)

/** Makes a checkout of its own with the files that `npm start` runs: the script beside the packages. */
const checkout = () => {
  const folder = freshFolder()
  mkdirSync(join(folder, "scripts"))
  copyFileSync(join(root, "scripts/start.mjs"), join(folder, "scripts/start.mjs"))
  symlinkSync(join(root, "packages"), join(folder, "packages"))
  return folder
}

/** Starts it as somebody who has set nothing but the port; answers what it said until it listened or ended. */
const start = async (folder: string): Promise<{ readonly child: ChildProcess; readonly said: string }> => {
  const env = { PATH: process.env["PATH"], SERVICE_PORT: "0" }
  const child = spawn(process.execPath, ["scripts/start.mjs"], {
    cwd: folder,
    env,
    stdio: ["ignore", "ignore", "pipe"]
  })
  const said = await new Promise<string>((resolve) => {
    let text = ""
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk
      if (text.includes("listening on")) resolve(text)
    })
    child.once("close", () => resolve(text))
  })
  return { child, said }
}

const stop = async (child: ChildProcess) => {
  const ended = once(child, "close")
  child.kill()
  await ended
}

describe("npm start", () => {
  it("is this script", () => {
    const { scripts }: Json = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
    assert.strictEqual(scripts.start, "node scripts/start.mjs")
  })

  it("makes .env with a key once, for its owner alone, says so, and runs on it from then on", async () => {
    const folder = checkout()
    const file = join(folder, ".env")
    const first = await start(folder)
    assert.match(first.said, /^Created \.env with a fresh master key/)
    assert.match(first.said, /listening on http:\/\/127\.0\.0\.1:/)
    await stop(first.child)
    const env = readFileSync(file, "utf8")
    assert.match(env, /^SERVICE_MASTER_KEY=[0-9a-f]{64}\nSMTP_HOST=log\n$/)
    assert.notInclude(first.said, env.slice(19, 83))
    assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    assert.isTrue(statSync(join(folder, "service.db")).isFile())

    const second = await start(folder)
    assert.match(second.said, /listening on/)
    assert.notInclude(second.said, "Created")
    await stop(second.child)
    assert.strictEqual(readFileSync(file, "utf8"), env)

    chmodSync(file, 0o644)
    const third = await start(folder)
    assert.include(third.said, 'run "chmod 600 .env" and start again')
    assert.strictEqual(third.child.exitCode, 1)
  })
})

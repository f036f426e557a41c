import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { spawn } from "node:child_process"
import { CannotDo } from "../../../base/Failures.js"
import type { Live } from "./Live.js"

/** The largest output, in bytes. */
const largest = 64 * 1024 * 1024

/** Runs `kubectl`, without a shell, with this process's variables. What it says of a failure may be shown: it reads no value. */
const kubectl = (args: ReadonlyArray<string>) =>
  Effect.async<Redacted.Redacted, CannotDo>((resume) => {
    const fail = (message: string) => resume(new CannotDo({ message }))
    const child = spawn("kubectl", args, { stdio: ["ignore", "pipe", "pipe"] })
    const chunks: Array<Buffer> = []
    let size = 0
    let said = ""
    child.stdout.on("data", (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size > largest) child.kill()
    })
    child.stderr.on("data", (chunk: Buffer) => {
      if (said.length < 1_000) said += chunk.toString()
    })
    child.once("error", () => fail("kubectl cannot be started: install it, or name a file that it printed"))
    child.once("close", (code) => {
      if (size > largest) return fail("kubectl printed more than any export of secrets: name a namespace with --from")
      if (code !== 0) return fail(`kubectl: ${said.trim().split("\n")[0] ?? `it ended with ${code}`}`)
      resume(Effect.succeed(Redacted.make(Buffer.concat(chunks).toString())))
    })
    return Effect.sync(() => child.kill())
  })

/** The Secrets of a namespace, or of the current one. */
export const readKubernetes: Live = (from) =>
  Effect.map(
    kubectl(["get", "secrets", "--output=json", ...(from === undefined ? [] : [`--namespace=${from}`])]),
    (text) => [{ name: "kubectl's output", text }]
  )

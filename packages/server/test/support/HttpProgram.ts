import { spawn } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { request } from "node:https"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { kinds } from "@coffer/server/secrets/connections/DatabaseAddresses"
import type { Target } from "@coffer/server/secrets/connections/Kind"
import { Effect, Redacted } from "effect"
import { certificateFolder, makeCertificate } from "./Certificates.js"
import { freePort } from "./Port.js"
import { renewerPassword } from "./postgres/RenewedDatabase.js"

const page = fileURLToPath(new URL("../../../../docs/rotations.md", import.meta.url))

const isUp = (port: number, ca: string): Promise<boolean> =>
  new Promise((resolve) => {
    const asked = request({ host: "127.0.0.1", port, servername: "localhost", ca, method: "POST", agent: false })
    asked.on("response", (response) => {
      response.resume()
      resolve(true)
    })
    asked.on("error", () => resolve(false))
    asked.end("{}")
  })

/** The program of the page, with two users. It goes with the scope. */
export const pageProgram = Effect.gen(function* () {
  const [, source] = /```js\n([\s\S]+?)```/.exec(readFileSync(page, "utf8")) ?? []
  const folder = yield* certificateFolder
  const { certFile, keyFile, pem: ca } = makeCertificate(folder, "program")
  const file = join(folder, "program.mjs")
  writeFileSync(file, source ?? "")
  const port = yield* Effect.promise(freePort)
  const users = '[["app_a","first-a"],["app_b","first-b"]]'
  const env = { CERT: certFile, KEY: keyFile, PORT: String(port), TOKEN: renewerPassword, USERS: users }
  yield* Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, [file], { env, stdio: "inherit" })),
    (program) => Effect.sync(() => program.kill())
  )
  yield* Effect.promise(async () => {
    while (!(await isUp(port, ca))) await setTimeout(50)
  })
  const target: Target = {
    ...{ host: "localhost", address: "127.0.0.1", port, database: "renewal", tls: "verify-full", ca },
    login: { user: "renewer", password: Redacted.make(renewerPassword) }
  }
  return {
    ...({ kind: "http", name: "renewal", port, ca, target } as const),
    admits: (user: string, password: string) =>
      Effect.runPromise(Effect.isSuccess(kinds.http.check(target, { user, password: Redacted.make(password) })))
  }
})

import { execFile } from "node:child_process"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { freshFolder, Program } from "../support/Program.js"

// scim2-tester asks a server that runs everything that RFC 7643 and 7644 demand. It comes from PyPI, into a folder of this test.

/** The versions whose report `docs/scim.md` sums up. */
const packages = ["scim2-cli==0.6.0", "scim2-tester==0.5.2", "scim2-client==0.13.2", "scim2-models==0.12.3"]

interface Ran {
  readonly code: number
  readonly text: string
}

const run = (command: string, args: ReadonlyArray<string>, environment: NodeJS.ProcessEnv = {}): Promise<Ran> =>
  new Promise((resolve) => {
    const env = { ...process.env, NO_COLOR: "1", COLUMNS: "200", ...environment }
    const child = execFile(command, args, { env, maxBuffer: 2 ** 25 }, (error, out, err) => {
      resolve({ code: error === null ? 0 : (child.exitCode ?? 127), text: out + err })
    })
  })

let venv: string
let installed: Ran

beforeAll(async () => {
  venv = join(freshFolder(), "venv")
  const made = await run("python3", ["-m", "venv", venv])
  installed = made.code === 0 ? await run(join(venv, "bin", "pip"), ["install", "--quiet", ...packages]) : made
}, 300_000)

describe("scim2-tester", () => {
  let program: Program | undefined

  afterAll(async () => {
    await program?.remove()
  })

  it("finds no error in the server", async ({ skip }) => {
    if (installed.code !== 0) return skip(`scim2-cli could not be installed: ${installed.text.slice(-300)}`)
    program = await Program.start({ SERVICE_SCIM_DOMAINS: "acme:*" })
    const token = await program.login("ada@example.com")
    await program.call("POST", "/api/orgs", { token, body: { name: "acme" } })
    const { body } = await program.call("POST", "/api/orgs/acme/scim", { token })
    const url = `${program.url}${String(body.path)}`
    const { code, text } = await run(join(venv, "bin", "scim2"), ["--url", url, "test"], {
      SCIM_CLI_HEADERS: `Authorization: Bearer ${String(body.token)}`
    })
    assert.strictEqual(code, 0, text)
    const results = [...text.matchAll(/^(SUCCESS|COMPLIANT|ACCEPTABLE|SKIPPED|DEVIATION|ERROR|CRITICAL)\b/gm)]
    assert.isAtLeast(results.length, 60, text)
    assert.deepStrictEqual([...new Set(results.map(([status]) => status))], ["SUCCESS"], text)
  }, 300_000)
})

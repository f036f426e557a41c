import { afterAll, assert, beforeAll } from "vitest"
import { type TestHome, Server } from "./Programs.js"

/** A server of its own for a file of tests, and the home of somebody who is logged in there. */
export interface Workplace {
  readonly server: Server
  readonly home: TestHome
  /** Runs a command that must succeed, and returns its output on both streams. */
  readonly ok: (...args: ReadonlyArray<string>) => Promise<{ readonly stdout: string; readonly stderr: string }>
  /** Runs a command that must succeed, and returns its standard output. */
  readonly prints: (...args: ReadonlyArray<string>) => Promise<string>
}

/**
 * Starts the server before the tests of a file and ends it after them. The home's `service.yml` names the environment `dev` of
 * the project `webshop` of the organization `acme`, which are there.
 */
export const workplace = (
  email = "ada@example.com",
  variables?: (url: string) => Record<string, string>
): Workplace => {
  let server: Server | undefined
  let home: TestHome | undefined
  const found = <A>(thing: A | undefined): A => thing ?? assert.fail("the tests have not begun")
  const ok: Workplace["ok"] = async (...args) => {
    const { code, stderr, stdout } = await found(home).coffer(args)
    assert.strictEqual(code, 0, `${args.join(" ")}: ${stderr}`)
    return { stderr, stdout }
  }
  beforeAll(async () => {
    server = await Server.start(variables)
    home = await server.login(email)
    const { token } = home
    await server.call("POST", "/api/orgs", { body: { name: "acme" }, token })
    await server.call("POST", "/api/orgs/acme/projects", { body: { name: "webshop" }, token })
    await ok("init", "--org", "acme", "--project", "webshop", "--env", "dev")
  })
  afterAll(async () => {
    home?.remove()
    await server?.stop()
  })
  return {
    get server() {
      return found(server)
    },
    get home() {
      return found(home)
    },
    ok,
    prints: async (...args) => (await ok(...args)).stdout
  }
}

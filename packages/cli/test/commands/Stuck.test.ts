import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { TestHome } from "../support/Programs.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const homes: Array<TestHome> = []
let root: TestHome | undefined

beforeAll(async () => {
  await place.ok("member", "invite", "grace@example.com", "--role", "admin")
  const grace = await place.server.login("grace@example.com")
  // Accepts: only then, the person counts as a voter.
  await place.server.call("GET", "/api/orgs/acme", { token: grace.token })
  root = await place.server.login("root@example.com")
  homes.push(grace, root)
})
afterAll(() => {
  for (const home of homes) home.remove()
})

const byRoot = async (...args: ReadonlyArray<string>) => {
  const { code, stderr } = await (root ?? assert.fail("the tests have not begun")).coffer(args)
  assert.strictEqual(code, 0, `${args.join(" ")}: ${stderr}`)
}

describe("a protection whose only voter was disabled", () => {
  it("is shown as stuck, with what helps, and is ended by a superadmin", async () => {
    await place.ok("env", "protect", "prod", "--approvers", "grace@example.com")
    assert.notInclude(await place.prints("env", "protection", "prod"), "stuck")
    await byRoot("user", "disable", "grace@example.com", "--yes")
    const shown = await place.prints("env", "protection", "prod")
    assert.match(shown, /stuck\s+nobody could vote: .*coffer env unprotect NAME --break-glass REASON/)
    const at = ["--org", "acme", "--project", "webshop"]
    await byRoot("env", "unprotect", "prod", ...at, "--break-glass", "grace has left", "--yes")
    await place.ok("secret", "set", "API_KEY", "one", "--env", "prod")
  })
})

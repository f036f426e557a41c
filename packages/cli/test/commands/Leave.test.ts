import { assert, describe, it } from "vitest"
import { workplace } from "../support/Workplace.js"

const place = workplace("ada@example.com")

describe("coffer org leave", () => {
  it("declines an invitation, which the list of organizations names, and is refused to the only owner", async () => {
    const { home, server } = place
    const owner = await server.login("grace@example.com")
    await server.call("POST", "/api/orgs", { body: { name: "acme-lab" }, token: owner.token })
    const body = { email: "ada@example.com", role: "admin" }
    await server.call("POST", "/api/orgs/acme-lab/members", { body, token: owner.token })
    const listed = await place.ok("org", "list")
    assert.include(listed.stderr, "you were invited to acme-lab")
    assert.include(listed.stderr, "coffer org leave --org acme-lab")

    const asked = await home.coffer(["org", "leave", "--org", "acme-lab"])
    assert.notStrictEqual(asked.code, 0, "nobody has agreed")
    const left = await place.prints("org", "leave", "--org", "acme-lab", "--yes")
    assert.strictEqual(left, "you have left the organization acme-lab\n")
    assert.notInclude((await place.ok("org", "list")).stderr, "invited")
    const refused = await home.coffer(["org", "leave", "--yes"])
    assert.strictEqual(refused.code, 1)
    assert.match(refused.stderr, /organization acme would be left without an owner: make someone else one first/)
    owner.remove()
  })
})

import { Email, EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import * as Schema from "effect/Schema"
import { assert, describe, it } from "vitest"
import { votersOf } from "../../src/kit/Approvers.js"
import { spanText } from "../../src/kit/Spans.js"
import { envOfPath, placeOfPath } from "../../src/routing/ApiPlace.js"

describe("a call that needs votes", () => {
  it("is about the environment, the project or the organization that its path names", () => {
    const places = [
      ["/api/orgs/acme/projects/web/envs/prod/secrets/KEY/rollback", "/api/orgs/acme/projects/web/envs/prod"],
      ["/api/orgs/acme/projects/web/envs/prod", "/api/orgs/acme/projects/web/envs/prod"],
      ["/api/orgs/acme/projects/web", "/api/orgs/acme/projects/web"],
      ["/api/orgs/acme", "/api/orgs/acme"],
      ["/api/auth/me", ""]
    ] as const
    for (const [path, place] of places) assert.strictEqual(placeOfPath(path), place)
    assert.deepStrictEqual(envOfPath("/api/orgs/acme/projects/web/envs/prod"), {
      org_name: OrgName.make("acme"),
      project_name: ProjectName.make("web"),
      env_name: EnvName.make("prod")
    })
    assert.isNull(envOfPath("/api/orgs/acme/projects/web"))
  })

  it("says whose votes it needs", () => {
    const ada = "ada@example.com"
    assert.strictEqual(votersOf({ needed: 2, approvers: "admins" }), "two people of the admins and owners")
    assert.strictEqual(votersOf({ needed: 1, approvers: "owners" }), "one person of the owners")
    const grace = "grace@example.com"
    const people = [ada, grace].map((email) => Schema.decodeSync(Email)(email))
    assert.strictEqual(votersOf({ needed: 1, approvers: people }), `one person of ${ada} and ${grace}`)
    assert.strictEqual(votersOf({ needed: 2, approvers: people }), `${ada} and ${grace}`)
    assert.deepStrictEqual([60, 5_400, 3_600, 172_800].map(spanText), ["1 minute", "90 minutes", "1 hour", "2 days"])
  })
})

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { isGuarded, needs, type Action } from "@coffer/domain/access/Permissions"
import { assert, describe, it } from "vitest"
import { endpoints } from "../authorization/Contract.js"

const source = fileURLToPath(new URL("../../src", import.meta.url))

const env = "/api/orgs/:org_name/projects/:project_name/envs/:env_name"

/** Calls below an environment that change nothing in it: each with its reason. */
const harmless: Readonly<Record<string, string>> = {
  [`POST ${env}/access/reviews`]: "records who may do what, and changes nothing",
  "POST /api/orgs/:org_name/projects/:project_name/envs/:env_name/use": "sends a request, and changes no secret",
  "PUT /api/orgs/:org_name/projects/:project_name/envs/:env_name/protection":
    "is refused by its own comparison when it weakens: see Changes.long.test.ts",
  [`POST ${env}/targets/:target_name/plan`]: "compares, and changes no secret",
  [`POST ${env}/targets/:target_name/check`]: "compares, and changes no secret",
  [`POST ${env}/targets/:target_name/push`]: "sends what the target says, which passed the gate",
  [`POST ${env}/connections/:connection_name/test`]: "logs in, and changes nothing",
  [`DELETE ${env}/connections/:connection_name/orphans/:lease_id`]:
    "removes what the end of a lease should have removed",
  [`POST ${env}/roles/:role_name/leases`]: "makes a user as the role says, which passed the gate",
  [`POST ${env}/leases/:lease_id/renew`]: "changes the end of the caller's own lease",
  [`DELETE ${env}/leases/:lease_id`]: "takes a right away",
  [`POST ${env}/rotations/:rotation_name/run`]: "does now what the rotation says, which passed the gate"
}

/** Calls elsewhere that change something, by the end of their reason: none of them changes what is in an environment that exists. */
const elsewhere: Readonly<Record<string, ReadonlyArray<string>>> = {
  "concerns the caller alone": ["/api/auth/"],
  "is about people and their rights": [
    ...["/members", "/acl", "/groups", "/group-mappings", "/scim", "/service-accounts"].map(
      (at) => `/api/orgs/:org_name${at}`
    ),
    "/api/users/"
  ],
  "decides on what was asked for": ["/api/orgs/:org_name/approvals/", "/api/orgs/:org_name/requests"],
  "tells others": ["/api/orgs/:org_name/webhooks"],
  "takes a name, with votes if a protected place had it: see FreedNames.test.ts": [
    "POST /api/orgs",
    "POST /api/orgs/:org_name/projects",
    "POST /api/orgs/:org_name/projects/:project_name/envs"
  ],
  "fills a new organization": ["/api/imports"],
  reads: ["/api/orgs/:org_name/exports"],
  "needs votes to change the name of what holds a protected environment: see FreedNames.test.ts": [
    "PATCH /api/orgs/:org_name",
    "PATCH /api/orgs/:org_name/projects/:project_name"
  ],
  "changes rules or orders, and no value": [
    "/api/orgs/:org_name/projects/:project_name/declared/",
    "/api/orgs/:org_name/projects/:project_name/previews"
  ],
  "is refused while something below it is protected: see WaysOfWriting.long.test.ts": [
    "DELETE /api/orgs/:org_name",
    "DELETE /api/orgs/:org_name/projects/:project_name"
  ],
  "brings back or erases a removed place, with its votes if it was protected: see Trash.long.test.ts": [
    "/api/trash",
    "/api/orgs/:org_name/trash",
    "/api/orgs/:org_name/projects/:project_name/trash"
  ],
  "is an operator's": ["/api/backups"]
}

/** A call that is named whole is that one alone; others are all below a path. */
const isElsewhere = (call: string, path: string): boolean =>
  Object.values(elsewhere)
    .flat()
    .some((known) => (known.startsWith("/") ? path.startsWith(known) : known === call))

const isAction = (requires: string | undefined): requires is Action => requires !== undefined && requires in needs

describe("the gate of protected environments", () => {
  const below = endpoints.filter(({ method, path }) => path.includes("/envs/:env_name") && method !== "GET")

  it("guards every call that changes an environment", () => {
    assert.isAbove(below.length, 14)
    const open = below.filter(
      ({ call, requires }) => !(isAction(requires) && isGuarded(requires)) && !(call in harmless)
    )
    assert.deepStrictEqual(
      open.map(({ call }) => call),
      []
    )
  })

  it("knows why each other call that changes something needs no votes", () => {
    const others = endpoints.filter(({ method, path }) => method !== "GET" && !path.includes("/envs/:env_name"))
    assert.isAbove(others.length, 50)
    const unknown = others.filter(({ call, path }) => !isElsewhere(call, path))
    assert.deepStrictEqual(
      unknown.map(({ call }) => call),
      []
    )
  })

  it("is gone round by nothing but delegations and consents, which change nothing, and the seed of a development server", () => {
    const sources = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))
    const users = sources.filter((file) => /\baccess\.right\(/.test(readFileSync(join(source, file), "utf8")))
    assert.deepStrictEqual(users.sort(), [
      ...["directory/consents/Http.ts", "directory/delegations/Http.ts", "operations/dev/Seeding.ts"]
    ])
  })

  it("knows no exception for a call that no longer exists", () => {
    const known = new Set(below.map(({ call }) => call))
    assert.deepStrictEqual(
      Object.keys(harmless).filter((call) => !known.has(call)),
      []
    )
  })
})

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { isGuarded, needs, type Action } from "@coffer/domain/Permissions"
import { assert, describe, it } from "vitest"
import { endpoints } from "../authorization/Contract.js"

const source = fileURLToPath(new URL("../../src", import.meta.url))

/** Calls below an environment that change nothing in it: each with its reason. */
const harmless: Readonly<Record<string, string>> = {
  "POST /api/orgs/:org_name/projects/:project_name/envs/:env_name/use": "sends a request, and changes no secret",
  "PUT /api/orgs/:org_name/projects/:project_name/envs/:env_name/protection":
    "is refused by its own comparison when it weakens: see Changes.test.ts"
}

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

  it("is gone round by nothing but delegations, which change nothing, and the seed of a development server", () => {
    const sources = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))
    const users = sources.filter((file) => /\baccess\.right\(/.test(readFileSync(join(source, file), "utf8")))
    assert.deepStrictEqual(users.sort(), ["directory/delegations/Http.ts", "operations/dev/Seeding.ts"])
  })

  it("knows no exception that is gone", () => {
    const known = new Set(below.map(({ call }) => call))
    assert.deepStrictEqual(
      Object.keys(harmless).filter((call) => !known.has(call)),
      []
    )
  })
})

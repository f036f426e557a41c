import { structureLines } from "@coffer/domain/archive/Calls"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Pair, startPair } from "../authorization/Pair.js"
import { sceneSettings } from "../authorization/Scene.js"
import { word } from "../authorization/Service.js"
import type { Json } from "../support/Program.js"
import { email } from "../support/Services.js"

// An import makes no protection that nobody could end, as the API makes none.

let pair: Pair
beforeAll(async () => {
  pair = await startPair({ ...sceneSettings(), SERVICE_ORG_CREATION: "anyone" })
})
afterAll(() => pair.stop())

const someone = async () => {
  const address = email(`${word()}@example.com`)
  return { ...(await pair.first.person(address)), email: address }
}

const structureOf = (protection: Json, members: ReadonlyArray<Json>, env: object = {}): Json => ({
  passkey_recovery: "login" as const,
  members,
  groups: [],
  mappings: [],
  projects: [
    { name: "webshop", strict: false, order: [], environments: [{ name: "prod", protection, ...env }, { name: "dev" }] }
  ],
  accounts: [],
  rules: [],
  webhooks: []
})

const counts = { projects: 1, environments: 2, secrets: 0, versions: 0, use_rules: 0, declared: 0 }

describe("an import with a protection", () => {
  it("that nobody could end is refused before anything is made, and says what to change", async () => {
    const [importer, voter] = [await someone(), await someone()]
    const send = async (structure: Json) => {
      const body = { name: `org-${word()}`, organization: structureLines(structure) }
      const { status, text } = await pair.second.send({
        method: "POST",
        path: "/api/imports",
        headers: importer.headers,
        body
      })
      const json: Json = JSON.parse(text)
      return { status, message: json?.error?.message ?? "", id: json?.id }
    }
    const admin = { email: voter.email, role: "admin" }
    const refused: ReadonlyArray<readonly [Json, RegExp]> = [
      [structureOf({ needed: 1, approvers: "owners" }, []), /environment webshop\/prod so that nobody could end it/],
      [structureOf({ needed: 2, approvers: "admins" }, [admin]), /nobody could end it/],
      [
        structureOf({ needed: 1, approvers: ["nobody@example.com"] }, [admin]),
        /the votes of nobody@example\.com, who is not/
      ],
      [
        structureOf({ needed: 1, approvers: "admins", break_glass: ["nobody@example.com"] }, [admin]),
        /nobody@example\.com/
      ],
      [
        structureOf({ needed: 1, approvers: "admins" }, [admin], { expires_at: "2099-01-01T00:00:00.000Z" }),
        /webshop\/prod, which ends/
      ]
    ]
    for (const [structure, message] of refused) {
      const found = await send(structure)
      assert.deepStrictEqual([found.status, found.id], [400, undefined])
      assert.match(found.message, message)
    }
    const sound: ReadonlyArray<Json> = [
      structureOf({ needed: 1, approvers: "owners", self: true }, []),
      structureOf({ needed: 1, approvers: "owners", break_glass: [importer.email] }, [
        { email: importer.email, role: "member" }
      ]),
      structureOf({ needed: 1, approvers: "admins" }, [admin])
    ]
    for (const structure of sound) {
      const made = await send(structure)
      assert.strictEqual(made.status, 201, made.message)
      await pair.first.do(importer.headers, "DELETE", `/api/imports/${made.id}`)
    }
  })

  it("whose voters are disabled here is not finished, until one of them is enabled", async () => {
    const [importer, voter] = [await someone(), await someone()]
    const structure = structureOf({ needed: 1, approvers: [voter.email] }, [{ email: voter.email, role: "member" }])
    const made = await pair.first.do(importer.headers, "POST", "/api/imports", {
      name: `org-${word()}`,
      organization: structureLines(structure)
    })
    const { data } = await pair.first.asRoot("GET", `/api/users?email=${voter.email}`)
    await pair.first.asRoot("POST", `/api/users/${data[0].id}/disable`)
    const path = `/api/imports/${made.id}/finish`
    const late = await pair.second.send({ method: "POST", path, headers: importer.headers, body: { counts } })
    assert.strictEqual(late.status, 409, late.text)
    assert.include(late.text, "nobody could end the protection of webshop/prod on this server")
    await pair.first.asRoot("POST", `/api/users/${data[0].id}/enable`)
    const { organization } = await pair.first.do(importer.headers, "POST", path, { counts })
    assert.strictEqual(organization.role, "owner")
  })
})

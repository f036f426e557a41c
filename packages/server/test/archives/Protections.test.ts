import { structureLines } from "@coffer/domain/archive/Calls"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Pair, startPair } from "../authorization/Pair.js"
import { sceneSettings } from "../authorization/Scene.js"
import { word } from "../authorization/Service.js"
import type { Json } from "../support/Program.js"
import { email } from "../support/Services.js"
import { countsIn, finishImport, readExport, sendImport } from "./Support.js"

// An import makes no protection that nobody could end, as the API makes none, and takes every export.

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
  const send = async (importer: Awaited<ReturnType<typeof someone>>, structure: Json) => {
    const body = { name: `org-${word()}`, organization: structureLines(structure) }
    const path = "/api/imports"
    const { status, text } = await pair.second.send({ method: "POST", path, headers: importer.headers, body })
    const json: Json = JSON.parse(text)
    return { status, message: json?.error?.message ?? "", id: json?.id, name: body.name, left_out: json?.left_out }
  }

  /** Imports a structure, and answers the protection that prod has then, with the notes. */
  const imported = async (importer: Awaited<ReturnType<typeof someone>>, structure: Json) => {
    const { id, left_out, message, name, status } = await send(importer, structure)
    assert.strictEqual(status, 201, message)
    await pair.first.do(importer.headers, "POST", `/api/imports/${id}/finish`, { counts })
    const path = `/api/orgs/${name}/projects/webshop/envs/prod/protection`
    const { approvers, break_glass, needed, self } = await pair.first.do(importer.headers, "GET", path)
    return { name, terms: { needed, approvers, self, break_glass }, left_out }
  }

  it("of an environment that ends keeps both, as votes let a protected environment end", async () => {
    const owner = await someone()
    const org = `/api/orgs/${word()}`
    const call = (method: string, path: string, body: unknown, more: object = {}) =>
      pair.first.do({ ...owner.headers, ...more }, method, path, body)
    await call("POST", "/api/orgs", { name: org.slice("/api/orgs/".length) })
    await call("POST", `${org}/projects`, { name: "webshop" })
    const prod = `${org}/projects/webshop/envs/prod`
    await call("PUT", `${prod}/protection`, { needed: 1, approvers: "owners", break_glass: [owner.email] })
    const expires_at = "2030-01-31T08:00:00.000Z"
    const ending = await call("PATCH", prod, { expires_at }, { "x-coffer-break-glass": "it ends" })
    assert.strictEqual(ending.expires_at, expires_at)

    const importer = await someone()
    const protection = { needed: 1, approvers: "owners", self: true }
    const { left_out, name, terms } = await imported(importer, structureOf(protection, [], { expires_at }))
    assert.deepInclude(terms, protection)
    assert.deepStrictEqual(left_out, [])
    const { data } = await pair.first.do(importer.headers, "GET", `/api/orgs/${name}/projects/webshop/envs`)
    assert.strictEqual(data.find((env: Json) => env.name === "prod").expires_at, expires_at)
  })

  it("stores people once and in order, as the call does: the same terms again need no votes", async () => {
    const [importer, one, other] = [await someone(), await someone(), await someone()]
    const people = [one, other].map(({ email }) => ({ email, role: "admin" }))
    const approvers = [other.email, one.email, other.email]
    const { terms } = await imported(importer, structureOf({ needed: 1, approvers, self: true }, people))
    assert.deepStrictEqual(terms.approvers, [one.email, other.email])
  })

  it("names members alone, and says whom it leaves out", async () => {
    const [importer, voter] = [await someone(), await someone()]
    const member = { email: voter.email, role: "member" }
    const gone = "gone@example.com"
    const some = await imported(
      importer,
      structureOf({ needed: 1, approvers: [gone, voter.email], break_glass: [voter.email, "left@example.com"] }, [
        member
      ])
    )
    assert.deepStrictEqual(some.terms, {
      ...{ needed: 1, self: false },
      ...{ approvers: [voter.email], break_glass: [voter.email] }
    })
    assert.deepStrictEqual(some.left_out, [
      `${gone}, left@example.com in the protection of environment webshop/prod: not a member`
    ])
    const none = await imported(
      importer,
      structureOf({ needed: 1, approvers: [gone] }, [{ email: voter.email, role: "owner" }])
    )
    assert.deepStrictEqual(none.terms, { needed: 1, approvers: "owners", self: false, break_glass: [] })
    assert.deepStrictEqual(none.left_out, [
      `${gone} in the protection of environment webshop/prod: not a member, so that the owners vote there`
    ])
  })

  it("that nobody could end lets the importer break the glass, and says so", async () => {
    const [importer, voter] = [await someone(), await someone()]
    const admin = { email: voter.email, role: "admin" }
    const opened: ReadonlyArray<readonly [Json, ReadonlyArray<Json>]> = [
      [{ needed: 1, approvers: "owners" }, []],
      [{ needed: 2, approvers: "admins", break_glass: [voter.email] }, [admin]],
      [{ needed: 1, approvers: [importer.email] }, [admin]]
    ]
    for (const [protection, members] of opened) {
      const { left_out, name, terms } = await imported(importer, structureOf(protection, members))
      assert.deepStrictEqual(terms, {
        ...{ self: false, ...protection },
        break_glass: [importer.email, ...(protection.break_glass ?? [])]
      })
      assert.deepStrictEqual(left_out, [
        `the votes of others for the protection of environment webshop/prod: no owner could get ${protection.needed} and end it, so that ${importer.email} may break the glass there`
      ])
      const ended = await pair.second.send({
        method: "DELETE",
        path: `/api/orgs/${name}/projects/webshop/envs/prod/protection`,
        headers: { ...importer.headers, "x-coffer-break-glass": "nobody else came along" }
      })
      assert.strictEqual(ended.status, 204, ended.text)
    }
    const few = await imported(
      importer,
      structureOf({ needed: 2, approvers: [voter.email], break_glass: [importer.email] }, [admin])
    )
    assert.deepStrictEqual(few.left_out, [
      "enough votes for environment webshop/prod: it needs 2, fewer members vote there, and only who may break the glass changes it"
    ])
    const sound: ReadonlyArray<Json> = [
      structureOf({ needed: 1, approvers: "owners", self: true }, []),
      structureOf({ needed: 1, approvers: "owners", break_glass: [importer.email] }, [
        { email: importer.email, role: "member" }
      ]),
      structureOf({ needed: 1, approvers: "admins" }, [admin])
    ]
    for (const structure of sound) {
      const made = await send(importer, structure)
      assert.deepStrictEqual([made.status, made.left_out], [201, []], made.message)
      await pair.first.do(importer.headers, "DELETE", `/api/imports/${made.id}`)
    }
  })

  it("says whom it leaves out to make room for the importer, where 100 people may break the glass", async () => {
    const importer = await someone()
    const members = Array.from({ length: 100 }, () => ({ email: `${word()}@example.com`, role: "admin" }))
    const named = members.map((member) => member.email)
    const protection = { needed: 1, approvers: "owners", break_glass: named }
    const { left_out, terms } = await imported(importer, structureOf(protection, members))
    assert.deepStrictEqual([...terms.break_glass].sort(), [importer.email, ...named.slice(0, 99)].sort())
    assert.strictEqual(
      left_out.at(-1),
      `${named[99]} in the protection of environment webshop/prod: at most 100 people may break the glass`
    )
  })

  it("is exported without people who have left or are disabled, and comes in without them", async () => {
    const [owner, second, left, disabled] = [await someone(), await someone(), await someone(), await someone()]
    const org = `org-${word()}`
    const call = (method: string, path: string, body?: unknown): Promise<Json> =>
      pair.first.do(owner.headers, method, `/api/orgs/${org}${path}`, body)
    await pair.first.do(owner.headers, "POST", "/api/orgs", { name: org })
    await call("POST", "/members", { email: second.email, role: "owner" })
    for (const { email: address } of [left, disabled]) await call("POST", "/members", { email: address })
    for (const { headers } of [second, left, disabled]) await pair.first.do(headers, "GET", `/api/orgs/${org}`)
    await call("POST", "/projects", { name: "webshop" })
    const leaving = [left.email, disabled.email]
    const prod = "/projects/webshop/envs/prod/protection"
    const dev = "/projects/webshop/envs/dev/protection"
    await call("PUT", prod, { needed: 1, approvers: [second.email, ...leaving], break_glass: leaving })
    await call("PUT", dev, { needed: 1, approvers: leaving, break_glass: [owner.email] })
    await pair.first.do(left.headers, "DELETE", `/api/orgs/${org}/members/me`)
    const { data } = await pair.first.asRoot("GET", `/api/users?email=${disabled.email}`)
    await pair.first.asRoot("POST", `/api/users/${data[0].id}/disable`)

    const { id } = await call("POST", "/exports", {})
    await pair.first.do(second.headers, "POST", `/api/orgs/${org}/exports/${id}/approve`)
    const archive = await readExport(pair.first, owner.headers, org, id)
    const text = JSON.stringify(archive.structure)
    for (const address of leaving) assert.notInclude(text, address)
    const [{ environments }] = archive.structure.organization.projects
    const protectionOf = (name: string) => {
      const { approvers, break_glass } = environments.find((env: Json) => env.name === name).protection
      return { approvers, break_glass }
    }
    assert.deepStrictEqual(protectionOf("prod"), { approvers: [second.email], break_glass: [] })
    assert.deepStrictEqual(protectionOf("dev"), { approvers: "owners", break_glass: [owner.email] })

    const importer = await someone()
    const made = await sendImport(pair.second, importer.headers, `new-${word()}`, archive)
    assert.deepStrictEqual(made.left_out, [])
    const finished = await finishImport(pair.first, importer.headers, made, countsIn(archive))
    assert.strictEqual(finished.organization.role, "owner")
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

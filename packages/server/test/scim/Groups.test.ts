import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Pair } from "../authorization/Pair.js"
import type { Json } from "../support/Program.js"
import { directoryOf, domain, patchOp, startDirectory, word } from "./World.js"

// Groups whose members a directory alone changes, on two servers of one database.

let pair: Pair

beforeAll(async () => {
  pair = await startDirectory()
})
afterAll(async () => {
  await pair.stop()
})

const operations = (...all: ReadonlyArray<object>) => ({ schemas: [patchOp], Operations: all })

const idsIn = ({ members = [] }: Json): ReadonlyArray<string> => members.map(({ value }: Json) => value).toSorted()

describe("a group of the directory", () => {
  it("gives its members the rules that name it, until the directory takes them out", async () => {
    const { ask, asOwner, at, person } = await directoryOf(pair)
    await asOwner("PUT", "/projects/webshop/envs/dev/secrets/KEY", { value: "plain-old-value" })
    const [ada, grace] = [await person(), await person()]
    const made = await ask("POST", "/Groups", { displayName: "Back end", members: [{ value: ada.scimId }] })
    assert.deepStrictEqual(idsIn(made), [ada.scimId])
    const rule = { subject_type: "group", group: "Back end", permission: "read" }
    await asOwner("POST", "/acl", { ...rule, project_pattern: "*", env_pattern: "dev" })
    const path = `${at}/projects/webshop/envs/dev/secrets/KEY`
    const reads = async ({ headers }: typeof ada) => (await pair.first.send({ method: "GET", path, headers })).status
    assert.deepStrictEqual([await reads(ada), await reads(grace)], [200, 403])
    // Entra's form to remove: the members in the value, with a capital letter.
    await ask(
      "PATCH",
      `/Groups/${made.id}`,
      operations(
        { op: "Add", path: "members", value: [{ value: grace.scimId }] },
        { op: "Remove", path: "members", value: [{ value: ada.scimId }] }
      )
    )
    assert.deepStrictEqual([await reads(ada), await reads(grace)], [403, 200])
    await ask("PATCH", `/Groups/${made.id}`, operations({ op: "remove", path: `members[value eq "${grace.scimId}"]` }))
    assert.deepStrictEqual([await reads(ada), await reads(grace)], [403, 403])
  })

  it("is changed by the directory alone, and by hand again without it", async () => {
    const { ask, asOwner, ownerEmail, scim, try: attempt } = await directoryOf(pair)
    const group = await ask("POST", "/Groups", { displayName: "crew" })
    for (const [method, below, body] of [
      ["POST", "/groups/crew/members", { email: ownerEmail }],
      ["PUT", "/groups/crew/members", { emails: [] }],
      ["PATCH", "/groups/crew", { name: "others" }],
      ["DELETE", "/groups/crew", undefined],
      ["PUT", "/group-mappings", { mappings: [{ provider_group: "x", group: "crew" }] }]
    ] as const) {
      const { body: refused, status } = await attempt(method, below, body)
      assert.strictEqual(status, 409, `${method} ${below}`)
      assert.include(refused.error.message, "the directory manages group crew")
    }
    assert.strictEqual((await asOwner("GET", "/groups/crew")).source, "scim")
    await asOwner("DELETE", "/scim")
    assert.strictEqual((await asOwner("GET", "/groups/crew")).source, "manual")
    await asOwner("POST", "/groups/crew/members", { email: ownerEmail })
    await asOwner("DELETE", "/groups/crew")
    const { token } = await asOwner("POST", "/scim")
    const gone = await scim("GET", `/Groups/${group.id}`, undefined, { authorization: `Bearer ${token}` })
    assert.strictEqual(gone.status, 404)
  })

  it("has a name that no other group has, by hand or not", async () => {
    const { ask, asOwner, scim } = await directoryOf(pair)
    await asOwner("POST", "/groups", { name: "by hand" })
    for (const displayName of ["By Hand", "by hand"]) {
      const refused = await scim("POST", "/Groups", { displayName })
      assert.deepStrictEqual([refused.status, refused.body.scimType], [409, "uniqueness"])
    }
    const made = await ask("POST", "/Groups", { displayName: "R&D / Zürich", externalId: "g-1" })
    assert.deepInclude(made, { displayName: "R&D / Zürich", externalId: "g-1" })
    const { data } = await asOwner("GET", "/groups")
    assert.sameMembers(
      data.map(({ name }: Json) => name),
      ["by hand", "R-D - Zurich"]
    )
    assert.strictEqual((await scim("POST", "/Groups", { displayName: "R&D / Zürich" })).status, 409)
    const found = await scim("GET", `/Groups?filter=${encodeURIComponent('displayName eq "r&d / zürich"')}`)
    assert.strictEqual(found.body.totalResults, 1)
    await ask("PUT", `/Groups/${made.id}`, { displayName: "Research" })
    assert.strictEqual((await asOwner("GET", "/groups/Research")).members, 0)
  })

  it("keeps those who are inactive, and has them again when they are back", async () => {
    const { ask, asOwner, person, setActive } = await directoryOf(pair)
    const [ada, grace] = [await person(), await person()]
    const group = await ask("POST", "/Groups", {
      displayName: "crew",
      members: [{ value: ada.scimId }, { value: grace.scimId }]
    })
    const count = async () => (await asOwner("GET", "/groups/crew")).members
    await setActive(ada.scimId, false)
    assert.strictEqual(await count(), 1)
    assert.deepStrictEqual(idsIn(await ask("GET", `/Groups/${group.id}`)), [ada.scimId, grace.scimId].toSorted())
    await setActive(ada.scimId, true)
    assert.strictEqual(await count(), 2)
    await setActive(grace.scimId, false)
    await ask("PATCH", `/Groups/${group.id}`, operations({ op: "remove", path: "members" }))
    await setActive(grace.scimId, true)
    assert.strictEqual(await count(), 0)
  })

  it("takes nobody from elsewhere", async () => {
    const [one, other] = [await directoryOf(pair), await directoryOf(pair)]
    const stranger = await other.add()
    const refused = await one.scim("POST", "/Groups", { displayName: "crew", members: [{ value: stranger.id }] })
    assert.deepStrictEqual([refused.status, (await one.asOwner("GET", "/groups")).data], [400, []])
    const group = await other.ask("POST", "/Groups", { displayName: "crew" })
    for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
      const body = method === "PUT" ? { displayName: "x" } : operations({ op: "remove", path: "members" })
      const { status } = await one.scim(method, `/Groups/${group.id}`, method === "GET" ? undefined : body)
      assert.strictEqual(status, 404, method)
    }
  })

  it("of many members is filled, changed and listed", async () => {
    const { ask, asOwner, scim } = await directoryOf(pair)
    const people: Array<string> = []
    // Eight at a time, as directories send them.
    await Promise.all(
      Array.from({ length: 8 }, async (_, lane) => {
        for (let number = lane; number < 300; number += 8) {
          const { id } = await ask("POST", "/Users", { userName: `u${number}.${word()}@${domain}` })
          people.push(id)
        }
      })
    )
    const { id } = await ask("POST", "/Groups", { displayName: "all", members: people.map((value) => ({ value })) })
    assert.strictEqual((await asOwner("GET", "/groups/all")).members, 300)
    const entries = (await asOwner("GET", "/audit-logs?action=group.members_set")).data
    assert.lengthOf(entries, 1)
    // The same again changes nothing.
    await ask("PUT", `/Groups/${id}`, { displayName: "all", members: people.map((value) => ({ value })) })
    assert.lengthOf((await asOwner("GET", "/audit-logs?action=group.members_set")).data, 1)
    await ask(
      "PATCH",
      `/Groups/${id}`,
      operations(...people.slice(0, 200).map((value) => ({ op: "remove", path: `members[value eq "${value}"]` })))
    )
    assert.lengthOf((await scim("GET", `/Groups/${id}`)).body.members, 100)
    const brief = await scim("GET", "/Groups?excludedAttributes=members")
    assert.isUndefined(brief.body.Resources[0].members)
  })
})

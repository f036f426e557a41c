import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Pair } from "../authorization/Pair.js"
import type { Json } from "../support/Program.js"
import { type Directory, directoryOf, domain, patchOp, startDirectory, word } from "./World.js"

// Requests in the forms that directories send, as their documentation shows them, and queries.

let pair: Pair
let directory: Directory

beforeAll(async () => {
  pair = await startDirectory()
  directory = await directoryOf(pair)
})
afterAll(async () => {
  await pair.stop()
})

const address = () => `${word()}@${domain}`

const enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
const core = "urn:ietf:params:scim:schemas:core:2.0:User"

/** A way of a directory to create a user, and to end it. */
interface Form {
  /** The page that shows it. */
  readonly page: string
  readonly create: (email: string) => object
  readonly end: (id: string, email: string) => readonly [method: string, path: string, body?: object]
}

const operations = (...all: ReadonlyArray<object>) => ({ schemas: [patchOp], Operations: all })

const forms: Readonly<Record<string, Form>> = {
  Entra: {
    page: "https://learn.microsoft.com/entra/identity/app-provisioning/use-scim-to-provision-users-and-groups",
    create: (email) => ({
      schemas: [core, enterprise],
      externalId: "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef",
      userName: email,
      active: true,
      emails: [{ primary: true, type: "work", value: email }],
      meta: { resourceType: "User" },
      name: { formatted: "givenName familyName", familyName: "familyName", givenName: "givenName" },
      roles: [],
      [enterprise]: { department: "bob" }
    }),
    end: (id) => ["PATCH", `/Users/${id}`, operations({ op: "Replace", path: "active", value: "False" })]
  },
  Okta: {
    page: "https://developer.okta.com/docs/api/openapi/okta-scim/guides/scim-20/",
    create: (email) => ({
      schemas: [core],
      userName: email,
      name: { givenName: "Test", familyName: "User" },
      emails: [{ primary: true, value: email, type: "work" }],
      displayName: "Test User",
      locale: "en-US",
      externalId: "00ujl29u0le5T6Aj10h7",
      groups: [],
      password: "1mz050nq",
      active: true
    }),
    end: (id) => ["PATCH", `/Users/${id}`, operations({ op: "replace", value: { active: false } })]
  },
  Google: {
    page: "https://support.google.com/a/answer/7365072",
    create: (email) => ({
      schemas: [core],
      userName: email,
      name: { familyName: "Jensen", givenName: "Barbara" },
      emails: [{ type: "work", value: email, primary: true }],
      active: true
    }),
    end: (id, email) => ["PUT", `/Users/${id}`, { schemas: [core], userName: email, active: false }]
  },
  Keycloak: {
    page: "https://www.keycloak.org/docs/latest/server_admin/",
    create: (email) => ({
      schemas: [core],
      userName: `name.${email.split("@")[0]}`,
      externalId: "f1d8a1e8",
      emails: [{ value: email, primary: true }],
      active: true
    }),
    end: (id) => ["DELETE", `/Users/${id}`]
  },
  Authentik: {
    page: "https://docs.goauthentik.io/add-secure-apps/providers/scim/",
    create: (email) => ({
      schemas: [core],
      externalId: "5f0b1b4d9d1a4a53",
      userName: email.split("@")[0],
      name: { formatted: "A B", givenName: "A", familyName: "B" },
      displayName: "A B",
      active: true,
      emails: [{ value: email, type: "other", primary: true }]
    }),
    end: (id) => ["DELETE", `/Users/${id}`]
  }
}

describe.each(Object.entries(forms))("the form of %s", (_, { create, end, page }) => {
  it("adds a member, finds the user again, and ends the membership", async () => {
    assert.match(page, /^https:\/\//)
    const email = address()
    const body = create(email) as Json
    const made = await directory.ask("POST", "/Users", body)
    assert.deepInclude(made, { active: true, userName: body.userName })
    const isMember = async () => (await directory.members()).some((one) => one.email === email)
    assert.isTrue(await isMember())
    const query = encodeURIComponent(`userName eq "${body.userName}"`)
    assert.strictEqual((await directory.ask("GET", `/Users?filter=${query}&startIndex=1&count=100`)).totalResults, 1)
    const [method, path, ending] = end(made.id, email)
    assert.isBelow((await directory.scim(method, path, ending)).status, 300)
    assert.isFalse(await isMember())
  })
})

describe("a change of attributes", () => {
  it("takes paths with filters, paths as names, schemas before names, and texts for booleans", async () => {
    const email = address()
    const { id } = await directory.ask("POST", "/Users", { userName: email, active: "True" })
    const patched = await directory.ask(
      "PATCH",
      `/Users/${id}`,
      operations(
        { op: "Add", path: 'emails[type eq "work"].value', value: email },
        { op: "Add", path: `${core}:displayName`, value: "Grace" },
        { op: "Add", path: `${enterprise}:department`, value: "Navy" },
        { op: "Replace", value: { "name.givenName": "Grace", title: "Admiral" } },
        { op: "Add", path: "roles", value: [{ primary: "True", value: "developer" }] }
      )
    )
    assert.deepInclude(patched, {
      displayName: "Grace",
      name: { givenName: "Grace" },
      emails: [{ type: "work", value: email }],
      roles: [{ value: "developer" }]
    })
    const removed = await directory.ask(
      "PATCH",
      `/Users/${id}`,
      operations({ op: "remove", path: "name.givenName" }, { op: "remove", path: "roles" })
    )
    assert.isUndefined(removed.roles)
    assert.deepStrictEqual(removed.name ?? {}, {})
  })

  it.each([
    ["invalidPath", { op: "replace", path: "shoeSize", value: 42 }],
    ["invalidPath", { op: "replace", path: "name[type eq 1]", value: 42 }],
    ["mutability", { op: "replace", path: "id", value: "x" }],
    ["mutability", { op: "remove", path: "userName" }],
    ["noTarget", { op: "remove" }],
    ["noTarget", { op: "replace", path: 'emails[type eq "none"].value', value: "a@b.c" }],
    ["invalidSyntax", { op: "move", path: "active", value: true }],
    ["invalidValue", { op: "replace", path: "active", value: "perhaps" }],
    ["invalidFilter", { op: "replace", path: "emails[type gt 1].value", value: "x" }]
  ])("is refused as %s: %o", async (scimType, operation) => {
    const { id } = await directory.add()
    const { body, status } = await directory.scim("PATCH", `/Users/${id}`, operations(operation))
    assert.deepStrictEqual([status, body.scimType], [400, scimType])
  })
})

describe("a list of users", () => {
  let own: Directory
  beforeAll(async () => {
    own = await directoryOf(pair)
    for (const [name, displayName] of [
      ["ada", "Ada L"],
      ["grace", "Grace H"],
      ["linus", "Linus T"]
    ]) {
      await own.ask("POST", "/Users", {
        userName: `${name}@${domain}`,
        displayName,
        externalId: name,
        emails: [{ value: `${name}@${domain}`, type: "work" }]
      })
    }
    const { Resources } = await own.ask("GET", "/Users?filter=externalId%20eq%20%22linus%22")
    await own.setActive(Resources[0].id, false)
  })

  const names = async (query: string) =>
    (await own.ask("GET", `/Users?${query}`)).Resources.map((one: Json) => one.userName.split("@")[0])

  it.each([
    ['userName sw "A"', ["ada"]],
    ['displayName co "a" and active eq true', ["ada", "grace"]],
    ['(externalId eq "ada" or externalId eq "linus") and emails pr', ["ada", "linus"]],
    ['externalId eq "ADA"', []],
    [`emails[type eq "work" and value co "GRACE"]`, ["grace"]],
    [`emails.value eq "ada@${domain}"`, ["ada"]],
    [`${core}:userName co "linus"`, ["linus"]],
    ["active eq false", ["linus"]],
    ['nickName eq "x"', "invalidFilter"],
    ['userName ne "x"', "invalidFilter"],
    ['not (userName eq "x")', "invalidFilter"],
    ['userName eq "x', "invalidFilter"],
    ["userName eq", "invalidFilter"],
    ['(userName eq "x"', "invalidFilter"],
    [`${"(".repeat(500)}userName pr`, "invalidFilter"],
    [`userName eq "${"x".repeat(2_000)}"`, "invalidFilter"]
  ])("by the filter %s", async (filter, expected) => {
    const query = `filter=${encodeURIComponent(filter)}&sortBy=userName`
    if (typeof expected === "string") {
      const { body, status } = await own.scim("GET", `/Users?${query}`)
      assert.deepStrictEqual([status, body.scimType], [400, expected])
    } else assert.deepStrictEqual(await names(query), expected)
  })

  it("comes sorted, in pages, and with the attributes that are asked for", async () => {
    assert.deepStrictEqual(await names("sortBy=displayName&sortOrder=descending"), ["linus", "grace", "ada"])
    assert.deepStrictEqual(await names("sortBy=userName&startIndex=2&count=1"), ["grace"])
    const page = await own.ask("GET", "/Users?startIndex=3&count=2")
    assert.deepInclude(page, { totalResults: 3, startIndex: 3, itemsPerPage: 1 })
    const [brief] = (await own.ask("GET", "/Users?attributes=username,emails.type&count=1")).Resources
    assert.sameMembers(Object.keys(brief), ["schemas", "id", "userName", "emails"])
    assert.deepStrictEqual(brief.emails, [{ type: "work" }])
    const searched = await own.ask("POST", "/Users/.search", {
      filter: 'userName sw "gr"',
      excludedAttributes: ["emails"]
    })
    assert.deepStrictEqual(searched.totalResults, 1)
    assert.notProperty(searched.Resources[0], "emails")
    assert.strictEqual((await own.ask("POST", "/.search", { count: 0 })).totalResults, 3)
  })
})

describe("the description of the service", () => {
  it("says what is offered, and has each schema by its id", async () => {
    const config = await directory.ask("GET", "/ServiceProviderConfig")
    assert.deepStrictEqual(
      [config.patch, config.bulk.supported, config.filter, config.etag, config.sort],
      [{ supported: true }, false, { supported: true, maxResults: 200 }, { supported: true }, { supported: true }]
    )
    const { Resources } = await directory.ask("GET", "/Schemas")
    assert.deepStrictEqual(
      Resources.map(({ name }: Json) => name),
      ["User", "Group"]
    )
    assert.deepStrictEqual(await directory.ask("GET", `/Schemas/${core}`), Resources[0])
    assert.lengthOf((await directory.ask("GET", "/ResourceTypes")).Resources, 2)
    const { body, status } = await directory.scim("POST", "/Bulk", {})
    assert.deepStrictEqual([status, body.status], [404, "404"])
  })
})

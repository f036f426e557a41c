import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertRefused, type Json } from "../support/Program.js"
import { type Account, each, type Person, Service, subjectOf, word } from "./Service.js"

let service: Service
let ada: Person
let grace: Person
let account: Account

const org = "/api/orgs/acme"
const acl = `${org}/acl`

beforeAll(async () => {
  service = await Service.start({ SUPERADMIN_EMAIL_0: "root@example.com" })
  ada = await service.person("ada@example.com")
  await service.do(ada, "POST", "/api/orgs", { name: "acme" })
  for (const name of ["web", "other"]) await service.do(ada, "POST", `${org}/projects`, { name })
  grace = await service.member(ada, "acme", "grace@example.com", "developer")
  account = await service.account(ada, "acme", { name: "deploy" })
})

afterAll(async () => {
  await service.remove()
})

const post = async (body: unknown) => service.call(ada, "POST", acl, { body })
const rules = async (): Promise<ReadonlyArray<Json>> => (await service.do(ada, "GET", acl)).data

describe("a rule", () => {
  const request = (permission: string) => ({
    subject_type: "user",
    email: " Grace@Example.com",
    project_pattern: "web-{a,b}",
    env_pattern: "prod",
    permission
  })

  it("is made by its first grant, and changed by the next for the same subject and patterns", async () => {
    const made = await post(request("read"))
    assert.strictEqual(made.status, 201)
    const { created_at, id, updated_at, ...rest } = made.body
    assert.deepStrictEqual(rest, {
      subject_type: "user",
      subject_id: grace.id,
      email: "grace@example.com",
      project_pattern: "web-{a,b}",
      env_pattern: "prod",
      permission: "read",
      created_by: "ada@example.com"
    })
    assert.strictEqual(created_at, updated_at)
    const changed = await post(request("admin"))
    assert.strictEqual(changed.status, 200)
    assert.deepInclude(changed.body, { id, created_at, permission: "admin", ...{ created_by: "ada@example.com" } })
    assert.deepStrictEqual(
      (await rules()).filter((rule) => rule.id === id),
      [changed.body]
    )
    const [last, first] = await service.entries(ada, `${org}/audit-logs`, "acl.grant")
    assert.strictEqual(last.resource_id, id)
    assert.deepInclude(last.metadata, { permission: "admin", before: "read", email: "grace@example.com" })
    assert.notProperty(first.metadata, "before")
  })

  it("about an account bears its name", async () => {
    const rule = await service.grant(ada, "acme", account, "read", "named", "*")
    assert.deepInclude(rule, { subject_type: "service_account", subject_id: account.id, name: "deploy" })
    assert.notProperty(rule, "email")
    assert.deepInclude(await rules(), rule)
  })

  it("is another one when the subject or a pattern differs", async () => {
    const ids = new Set<string>()
    for (const subject of [grace, account]) {
      for (const [project, env] of [
        ["differ", "x"],
        ["differ", "y"],
        ["differ*", "x"]
      ]) {
        ids.add((await service.grant(ada, "acme", subject, "read", project, env)).id)
      }
    }
    assert.strictEqual(ids.size, 6)
  })

  it("is one when eight grant it at once", async () => {
    const levels = ["read", "write", "admin", "read", "write", "admin", "read", "write"]
    const body = { ...subjectOf(account), project_pattern: "raced", env_pattern: "*" }
    const answers = await Promise.all(levels.map(async (permission) => post({ ...body, permission })))
    assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [200, 200, 200, 200, 200, 200, 200, 201])
    const [rule, ...more] = (await rules()).filter((one) => one.project_pattern === "raced")
    assert.deepStrictEqual(more, [])
    assert.include(levels, rule.permission)
  })

  it("is gone when it is revoked, with the next request, and can be granted anew", async () => {
    const path = `${org}/projects/web/envs/dev/secrets`
    const rule = await service.grant(ada, "acme", grace, "read", "web", "dev")
    assert.strictEqual(await service.status(grace, "GET", path), 200)
    assert.strictEqual(await service.status(ada, "DELETE", `${acl}/${rule.id}`), 204)
    assert.strictEqual(await service.status(grace, "GET", path), 403)
    assertRefused(await service.call(ada, "DELETE", `${acl}/${rule.id}`), 404, "NOT_FOUND")
    const [entry] = await service.entries(ada, `${org}/audit-logs`, "acl.revoke")
    assert.strictEqual(entry.resource_id, rule.id)
    assert.deepInclude(entry.metadata, { email: grace.email, project_pattern: "web", permission: "read" })
    const again = await service.grant(ada, "acme", grace, "read", "web", "dev")
    assert.notStrictEqual(again.id, rule.id)
    await service.do(ada, "DELETE", `${acl}/${again.id}`)
  })

  it("is for who is a member or a live account now", async () => {
    const some = { project_pattern: "*", env_pattern: "*", permission: "read" }
    const user = (email: string) => ({ subject_type: "user", email, ...some })
    assertRefused(await post(user("nobody@example.com")), 404, "NOT_FOUND", /nobody@example\.com is not a member/)
    await service.person("stranger@example.com")
    assertRefused(await post(user("stranger@example.com")), 404, "NOT_FOUND")
    assertRefused(await post(user("root@example.com")), 404, "NOT_FOUND")
    const left = await service.member(ada, "acme", "left@example.com", "developer")
    assert.strictEqual((await post(user(left.email))).status, 201)
    await service.do(ada, "DELETE", `${org}/members/${left.id}`)
    assertRefused(await post(user(left.email)), 404, "NOT_FOUND")
    const machine = (subject_id: string) => ({ subject_type: "service_account", subject_id, ...some })
    assertRefused(await post(machine(grace.id)), 404, "NOT_FOUND")
    assert.strictEqual((await rules()).filter((rule) => rule.project_pattern === "*").length, 0)
  })

  const id = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"
  it.each([
    ["a user without an address", { subject_type: "user" }, /^email: is required/],
    ["a user by an id", { subject_type: "user", subject_id: id }, /^(email|subject_id): /],
    ["a user by both", { subject_type: "user", email: "a@example.com", subject_id: id }, /^subject_id: /],
    ["a user by what is no address", { subject_type: "user", email: "a" }, /^email: /],
    ["an account without an id", { subject_type: "service_account" }, /^subject_id: is required/],
    ["an account by an address", { subject_type: "service_account", email: "a@example.com" }, /^email: /],
    ["an account by both", { subject_type: "service_account", subject_id: id, email: "a@example.com" }, /^email: /],
    ["an account by what is no UUID", { subject_type: "service_account", subject_id: "deploy" }, /^subject_id: /],
    ["another type", { subject_type: "team", email: "a@example.com" }, /^subject_type: /],
    ["no type", { email: "a@example.com" }, /^subject_type: /],
    ["a null address", { subject_type: "user", email: null }, /^email: /],
    ["an unknown field", { subject_type: "user", email: "a@example.com", role: "admin" }, /^role: /],
    ["another permission", { subject_type: "user", email: "a@example.com", permission: "owner" }, /^permission: /]
  ])("about %s is refused", async (_what, fields, message) => {
    const body = { project_pattern: "*", env_pattern: "*", permission: "read", ...fields }
    assertRefused(await post(body), 400, "VALIDATION_ERROR", message)
  })

  it("needs every one of its fields", async () => {
    const whole = { ...subjectOf(account), project_pattern: "p", env_pattern: "e", permission: "read" }
    for (const field of ["project_pattern", "env_pattern", "permission"]) {
      const { [field]: _, ...rest } = whole as Record<string, unknown>
      assertRefused(await post(rest), 400, "VALIDATION_ERROR", new RegExp(`^${field}: is required`))
    }
  })
})

describe("a pattern", () => {
  const grant = async (pattern: unknown, field = "project_pattern") =>
    post({ ...subjectOf(account), project_pattern: "p", env_pattern: "e", permission: "read", [field]: pattern })

  it.each([
    ["everything", "*", "*"],
    ["a run of stars, which is one", "a***b**", "a*b*"],
    ["200 characters", "a".repeat(200), "a".repeat(200)],
    ["ten alternatives", "{a,b,c,d,e,f,g,h,i,j}", "{a,b,c,d,e,f,g,h,i,j}"],
    ["ten alternatives in two groups", "{a,b,c,d,e}-{f,g,h,i,j}", "{a,b,c,d,e}-{f,g,h,i,j}"],
    ["three stars", "*a*b*", "*a*b*"],
    ["all forms together", "?a-*{b*,c}", "?a-*{b*,c}"],
    ["an empty alternative", "web{,-api}", "web{,-api}"]
  ])("may be %s", async (_what, pattern, kept) => {
    for (const field of ["project_pattern", "env_pattern"]) {
      const answer = await grant(pattern, field)
      assert.include([200, 201], answer.status, answer.text)
      assert.strictEqual(answer.body[field], kept)
    }
  })

  it.each([
    ["nothing", ""],
    ["201 characters", "a".repeat(201)],
    ["201 stars", "*".repeat(201)],
    ["eleven alternatives", "{a,b,c,d,e,f,g,h,i,j,k}"],
    ["eleven alternatives in two groups", "{a,b,c,d,e,f}{g,h,i,j,k}"],
    ["four stars", "*a*b*c*"],
    ["four stars in a group", "{*a*b*c*,d}"],
    ["four stars over groups", "*a*{*a*,b}"],
    ["a group in a group", "{a,{b,c}}"],
    ["an open brace", "{a,b"],
    ["a closing brace", "a}"],
    ["a group of one", "{a}"],
    ["a comma outside", "a,b"],
    ["a class", "[ab]"],
    ["a negation", "!a"],
    ["an extended glob", "+(a)"],
    ["a slash", "a/b"],
    ["a backslash", "a\\*"],
    ["a capital", "Web"],
    ["a space", "a b"],
    ["a line break", "a\n"],
    ["a dot", "a.b"],
    ["a range", "{1..3}"],
    ["a number", 1],
    ["a list", ["*"]]
  ])("may not be %s", async (_what, pattern) => {
    for (const field of ["project_pattern", "env_pattern"]) {
      assertRefused(await grant(pattern, field), 400, "VALIDATION_ERROR", new RegExp(`^${field}: `))
    }
  })

  it("matches the names of its form, in a request and in an explanation", async () => {
    const name = "globs"
    await service.do(ada, "POST", "/api/orgs", { name })
    const names = ["web", "web-api", "my-web", "wab", "wb", "api", "webs"]
    for (const project of names) await service.do(ada, "POST", `/api/orgs/${name}/projects`, { name: project })
    const forms: Readonly<Record<string, ReadonlyArray<string>>> = {
      "*": names,
      web: ["web"],
      "web*": ["web", "web-api", "webs"],
      "*web": ["web", "my-web"],
      "w?b": ["web", "wab"],
      "{web,api}": ["web", "api"],
      "{my-,}web": ["web", "my-web"],
      "w*b": ["web", "wab", "wb"],
      "w{e,a}b*": ["web", "web-api", "wab", "webs"],
      "????": ["webs"],
      nothing: []
    }
    for (const [pattern, matched] of Object.entries(forms)) {
      const subject = await service.account(ada, name)
      await service.grant(ada, name, subject, "read", pattern, "*")
      const found = await each(names, async (project) => {
        const status = await service.status(subject, "GET", `/api/orgs/${name}/projects/${project}/envs/dev/secrets`)
        const query = new URLSearchParams({ ...subjectOf(subject), project, env: "dev" }).toString()
        const { allowed } = await service.do(subject, "GET", `/api/orgs/${name}/acl/explain?${query}`)
        assert.deepStrictEqual(allowed, status === 200 ? ["use", "read"] : [])
        return status === 200 ? project : null
      })
      assert.sameMembers(
        found.filter((project) => project !== null),
        [...matched],
        pattern
      )
    }
  })
})

describe("an explanation", () => {
  const explain = async (subject: Person | Account, caller: Person | Account = ada, project = "web", env = "prod") => {
    const query = new URLSearchParams({ ...subjectOf(subject), project, env }).toString()
    return service.call(caller, "GET", `${acl}/explain?${query}`)
  }

  const kinds = [
    "member",
    "developer",
    "admin",
    "owner",
    "superadmin",
    "account",
    "scoped here",
    "scoped elsewhere",
    "blind"
  ] as const
  const levels = ["none", "use", "read", "write", "admin", "elsewhere", "read and admin"] as const

  const make = async (kind: (typeof kinds)[number]): Promise<Person | Account> => {
    switch (kind) {
      case "account":
        return service.account(ada, "acme")
      case "scoped here":
        return service.account(ada, "acme", { project: "web" })
      case "scoped elsewhere":
        return service.account(ada, "acme", { project: "other" })
      case "blind":
        return service.account(ada, "acme", { reveal: false })
      case "superadmin":
        return service.person("root@example.com")
      default:
        return service.member(ada, "acme", `${word()}@example.com`, kind)
    }
  }

  const table = kinds.flatMap((kind) =>
    (kind === "superadmin" ? ["none" as const] : levels).map((level) => ({ kind, level }))
  )

  it.each(table)("about a $kind with rule $level agrees with what requests then do", async ({ kind, level }) => {
    const subject = await make(kind)
    const granted: Array<Json> = []
    if (level === "elsewhere") granted.push(await service.grant(ada, "acme", subject, "admin", "other", "prod"))
    else if (level === "read and admin") {
      granted.push(await service.grant(ada, "acme", subject, "read", "*", "*"))
      granted.push(await service.grant(ada, "acme", subject, "admin", "w?b", "{prod,dev}"))
    } else if (level !== "none") granted.push(await service.grant(ada, "acme", subject, level, "web", "p*"))

    const { body, status } = await explain(subject)
    assert.strictEqual(status, 200)

    const key = `KEY_${word()}`
    const secret = `${org}/projects/web/envs/prod/secrets/${key}`
    for (const value of ["one", "two"]) await service.do(ada, "PUT", secret, { value })
    const can = {
      use: (await service.status(subject, "GET", `${org}/projects/web/envs/prod/uses`)) === 200,
      read: (await service.status(subject, "GET", `${org}/projects/web/envs/prod/secrets`)) === 200,
      write: (await service.status(subject, "PUT", secret, { value: "three" })) === 200,
      admin: (await service.status(subject, "POST", `${secret}/destroy`, { versions: [1] })) === 200
    }
    assert.deepStrictEqual(
      body.allowed,
      (["use", "read", "write", "admin"] as const).filter((permission) => can[permission])
    )
    const sees = (await service.status(subject, "GET", secret)) === 200
    const isBlind = body.because.some(({ limited_by = "" }) => limited_by.includes("reveal: false"))
    if (level !== "use") assert.strictEqual(sees, can.read && !isBlind)

    // Its grounds are the rules that match, and the role or the superadmin's right that stands by itself.
    const named = body.because.filter((reason: Json) => reason.by === "rule").map((reason: Json) => reason.rule_id)
    assert.sameMembers(named, level === "elsewhere" ? [] : granted.map((rule) => rule.id))
    const others = body.because.filter((reason: Json) => reason.by !== "rule")
    assert.deepStrictEqual(
      others,
      kind === "superadmin"
        ? [{ permission: "admin", by: "superadmin" }]
        : kind === "admin" || kind === "owner"
          ? [{ permission: "admin", by: "role", role: kind }]
          : []
    )

    // Everyone may ask about itself, where the place is its to know.
    const itself = await explain(subject, subject)
    assert.strictEqual(itself.status, kind === "scoped elsewhere" ? 404 : 200)
    if (itself.status === 200) assert.deepStrictEqual(itself.body, body)
  })

  it("about others is for admins", async () => {
    const admin = await service.member(ada, "acme", `${word()}@example.com`, "admin")
    const root = await service.person("root@example.com")
    for (const caller of [admin, root]) {
      assert.strictEqual((await explain(grace, caller)).status, 200)
      assert.strictEqual((await explain(account, caller)).status, 200)
    }
    const manager = await service.account(ada, "acme")
    await service.grant(ada, "acme", manager, "admin")
    const member = await service.member(ada, "acme", `${word()}@example.com`, "member")
    for (const caller of [grace, member, manager]) {
      assertRefused(await explain(ada, caller), 403, "FORBIDDEN", /the role admin in organization acme/)
      assertRefused(await explain(account, caller), 403, "FORBIDDEN")
    }
  })

  it("of what is not there is 404", async () => {
    const stranger = await service.person(`${word()}@example.com`)
    assertRefused(await explain(stranger), 404, "NOT_FOUND")
    assertRefused(await explain(grace, ada, "nil-project"), 404, "NOT_FOUND")
    assertRefused(await explain(grace, ada, "web", "nil-env"), 404, "NOT_FOUND")
    assertRefused(await explain(stranger, stranger), 404, "NOT_FOUND")
    const gone = await service.account(ada, "acme")
    await service.do(ada, "DELETE", `${org}/service-accounts/${gone.id}`)
    assertRefused(await explain(gone), 404, "NOT_FOUND")
  })

  it.each([
    ["no subject", "project=web&env=prod", /^subject_type: /],
    ["a user by an id", "subject_type=user&subject_id=x&project=web&env=prod", /^subject_id: |^email: /],
    ["no project", "subject_type=user&email=a%40example.com&env=prod", /^project: is required/],
    ["a project that is no name", "subject_type=user&email=a%40example.com&env=prod&project=*", /^project: /]
  ])("with %s is refused", async (_what, query, message) => {
    assertRefused(await service.call(ada, "GET", `${acl}/explain?${query}`), 400, "VALIDATION_ERROR", message)
  })
})

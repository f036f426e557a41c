import { Api } from "@coffer/domain/Api"
import {
  archivedRecords,
  ArchivedDeclaration,
  ArchivedFederation,
  ArchivedPlace,
  ArchivedProject,
  ArchivedProtection
} from "@coffer/domain/archive/ArchivedOrganization"
import { ArchivedUseRule, ArchivedVersion } from "@coffer/domain/archive/ArchivedSecret"
import { recordsOfCalls, structureLines } from "@coffer/domain/archive/Calls"
import { HttpApi } from "@effect/platform"
import { Array, Either, Option, Schema, SchemaAST } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Pair, startPair } from "../authorization/Pair.js"
import { sceneSettings } from "../authorization/Scene.js"
import { word } from "../authorization/Service.js"
import { archiveReasons, wholeCalls } from "../../../domain/test/support/ChangingCalls.js"
import type { Json } from "../support/Program.js"
import { email } from "../support/Services.js"
import { accessCases } from "./rules/AccessCases.js"
import { withoutCase } from "./rules/WithoutCase.js"
import { placeCases } from "./rules/PlaceCases.js"
import { base, type Content, type RuleCase, secret } from "./rules/Records.js"
import { secretCases } from "./rules/SecretCases.js"
import { makeExport } from "./Support.js"

// An import makes nothing that the call for the same record refuses, but for the reasons of a table.

const cases = [...placeCases, ...accessCases, ...secretCases]

const membersOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> =>
  SchemaAST.isUnion(ast) ? ast.types.flatMap(membersOf) : [ast]

/** The errors that the frame of every call has: of the connection, the credential, the right, the votes and the storage. */
const frame = [
  ...["METHOD_NOT_ALLOWED", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "INTERNAL_ERROR", "OVERLOADED"],
  ...["DATABASE_UNAVAILABLE", "OUTCOME_UNKNOWN", "STORAGE_FULL", "UNAUTHORIZED", "FORBIDDEN", "REAUTHENTICATE"],
  ...["APPROVAL_REQUIRED", "CHANGE_REQUESTED", "RATE_LIMITED", "DECRYPTION_FAILED", ""]
]

interface Call {
  readonly name: string
  readonly codes: ReadonlyArray<string>
  readonly payload: SchemaAST.AST | undefined
}

const calls: Array<Call> = []
HttpApi.reflect(Api, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint, errors, group }) => {
    if (endpoint.method === "GET" || endpoint.method === "DELETE") return
    const codes = [...errors.values()]
      .flatMap(({ ast }) => Option.match(ast, { onNone: () => [], onSome: membersOf }))
      .map((ast) => Option.getOrElse(SchemaAST.getIdentifierAnnotation(ast), () => ""))
      .map((name) => name.replace(/(?<=[a-z])[A-Z]/g, "_$&").toUpperCase())
    const payload = Option.getOrUndefined(endpoint.payloadSchema)?.ast
    const name = `${group.identifier}.${endpoint.name}`
    calls.push({ name, codes: codes.filter((code) => !frame.includes(code)), payload })
  }
})
const rowOf = new Map(wholeCalls.map((row) => [row.call, row]))
const makers = calls.filter(({ name }) => rowOf.get(name)?.archive !== "none")

describe("the calls that make records of archives", () => {
  it("have a case or a reason for each of their errors", () => {
    const unknown = makers.flatMap(({ codes, name }) => {
      const row = rowOf.get(name)
      const names = [name, row?.archive === "as" ? (row.archiveBy ?? "") : name]
      const known = [
        ...cases.filter(({ call }) => names.includes(call)).map(({ error }) => error),
        ...names.flatMap((one) => Object.keys(withoutCase[one] ?? {}))
      ]
      return codes.filter((code) => !known.includes(code)).map((code) => `${name} ${code}`)
    })
    assert.deepStrictEqual(unknown, [])
  })

  it("are the only ones in the tables", () => {
    const names = makers.map(({ name }) => name)
    assert.includeMembers(names, [...cases.map(({ call }) => call), ...Object.keys(withoutCase)])
    const taken = calls.map(({ name }) => name)
    for (const { archive, archiveBy, call } of wholeCalls) {
      assert.include(taken.includes(call) ? ["as", "none", "record"] : ["-"], archive, call)
      if (archive === "as") assert.include(names, archiveBy, call)
      else if (archive === "none") assert.property(archiveReasons, archiveBy ?? "", call)
      else assert.isUndefined(archiveBy, call)
    }
    const codesOf = new Map(makers.map(({ codes, name }) => [name, codes]))
    const reasons = Object.entries(withoutCase).flatMap(([name, of]) =>
      Object.keys(of).map((code) => [name, code] as const)
    )
    for (const [name, code] of [...cases.map(({ call, error }) => [call, error] as const), ...reasons]) {
      assert.include(codesOf.get(name) ?? [], code, name)
    }
  })
})

const fieldsOf = (ast: SchemaAST.AST | undefined): ReadonlyMap<string, SchemaAST.AST> => {
  if (ast === undefined) return new Map()
  if (SchemaAST.isUnion(ast)) return fieldsOf(ast.types[0])
  if (SchemaAST.isRefinement(ast)) return fieldsOf(ast.from)
  return new Map(
    SchemaAST.isTypeLiteral(ast) ? ast.propertySignatures.map(({ name, type }) => [String(name), type]) : []
  )
}

const fields = (...schemas: ReadonlyArray<Schema.Schema.All>) =>
  new Map(schemas.flatMap(({ ast }) => [...fieldsOf(ast)]))

/** The records that calls make. */
const current = fieldsOf(fieldsOf(ArchivedVersion.ast).get("current"))
const records: Readonly<Record<string, ReadonlyMap<string, SchemaAST.AST>>> = {
  "members.invite": fields(archivedRecords.members),
  "groups.create": fields(archivedRecords.groups),
  "projects.create": fields(ArchivedProject),
  "projects.rename": fields(ArchivedProject),
  "environments.create": fields(ArchivedPlace),
  "previews.set": fieldsOf(fieldsOf(ArchivedProject.ast).get("previews")),
  "protections.set": fields(ArchivedProtection),
  "serviceAccounts.create": fields(archivedRecords.accounts),
  "federations.create": fields(ArchivedFederation),
  "acl.grant": fields(archivedRecords.rules),
  "webhooks.create": fields(archivedRecords.webhooks),
  "declared.set": fields(ArchivedDeclaration),
  "secrets.set": fields(ArchivedVersion),
  "environments.writeBundle": fields(ArchivedVersion),
  "dues.update": current,
  "useRules.create": fields(ArchivedUseRule)
}

/** Fields that archives take in another form. */
const otherForms: Readonly<Record<string, string>> = {
  "acl.grant.denies": "a record says of a rule only that it denies",
  "serviceAccounts.create.name": "names of earlier versions may end with spaces",
  "useRules.create.accounts": "a rule outlives the accounts that it was for",
  "declared.set.description": "what 0.3.0 stored is still read",
  "declared.set.example": "what 0.3.0 stored is still read",
  "declared.set.owner": "what 0.3.0 stored is still read",
  "environments.writeBundle.note": "what 0.3.0 stored is still read"
}

const texts = [
  ...["", " ", " a ", "a", "A b", "a-b", "-a", "a".repeat(51), "a".repeat(255), "a".repeat(1_001), "a".repeat(66_000)],
  ...["\u202ex", "a\nb", "a\0b", "\ud800", "é", "*", "pr-*", "{a,b}", "[", "(", "a/b", "a@b.com", " A@B.com ", "x@y"],
  ...[
    "10.0.0.0/8",
    "https://a.com",
    "http://a.com",
    "https://u:p@a.com",
    "https://a.com/#x",
    "72h",
    "90s",
    "31d",
    "0m"
  ],
  ...["owner", "owners", "write", "GET", "coffer", "json", "each", "login", "secret.*", "none", "reference", "text"],
  "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"
]
const values: ReadonlyArray<unknown> = [
  ...[null, true, false, -1, 0, 1, 1.5, 3, 4, 50, 51, 59, 60, 900, 901, 3_650, 3_651, 6_001, 1_000_001, {}, []],
  ...[{ "/sub": "x" }, { "/project_id": "42" }, { "/project_id": "" }, { in: "basic", user: "api" }, { in: "x" }],
  ...[{ keys: [] }, { keys: [{ kty: "EC" }] }, { keys: [{ kty: "EC", d: "x" }] }],
  ...texts.flatMap((text) => [text, [text], [text, text]]),
  ...["prod", "a@b.com", "/v1/*", "10.0.0.0/8", "secret.*"].flatMap((text) =>
    [20, 21, 24, 25, 50, 51, 100, 101, 2_000, 2_001].map((count) => Array.replicate(text, count))
  )
]

describe.each(Object.entries(records))("the record that %s makes", (call, record) => {
  it("has fields that take what the call takes, and refuse what it refuses", () => {
    const payload = fieldsOf(calls.find(({ name }) => name === call)?.payload)
    const differing = [...payload].filter(([name, ast]) => {
      const archived = record.get(name)
      // Times in archives are as the server writes them.
      if (archived === undefined || name === "expires_at") return false
      const [one, other] = [ast, archived].map((each) => Schema.decodeUnknownEither(Schema.make<unknown>(each)))
      return values.some((value) => value !== null && Either.isLeft(one!(value)) !== Either.isLeft(other!(value)))
    })
    const expected = Object.keys(otherForms).filter((name) => name.startsWith(`${call}.`))
    assert.deepStrictEqual(differing.map(([name]) => `${call}.${name}`).sort(), expected.sort())
  })
})

let pair: Pair
let headers: Readonly<Record<string, string>>
let org: string
let account: string

const send = async (method: string, path: string, body?: unknown) => {
  const { status, text } = await pair.second.send({ method, path, headers, ...(body !== undefined && { body }) })
  const json: Json = text.startsWith("{") ? JSON.parse(text) : undefined
  return { status, code: json?.error?.code, message: json?.error?.message ?? "", body: json }
}

beforeAll(async () => {
  pair = await startPair({ ...sceneSettings(), SERVICE_ORG_CREATION: "anyone" })
  headers = (await pair.first.person(email(`${word()}@example.com`))).headers
  org = `/api/orgs/${word()}`
  const call = (method: string, path: string, body: unknown): Promise<Json> =>
    pair.first.do(headers, method, path.startsWith("/api") ? path : `${org}${path}`, body)
  for (const name of [org.slice("/api/orgs/".length), "taken-name"]) await call("POST", "/api/orgs", { name })
  await call("POST", "/members", { email: "grace@example.com" })
  await call("POST", "/groups", { name: "Backend" })
  for (const name of ["webshop", "strict"]) await call("POST", "/projects", { name })
  await call("PATCH", "/projects/strict", { strict: true })
  await call("PUT", "/projects/strict/declared/PORT", { pattern: "[0-9]+" })
  await call("POST", "/projects/webshop/envs", { name: "ending", expires_at: "2030-01-31T08:00:00Z" })
  await call("PUT", "/projects/webshop/envs/prod/secrets/SET", { value: "x" })
  account = (await call("POST", "/service-accounts", { name: "ci", key: false })).id
  const known = { name: "known", issuer: "https://gitlab.com", conditions: { "/project_id": "42" } }
  await call("POST", `/service-accounts/${account}/federations`, known)
})
afterAll(() => pair.stop())

/** Imports an organization. Returns the notes, or how it was refused. */
const importing = async ({
  declared = [],
  name = `new-${word()}`,
  secrets = [],
  structure = base
}: Partial<Content>) => {
  const made = await send("POST", "/api/imports", { name, organization: structureLines(structure) })
  if (made.status !== 201) return { ...made, name, left_out: [] }
  const at = `/api/imports/${made.body.id}`
  const counts = {
    projects: structure.projects.length,
    environments: structure.projects.flatMap(({ environments }: Json) => environments).length,
    ...{ secrets: secrets.length, versions: secrets.length, declared: declared.length },
    use_rules: secrets.flatMap(({ current }) => current.use_rules).length
  }
  const steps: ReadonlyArray<readonly [string, string, unknown]> = [
    ...recordsOfCalls(declared).map((data) => ["PUT", `${at}/declared`, { project: "webshop", data }] as const),
    ...recordsOfCalls(secrets).map(
      (data) => ["PUT", `${at}/secrets`, { project: "webshop", env: "prod", data }] as const
    ),
    ["POST", `${at}/finish`, { counts }] as const
  ]
  let last = made
  for (const step of steps) {
    last = await send(...step)
    if (last.status < 300) continue
    await send("DELETE", at)
    return { ...last, name, left_out: [] }
  }
  return { ...last, name, left_out: [...made.body.left_out, ...(last.body.left_out ?? [])] }
}

describe("a rule", () => {
  it("is broken by nothing in the organization that the cases change", async () => {
    const { left_out, message } = await importing({ secrets: [secret("KEY")], declared: [{ key: "KEY" }] })
    assert.deepStrictEqual(left_out, [], message)
  })

  it.each(cases.map((one) => [one.call, one.rule, one] as const))("of %s holds for imports: %s", async (_, __, one) => {
    await check(one)
  })
})

const check = async ({ archive, ask, call, error, ...outcome }: RuleCase) => {
  if (ask !== undefined) {
    const [method, path, body] = ask
    const asked = await send(method, `${path.startsWith("/api") ? "" : org}${path.replace(":sa", account)}`, body)
    assert.strictEqual(asked.code, error, asked.message)
  }
  const found = await importing(archive(base))
  if ("refused" in outcome) {
    assert.include(["VALIDATION_ERROR", "CONFLICT", "LIMIT_EXCEEDED", "REFERENCE_REFUSED"], found.code, found.message)
    assert.match(found.message, outcome.refused)
    if (found.name !== "taken-name") assert.notStrictEqual((await send("GET", `/api/orgs/${found.name}`)).status, 200)
    return
  }
  assert.strictEqual(found.status, 200, found.message)
  if ("noted" in outcome) assert.match(found.left_out.join("\n"), outcome.noted)
  else {
    assert.deepStrictEqual(found.left_out, [])
    // The copy can be exported again. The export of a protected environment needs somebody else.
    if (call !== "protections.set") await makeExport(pair.first, headers, found.name)
  }
}

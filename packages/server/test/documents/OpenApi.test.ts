import { readFileSync } from "node:fs"
import { Api } from "@coffer/domain/Api"
import { AskingHeaders } from "@coffer/domain/api/AskingHeaders"
import { errors } from "@coffer/domain/errors/Errors"
import { HttpApi } from "@effect/platform"
import { createConfig, lintFromString } from "@redocly/openapi-core"
import { Either, Option, Schema, SchemaAST } from "effect"
import { assert, describe, it } from "vitest"
import { apiDocument } from "../../src/edges/system/ApiDocument.js"
import type { Json } from "../support/Program.js"

const document: Json = JSON.parse(JSON.stringify(apiDocument()))
const text = JSON.stringify(document)

const decoded = (ast: SchemaAST.AST, example: unknown) => {
  const result = Schema.decodeUnknownEither(Schema.make<unknown>(ast), { onExcessProperty: "error" })(example)
  return Either.match(result, { onLeft: String, onRight: () => "decodes" })
}

const partsOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> => {
  switch (ast._tag) {
    case "TypeLiteral":
      return [...ast.propertySignatures.map(({ type }) => type), ...ast.indexSignatures.map(({ type }) => type)]
    case "TupleType":
      return [...ast.elements, ...ast.rest].map(({ type }) => type)
    case "Union":
      return ast.types
    case "Refinement":
      return [ast.from]
    case "Transformation":
      return [ast.from, ast.to]
    case "Declaration":
      return ast.typeParameters
    default:
      return []
  }
}

/** Every schema of the contract that has a name. */
const named = new Map<string, SchemaAST.AST>()
const collect = (ast: SchemaAST.AST): void => {
  const name = Option.getOrUndefined(SchemaAST.getJSONIdentifier(ast))
  if (name !== undefined && !named.has(name)) named.set(name, ast)
  partsOf(ast).forEach(collect)
}

/** The descriptions that the toolkit gives to schemas without one. */
const toolkitWords = /^a (string|number) (matching|between)|^a (string|number|boolean)$/

interface Endpoint {
  readonly id: string
  readonly operation: Json
  readonly payload: SchemaAST.AST | undefined
  readonly successes: ReadonlyMap<number, SchemaAST.AST | undefined>
  readonly parameters: ReadonlyMap<string, SchemaAST.AST>
}

const endpoints: Array<Endpoint> = []
HttpApi.reflect(Api, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint, errors: failures, group, successes }) => {
    const astOf = (schema: Option.Option<Schema.Schema.All>) => Option.getOrUndefined(schema)?.ast
    const path = endpoint.path.replace(/:([a-z_]+)/g, "{$1}")
    const parameterAsts = [endpoint.pathSchema, endpoint.urlParamsSchema, endpoint.headersSchema].flatMap((schema) => {
      const ast = astOf(schema)
      const struct = ast?._tag === "Refinement" ? ast.from : ast
      return struct?._tag === "TypeLiteral" ? struct.propertySignatures : []
    })
    if (failures.has(202)) parameterAsts.push(...SchemaAST.getPropertySignatures(AskingHeaders.ast))
    const asts = new Map([...successes].map(([status, { ast }]) => [status, Option.getOrUndefined(ast)]))
    endpoints.push({
      id: `${group.identifier}.${endpoint.name}`,
      operation: document.paths[path][endpoint.method.toLowerCase()],
      payload: astOf(endpoint.payloadSchema),
      successes: asts,
      parameters: new Map(parameterAsts.map(({ name, type }) => [String(name), type]))
    })
    for (const ast of [...asts.values(), astOf(endpoint.payloadSchema), ...parameterAsts.map(({ type }) => type)]) {
      if (ast !== undefined) collect(ast)
    }
    for (const { ast } of failures.values()) if (Option.isSome(ast)) collect(ast.value)
  }
})

it("the description passes all of Redocly's recommended rules, and its checks of examples", async () => {
  const config = await createConfig({
    extends: ["recommended"],
    rules: {
      "no-invalid-schema-examples": "error",
      "no-invalid-media-type-examples": "error",
      "no-invalid-parameter-examples": "error"
    }
  })
  const problems = await lintFromString({ source: text, config, absoluteRef: "/openapi.json" })
  assert.deepStrictEqual(
    problems.map(({ location, message, ruleId }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ""}`),
    []
  )
})

describe.each(endpoints)("the description of $id", ({ operation, parameters: asts, payload, successes }) => {
  it("has words for the call, its parameters and its answers", () => {
    assert.match(operation.summary, /^[A-Z].{5,}[^.]$/)
    assert.match(operation.description, /^\S.{10,}\.$/s)
    for (const { description } of operation.parameters) {
      assert.match(description, /^\S.{5,}/)
      assert.notMatch(description, toolkitWords)
    }
    for (const { description } of Object.values<Json>(operation.responses)) {
      assert.match(description, /^[A-Z].{2,}/)
      assert.notMatch(description, /^(Success|Error)$|undefined/)
    }
  })

  it("has examples that decode with the schemas of the contract", () => {
    assert.strictEqual(operation.requestBody === undefined, payload === undefined)
    if (payload !== undefined) {
      assert.strictEqual(decoded(payload, operation.requestBody.content["application/json"].example), "decodes")
    }
    for (const [status, ast] of successes) {
      const media = operation.responses[status].content?.["application/json"]
      if (media === undefined || operation.operationId === "system.openApi") continue
      assert.isDefined(ast)
      assert.strictEqual(decoded(ast, media.example), "decodes", String(status))
    }
    assert.sameMembers(
      operation.parameters.map(({ name }: Json) => name),
      [...asts.keys()]
    )
    for (const { example, name } of operation.parameters) {
      assert.isDefined(example, name)
      assert.strictEqual(decoded(asts.get(name)!, String(example)), "decodes", name)
    }
  })
})

it("declares an ETag for the recorded answers that have one, and for no others", () => {
  const answers = readFileSync(new URL("../api/answers.txt", import.meta.url), "utf8")
  const recorded = [...answers.matchAll(/^([A-Z]+) (\/(?:<id \d+>|[^ ?\n])*).*\n {2}(200|201|304) (.*)$/gm)]
  const declared = new Set<string>()
  for (const [call = "", method = "", path = "", status = "", headers = ""] of recorded) {
    // Files of the build have one because they are files.
    if (/^\/(openapi\.json|docs|llms(-full)?\.txt)$/.test(path)) continue
    const operations = Object.entries<Json>(document.paths).filter(([template]) =>
      new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`).test(path)
    )
    for (const operation of operations.flatMap(([, item]) => item[method.toLowerCase()] ?? [])) {
      const response = operation.responses[status]
      if (response === undefined) continue
      assert.strictEqual("ETag" in response.headers, /(^|\| )etag: /.test(headers), call)
      if ("ETag" in response.headers) declared.add(operation.operationId)
    }
  }
  const calls = ["bundle", "copy", "matrix", "revert", "writeBundle"]
  const polled = ["approvals.list", "audit.list", "requests.list", "webhooks.deliveries", "webhooks.list"]
  assert.sameMembers([...declared], [...calls.map((name) => `environments.${name}`), ...polled])
})

/** The schemas that a schema is any of, also those within others. */
const alternativesOf = (schema: Json): ReadonlyArray<Json> => schema.anyOf?.flatMap(alternativesOf) ?? [schema]

describe("the named schemas", () => {
  const schemas = Object.entries<Json>(document.components.schemas)

  it.each(schemas)("%s has examples that decode, if any", (name, schema) => {
    const ast = named.get(name)
    assert.isDefined(ast)
    for (const example of schema.examples ?? []) assert.strictEqual(decoded(ast, example), "decodes")
  })

  it("have a description each", () => {
    for (const [name, { description }] of schemas) {
      assert.match(description ?? "", /^\S.{5,}/, name)
      assert.notMatch(description, toolkitWords, name)
    }
  })

  it("have an example for each error", () => {
    const codes = schemas.flatMap(([, schema]) => schema.examples?.[0]?.error?.code ?? [])
    assert.sameMembers(
      codes,
      errors.map(({ code }) => code)
    )
  })

  const walk = (node: Json, where: string, visit: (name: string, field: Json, where: string) => void): void => {
    if (typeof node !== "object" || node === null) return
    for (const [name, field] of Object.entries<Json>(node.properties ?? {})) visit(name, field, where)
    for (const [name, child] of Object.entries<Json>(node)) walk(child, `${where}.${name}`, visit)
  }

  it("and every body have a description for each field", () => {
    const seen: Array<string> = []
    walk(document, "", (name, field, where) => {
      seen.push(name)
      assert.isString(field.description, `${where}.${name}`)
      assert.notMatch(field.description, toolkitWords, `${where}.${name}`)
    })
    assert.includeMembers(seen, ["expected_version", "next_cursor"])
  })

  it("close the bodies of requests and leave answers open", () => {
    for (const { operation } of endpoints) {
      const schema = operation.requestBody?.content["application/json"].schema
      for (const body of schema === undefined ? [] : alternativesOf(schema)) {
        assert.isFalse(body.additionalProperties, operation.operationId)
      }
    }
    assert.notInclude(JSON.stringify(document.components.schemas), '"additionalProperties":false')
  })
})

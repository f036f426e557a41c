/**
 * Writes the types and paths of the calls for clients without Effect's schemas, in packages/client/src/promise, from the contract.
 * With `--check`, it only reports stale files. Runs after the build.
 */
import { readFile, writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { format, resolveConfig } from "prettier"
import { errors } from "../packages/domain/dist/errors/Errors.js"
import { apiDocument } from "../packages/server/dist/edges/system/ApiDocument.js"

const folder = new URL("../packages/client/src/promise/", import.meta.url)
const { components, paths } = apiDocument()

/** The types that the calls name. */
const named = new Map()

const nameIn = (reference) => reference.slice("#/components/schemas/".length)

const pagination = ["has_next", "limit", "next_cursor"]

const isPage = (properties) =>
  Object.keys(properties).sort().join() === "data,pagination" &&
  Object.keys(properties.pagination.properties ?? {})
    .sort()
    .join() === pagination.join()

const object = ({ additionalProperties, properties, required = [] }) => {
  if (properties === undefined) {
    const value = typeof additionalProperties === "object" ? typeOf(additionalProperties) : "unknown"
    return `Readonly<Record<string, ${value}>>`
  }
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${JSON.stringify(name)}${required.includes(name) ? "" : "?"}: ${typeOf(schema)}`
  )
  if (Object.keys(properties).join() === "data") return `List<${typeOf(properties.data.items)}>`
  if (isPage(properties)) return `Page<${typeOf(properties.data.items)}>`
  return `Readonly<{ ${fields.join("; ")} }>`
}

const typeOf = (schema) => {
  if (schema.$ref !== undefined) {
    const name = nameIn(schema.$ref)
    if (!named.has(name)) {
      named.set(name, "")
      named.set(name, typeOf(components.schemas[name]))
    }
    return name
  }
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ")
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(" | ")
  switch (schema.type) {
    case "array":
      return `ReadonlyArray<${typeOf(schema.items)}>`
    case "boolean":
    case "null":
    case "string":
      return schema.type
    case "integer":
    case "number":
      return "number"
    case "object":
      return object(schema)
    default:
      return "unknown"
  }
}

const contentOf = (body) => body?.content?.["application/json"]?.schema

/** The fields of a body, each with `!` if it must be given; `*` for a body whose fields have any name. */
const fieldsOf = (schema) => {
  if (schema.$ref !== undefined) return fieldsOf(components.schemas[nameIn(schema.$ref)])
  const choices = (schema.anyOf ?? schema.oneOf)?.map(fieldsOf)
  if (choices !== undefined) {
    const names = [...new Set(choices.flat().map((field) => field.replace("!", "")))]
    return names.map((name) => (choices.every((fields) => fields.includes(`${name}!`)) ? `${name}!` : name))
  }
  const { properties, required = [] } = schema
  return properties === undefined
    ? ["*"]
    : Object.keys(properties).map((name) => (required.includes(name) ? `${name}!` : name))
}

const tagsIn = (schema) => (schema.anyOf ?? [schema]).map(({ $ref }) => nameIn($ref))

/** Parameters of one kind as the type of an object; undefined if there are none. */
const parametersOf = (operation, kind) => {
  const found = (operation.parameters ?? []).filter((each) => each.in === kind)
  if (found.length === 0) return undefined
  const properties = Object.fromEntries(found.map(({ name, schema }) => [name, schema]))
  const isPlain = kind === "path" && found.every(({ schema }) => typeOf(schema) === "string")
  return {
    type: isPlain
      ? `Path<${found.map(({ name }) => JSON.stringify(name)).join(" | ")}>`
      : object({ properties, required: found.filter((each) => each.required).map(({ name }) => name) }),
    found
  }
}

const endpoint = (method, path, operation) => {
  const responses = Object.entries(operation.responses)
  const successes = responses.filter(([status]) => /^20[0134]$/.test(status))
  const response = successes.map(([, body]) => (contentOf(body) === undefined ? "void" : typeOf(contentOf(body))))
  const failures = responses
    .filter(([status]) => status >= "400")
    .flatMap(([, body]) => tagsIn(contentOf(body)))
    .concat("202" in operation.responses ? ["ChangeRequested"] : [])
  const inPath = parametersOf(operation, "path")
  const inQuery = parametersOf(operation, "query")
  const needsQuery = inQuery?.found.some(({ required }) => required) === true
  const payload = contentOf(operation.requestBody)
  const parts = [
    ...(inPath === undefined ? [] : [`path: ${inPath.type}`]),
    ...(inQuery === undefined ? [] : [`urlParams${needsQuery ? "" : "?"}: ${inQuery.type}`]),
    ...(payload === undefined ? [] : [`payload: ${typeOf(payload)}`])
  ]
  const isNeeded = inPath !== undefined || needsQuery || payload !== undefined
  const [group, name] = operation.operationId.split(".")
  return {
    ...{ group, name, failures, parts, isNeeded },
    summary: operation.summary,
    response: [...new Set(response)].join(" | "),
    route: [
      method.toUpperCase(),
      path,
      (inQuery?.found ?? []).map(({ name, required }) => (required ? `${name}!` : name)).join(),
      ...(payload === undefined ? [] : [fieldsOf(payload).join()])
    ]
      .join(" ")
      .trimEnd()
  }
}

const isJson = ({ responses }) => responses[200]?.content === undefined || contentOf(responses[200]) !== undefined

const endpoints = Object.entries(paths).flatMap(([path, operations]) =>
  Object.entries(operations)
    .filter(([, operation]) => isJson(operation))
    .map(([method, operation]) => endpoint(method, path, operation))
)

typeOf({ $ref: "#/components/schemas/ChangeRequested" })

const common = endpoints[0].failures.filter((tag) => endpoints.every(({ failures }) => failures.includes(tag)))
const groups = [...new Set(endpoints.map(({ group }) => group))].sort()
const union = (tags) =>
  tags.length === 0
    ? "never"
    : [...new Set(tags)]
        .sort()
        .map((tag) => JSON.stringify(tag))
        .join(" | ")

/** The errors that many calls may meet together. */
const sets = { Denied: ["Forbidden", "Unauthorized"], Voted: ["ApprovalRequired", "ChangeRequested"] }

const errorsOf = (tags) => {
  const named = Object.entries(sets).filter(([, set]) => set.every((tag) => tags.includes(tag)))
  const others = tags.filter((tag) => !named.some(([, set]) => set.includes(tag)))
  const all = [...named.map(([name]) => name), ...(others.length === 0 ? [] : [union(others)])]
  return all.length === 0 ? "" : `, ${all.join(" | ")}`
}

const grouped = (print) =>
  groups
    .map(
      (group) =>
        `${group}: {\n${endpoints
          .filter((each) => each.group === group)
          .map(print)
          .join("\n")}\n}`
    )
    .map((text) => `  ${text}`)

const written = "Written by scripts/calls.mjs from the contract: change that, then run npm run generate."

const contract = grouped(
  ({ failures, isNeeded, name, parts, response, summary }) =>
    `/** ${summary}. */
    readonly ${name}: Endpoint<
      [${parts.length === 0 ? "" : `request${isNeeded ? "" : "?"}: { ${parts.join("; ")} }`}],
      ${response === "" ? "void" : response}
      ${errorsOf(failures.filter((tag) => !common.includes(tag)))}
    >`
).map((text) => `readonly ${text.trim()}`)

const types = `/** The calls of the HTTP API, as JSON has their requests and responses. ${written} */

/** The errors that any call may meet. */
export type CommonTag = ${union(common)}

/** The errors of a caller who may not do this. */
type Denied = ${union(sets.Denied)}

/** The errors of a change that may need votes. */
type Voted = ${union(sets.Voted)}

/** All errors of the contract. */
export type ApiTag = ${union([...errors.map(({ name }) => name), "ChangeRequested"])}

/** The names of a path. */
type Path<Name extends string> = Readonly<Record<Name, string>>

type List<Item> = Readonly<{ data: ReadonlyArray<Item> }>

type Page<Item> = List<Item> & Readonly<{ pagination: Readonly<{ limit: number; has_next: boolean; next_cursor: string | null }> }>

/** A call: its one request, or none, its response, and its errors besides the common ones. */
interface Endpoint<Request extends ReadonlyArray<unknown>, Response, Failure = never> {
  readonly request: Request
  readonly response: Response
  readonly error: Failure
}

export interface Contract {
${contract.join("\n")}
}

${[...named]
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([name, type]) => `export type ${name} = ${type}`)
  .join("\n\n")}
`

const routes = `/** ${written} */
import type { ApiTag, Contract } from "./Contract.js"

/** The method and path of each call, and the names of its query and body, with \`!\` those that must be given. */
export const routes: { readonly [Group in keyof Contract]: { readonly [Name in keyof Contract[Group]]: string } } = {
${grouped(({ name, route }) => `${name}: ${JSON.stringify(route)},`).join(",\n")}
}

/** The errors of the contract by their codes, each with its status. */
export const apiErrors: Readonly<Record<string, readonly [tag: ApiTag, status: number]>> = {
${errors.map(({ code, name, status }) => `${code}: [${JSON.stringify(name)}, ${status}]`).join(",\n")}
}
`

const isCheck = process.argv.includes("--check")
for (const [name, text] of [
  ["Contract.ts", types],
  ["Routes.ts", routes]
]) {
  const url = new URL(name, folder)
  const formatted = await format(text, { ...(await resolveConfig(url)), parser: "typescript" })
  if (!isCheck) await writeFile(url, formatted)
  else if (formatted !== (await readFile(url, "utf8").catch(() => ""))) {
    process.stderr.write(`${fileURLToPath(url)} is stale; run: npm run generate\n`)
    process.exitCode = 1
  }
}

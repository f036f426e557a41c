import { Authentication } from "@coffer/domain/access/Actor"
import { Api } from "@coffer/domain/Api"
import { ChangeRequestedResponse } from "@coffer/domain/requests/ApprovalRequest"
import { Admission, bodyLimitOf, RecentLogin, type RecentLoginRule, Requires } from "@coffer/domain/api/Requirement"
import { errorCodes, errors } from "@coffer/domain/errors/Errors"
import { needs } from "@coffer/domain/access/Permissions"
import { HttpApi, HttpApiError, OpenApi } from "@effect/platform"
import { Context, Either, Option, Schema, SchemaAST } from "effect"
import { assert, describe, it } from "vitest"
import type { Json } from "../support/Program.js"
import { loginReasons, wholeCalls } from "../../../domain/test/support/ChangingCalls.js"

interface Endpoint {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly requires: string | undefined
  readonly recentLogin: RecentLoginRule | undefined
  readonly bodyLimit: number | null
  readonly authenticated: boolean
  readonly middleware: ReadonlyArray<string>
  readonly urlParamsSchema: Option.Option<Schema.Schema.All>
  readonly headersSchema: Option.Option<Schema.Schema.All>
  readonly pathSchema: Option.Option<Schema.Schema.All>
  readonly payloadSchema: Option.Option<Schema.Schema.All>
  readonly errors: ReadonlyMap<number, ReadonlyArray<SchemaAST.AST>>
  readonly successes: ReadonlyArray<number>
}

const members = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> =>
  SchemaAST.isUnion(ast) ? ast.types.flatMap(members) : [ast]

const endpoints: Array<Endpoint> = []
HttpApi.reflect(Api, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint, errors, group, mergedAnnotations, middleware, successes }) => {
    endpoints.push({
      name: `${group.identifier}.${endpoint.name}`,
      method: endpoint.method,
      path: endpoint.path,
      requires: Option.getOrUndefined(Context.getOption(mergedAnnotations, Requires)),
      recentLogin: Option.getOrUndefined(Context.getOption(mergedAnnotations, RecentLogin)),
      bodyLimit: bodyLimitOf(endpoint, mergedAnnotations),
      authenticated: [...middleware].some(({ key }) => key === Authentication.key),
      middleware: [...middleware].map(({ key }) => key),
      urlParamsSchema: endpoint.urlParamsSchema,
      headersSchema: endpoint.headersSchema,
      pathSchema: endpoint.pathSchema,
      payloadSchema: endpoint.payloadSchema,
      errors: new Map(
        [...errors].map(([status, { ast }]) => [status, Option.match(ast, { onNone: () => [], onSome: members })])
      ),
      successes: [...successes.keys()]
    })
  }
})

const toolkitError = HttpApiError.HttpApiDecodeError.ast
/** Whether what is not a field is refused, by a struct, a refinement of one, or every member of a union. */
const isClosed = (ast: SchemaAST.AST): boolean =>
  Option.exists(SchemaAST.getParseOptionsAnnotation(ast), ({ onExcessProperty }) => onExcessProperty === "error") ||
  (SchemaAST.isUnion(ast) && ast.types.every(isClosed)) ||
  (SchemaAST.isRefinement(ast) && isClosed(ast.from))

const parametersOf = (path: string): Array<string> => [...path.matchAll(/:([a-z_]+)/g)].map(([, name = ""]) => name)

const fieldsOf = (schema: Option.Option<Schema.Schema.All>): ReadonlyMap<string, SchemaAST.AST> =>
  new Map(
    Option.match(schema, {
      onNone: () => [],
      onSome: ({ ast }) =>
        SchemaAST.getPropertySignatures(SchemaAST.encodedAST(ast)).map(({ name }) => [
          String(name),
          SchemaAST.isTypeLiteral(ast)
            ? ast.propertySignatures.find((field) => field.name === name)!.type
            : assert.fail("the parameters of a path are a struct")
        ])
    })
  )

describe("the contract", () => {
  it("has the calls of the specification", () => {
    assert.isAtLeast(endpoints.length, 68)
    assert.strictEqual(new Set(endpoints.map(({ method, path }) => `${method} ${path}`)).size, endpoints.length)
  })

  it("is one whose groups and calls have names that tell them apart", () => {
    assert.strictEqual(new Set(endpoints.map(({ name }) => name)).size, endpoints.length)
  })
})

describe("a recent login", () => {
  const mutating = endpoints.filter(({ method }) => method !== "GET")

  it("is asked for, or not for a reason, by every call that changes something, as its row says", () => {
    assert.deepStrictEqual(
      wholeCalls.map(({ call, recentLogin }) => `${call} ${recentLogin}`).sort(),
      mutating.map(({ name, recentLogin }) => `${name} ${String(recentLogin)}`).sort()
    )
    for (const { call, loginReason, recentLogin } of wholeCalls) {
      if (recentLogin === "never") assert.property(loginReasons, loginReason ?? "", call)
      else assert.isUndefined(loginReason, call)
    }
  })

  it("is asked for by whatever gives a right to somebody else, or moves a name", () => {
    const gives =
      /\.(invite|grant|setRole|addMember|setMembers|setMappings|approve|rotate|rotateKey|enable|rename|update)$/
    const daily = ["dues.update"]
    const without = mutating.filter(({ name, recentLogin }) => gives.test(name) && recentLogin === "never")
    assert.deepStrictEqual(
      without.map(({ name }) => name),
      daily
    )
  })
})

describe.each(endpoints)("$method $path", (endpoint) => {
  const { authenticated, bodyLimit, method, path, requires } = endpoint

  it("says what it requires of its caller, and asks for a credential unless it requires nothing", () => {
    assert.isDefined(requires)
    assert.isTrue(
      ["nothing", "credential", "person", "superadmin", "org.create"].includes(requires) || requires in needs,
      requires
    )
    assert.strictEqual(authenticated, requires !== "nothing")
    assert.strictEqual(
      requires === "nothing",
      !path.startsWith("/api/") || /^\/api\/auth\/(device|federate|login|methods|token|verify)$/.test(path)
    )
  })

  it("requires more than a credential if it takes a body: whoever may not make it must not have one read", () => {
    if (Option.isSome(endpoint.payloadSchema)) assert.notStrictEqual(requires, "credential")
  })

  it("says whether a browser needs a recent login for it, if it changes something, and declares that refusal", () => {
    const { recentLogin } = endpoint
    if (method === "GET") assert.isUndefined(recentLogin)
    else assert.isDefined(recentLogin)
    const codes = [...endpoint.errors.values()].flat().map((ast) => SchemaAST.getIdentifierAnnotation(ast))
    const declares = codes.some((identifier) => Option.getOrUndefined(identifier) === "Reauthenticate")
    assert.strictEqual(declares, recentLogin !== undefined && recentLogin !== "never")
  })

  it("requires a right at a place that its path names", () => {
    if (requires === undefined || !(requires in needs)) return
    const { on } = needs[requires as keyof typeof needs]
    const parameter = { org: "org_name", project: "project_name", env: "env_name" }[on]
    assert.include(parametersOf(path), parameter)
  })

  it("has a schema for each parameter of its path, which refuses the empty text and what climbs", () => {
    const fields = fieldsOf(endpoint.pathSchema)
    assert.deepStrictEqual([...fields.keys()].sort(), parametersOf(path).sort())
    for (const [name, ast] of fields) {
      const decode = Schema.decodeUnknownEither(Schema.make<unknown>(ast))
      // As names of service accounts, those of groups may have spaces.
      const spaces = name === "group_name" ? [] : ["a b"]
      for (const text of ["", ".", "..", "a/b", ...spaces, "%", "\0", "a".repeat(1000)]) {
        assert.isTrue(Either.isLeft(decode(text)), `${name} takes ${JSON.stringify(text)}`)
      }
    }
  })

  it("is admitted once its caller is known: the middleware added last runs first", () => {
    assert.deepStrictEqual(endpoint.middleware, authenticated ? [Admission.key, Authentication.key] : [Admission.key])
  })

  it("has nothing but its path to refuse before its body: the toolkit decodes query and headers after it", () => {
    if (Option.isNone(endpoint.payloadSchema)) return
    assert.isTrue(Option.isNone(endpoint.urlParamsSchema))
    for (const ast of fieldsOf(endpoint.headersSchema).values()) assert.isTrue(SchemaAST.isStringKeyword(ast))
  })

  it("refuses an unknown field in its body", () => {
    const schema = Option.getOrUndefined(endpoint.payloadSchema)
    if (schema === undefined) return
    assert.isTrue(isClosed(schema.ast))
  })

  it("has a limit for its body", () => {
    if (Option.isNone(endpoint.payloadSchema)) return assert.isNull(bodyLimit)
    const special: Record<string, number> = {
      "auth.login": 8192,
      "auth.device": 8192,
      "auth.token": 8192,
      "auth.verify": 8192,
      "auth.federate": 8192,
      "federations.try": 8192,
      "federations.create": 262_144,
      "environments.writeBundle": 16_777_216,
      // A body of 10 MiB in base64.
      "use.use": 14_680_064,
      "imports.create": 16_777_216,
      "imports.secrets": 16_777_216,
      "passkeys.create": 65_536,
      "passkeys.challenge": 65_536,
      "passkeys.verify": 65_536,
      // The server can authorize these calls only after it has read their body.
      "requests.approve": 8192,
      "requests.refuse": 8192,
      "trash.restoreOrganization": 8192,
      "trash.eraseOrganization": 8192
    }
    assert.strictEqual(bodyLimit, special[endpoint.name] ?? 1_048_576)
  })

  it("declares only errors that are the envelope on the wire, each with its own code and status", () => {
    const declared = [...endpoint.errors].flatMap(([status, asts]) =>
      asts.filter((ast) => ast !== toolkitError).map((ast) => ({ status, ast }))
    )
    for (const { ast, status } of declared) {
      // The requested change has not happened: a caller gets an error, and the wire carries the change request.
      if (ast === ChangeRequestedResponse.ast) {
        assert.strictEqual(status, 202)
        continue
      }
      const error = errors.find((candidate) => candidate.ast === ast)
      assert.isDefined(error, `an error of another kind is declared: ${String(ast)}`)
      assert.strictEqual(error.status, status)
      assert.isTrue(errorCodes.has(error.code))
      const wire = Schema.encodeUnknownSync(Schema.make<unknown>(ast))(
        new error({ message: "why", retryAfter: 3, allow: "x" })
      )
      assert.deepStrictEqual(wire, { error: { code: error.code, message: "why" } })
    }
    const codes = declared.flatMap(({ ast }) => errors.find((candidate) => candidate.ast === ast)?.code ?? [])
    assert.strictEqual(new Set(codes).size, codes.length)
    assert.includeMembers(codes, ["VALIDATION_ERROR", "NOT_FOUND", "METHOD_NOT_ALLOWED", "INTERNAL_ERROR"])
    assert.strictEqual(codes.includes("UNAUTHORIZED"), authenticated || endpoint.name === "auth.federate")
    if (requires !== undefined && requires in needs) assert.include(codes, "FORBIDDEN")
    if (requires === "superadmin") assert.include(codes, "FORBIDDEN")
  })

  it("succeeds with the status that its kind of call has", () => {
    const expected = ["acl.grant", "groups.addMember"].includes(endpoint.name)
      ? [200, 201]
      : ["auth.verify", "auth.logout"].includes(endpoint.name)
        ? [200, 204]
        : ["environments.bundle", "environments.matrix"].includes(endpoint.name)
          ? [200, 304]
          : /\.(?:create|invite)$|^(?:scim\.enable|acl\.review)$/.test(endpoint.name)
            ? [201]
            : method === "DELETE" || /^(?:imports\.(?:declared|secrets)|trash\.erase.*)$/.test(endpoint.name)
              ? [204]
              : [200]
    assert.deepStrictEqual([...endpoint.successes].sort(), expected)
  })
})

describe("the closed set of errors", () => {
  it("has the codes and statuses that were decided", () => {
    assert.deepStrictEqual(Object.fromEntries(errors.map(({ code, status }) => [code, status])), {
      VALIDATION_ERROR: 400,
      UNAUTHORIZED: 401,
      INVALID_CODE: 401,
      AUTHORIZATION_PENDING: 400,
      FORBIDDEN: 403,
      USE_REFUSED: 403,
      REAUTHENTICATE: 403,
      NOT_FOUND: 404,
      METHOD_NOT_ALLOWED: 405,
      CONFLICT: 409,
      LAST_OWNER: 409,
      USE_WIDENS: 409,
      REFERENCE_REFUSED: 409,
      PATTERN_BROKEN: 409,
      APPROVAL_NEEDED: 409,
      APPROVAL_REQUIRED: 409,
      LIMIT_EXCEEDED: 409,
      PAYLOAD_TOO_LARGE: 413,
      UNSUPPORTED_MEDIA_TYPE: 415,
      RATE_LIMITED: 429,
      USE_BUDGET: 429,
      SLOW_DOWN: 429,
      LOCKED_OUT: 429,
      DECRYPTION_FAILED: 500,
      INTERNAL_ERROR: 500,
      BACKUPS_DISABLED: 503,
      NOT_READY: 503,
      ISSUER_UNAVAILABLE: 503,
      OVERLOADED: 503,
      DATABASE_UNAVAILABLE: 503,
      OUTCOME_UNKNOWN: 503,
      STORAGE_FULL: 507,
      BACKUP_FAILED: 502,
      UPSTREAM_FAILED: 502,
      BROKER_DISABLED: 503
    })
  })
})

describe("the OpenAPI document", () => {
  const document: Json = JSON.parse(JSON.stringify(OpenApi.fromApi(Api)))
  const operations = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    Object.entries<Json>(item).map(([method, operation]) => ({ method, path, operation }))
  )

  const walk = (node: unknown, visit: (node: Record<string, unknown>) => void): void => {
    if (typeof node !== "object" || node === null) return
    if (!Array.isArray(node)) visit(node as Record<string, unknown>)
    for (const child of Object.values(node)) walk(child, visit)
  }

  it("is of version 3.1, with a title, a version, a license and tags", () => {
    assert.strictEqual(document.openapi, "3.1.0")
    assert.strictEqual(document.info.title, "Coffer")
    assert.match(document.info.version, /^\d+\.\d+\.\d+$/)
    assert.isString(document.info.license.name)
    const tags = document.tags.map(({ name }: { name: string }) => name)
    assert.strictEqual(new Set(tags).size, tags.length)
    for (const { operation } of operations) assert.includeMembers(tags, operation.tags)
  })

  it("has every call of the contract, each under an id of its own", () => {
    assert.deepStrictEqual(
      operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort(),
      endpoints.map(({ method, path }) => `${method} ${path.replace(/:([a-z_]+)/g, "{$1}")}`).sort()
    )
    assert.strictEqual(new Set(operations.map(({ operation }) => operation.operationId)).size, operations.length)
  })

  it("refers only to schemas that are there, and each of those is referred to", () => {
    const referred = new Set<string>()
    walk(document, (node) => {
      if (typeof node["$ref"] === "string") referred.add(node["$ref"])
    })
    const there = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`)
    assert.deepStrictEqual([...referred].sort(), there.sort())
  })

  it("does not know the toolkit's own error", () => {
    assert.notMatch(JSON.stringify(document), /HttpApiDecodeError|"Issue"|_tag/)
  })

  it.each(operations)(
    "describes $method $path: a summary, its parameters, its answers and who may call",
    ({ method, operation, path }) => {
      assert.match(operation.summary, /^[A-Z].{5,}[^.]$/)
      const inPath = operation.parameters.filter((parameter: Json) => parameter.in === "path")
      assert.deepStrictEqual(
        inPath.map(({ name }: Json) => name).sort(),
        [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name).sort()
      )
      for (const parameter of operation.parameters) {
        assert.include(["path", "query", "header"], parameter.in)
        assert.isObject(parameter.schema)
        if (parameter.in === "path") assert.isTrue(parameter.required)
      }

      const statuses = Object.keys(operation.responses)
      assert.isTrue(statuses.some((status) => /^2\d\d$/.test(status)))
      for (const [status, response] of Object.entries<Json>(operation.responses)) {
        assert.isString(response.description)
        if (status === "204" || status === "304") {
          assert.isUndefined(response.content)
          continue
        }
        const [type, { schema }]: [string, Json] = Object.entries<Json>(response.content)[0]!
        if (Number(status) < 400) continue
        assert.strictEqual(type, "application/json")
        for (const { $ref } of schema.anyOf ?? [schema]) {
          const error = document.components.schemas[$ref.split("/").at(-1)]
          assert.deepStrictEqual(error.required, ["error"])
          assert.deepStrictEqual(error.properties.error.required, ["code", "message"])
          const [code] = error.properties.error.properties.code.enum
          assert.strictEqual(errors.find((candidate) => candidate.code === code)?.status, Number(status))
        }
      }
      assert.includeMembers(statuses, ["400", "404", "405", "500"])

      const open =
        endpoints.find(
          ({ requires, ...endpoint }) =>
            requires === "nothing" && `${endpoint.method.toLowerCase()} ${endpoint.path}` === `${method} ${path}`
        ) !== undefined
      assert.deepStrictEqual(operation.security, open ? [] : [{ session: [] }, { apiKey: [] }, { cookie: [] }])
      assert.strictEqual(
        statuses.includes("401"),
        !open || ["/api/auth/federate", "/api/auth/token", "/api/auth/verify"].includes(path)
      )
    }
  )

  it("knows all credentials", () => {
    const { apiKey, cookie, session } = document.components.securitySchemes
    assert.include(session, { type: "http", scheme: "bearer" })
    assert.include(apiKey, { type: "apiKey", in: "header", name: "X-API-Key" })
    assert.include(cookie, { type: "apiKey", in: "cookie", name: "__Host-coffer" })
  })

  it("says that bodies are closed", () => {
    const bodies = operations.flatMap(({ operation }) => {
      const schema = operation.requestBody?.content["application/json"].schema
      // A union of three is a union within one.
      const alternatives: Json = schema?.anyOf ?? (schema === undefined ? [] : [schema])
      return alternatives.flatMap((each: Json) => each.anyOf ?? [each])
    })
    assert.isAtLeast(bodies.length, 15)
    for (const body of bodies) assert.isFalse(body.additionalProperties)
  })
})

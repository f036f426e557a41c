import { Api } from "@coffer/domain/Api"
import { Compressible, Requires } from "@coffer/domain/api/Requirement"
import { Overloaded } from "@coffer/domain/errors/Errors"
import { preferredCoding, refusesPlain } from "@coffer/server/http/AcceptEncoding"
import { makeCompression } from "@coffer/server/http/Compression"
import type { ResponseMemory } from "@coffer/server/http/LargeResponses"
import { NodeRequest } from "@coffer/server/http/NodeRequest"
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as SchemaAST from "effect/SchemaAST"
import * as Stream from "effect/Stream"
import { IncomingMessage, request } from "node:http"
import { Socket } from "node:net"
import { gunzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Program } from "../support/Program.js"

/** Fields that hold secrets as plain text. */
const secretField = /(^|_)(value|token|secret|password|credential|cookie|challenge|code|url|body)s?$/

/** The record of an entry. The canary sweep looks for values in the audit log. */
const freeFields: ReadonlySet<string> = new Set(["metadata"])

/** Returns the parts of a schema that could hold a secret. */
const secretsIn = (
  ast: SchemaAST.AST,
  path = "",
  seen: ReadonlySet<SchemaAST.AST> = new Set()
): ReadonlyArray<string> => {
  if (seen.has(ast)) return []
  const within = (next: SchemaAST.AST, name = "") => secretsIn(next, `${path}${name}`, new Set([...seen, ast]))
  switch (ast._tag) {
    case "Declaration":
    case "UnknownKeyword":
    case "AnyKeyword":
    case "ObjectKeyword":
      return [`${path}: ${String(ast)}`]
    case "TypeLiteral":
      return [
        ...ast.propertySignatures.flatMap(({ name, type }) =>
          freeFields.has(String(name))
            ? []
            : secretField.test(String(name))
              ? [`${path}.${String(name)}`]
              : within(type, `.${String(name)}`)
        ),
        ...ast.indexSignatures.flatMap(({ type }) => within(type, ".*"))
      ]
    case "TupleType":
      return [...ast.elements, ...ast.rest].flatMap(({ type }) => within(type, "[]"))
    case "Union":
      return ast.types.flatMap((one) => within(one))
    case "Refinement":
      return within(ast.from)
    case "Transformation":
      return within(ast.to)
    case "Suspend":
      return within(ast.f())
    default:
      return []
  }
}

const endpoints: Array<{
  readonly name: string
  readonly method: string
  readonly requires: string
  readonly isMarked: boolean
  readonly secrets: ReadonlyArray<string>
}> = []
HttpApi.reflect(Api, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint, group, mergedAnnotations, successes }) => {
    endpoints.push({
      name: `${group.identifier}.${endpoint.name}`,
      method: endpoint.method,
      requires: Option.getOrElse(Context.getOption(mergedAnnotations, Requires), () => ""),
      isMarked: Option.getOrElse(Context.getOption(mergedAnnotations, Compressible), () => false),
      secrets: [...successes.values()].flatMap(({ ast }) =>
        Option.match(ast, { onNone: () => [], onSome: (one) => secretsIn(SchemaAST.typeAST(one)) })
      )
    })
  }
})

describe("the endpoints whose responses are compressed", () => {
  it("have no field that could hold a secret", () => {
    const marked = endpoints.filter(({ isMarked }) => isMarked)
    assert.isAtLeast(marked.length, 25)
    assert.deepStrictEqual(
      marked.filter(({ secrets }) => secrets.length > 0).map(({ name, secrets }) => [name, ...secrets]),
      []
    )
  })

  it("only read, for a caller with a right", () => {
    for (const { isMarked, method, name, requires } of endpoints) {
      if (!isMarked) continue
      assert.strictEqual(method, "GET", name)
      assert.notInclude(["", "nothing", "secret.read", "secret.use"], requires, name)
    }
  })

  it("leave out those that return values, keys, tokens or codes", () => {
    const found = new Set(endpoints.flatMap(({ name, secrets }) => (secrets.length > 0 ? [name] : [])))
    const secret = [
      ...["secrets.get", "environments.bundle", "requests.values", "exports.secrets", "serviceAccounts.create"],
      ...["serviceAccounts.rotate", "auth.verify", "delegations.create", "webhooks.create", "webhooks.list"],
      ...["passkeys.challenge", "use.use"]
    ]
    for (const name of secret) assert.isTrue(found.has(name), name)
  })
})

describe("Accept-Encoding", () => {
  it.each([
    [undefined, null],
    ["", null],
    ["gzip", "gzip"],
    ["GZIP ; Q=0.5", "gzip"],
    ["gzip, deflate, br", "br"],
    ["br;q=0.5, gzip;q=0.8", "gzip"],
    ["gzip;q=0", null],
    ["gzip;q=0.000, br;q=0", null],
    ["*", "br"],
    ["*;q=0", null],
    ["br;q=0, *", "gzip"],
    ["identity", null],
    ["gzip;q=0.5, identity", null],
    ["gzip;q=0.5, identity;q=0.5", "gzip"],
    ["identity;q=0, gzip;q=0.1", "gzip"],
    ["gzip;q=x", null],
    ["deflate", null]
  ])("of %j prefers %j", (header, coding) => {
    assert.strictEqual(preferredCoding(header, ["br", "gzip"]), coding)
  })

  it("refuses plain content only where it says so", () => {
    const refusing = ["identity;q=0", "gzip, identity;q=0", "gzip, *;q=0"]
    const taking = [undefined, "", "gzip", "*", "*;q=0, identity", "identity;q=0.1"]
    assert.deepStrictEqual(
      refusing.filter((header) => !refusesPlain(header)),
      []
    )
    assert.deepStrictEqual(
      taking.filter((header) => refusesPlain(header)),
      []
    )
  })
})

describe("the memory of a compressed response", () => {
  const holds: Array<number> = []
  const memory: ResponseMemory = {
    hold: (bytes) => {
      holds.push(bytes)
      return true
    },
    begin: () => Effect.fail(new Overloaded({ message: "unused" }))
  }
  const requested = () => {
    const source = new IncomingMessage(new Socket())
    source.headers = { "accept-encoding": "gzip" }
    return new NodeRequest(source, () => memory)
  }
  const sizeOf = ({ body }: HttpServerResponse.HttpServerResponse) =>
    body._tag === "Uint8Array" ? body.body.length : assert.fail(body._tag)

  it("is counted by its compressed size, and a small one is not counted", async () => {
    const compress = makeCompression()
    const text = Array.from({ length: 300_000 }, () => Math.random().toString(36).slice(2, 4)).join("")
    const large = await Effect.runPromise(compress(requested(), HttpServerResponse.text(text)))
    assert.isBelow(sizeOf(large), text.length)
    assert.deepStrictEqual(holds.splice(0), [sizeOf(large)])
    const small = await Effect.runPromise(compress(requested(), HttpServerResponse.text("a".repeat(200_000))))
    assert.isBelow(sizeOf(small), 10_000)
    assert.deepStrictEqual(holds.splice(0), [0])
  })

  it("is not touched by streams and failures, which are sent as they are", async () => {
    const compress = makeCompression()
    const sent = [
      HttpServerResponse.stream(Stream.make(Buffer.from("a".repeat(5_000)))),
      HttpServerResponse.text("a".repeat(5_000), { status: 503 })
    ]
    for (const response of sent) {
      assert.strictEqual(await Effect.runPromise(compress(requested(), response)), response)
    }
    assert.deepStrictEqual(holds, [])
  })

  it("is compressed in two threads at most, while the event loop goes on", async () => {
    const compress = makeCompression()
    const text = "abcdefgh".repeat(1_000_000)
    let longest = 0
    let before = performance.now()
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - before)
      before = performance.now()
    }, 1)
    const body = HttpServerResponse.text(text)
    const all = await Promise.all(Array.from({ length: 6 }, () => Effect.runPromise(compress(requested(), body))))
    clearInterval(timer)
    for (const response of all) assert.isBelow(sizeOf(response), text.length / 50)
    assert.isBelow(longest, 500)
  })
})

let program: Program
let token: string
const project = "/api/orgs/acme/projects/webshop"
const matrix = `${project}/matrix`
const prod = `${project}/envs/prod`

const write = async (method: string, path: string, body: object) => {
  const { status, text } = await program.call(method, path, { token, body })
  assert.isBelow(status, 300, `${method} ${path}: ${text}`)
}

beforeAll(async () => {
  program = await Program.start()
  token = await program.login("ada@example.com")
  await write("POST", "/api/orgs", { name: "acme" })
  await write("POST", "/api/orgs/acme/projects", { name: "webshop" })
  const set = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`A_RATHER_LONG_NAME_${index}`, "1"]))
  await write("PATCH", `${prod}/bundle`, { set })
})
afterAll(() => program.remove())

interface Received {
  readonly status: number | undefined
  readonly headers: NodeJS.Dict<string | ReadonlyArray<string>>
  readonly bytes: Buffer
}

/** Asks with an `Accept-Encoding`, and does not decode the response. */
const get = (path: string, coding: string | null, more: Readonly<Record<string, string>> = {}, method = "GET") =>
  new Promise<Received>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, ...(coding !== null && { "accept-encoding": coding }), ...more }
    request(`${program.url}${path}`, { headers, method }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () => {
        resolve({ status: response.statusCode, headers: response.headers, bytes: Buffer.concat(chunks) })
      })
    })
      .on("error", reject)
      .end()
  })

describe("a response without secrets", () => {
  it("is compressed for those who take gzip, and plain for others, with one content", async () => {
    const plain = await get(matrix, null)
    const packed = await get(matrix, "gzip, br")
    assert.deepStrictEqual([plain.headers["content-encoding"], plain.headers["vary"]], [undefined, "accept-encoding"])
    assert.deepStrictEqual([packed.headers["content-encoding"], packed.headers["vary"]], ["gzip", "accept-encoding"])
    assert.strictEqual(packed.headers["content-length"], String(packed.bytes.length))
    assert.strictEqual(packed.headers["content-type"], plain.headers["content-type"])
    assert.strictEqual(gunzipSync(packed.bytes).toString(), plain.bytes.toString())
    assert.isBelow(packed.bytes.length, plain.bytes.length / 5)
    for (const coding of ["gzip;q=0", "identity", "gzip;q=0.1, identity", "br"]) {
      const { bytes, headers } = await get(matrix, coding)
      assert.isUndefined(headers["content-encoding"], coding)
      assert.isTrue(bytes.equals(plain.bytes), coding)
    }
    const head = await get(matrix, "gzip", {}, "HEAD")
    assert.deepStrictEqual([head.status, head.headers["content-encoding"], head.bytes.length], [200, "gzip", 0])
    assert.strictEqual((await program.call("GET", matrix, { token })).text, plain.bytes.toString(), "fetch decodes it")
  })

  it("has a weak ETag for those who take gzip, and either tag gets 304 while nothing has changed", async () => {
    const strong = String((await get(matrix, null)).headers["etag"])
    const weak = String((await get(matrix, "gzip")).headers["etag"])
    assert.match(strong, /^"/)
    assert.strictEqual(weak, `W/${strong}`)
    for (const tag of [strong, weak]) {
      const unchanged = await get(matrix, "gzip", { "if-none-match": tag })
      assert.deepStrictEqual(
        [unchanged.status, unchanged.headers["etag"], unchanged.headers["vary"], unchanged.bytes.length],
        [304, weak, "accept-encoding", 0]
      )
      const plain = await get(matrix, null, { "if-none-match": tag })
      assert.deepStrictEqual([plain.status, plain.headers["etag"]], [304, strong])
    }
    await write("PUT", `${prod}/secrets/A`, { value: "two" })
    assert.strictEqual((await get(matrix, "gzip", { "if-none-match": weak })).status, 200)
  })

  it("is plain if it is small, unless the client refuses that", async () => {
    const envs = `${project}/envs`
    const plain = await get(envs, "gzip")
    assert.deepStrictEqual([plain.headers["content-encoding"], plain.headers["vary"]], [undefined, "accept-encoding"])
    const packed = await get(envs, "gzip, identity;q=0")
    assert.strictEqual(packed.headers["content-encoding"], "gzip")
    assert.strictEqual(gunzipSync(packed.bytes).toString(), plain.bytes.toString())
    assert.strictEqual((await get(envs, "identity;q=0")).bytes.toString(), plain.bytes.toString())
  })

  it("is compressed beside responses with values and refusals, which never are", async () => {
    for (const path of [`${prod}/bundle`, `${prod}/bundle?format=object`, `${prod}/secrets/A_RATHER_LONG_NAME_1`]) {
      const { headers, status } = await get(path, "gzip, identity;q=0")
      assert.deepStrictEqual([status, headers["content-encoding"], headers["vary"]], [200, undefined, undefined], path)
    }
    const refused = await get(`${matrix}?envs=absent`, "gzip, identity;q=0")
    assert.deepStrictEqual([refused.status, refused.headers["content-encoding"]], [404, undefined])
  })
})

import { targetOf as urlOf } from "@coffer/server/base/outbound/Outbound"
import { Effect, Either, Schema } from "effect"
import { Placement } from "@coffer/domain/secrets/Placement"
import { UseTerms } from "@coffer/domain/secrets/UseRule"
import { match, targetOf } from "@coffer/server/secrets/use-rules/Match"
import { outgoingHeaders } from "@coffer/server/secrets/use/OutgoingHeaders"
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { runs } from "../../../domain/test/support/Runs.js"

const terms = (changes: Partial<UseTerms>): UseTerms => ({
  hosts: ["api.test"],
  methods: ["GET"],
  paths: ["/"],
  place: { in: "query", name: "k" },
  accounts: ["agent"],
  per_minute: 1,
  per_day: 1,
  response: "text",
  max_kib: 1,
  approval: "none",
  expires_at: null,
  ...changes
})

/** A slow and plain reading of a rule: characters one by one, and the path as the other side may decode it. */
const allows = ({ hosts, methods, paths }: UseTerms, method: string, address: string): boolean => {
  const found = /^(https?):\/\/([^/?#]+)([^?#]*)(?:\?[^#]*)?$/.exec(
    address.replace(/^https?/i, (scheme) => scheme.toLowerCase())
  )
  if (found === null) return false
  const [, scheme, authority = "", written = ""] = found
  const [host, port = scheme === "https" ? "443" : "80"] = authority.toLowerCase().split(":")
  const path = written === "" ? "/" : written
  let decoded = path
  for (let times = 0; times < 3; times++) {
    decoded = decoded.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  }
  // A decoder that takes longer spellings of ASCII than UTF-8 has.
  decoded = decoded.replace(
    /[\xc0\xc1][\x80-\xbf]|\xe0[\x80-\x9f][\x80-\xbf]|\xf0[\x80-\x8f][\x80-\xbf]{2}/g,
    ([first = "", ...rest]) =>
      String.fromCharCode(
        rest.reduce((code, byte) => (code << 6) | (byte.charCodeAt(0) & 0x3f), first === "\xc1" ? 1 : 0)
      )
  )
  if (decoded.split(/[/\\]/).some((part) => [".", ".."].includes(part.split(";")[0]!))) return false
  return (
    methods.some((one) => one === method) &&
    hosts.some((one) => (one.includes(":") ? one : `${one}:443`) === `${host}:${port}`) &&
    paths.some((one) => {
      if (!one.endsWith("*")) return one === path
      return [...one.slice(0, -1)].every((character, position) => path[position] === character)
    })
  )
}

const piece = fc.constantFrom(
  "a",
  "v1",
  ".",
  "..",
  "%2e",
  "%2F",
  "%5c",
  "%25",
  "%2e%2e",
  "%c0%ae%C0%AE",
  "a%c0%af..%c1%9c",
  "%e0%80%ae",
  "%f0%80%80%ae%2e",
  ";",
  "..;x",
  "",
  "*",
  "refunds",
  "%61",
  "A",
  "\\",
  " "
)
const path = fc.array(piece, { maxLength: 4 }).map((pieces) => `/${pieces.join("/")}`)
const host = fc.constantFrom(
  "api.test",
  "API.test",
  "api.test:443",
  "api.test:8443",
  "api.test.",
  "other.test",
  "u@api.test",
  "127.0.0.1",
  "api.test:80",
  "%61pi.test",
  "ａpi.test"
)
const url = fc
  .tuple(
    fc.constantFrom("https", "http", "HTTPS", "ftp"),
    host,
    fc.oneof(path, fc.constant("")),
    fc.constantFrom("", "?", "?a=/v1", "#x")
  )
  .map(([scheme, authority, where, rest]) => `${scheme}://${authority}${where}${rest}`)

/** A request as it is judged: first by the guard of outbound requests. */
const judged = (address: string, method: "GET" | "POST") =>
  Either.flatMap(Effect.runSync(Effect.either(urlOf(address))), (url) => targetOf(address, url, method))

describe("a rule", () => {
  it("fits no request that a plain reading of it does not allow", () => {
    let fitting = 0
    const rules = [
      terms({ paths: ["/v1/refunds", "/v1/*"] }),
      terms({ hosts: ["api.test:8443"], paths: ["/*"] }),
      terms({ hosts: ["other.test", "api.test:80"], paths: ["/", "/a", "/v1/a*"] })
    ]
    fc.assert(
      fc.property(url, fc.constantFrom("GET", "POST" as const), fc.constantFrom(...rules), (address, method, rule) => {
        const target = judged(address, method)
        const fits = Either.isRight(Either.flatMap(target, (one) => match([{ rule: 1, terms: rule }], "agent", one)))
        if (fits) {
          fitting += 1
          assert.isTrue(allows(rule, method, address), address)
        }
      }),
      { numRuns: runs(5_000) }
    )
    assert.isAbove(fitting, runs(10))
  })

  it("sends a path as it is written, so that the path that was judged is the one that arrives", () => {
    fc.assert(
      fc.property(url, (address) => {
        const target = judged(address, "GET")
        if (Either.isRight(target)) assert.strictEqual(target.right.path, new URL(address).pathname)
      }),
      { numRuns: runs(1_000) }
    )
  })

  it("takes no header that changes the request or the connection", () => {
    for (const name of [
      "host",
      "Host",
      "authorization",
      "cookie",
      "x-forwarded-host",
      "te",
      "upgrade",
      "content-length",
      "x-http-method-override",
      "x-amz-copy-source",
      "range"
    ]) {
      assert.isTrue(Either.isLeft(outgoingHeaders({ [name]: "x" })), name)
    }
    assert.isTrue(Either.isLeft(outgoingHeaders({ accept: "a", Accept: "b" })), "twice")
    assert.deepInclude(Either.getOrThrow(outgoingHeaders({ Accept: "a" })), {
      accept: "a",
      "accept-encoding": "identity"
    })
  })

  it("has exact hosts, plain paths and formats that hold the value once", () => {
    const decode = Schema.decodeUnknownEither(UseTerms)
    const sound = { ...terms({}), expires_at: null }
    assert.isTrue(Either.isRight(decode(sound)))
    for (const hosts of [
      [],
      ["*.test"],
      ["127.0.0.1"],
      ["1.2.3.4:8080"],
      ["api.test."],
      ["API.test"],
      ["https://api.test"],
      ["0x7f.1"],
      ["[::1]"],
      ["api.test:99999"],
      ["bücher.test"]
    ]) {
      assert.isTrue(Either.isLeft(decode({ ...sound, hosts })), hosts.join())
    }
    for (const path of [
      "",
      "v1",
      "/a*b",
      "/**",
      "/../a",
      "/a?b",
      "/a#b",
      "/%2e%2e/",
      "/%c0%ae%c0%ae/a",
      "/a//b",
      "/ü",
      "/a b"
    ]) {
      assert.isTrue(Either.isLeft(decode({ ...sound, paths: [path] })), path)
    }
    const place = Schema.decodeUnknownEither(Placement)
    for (const wrong of [
      { in: "header", name: "host", format: "{}" },
      { in: "header", name: "content-length", format: "{}" },
      { in: "header", name: "X-Key", format: "{}" },
      { in: "header", name: "x-key", format: "none" },
      { in: "header", name: "x-key", format: "{} {}" },
      { in: "header", name: "x-key", format: "{}\r\nx-evil: 1" },
      { in: "query", name: "a&b" },
      { in: "basic", user: "a:b" },
      { in: "body" }
    ]) {
      assert.isTrue(Either.isLeft(place(wrong)), JSON.stringify(wrong))
    }
  })
})

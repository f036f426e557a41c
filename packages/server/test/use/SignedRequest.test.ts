import { type Outgoing, placed, signaturesIn, signed } from "@coffer/server/secrets/use/Placement"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { createHash, createHmac } from "node:crypto"

const outgoing = (changes: Partial<Outgoing> = {}): Outgoing => ({
  method: "POST",
  url: "https://api.test/v1",
  headers: {},
  body: null,
  ...changes
})
const aws = (service: string) =>
  ({ in: "aws-sigv4", service, region: "eu-central-1", access_key_id: "AKIDEXAMPLE" }) as const

const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex")
const hmac = (key: string | Uint8Array, text: string) => createHmac("sha256", key).update(text).digest()
const form =
  /Credential=AKIDEXAMPLE\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=(\w{64})$/

/** The signature of a signed request, computed by the steps of AWS Signature Version 4, and the one that it has. */
const signatures = (before: Outgoing, { headers }: Outgoing, secret: string) => {
  const [, day = "", region = "", service = "", names = "", found] = form.exec(headers["authorization"] ?? "") ?? []
  const url = new URL(before.url)
  // S3 alone takes the path as it is; elsewhere it is escaped once more.
  const path = service === "s3" ? url.pathname : url.pathname.split("/").map(encodeURIComponent).join("/")
  const query = [...url.searchParams]
    .map((pair) => pair.map(encodeURIComponent).join("="))
    .sort()
    .join("&")
  const lines = names.split(";").map((name) => `${name}:${name === "host" ? url.host : headers[name]}\n`)
  const canonical = [before.method, path, query, lines.join(""), names, sha256(before.body ?? "")].join("\n")
  const scope = `${day}/${region}/${service}/aws4_request`
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, sha256(canonical)].join("\n")
  const key = [region, service, "aws4_request"].reduce(hmac, hmac(`AWS4${secret}`, day))
  return { found, expected: hmac(key, text).toString("hex") }
}

describe("a request with a signature for AWS", () => {
  for (const service of ["s3", "execute-api"])
    for (const body of [null, Buffer.from('{"a":1}')]) {
      it(`has the signature of its method, path, query, headers and body: ${service}, ${body === null ? "empty" : "with a body"}`, async () => {
        const before = outgoing({
          url: "https://api.test/a%20b?a=1&b=x%20y&a=0",
          body,
          headers: { accept: "text/plain" }
        })
        const after = await Effect.runPromise(signed(before, aws(service), "a secret key"))
        assert.strictEqual(after.headers["x-amz-content-sha256"], sha256(body ?? ""))
        const { expected, found } = signatures(before, after, "a secret key")
        assert.strictEqual(found, expected)
      })
    }

  it("is refused if the caller sends a header authorization", () => {
    const result = Effect.runSync(
      Effect.either(signed(outgoing({ headers: { authorization: "x" } }), aws("s3"), "key"))
    )
    assert.deepStrictEqual(result, Either.left("header authorization is filled by a use rule: leave it out"))
  })
})

describe("the signatures in a request", () => {
  it("are read from the header of the rule alone, and there are zero in other places and without the header", () => {
    const signature = "0".repeat(64)
    const request = outgoing({ headers: { authorization: `Signature=${signature}`, "x-key": signature } })
    for (const [place, found] of [
      [aws("s3"), [signature]],
      [{ in: "hmac-sha256", header: "x-key", format: "{}" }, [signature]],
      [{ in: "hmac-sha256", header: "x-other", format: "{}" }, []],
      [{ in: "header", name: "authorization", format: "{}" }, []],
      [{ in: "basic", user: "u" }, []],
      [{ in: "query", name: "k" }, []]
    ] as const) {
      assert.deepStrictEqual(signaturesIn(request, place), found, JSON.stringify(place))
    }
    assert.deepStrictEqual(signaturesIn(outgoing({ headers: { authorization: "x" } }), aws("s3")), [])
  })
})

describe("a value in a query or a header", () => {
  it("is refused if the caller sends the parameter, in any case of letters", () => {
    const wrong = Either.left("parameter Key is filled by a use rule: leave it out")
    for (const url of ["https://api.test/v1?Key=1", "https://api.test/v1?a=1&kEY=", "https://api.test/v1?KEY"]) {
      assert.deepStrictEqual(placed(outgoing({ url }), { in: "query", name: "Key" }, "v"), wrong, url)
    }
  })

  it("follows the rest of the address, which may end with a question mark", () => {
    for (const [url, expected] of [
      ["https://api.test/v1", "https://api.test/v1?k=v%20w"],
      ["https://api.test/v1?", "https://api.test/v1?k=v%20w"],
      ["https://api.test/v1?a=1", "https://api.test/v1?a=1&k=v%20w"]
    ] as const) {
      const found = placed(outgoing({ url }), { in: "query", name: "k" }, "v w")
      assert.strictEqual(Either.getOrThrow(found).url, expected)
    }
  })

  it("may be one character in a header", () => {
    const found = placed(outgoing(), { in: "header", name: "x-key", format: "{}" }, "v")
    assert.strictEqual(Either.getOrThrow(found).headers["x-key"], "v")
  })
})

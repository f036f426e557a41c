import { targetOf as urlOf } from "@coffer/server/base/outbound/Outbound"
import type { UseTerms } from "@coffer/domain/secrets/UseRule"
import { match, targetOf } from "@coffer/server/secrets/use-rules/Match"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"

const terms = (changes: Partial<UseTerms> = {}): UseTerms => ({
  hosts: ["api.test"],
  methods: ["GET"],
  paths: ["/v1/*"],
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
const target = { host: "api.test", method: "GET", path: "/v1/x" } as const
const candidates = (...all: ReadonlyArray<Partial<UseTerms>>) =>
  all.map((changes, rule) => ({ rule, terms: terms(changes) }))

describe("the rule for a request", () => {
  it("is the first that fits in account, host, method and path", () => {
    const all = candidates({ accounts: ["other"] }, { hosts: ["other.test"] }, { methods: ["POST"] }, {}, {})
    const found = match(all, "agent", target)
    assert.deepStrictEqual(
      Either.map(found, ({ rule }) => rule),
      Either.right(3)
    )
  })

  for (const [name, all, part] of [
    ["the account, if no rule is for it", candidates({ accounts: ["other"] }), "account agent"],
    ["the account, if there is no rule", [], "account agent"],
    ["the host", candidates({ hosts: ["other.test"] }), "host api.test"],
    ["the method", candidates({ methods: ["POST"] }), "method GET"],
    ["the path", candidates({ paths: ["/v2/*"] }), "path /v1/x"],
    [
      "the part that the rest of the rules have not, even if each part is in some rule",
      candidates({ hosts: ["other.test"] }, { methods: ["POST"] }),
      "method GET"
    ]
  ] as const) {
    it(`is missing, and the answer names ${name}`, () => {
      assert.deepStrictEqual(match(all, "agent", target), Either.left(part))
    })
  }
})

describe("the target of a request", () => {
  const wrong = "the path has dot segments, empty segments, or encoded dots, slashes or percent signs"
  for (const [text, host, path] of [
    ["https://api.test/v1?x=/y", "api.test", "/v1"],
    ["HTTPS://api.test/v1", "api.test", "/v1"],
    ["https://api.test", "api.test", "/"],
    ["https://api.test?x=1", "api.test", "/"],
    ["https://api.test:443/v1", "api.test", "/v1"],
    ["https://api.test:8443/v1", "api.test:8443", "/v1"]
  ] as const) {
    it(`has the host as rules name it, and the path as it is written: ${text}`, () => {
      const url = Either.getOrThrow(Effect.runSync(Effect.either(urlOf(text))))
      assert.deepStrictEqual(targetOf(text, url, "GET"), Either.right({ host, method: "GET", path }))
    })
  }

  it("has the port of HTTP, which no rule names without it", () => {
    const hostOf = (text: string) => Either.map(targetOf(text, new URL(text), "POST"), ({ host }) => host)
    assert.deepStrictEqual(hostOf("http://api.test/v1"), Either.right("api.test:80"))
    assert.deepStrictEqual(hostOf("http://api.test:8080/v1"), Either.right("api.test:8080"))
    assert.deepStrictEqual(hostOf("http://api.test:443/v1"), Either.right("api.test"))
  })

  it("is refused if the path would be sent otherwise than it is written, or another side may read it otherwise", () => {
    for (const text of [
      "https://api.test/a/../b",
      "https://api.test/a b",
      "https://api.test/%2e%2e/a",
      "https://api.test//a"
    ]) {
      assert.deepStrictEqual(targetOf(text, new URL(text), "GET"), Either.left(wrong), text)
    }
  })
})

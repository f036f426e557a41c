import { proxyFor } from "@coffer/client/internal/Proxy"
import { parseServerUrl } from "@coffer/client/internal/ServerUrl"
import { Either } from "effect"
import { assert, describe, it } from "vitest"

const at = (url: string) => Either.getOrThrow(parseServerUrl(url, "flag"))
const proxied = (url: string, noProxy: string) => {
  const found = Either.getOrThrow(
    proxyFor(at(url), { https_proxy: "http://p:1", http_proxy: "http://p:1", NO_PROXY: noProxy })
  )
  return found !== undefined
}

const host = "https://coffer.internal.example"
const v4 = "https://10.1.2.3:8443"
const v6 = "http://[fd00::5]"

describe("NO_PROXY", () => {
  it.each([
    [host, "internal.example"],
    [host, ".internal.example"],
    [host, "*.internal.example"],
    [host, "other.example, INTERNAL.example."],
    [host, "a b internal.example"],
    [host, "coffer.internal.example:443"],
    [host, "*"],
    [v4, "10.1.2.3"],
    [v4, "10.0.0.0/8"],
    [v4, "10.1.2.3:8443"],
    [v4, "10.1.2.1-10.1.2.9"],
    [v6, "fd00::5"],
    [v6, "[fd00::5]"],
    [v6, "[fd00::5]:80"],
    [v6, "fd00::/8"]
  ])("excepts %s: %s", (url, text) => {
    assert.isFalse(proxied(url, text))
  })

  it.each([
    [host, ""],
    [host, "ternal.example"],
    [host, "example.internal"],
    [host, "coffer.internal.example:80"],
    [host, "10.0.0.0/8"],
    [v4, "10.2.0.0/16"],
    [v4, "2.3"],
    [v4, "10.1.2.3:443"],
    [v4, "10.1.2.4-10.1.2.9"],
    [v6, "fe80::/10"],
    [v6, "fd00::6"]
  ])("does not except %s: %s", (url, text) => {
    assert.isTrue(proxied(url, text))
  })

  it.each(["10.0.0.0/33", "10.0.0/8", "internal.example/8"])("is refused with a word: %s", (text) => {
    const problem = Either.flip(proxyFor(at(v4), { https_proxy: "http://p:1", no_proxy: text }))
    assert.strictEqual(
      Either.getOrThrow(problem).message,
      `no_proxy: ${text} is not a range of addresses, such as 10.0.0.0/8`
    )
  })
})

describe("a proxy variable", () => {
  it.each([
    ["127.0.0.1:3128", "http://127.0.0.1:3128/"],
    ["proxy.example", "http://proxy.example/"],
    ["http://ada:pw@proxy:1", "http://ada:pw@proxy:1/"],
    ["https://proxy", "https://proxy/"]
  ])("may have no scheme: %s", (text, expected) => {
    assert.strictEqual(Either.getOrThrow(proxyFor(at(host), { https_proxy: text }))?.href, expected)
    assert.isUndefined(Either.getOrThrow(proxyFor(at(host), { http_proxy: text })))
    assert.isUndefined(Either.getOrThrow(proxyFor(at("https://localhost"), { https_proxy: text })))
  })

  it.each([
    ["socks5://ada:s3cret@proxy:1", /^HTTPS_PROXY names a proxy that is neither/],
    ["http://s3cret:s3cret", /^HTTPS_PROXY is not the address of a proxy/]
  ])("is refused without its text: %s", (text, message) => {
    const problem = Either.getOrThrow(Either.flip(proxyFor(at(host), { https_proxy: "", HTTPS_PROXY: text })))
    assert.match(problem.message, message)
    assert.notInclude(problem.message, "s3cret")
  })
})

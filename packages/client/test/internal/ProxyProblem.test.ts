import { serverUnreachable } from "@coffer/client/internal/ConnectionProblem"
import { proxyProblemOf } from "@coffer/client/internal/ProxyProblem"
import { RequestFailed } from "@coffer/client/internal/Send"
import { assert, describe, it } from "vitest"

const target = new URL("https://coffer.example/api")
const proxy = { url: new URL("http://proxy.example:3128"), variable: "HTTPS_PROXY" }
const named = { url: new URL("http://ada:s3cret@proxy.example:3128"), variable: "https_proxy" }

/** As Node 24 fails where a proxy refuses a tunnel: its message has the whole address of the proxy. */
const refusal = (statusCode: number) =>
  Object.assign(new Error("Failed to establish tunnel to coffer.example:443 via http://ada:s3cret@proxy.example"), {
    code: "ERR_PROXY_TUNNEL",
    statusCode
  })

const failed = (code: string) => Object.assign(new Error(code), { code })

describe("the failure of a proxy", () => {
  it.each([
    [proxy, refusal(407), "asks for a name and a password (407)", "as in http://NAME:PASSWORD@proxy.example:3128"],
    [named, refusal(407), "does not take the name and the password in https_proxy (407)", "correct them"],
    [proxy, refusal(403), "does not let you reach coffer.example (403)", "operator of the proxy"],
    [proxy, refusal(502), "does not reach coffer.example (502)", "NO_PROXY=coffer.example goes around"],
    [proxy, refusal(NaN), "does not speak HTTP", "check HTTPS_PROXY"],
    [
      proxy,
      failed("ERR_PROXY_TUNNEL"),
      "ended the connection, or did not respond in time",
      "see whether the proxy runs"
    ],
    [proxy, failed("ECONNREFUSED"), "refused the connection", "see whether the proxy runs"],
    [proxy, failed("ENOTFOUND"), "has a host name that is not known", "check HTTPS_PROXY"],
    [proxy, failed("ETIMEDOUT"), "did not respond in time", "see whether the proxy runs"]
  ])("names it and the next step, and no password: %#", (used, cause, reason, next) => {
    const problem = proxyProblemOf(used, target, cause) ?? assert.fail("no problem of the proxy")
    const { message } = serverUnreachable(
      "https://coffer.example",
      new RequestFailed({ cause: problem, answered: false })
    )
    assert.include(
      message,
      `cannot reach https://coffer.example: the proxy proxy.example:3128 (${used.variable}) ${reason}`
    )
    assert.include(message, next)
    assert.notInclude(message, "s3cret")
    assert.notInclude(message, "--server-url")
  })

  it("is retried where it may pass", () => {
    const isTransient = (cause: unknown) => proxyProblemOf(proxy, target, cause)?.transient
    assert.deepStrictEqual(
      [502, 503, 504].map((status) => isTransient(refusal(status))),
      [true, true, true]
    )
    assert.deepStrictEqual(
      [407, 403, 500].map((status) => isTransient(refusal(status))),
      [false, false, false]
    )
  })

  it("is not what something behind it did", () => {
    for (const code of ["ECONNRESET", "CERT_HAS_EXPIRED", "DEPTH_ZERO_SELF_SIGNED_CERT", "EPROTO"]) {
      assert.isUndefined(proxyProblemOf(proxy, target, failed(code)))
    }
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { request } from "node:http"
import { listenForBrowser } from "../../src/commands/auth/Loopback.js"
import { machineName } from "../../src/commands/auth/Machine.js"
import { noBrowserReason } from "../../src/terminal/Browser.js"

const state = "dGhlIHN0YXRlIG9mIGl0"
const code = "c".repeat(43)

const visit = (address: string, method = "GET") =>
  Effect.promise(async () => {
    const answer = await fetch(address, { method })
    return { status: answer.status, text: await answer.text(), headers: answer.headers }
  })

describe("the listener for the browser's way back", () => {
  it.live("takes the code of its own login, and tells the person to close the window", () =>
    Effect.gen(function* () {
      const { redirectUri, returned } = yield* listenForBrowser(state)
      assert.match(redirectUri, /^http:\/\/127\.0\.0\.1:\d+\/callback$/)
      const page = yield* visit(`${redirectUri}?code=${code}&state=${state}`)
      assert.strictEqual(page.status, 200)
      assert.include(page.text, "You can close this window")
      assert.match(page.headers.get("content-security-policy") ?? "", /default-src 'none'/)
      assert.strictEqual(page.headers.get("cache-control"), "no-store")
      assert.strictEqual(Redacted.value(yield* returned), code)
    }).pipe(Effect.scoped)
  )

  it.live("is not moved by others, who do not know the state", () =>
    Effect.gen(function* () {
      const { redirectUri, returned } = yield* listenForBrowser(state)
      const strange = "d".repeat(43)
      for (const [address, method] of [
        [`${redirectUri}?code=${strange}&state=${"x".repeat(state.length)}`],
        [`${redirectUri}?code=${strange}`],
        [`${redirectUri}?code=${strange}&state=`],
        [`${redirectUri}?code=${strange}&state=${"\u00e9".repeat(state.length)}`],
        [`${redirectUri}?error=access_denied&state=wrong`],
        [`${redirectUri}?code=short&state=${state}`],
        [`${redirectUri}?state=${state}`],
        [`${redirectUri}/../?code=${strange}&state=${state}`],
        [`${redirectUri}?code=${strange}&state=${state}`, "POST"]
      ] as const) {
        assert.strictEqual((yield* visit(address, method)).status, 404, address)
      }
      assert.strictEqual((yield* visit(`${redirectUri}?code=${code}&state=${state}`)).status, 200)
      assert.strictEqual(Redacted.value(yield* returned), code)
    }).pipe(Effect.scoped)
  )

  it.live("survives invalid addresses", () =>
    Effect.gen(function* () {
      const { redirectUri } = yield* listenForBrowser(state)
      const status = yield* Effect.promise(
        () =>
          new Promise((resolve) => {
            request(redirectUri, { path: "//:0/%zz" }, (answer) => resolve(answer.statusCode)).end()
          })
      )
      assert.strictEqual(status, 404)
    }).pipe(Effect.scoped)
  )

  it.live("says that the login was refused", () =>
    Effect.gen(function* () {
      const { redirectUri, returned } = yield* listenForBrowser(state)
      yield* visit(`${redirectUri}?error=access_denied&state=${state}`)
      assert.include((yield* Effect.flip(returned)).message, "refused in the browser")
    }).pipe(Effect.scoped)
  )

  it.live("is gone with its login", () =>
    Effect.gen(function* () {
      const { redirectUri } = yield* Effect.scoped(listenForBrowser(state))
      const refused = yield* Effect.promise(() => fetch(redirectUri).catch(() => "refused"))
      assert.strictEqual(refused, "refused")
    })
  )
})

describe("a machine", () => {
  it.each([
    [{ DISPLAY: ":0" }, "linux", undefined],
    [{ WAYLAND_DISPLAY: "wayland-0" }, "linux", undefined],
    [{}, "linux", "this machine has no display"],
    [{ DISPLAY: "" }, "linux", "this machine has no display"],
    [{}, "darwin", undefined],
    [{}, "win32", undefined],
    [{ DISPLAY: ":0", SSH_CONNECTION: "a b c d" }, "linux", "this is a connection by SSH"],
    [{ SSH_CONNECTION: "a b c d" }, "darwin", "this is a connection by SSH"]
  ] as const)("with %j on %s has a browser unless %s", (env, platform, reason) => {
    assert.strictEqual(noBrowserReason(env, platform), reason)
  })

  it.each([
    ["adas-laptop", "adas-laptop"],
    ["Ada's MacBook.local", "Ada-s MacBook.local"],
    ["-\u202eevil", "evil"],
    ["x".repeat(200), "x".repeat(64)],
    ["", undefined],
    ["\u2603", undefined]
  ])("called %j is shown as %j", (name, shown) => {
    assert.strictEqual(machineName(name).machine, shown)
  })
})

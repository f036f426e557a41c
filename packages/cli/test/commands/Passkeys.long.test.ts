import { assert, describe, it } from "vitest"
import { passkeysOf } from "../../../server/test/support/SoftAuthenticator.js"
import { workplace } from "../support/Workplace.js"

const origin = (url: string) => url.replace("127.0.0.1", "localhost")
const place = workplace("ada@example.com", (url) => ({ SERVICE_PUBLIC_URL: origin(url) }))
const { ok, prints } = place

describe("coffer with a passkey", () => {
  it("says how a terminal is proven, waits until a browser has done it, and then may do what needs it", async () => {
    assert.match((await place.home.coffer(["reauthenticate"])).stderr, /no passkey, so a new login is enough/)
    // Another session of hers, as that of a browser.
    const { stdout: token } = await place.server.offline(["session", "ada@example.com"])
    const call = (method: string, path: string, body?: unknown) =>
      place.server.call(method, path, { body, token: token.trim() })
    const passkeys = passkeysOf(call, origin(place.server.url))
    const { device } = await passkeys.register("laptop")

    const refused = await place.home.coffer(["service-account", "create", "ci"])
    assert.strictEqual(refused.code, 3)
    assert.match(refused.stderr, /: verify with your passkey first \(coffer reauthenticate\), then retry\n$/)

    const { data } = await place.server.call("GET", "/api/auth/sessions", { token: place.home.token })
    const { id } = data.find(({ current }: { readonly current: boolean }) => current)
    let ended = false
    const command = place.home.coffer(["reauthenticate"]).finally(() => {
      ended = true
    })
    // The command has to see the session as it was before.
    while (!ended) {
      await new Promise((resolve) => setTimeout(resolve, 2_000))
      const options = await call("POST", "/api/auth/passkeys/challenge", { session_id: id })
      await call("POST", "/api/auth/passkeys/verify", { credential: device.prove(options) })
    }
    const { code, stderr, stdout } = await command
    assert.strictEqual(code, 0, stderr)
    assert.include(stderr, `${origin(place.server.url)}/-/account?session=${id}`)
    assert.strictEqual(stdout, "this session is proven with your passkey\n")
    await ok("service-account", "create", "ci")

    assert.match(await prints("passkey", "list"), /laptop/)
    assert.match((await place.home.coffer(["passkey", "remove", "phone"])).stderr, /no passkey phone/)
    assert.strictEqual(await prints("passkey", "remove", "laptop"), "passkey laptop removed\n")
  }, 60_000)
})

import { browserName, sessionName } from "@coffer/domain/directory/SessionName"
import { assert, describe, it } from "vitest"

const webkit = "AppleWebKit/537.36 (KHTML, like Gecko)"

describe("the name of a session", () => {
  it.each([
    ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/143.0.0.0 Safari/537.36`, "Chrome on Windows"],
    [`Mozilla/5.0 (Windows NT 10.0) ${webkit} Chrome/143.0.0.0 Safari/537.36 Edg/143.0`, "Edge on Windows"],
    [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Version/26.0 Safari/605.1.15`, "Safari on macOS"],
    [
      `Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${webkit} CriOS/143.0 Mobile Safari/604.1`,
      "Chrome on iOS"
    ],
    [
      `Mozilla/5.0 (Linux; Android 15) ${webkit} SamsungBrowser/28.0 Chrome/130.0 Mobile`,
      "Samsung Internet on Android"
    ],
    [`Mozilla/5.0 (X11; CrOS x86_64) ${webkit} Chrome/143.0.0.0 Safari/537.36`, "Chrome on ChromeOS"],
    ["curl/8", "a browser"],
    ["", "a browser"]
  ])("of %s is %s", (userAgent, name) => {
    assert.strictEqual(browserName(userAgent), name)
    assert.strictEqual(sessionName({ program: "browser", user_agent: userAgent }), name)
  })

  it("is of the program and the machine, as far as they are known", () => {
    assert.strictEqual(sessionName({ program: "cli", machine: "adas-laptop" }), "coffer on adas-laptop")
    assert.strictEqual(sessionName({ program: "app/shop 1.4.0" }), "app/shop 1.4.0")
    assert.strictEqual(sessionName({ machine: "adas-laptop" }), "a program on adas-laptop")
    assert.strictEqual(sessionName({}), "a program")
  })
})

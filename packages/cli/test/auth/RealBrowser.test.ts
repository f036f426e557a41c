import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { chromiumPath, noChromium } from "../../../../scripts/chromium.mjs"
import { Chromium } from "../support/Chromium.js"
import { finish, node, Server, TestHome, until } from "../support/Programs.js"
import { client, Terminal } from "../support/Terminal.js"

const path = chromiumPath()
const why = path === undefined ? ` [${noChromium}]` : ""

describe.skipIf(path === undefined)(`a real browser without scripts${why}`, () => {
  let server: Server
  let browser: Chromium

  beforeAll(async () => {
    server = await Server.start((url) => ({ SERVICE_PUBLIC_URL: url }))
    browser = await Chromium.start(path ?? "")
  })
  afterAll(async () => {
    await browser.close()
    await server.stop()
  })

  const logIn = async (email: string) => {
    await browser.sees("E-mail address")
    await browser.fill("email", email)
    await browser.sees("a code of 6 digits is on its way")
    await browser.fill("code", await server.code(email))
    await browser.sees("Let coffer log in?")
  }

  it("logs coffer in on its own machine: from the page over a yes to the loopback address", async () => {
    const home = new TestHome(server.url)
    const folder = join(home.folder, "bin")
    mkdirSync(folder)
    writeFileSync(
      join(folder, "xdg-open"),
      '#!/bin/sh\nprintf %s "$1" > "$HOME/new" && mv "$HOME/new" "$HOME/address"\n'
    )
    chmodSync(join(folder, "xdg-open"), 0o755)
    const terminal = new Terminal(home, [node, client, "login"], {
      env: { DISPLAY: ":0", PATH: `${folder}:${home.environment["PATH"] ?? ""}` }
    })
    const file = join(home.folder, "address")
    await browser.open(await until(() => (existsSync(file) ? readFileSync(file, "utf8") : undefined), "the address"))
    await logIn("loopback@example.com")
    await browser.click("Yes, log it in")
    assert.match(await browser.sees("You can close this window"), /^http:\/\/127\.0\.0\.1:\d+\/callback\?code=/)
    await terminal.sees(`logged in to ${server.url} as loopback@example.com`)
    assert.strictEqual(await terminal.ended(), 0)
    home.remove()
  })

  it("logs coffer in on another machine by its code", async () => {
    const home = new TestHome(server.url)
    const child = home.start(["login", "--device"])
    let notes = ""
    child.stderr?.on("data", (chunk: Buffer) => (notes += chunk.toString()))
    const address = await until(() => /or open (\S+)$/m.exec(notes)?.[1], "the address")
    const ended = finish(child)
    await browser.open(address)
    await browser.sees("Enter the code")
    await browser.click("Continue")
    await logIn("device@example.com")
    await browser.click("Yes, log it in")
    await browser.sees("The program is logged in")
    assert.strictEqual((await ended).stdout, `logged in to ${server.url} as device@example.com\n`)
    home.remove()
  })
})

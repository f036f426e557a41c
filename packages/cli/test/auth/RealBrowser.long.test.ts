import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { chromiumPath, noChromium } from "../../../../scripts/chromium.mjs"
import { TestProvider } from "../../../server/test/support/TestProvider.js"
import { Chromium } from "../support/Chromium.js"
import { finish, node, Server, TestHome, until } from "../support/Programs.js"
import { client, Terminal } from "../support/Terminal.js"

const path = chromiumPath()
const why = path === undefined ? ` [${noChromium}]` : ""

/** A person's login in the browser, up to the question whether coffer may log in. */
type LogIn = (email: string) => Promise<void>

/** `coffer login` on the browser's machine: from the page over a yes to the loopback address. */
const logInHere = async (server: Server, browser: Chromium, logIn: LogIn, email: string) => {
  const home = new TestHome(server.url)
  const folder = join(home.folder, "bin")
  mkdirSync(folder)
  writeFileSync(join(folder, "xdg-open"), '#!/bin/sh\nprintf %s "$1" > "$HOME/new" && mv "$HOME/new" "$HOME/address"\n')
  chmodSync(join(folder, "xdg-open"), 0o755)
  const terminal = new Terminal(home, [node, client, "login"], {
    env: { DISPLAY: ":0", PATH: `${folder}:${home.environment["PATH"] ?? ""}` }
  })
  const file = join(home.folder, "address")
  await browser.open(await until(() => (existsSync(file) ? readFileSync(file, "utf8") : undefined), "the address"))
  await logIn(email)
  await browser.click("Yes, log it in")
  assert.match(await browser.sees("You can close this window"), /^http:\/\/127\.0\.0\.1:\d+\/callback\?code=/)
  await terminal.sees(`logged in to ${server.url} as ${email}`)
  assert.strictEqual(await terminal.ended(), 0)
  home.remove()
}

/** `coffer login --device` on another machine, by its code. */
const logInElsewhere = async (server: Server, browser: Chromium, logIn: LogIn, email: string) => {
  const home = new TestHome(server.url)
  const child = home.start(["login", "--device"])
  let notes = ""
  child.stderr?.on("data", (chunk: Buffer) => (notes += chunk.toString()))
  const address = await until(() => /or open (\S+)$/m.exec(notes)?.[1], "the address")
  const ended = finish(child)
  await browser.open(address)
  await browser.sees("Enter the code")
  await browser.click("Continue")
  await logIn(email)
  await browser.click("Yes, log it in")
  await browser.sees("The program is logged in")
  assert.strictEqual((await ended).stdout, `logged in to ${server.url} as ${email}\n`)
  home.remove()
}

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

  const byCode: LogIn = async (email) => {
    await browser.sees("E-mail address")
    await browser.fill("email", email)
    await browser.sees("a code of 6 digits is on its way")
    await browser.fill("code", await server.code(email))
    await browser.sees("Let coffer log in?")
  }

  it("logs coffer in on its own machine", () => logInHere(server, browser, byCode, "loopback@example.com"))

  it("logs coffer in on another machine", () => logInElsewhere(server, browser, byCode, "device@example.com"))
})

describe.skipIf(path === undefined)(`a real browser at the provider of single sign-on${why}`, () => {
  let provider: TestProvider
  let server: Server
  let browser: Chromium

  beforeAll(async () => {
    server = await Server.start(async (url) => {
      provider = await TestProvider.make(`${url}/api/auth/oidc/callback`)
      await provider.start()
      return {
        SERVICE_PUBLIC_URL: url,
        SERVICE_OIDC_ISSUER: provider.issuer,
        SERVICE_OIDC_CLIENT_ID: "coffer",
        SERVICE_OIDC_CLIENT_SECRET: "a secret: with/strange+characters",
        SERVICE_OIDC_NAME: "Test provider",
        SERVICE_CONSOLE: "0"
      }
    })
    browser = await Chromium.start(path ?? "")
  })
  afterEach(() => browser.forget())
  afterAll(async () => {
    await browser.close()
    await server.stop()
    await provider.stop()
  })

  /** Goes to the provider and back as a person whose address is verified there. */
  const atProvider = async (email: string, isVerified = true) => {
    provider.account = { sub: email, email, email_verified: isVerified }
    await browser.sees("Log in with Test provider")
    await browser.click("Log in with Test provider")
  }

  const byProvider: LogIn = async (email) => {
    await atProvider(email)
    await browser.sees("Let coffer log in?")
  }

  it("logs a person in, and goes on by itself to the server's first page", async () => {
    await browser.open(`${server.url}/login`)
    await atProvider("ada@example.com")
    assert.strictEqual(await browser.sees("This server keeps secrets"), `${server.url}/`)
  })

  it("says why an address that the provider has not verified is refused", async () => {
    await browser.open(`${server.url}/login`)
    await atProvider("eve@example.com", false)
    await browser.sees("not verified at Test provider")
  })

  it("logs coffer in on its own machine", () => logInHere(server, browser, byProvider, "here@example.com"))

  it("logs coffer in on another machine", () => logInElsewhere(server, browser, byProvider, "elsewhere@example.com"))
})

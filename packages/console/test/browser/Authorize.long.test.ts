import { createHash, randomBytes } from "node:crypto"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { type Json, Person, until } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

// A program on this computer asks for a part of a person's rights (OAuth 2.1), and the person decides in a browser.

const verifier = randomBytes(32).toString("base64url")
const challenge = createHash("sha256").update(verifier).digest("base64url")

let program: Server
let callback: string
const answers: Array<URLSearchParams> = []

beforeAll(async () => {
  program = createServer(({ url = "" }, response) => {
    const { pathname, searchParams } = new URL(url, "http://127.0.0.1")
    if (pathname === "/callback") answers.push(searchParams)
    response.end("You can close this page.")
  }).listen(0, "127.0.0.1")
  await new Promise((resolve) => program.once("listening", resolve))
  callback = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`
})
afterAll(() => {
  program.close()
})

const post = async (path: string, body: string, type: string): Promise<Json> => {
  const { url } = inject("server")
  const response = await fetch(url + path, { method: "POST", headers: { "content-type": type }, body })
  return response.json()
}

/** The address of a registered program's request. */
const requestOf = async (scope: string) => {
  const metadata = JSON.stringify({ redirect_uris: [callback], client_name: "Claude Code" })
  const { client_id } = await post("/oauth/register", metadata, "application/json")
  const parameters = new URLSearchParams({
    ...{ response_type: "code", client_id, redirect_uri: callback, state: "xyz", scope },
    ...{ code_challenge: challenge, code_challenge_method: "S256", resource: `${inject("server").url}/mcp` }
  })
  return { client_id, path: `/-/authorize?${parameters.toString()}` }
}

/** The answer that the program gets, for which the browser leaves the server. */
const answerTo = async (visit: Visit, before: number): Promise<URLSearchParams> => {
  const answer = await until(() => answers[before], "the answer at the program")
  assert.deepStrictEqual(
    visit.problems.filter((problem) => !problem.startsWith("request: http://127.0.0.1:")),
    []
  )
  await visit.context.close()
  return answer
}

describe.skipIf(!hasBrowser())(`the page of consent${why}`, { timeout: 120_000 }, () => {
  it("gives a program what the person chose, and nothing wider than that by itself", async () => {
    const ada = await Person.login("consents@example.com")
    await ada.organization("consents", { prod: { API_KEY: "1" }, staging: { API_KEY: "2" } })
    const { client_id, path } = await requestOf("read reveal")
    const before = answers.length
    const visit = await Visit.open(path, ada)
    const { page } = visit
    await visit.sees("Claude Code")
    await visit.sees("a program on this computer, which nobody vouches for")
    await visit.sees(new URL(callback).host)
    await page.getByLabel("staging", { exact: true }).waitFor()
    assert.isFalse(await page.getByLabel("staging", { exact: true }).isChecked())
    assert.isTrue(await page.getByRole("button", { name: "Connect" }).isDisabled())
    await page.getByLabel("staging", { exact: true }).check()
    assert.isFalse(await page.getByLabel(/^It may see values/).isChecked())
    await visit.isAccessible("the page of consent")
    await visit.press("Connect")
    const answer = await answerTo(visit, before)
    assert.deepStrictEqual([answer.get("state"), answer.get("iss")], ["xyz", inject("server").url])
    const form = new URLSearchParams({
      ...{ grant_type: "authorization_code", code: answer.get("code") ?? "", client_id },
      ...{ redirect_uri: callback, code_verifier: verifier }
    })
    const issued = await post("/oauth/token", form.toString(), "application/x-www-form-urlencoded")
    assert.strictEqual(issued.scope, "read")
    const secrets = (env: string) =>
      fetch(`${inject("server").url}/api/orgs/consents/projects/webshop/envs/${env}/secrets`, {
        headers: { authorization: `Bearer ${issued.access_token}` }
      })
    assert.deepStrictEqual([(await secrets("staging")).status, (await secrets("prod")).status], [200, 403])

    const account = await Visit.open("/-/account", ada)
    await account.sees("Claude Code")
    await account.close()
  })

  it("tells the program that the person refused", async () => {
    const bea = await Person.login("bea@decisions.example")
    await bea.organization("decisions", { prod: { API_KEY: "1" } })
    const before = answers.length
    const visit = await Visit.open((await requestOf("write")).path, bea)
    await visit.press("Refuse")
    const answer = await answerTo(visit, before)
    assert.deepStrictEqual([answer.get("error"), answer.get("code")], ["access_denied", null])
  })

  it("shows a request whose address for the answer is not proved, and leads nowhere", async () => {
    const cy = await Person.login("tricked@example.com")
    const { path } = await requestOf("read")
    const before = answers.length
    const visit = await Visit.open(
      path.replace(encodeURIComponent(callback), encodeURIComponent("https://evil.example/x")),
      cy
    )
    await visit.sees(/is not an address of this program/)
    assert.strictEqual(await visit.page.getByRole("button", { name: "Connect" }).count(), 0)
    assert.strictEqual(answers.length, before)
    await visit.close()
  })
})

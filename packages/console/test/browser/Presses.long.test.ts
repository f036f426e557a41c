import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { changingCalls } from "../../../domain/test/support/ChangingCalls.js"
import { pages } from "../../src/pages/Pages.js"
import { fill, of, org } from "../support/Everything.js"
import { Renewed } from "../support/Renewal.js"
import { Presses } from "../support/Presses.js"
import { hasBrowser } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

/** The addresses of all pages except the matrix: a page that is added to the console is among them. */
const addressesOf = {
  server: pages.server.map(({ need, page }) => ({ need, address: page === "" ? "/" : `/-/${page}` })),
  org: pages.org.map(({ page }) => (page === "" ? `/${org}` : `/${org}/-/${page}`)),
  // The matrix makes one call that changes something, which the history of the project reverts.
  project: pages.project.flatMap(({ page }) => (page === "" ? [] : [`/${org}/webshop/-/${page}`])),
  secret: pages.secret.flatMap(() => ["API_KEY", "GONE"].map((key) => `/${org}/webshop/${key}?env=dev`))
}

const ofSuperadmin = addressesOf.server.flatMap(({ address, need }) => (need === "superadmin" ? [address] : []))
const ofOwner = [
  ...addressesOf.server.flatMap(({ address, need }) => (need === "superadmin" ? [] : [address])),
  ...addressesOf.org,
  ...addressesOf.project,
  ...addressesOf.secret
]

describe.skipIf(!hasBrowser())(`the buttons of the console${why}`, { timeout: 600_000 }, () => {
  let owner: Presses
  let superadmin: Presses
  let renewed: Renewed

  beforeAll(async () => {
    renewed = await Renewed.start()
    const { ada, root } = await fill(inject("server").url, renewed)
    owner = await Presses.begin(ada, { hasPasskey: true })
    superadmin = await Presses.begin(root)
  }, 120_000)
  afterAll(async () => {
    await owner.visit.close()
    await superadmin.visit.close()
    await renewed.stop()
  })

  const unasked = ({ sent }: Presses) =>
    sent.filter(({ isAnswer, row }) => row.kind === "asks" && !isAnswer).map(({ path, row }) => `${row.name}: ${path}`)

  it.each(ofOwner)("end nothing before a question was answered: %s", async (address) => {
    await owner.all(address)
    assert.deepStrictEqual(unasked(owner), [])
  })

  it.each(ofSuperadmin)("end nothing before a question was answered: %s, of a superadmin", async (address) => {
    // Other tests share the server: of the people, only those of this one.
    await superadmin.all(address, of(""))
    assert.deepStrictEqual(unasked(superadmin), [])
  })

  it("lead to every call that ends something, by the answer to a question", () => {
    const answered = new Set([...owner.sent, ...superadmin.sent].map(({ row }) => row.name))
    assert.deepStrictEqual(
      changingCalls.flatMap(({ kind, name }) => (kind === "asks" && !answered.has(name) ? [name] : [])),
      []
    )
  })
})

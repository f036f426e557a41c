import { assert, describe, expect, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

const place = (config: string) => ({ DOPPLER_PROJECT: "webshop", DOPPLER_CONFIG: config })

/** Three configs of Doppler, as `jq -s` puts them into one document. */
const document = JSON.stringify(
  [
    {
      ...place("prd"),
      HOST: "db.internal",
      URL: "postgres://${HOST}/canary-1",
      "BAD KEY": "canary-2",
      OTHER: "${billing.prd.TOKEN}"
    },
    { ...place("stg"), HOST: "db.stg", API_KEY: "canary-3" },
    { ...place("dev_ada"), HOST: "localhost" }
  ],
  null,
  2
)

describe.skipIf(!hasBrowser())(`importing what other tools print${why}`, { timeout: 120_000 }, () => {
  it("shows the plan of each environment, and stages what is chosen into all of them", async () => {
    const ada = await Person.login("other-tools@example.com")
    await ada.organization("imports", { prod: { HOST: "db.internal" }, staging: { HOST: "old" } })
    const visit = await Visit.open("/imports/webshop", ada)
    const { page } = visit
    await page.getByRole("columnheader", { name: "prod" }).waitFor()
    await visit.press(/^Import$/)
    await visit.fill("The text of the file", document)
    await visit.sees("doppler secrets download --no-file --format json")
    const cells = async (name: string) =>
      (
        await page
          .getByRole("row", { name: new RegExp(`^${name} `) })
          .getByRole("cell")
          .allInnerTexts()
      )
        .slice(1)
        .map((text) => text.trim())
    await expect.poll(() => cells("prd")).toEqual(["2", "0", "1", "1", "1", "2"])
    assert.deepStrictEqual(await cells("stg"), ["1", "1", "0", "0", "0", "2"])
    assert.deepStrictEqual(await cells("dev_ada"), ["1", "0", "0", "0", "0", "2"])
    await visit.sees("Not storable in prod")
    await visit.sees("keeps ${billing.prd.TOKEN} as text")
    await visit.isAccessible("the plan of an import from a tool")
    assert.notInclude(await page.content(), "canary-")
    assert.strictEqual(await page.getByLabel("Into, for dev_ada").inputValue(), "dev")
    await page.getByLabel("Into, for dev_ada").selectOption("leave it out")
    await visit.press("Stage 4 for prod, staging")
    await visit.press("Review and write")
    await visit.press("Write to staging, prod")
    // The line is there after the first of both; the dialog closes after the last.
    await visit.sees("Written to")
    await page.locator("dialog").waitFor({ state: "detached" })
    const envs = "/api/orgs/imports/projects/webshop/envs"
    assert.deepInclude(await ada.call("GET", `${envs}/prod/secrets/URL`), {
      value: "postgres://db.internal/canary-1",
      kind: "reference"
    })
    assert.strictEqual((await ada.call("GET", `${envs}/staging/secrets/HOST`)).value, "db.stg")
    const { data } = await ada.call("GET", `${envs}/prod/revisions`)
    assert.strictEqual(data[0].note, "imported from doppler:webshop/prd")
    assert.deepStrictEqual((await ada.call("GET", `${envs}/dev/bundle`)).data, [])

    // A tool that is named reads its own documents alone, and says what is wrong with others.
    await visit.press(/^Import$/)
    await page.getByLabel("as", { exact: true }).selectOption("SOPS, decrypted")
    await visit.fill("The text of the file", "db:\n  password: ENC[AES256_GCM,data:canary-4,type:str]\n")
    await visit.sees("is a value that sops encrypted")
    await visit.sees("Line 2")
    await visit.isAccessible("a document that cannot be read")
    await visit.fill("The text of the file", "db:\n  password: canary-5\n")
    await page.getByRole("row", { name: /^the document 1 key/ }).waitFor()
    await page.getByLabel("Into, for the document").selectOption("staging")
    await visit.press("Stage 1 for staging")
    await visit.sees("1 change staged")
    await page.getByRole("rowheader", { name: "db__password" }).waitFor()
    assert.notInclude(await page.content(), "canary-")
    await visit.close()
  })
})

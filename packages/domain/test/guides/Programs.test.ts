import { grantPieces, programNames, programPieces, signInProblem, titleOf } from "@coffer/domain/guides/Programs"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { parseAllDocuments } from "yaml"

const page = readFileSync(new URL("../../../../docs/connect/works-with.md", import.meta.url), "utf8")
/** The text and the blocks of the page below each title. */
const sections = new Map(page.split(/^## /m).map((section) => [section.slice(0, section.indexOf("\n")), section]))

const place = { server: "https://coffer.example.com", org: "acme", project: "webshop", env: "prod" }

describe("the programs that work with Coffer", () => {
  it.each(programNames)("%s: the page has the lines, and the name", (name) => {
    const section = sections.get(titleOf(name)) ?? assert.fail("the page has no such title")
    assert.include(page, `\`${name}\``)
    for (const hasKey of [true, false].filter((each) => signInProblem(name, each) === undefined)) {
      for (const { lines, what } of programPieces(name, { ...place, account: "deploy", hasKey })) {
        assert.include(section, `\n${what}\n`)
        assert.include(section, `\n${lines}\`\`\``)
      }
    }
  })

  it("the page grants what the lines of a new account grant", () => {
    for (const { lines } of grantPieces({ ...place, account: "deploy", hasKey: true })) assert.include(page, lines)
  })

  it.each(["vault-secrets-operator", "csi-provider"] as const)("%s: pods that sign in already are named", (name) => {
    const use = { ...place, account: "deploy", hasKey: false }
    const trusted = { namespace: "on", serviceAccount: "0x1", audience: "coffer:eu.example.com/acme/deploy" }
    const [example = "", first = ""] = programPieces(name, use).map(({ what }) => what)
    assert.include(example, "sign in. A cluster")
    const pieces = programPieces(name, { ...use, trusted })
    assert.deepStrictEqual(
      pieces.map(({ what }) => what),
      [first.replace("shop", "on")]
    )
    const documents = parseAllDocuments(pieces[0]?.lines ?? "").map((each) => each.toJS())
    for (const { metadata } of documents) assert.strictEqual(metadata.namespace, "on")
    const all = JSON.stringify(documents)
    assert.include(all, `"${trusted.audience}"`)
    assert.strictEqual(all.includes('"serviceAccount":"0x1"'), name === "vault-secrets-operator")
  })

  it("an account's name with a space is one word, and a project with a hyphen one member", () => {
    const use = { ...place, account: "deploy pipeline", project: "web-shop", hasKey: true }
    assert.include(grantPieces(use)[0]?.lines, "account:'deploy pipeline' ")
    assert.include(programPieces("n8n", use)[1]?.lines, '$secrets.coffer["web-shop"].prod.DATABASE_URL')
  })
})

import { isDocumentAddress, keptMillis } from "@coffer/server/directory/consents/ClientDocuments"
import { assert, describe, it } from "vitest"

describe("the document of a program", () => {
  it.each([
    "http://agents.example.com/client.json",
    "https://agents.example.com/",
    "https://agents.example.com/client.json#x",
    "https://user@agents.example.com/client.json",
    "https://agents.example.com/a/../client.json",
    "https://AGENTS.example.com/client.json",
    "https://0x7f000001/client.json",
    "file:///client.json"
  ])("is not fetched from %s", (id) => {
    assert.isFalse(isDocumentAddress(id))
  })

  it("is kept as long as its headers say, and a day at most", () => {
    assert.deepStrictEqual(
      ["", "no-store", "no-cache, max-age=9", "max-age=60", "public, max-age=99999999"].map(keptMillis),
      [...[0, 0, 0], 60_000, 86_400_000]
    )
  })
})

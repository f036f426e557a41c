import { assert, describe, it } from "vitest"
import { endpoints } from "../authorization/Contract.js"
import { authorizePath, oauthPaths, resourceMetadataPath, serverMetadataPath } from "@coffer/server/http/mcp/Issuer"
import { McpApi } from "@coffer/server/http/mcp/McpContract"
import { HttpApi } from "@effect/platform"
import { doors } from "./Doors.js"
import { filesWithJobs, sources } from "./Jobs.js"
import { rows } from "./Rows.js"
import { manyRows } from "./Transactions.js"

describe("what is measured for stalls", () => {
  it("has a row for each call of the contract, and no other", () => {
    assert.deepStrictEqual(Object.keys(rows).sort(), endpoints.map(({ call }) => call).sort())
  })

  it("has each door for agents, and no other", () => {
    const messages: Array<string> = []
    HttpApi.reflect(McpApi, {
      onGroup: () => undefined,
      onEndpoint: ({ endpoint }) => void messages.push(`${endpoint.method} ${endpoint.path}`)
    })
    const metadata = [resourceMetadataPath, `${resourceMetadataPath}/mcp`, serverMetadataPath, authorizePath]
    assert.deepStrictEqual(
      Object.keys(doors).sort(),
      [
        ...messages,
        ...Object.values(oauthPaths).map((path) => `POST ${path}`),
        ...metadata.map((path) => `GET ${path}`)
      ].sort()
    )
  })

  it("has a bound of rows for calls of the contract alone", () => {
    assert.deepStrictEqual(
      Object.keys(manyRows).filter((call) => !(call in rows)),
      []
    )
  })

  it("has a place for each file that starts work of its own", () => {
    assert.deepStrictEqual(Object.keys(sources).sort(), filesWithJobs())
  })
})

import { MethodNotAllowed, NotFound } from "@coffer/domain/Errors"
import { assert, describe, it } from "vitest"
import { describe as tell } from "../src/Failures.js"

describe("a server of another version", () => {
  it("is what a call that it does not have is explained by, and not a wrong name", () => {
    for (const failure of [
      new NotFound({ message: "no such path: /openapi.json lists them all" }),
      new MethodNotAllowed({ message: "this path does not take PATCH: it takes DELETE", allow: "DELETE" })
    ])
      assert.match(
        tell(failure),
        /Next: tell the user that the server and coffer-mcp have different versions, and that/
      )
    assert.match(tell(new NotFound({ message: "project shop does not exist" })), /Next: check the names with org_list/)
  })
})

import { Forbidden, MethodNotAllowed, NotFound } from "@coffer/domain/errors/Errors"
import { assert, describe, it } from "vitest"
import { describe as tell } from "../src/Failures.js"

describe("a server of another version", () => {
  it("is what a call that it does not have is explained by, and not a wrong name", () => {
    for (const failure of [
      new NotFound({ message: "no such path: /openapi.json lists them all" }),
      new MethodNotAllowed({ message: "this path does not take PATCH: it takes DELETE", allow: "DELETE" })
    ])
      assert.match(
        tell(failure, "account"),
        /Next: tell the user that the server and coffer-mcp have different versions, and that/
      )
    assert.match(
      tell(new NotFound({ message: "project shop does not exist" }), "account"),
      /Next: check the names with org_list/
    )
  })
})

describe("a refusal", () => {
  const message = "this needs a rule with permission write for environment webshop/dev of organization acme"

  it("has the next step that the command line gives, for the user and quoted as data", () => {
    const said = `FORBIDDEN: the server says ${JSON.stringify(message)}. Next: do not call again: tell the user what helps: `
    assert.strictEqual(
      tell(new Forbidden({ message }), "person"),
      `${said}"ask for it with: coffer access request acme/webshop/dev write --for 1h --reason WHY".`
    )
    assert.strictEqual(
      tell(new Forbidden({ message }), "account"),
      `${said}"an admin runs: coffer acl grant account:NAME acme/webshop/dev write".`
    )
  })

  it("of a delegation says how its person makes another one", () => {
    assert.include(
      tell(new Forbidden({ message: "the delegation claude gives at most read, and this needs write" }), "person"),
      `tell the user what helps: "its person can make another one: coffer delegate --name 'claude' --permission write"`
    )
  })

  it("that no row knows, or whose message says enough, is told to the user", () => {
    for (const text of [
      "this is not for you",
      "only superadmins create organizations on this server: ask one of them"
    ]) {
      assert.match(tell(new Forbidden({ message: text }), "person"), /Next: do not call again: tell the user\.$/)
    }
  })
})

import { UnknownApiError } from "@coffer/client/internal/ClientErrors"
import { errors, Forbidden, MethodNotAllowed, NotFound, ValidationError } from "@coffer/domain/errors/Errors"
import { assert, describe, it } from "@effect/vitest"
import { describe as tell } from "../src/base/Describe.js"

describe("a refusal of the service", () => {
  it("that was not told apart by the contract is explained as one that was", () => {
    for (const ApiError of errors) {
      const { code, status } = ApiError
      for (const message of ["as it is", "this needs superadmin"]) {
        const known = tell(new ApiError({ message }))
        assert.deepStrictEqual(tell(new UnknownApiError({ code, status, message })), known, code)
      }
    }
  })

  it("of a call or a field that came with a later release says that the server is older", () => {
    const noCall =
      "the server does not have this call: update it if it is older than this client, else check its address"
    const older = "; update the server if it is older than this client"
    const said = [
      new NotFound({ message: "no such path: /openapi.json lists them all" }),
      new MethodNotAllowed({ message: "this path does not take PATCH: it takes DELETE", allow: "DELETE" }),
      new ValidationError({ message: "expires_at: is not a field of this call" }),
      new ValidationError({ message: "subject_type: has the wrong type or form" })
    ].map((failure) => tell(failure))
    assert.deepStrictEqual(said, [
      { sentence: noCall, exitCode: 4 },
      { sentence: noCall, exitCode: 1 },
      { sentence: `expires_at: is not a field of this call${older}`, exitCode: 1 },
      { sentence: `subject_type: has the wrong type or form${older}`, exitCode: 1 }
    ])
  })

  it("that says what to do next is told alone", () => {
    const message = "this needs a passkey: register one under My account in the console"
    assert.strictEqual(tell(new Forbidden({ message })).sentence, message)
    const missing = tell(new Forbidden({ message: "this needs role admin" }))
    assert.strictEqual(missing.sentence, "this needs role admin; ask an administrator of the organization")
  })

  it("of a code that this client does not know says to update it", () => {
    for (const code of ["BRAND_NEW", "WRONG_USAGE_", "", "__PROTO__"]) {
      const { sentence } = tell(new UnknownApiError({ code, status: 418, message: "short and stout" }))
      assert.strictEqual(sentence, "short and stout; this client does not know that response: update coffer")
    }
  })
})

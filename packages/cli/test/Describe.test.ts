import { UnknownApiError } from "@coffer/client/internal/ClientErrors"
import { errors } from "@coffer/domain/Errors"
import { assert, describe, it } from "@effect/vitest"
import { describe as tell } from "../src/Describe.js"

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

  it("of a code that this client does not know says to update it", () => {
    for (const code of ["BRAND_NEW", "WRONG_USAGE_", "", "__PROTO__"]) {
      const { sentence } = tell(new UnknownApiError({ code, status: 418, message: "short and stout" }))
      assert.strictEqual(sentence, "short and stout; this client does not know that response: update coffer")
    }
  })
})

import { fileTrust, trustFile, trustOrigin } from "@coffer/client/internal/TrustedFiles"
import { isTrusted } from "@coffer/client/internal/TrustedOrigins"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { folder, withVariables } from "./Support.js"

describe("a file that was trusted", () => {
  it.scopedLive("is trusted at its path and with its content alone, until it is trusted with another", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const one = { path: '/srv/a "b"\nc/service.yml', source: "allow_env: [PATH]\n" }
      const changed = { ...one, source: "allow_env: [PATH, IFS]\n" }
      yield* Effect.gen(function* () {
        yield* trustOrigin("https://coffer.example.com")
        assert.strictEqual(yield* fileTrust(one), "unknown")
        yield* trustFile(one)
        assert.strictEqual(yield* fileTrust(one), "trusted")
        assert.strictEqual(yield* fileTrust({ ...one, path: "/srv/service.yml" }), "unknown")
        assert.strictEqual(yield* fileTrust(changed), "changed")
        yield* trustFile(changed)
        assert.deepStrictEqual([yield* fileTrust(changed), yield* fileTrust(one)], ["trusted", "changed"])
        assert.isTrue(yield* isTrusted("https://coffer.example.com"))
        assert.isFalse(yield* isTrusted("https://other.example.com"))
      }).pipe(withVariables({ HOME: home }))
      assert.lengthOf(readFileSync(join(home, ".config/coffer/trusted"), "utf8").trim().split("\n"), 2)
    })
  )
})

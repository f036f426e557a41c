import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { childEnvironment } from "../../src/run/ChildEnvironment.js"

const nothing = new Set<string>()

describe("childEnvironment", () => {
  it("lets the store win, and takes the client's own credential away", () => {
    const inherited = { A: "outer", B: "outer", SERVICE_API_KEY: "k", SERVICE_API_KEY_FILE: "f", UNSET: undefined }
    const { env } = childEnvironment(inherited, [{ key: "A", value: "" }], nothing)
    assert.deepStrictEqual(env, { A: "", B: "outer" })
  })

  it("leaves out what makes other programs run code, unless it is allowed by name", () => {
    const keys = [
      ...["PATH", "IFS", "ENV", "BASH_ENV", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS"],
      ...["PYTHONSTARTUP", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS", "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT"],
      ...["SERVICE_API_KEY", "SERVICE_API_KEY_FILE"]
    ]
    const secrets = [...keys, "MY_PATH", "path", "ENVIRONMENT", "LD"].map((key) => ({ key, value: "x" }))
    const found = childEnvironment({ PATH: "/bin" }, secrets, new Set(["ENV"]))
    assert.deepStrictEqual(
      found.dangerous,
      keys.filter((key) => key !== "ENV")
    )
    assert.deepStrictEqual(found.env, { PATH: "/bin", ENV: "x", MY_PATH: "x", path: "x", ENVIRONMENT: "x", LD: "x" })
  })

  it("names keys that no variable can be called, and values that no variable can have", () => {
    const secrets = ["a.b", "a-b", "A"].map((key) => ({ key, value: "x\0y" }))
    const { env, unnameable, withNul } = childEnvironment({}, secrets, nothing)
    assert.deepStrictEqual({ env, unnameable, withNul }, { env: {}, unnameable: ["a.b", "a-b"], withNul: ["A"] })
  })

  it("loses and invents nothing", () => {
    const key = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,20}$/)
    const value = fc.string({ unit: "binary" })
    const entries = fc.uniqueArray(fc.record({ key: fc.oneof(key, fc.constantFrom("__proto__", "PATH")), value }), {
      selector: (secret) => secret.key
    })
    fc.assert(
      fc.property(entries, (secrets) => {
        const found = childEnvironment({}, secrets, nothing)
        const out = new Set([...found.unnameable, ...found.dangerous, ...found.withNul])
        const kept = secrets.filter((secret) => !out.has(secret.key))
        assert.strictEqual(Object.entries(found.env).length, kept.length)
        for (const secret of kept)
          assert.strictEqual(Object.getOwnPropertyDescriptor(found.env, secret.key)?.value, secret.value)
      })
    )
  })
})

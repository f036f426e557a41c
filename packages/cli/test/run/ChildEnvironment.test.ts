import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { readFileSync } from "node:fs"
import { childEnvironment } from "../../src/run/ChildEnvironment.js"
import { dangerousVariables } from "@coffer/domain/secrets/DangerousVariables"

const nothing = { allowed: new Set<string>(), isOverriding: true }

describe("childEnvironment", () => {
  it("takes away what the account signs in with, and only then what CI systems give tokens for", () => {
    const request = { ACTIONS_ID_TOKEN_REQUEST_URL: "u", ACTIONS_ID_TOKEN_REQUEST_TOKEN: "t" }
    const own = { SERVICE_ACCOUNT: "acme/deploy", SERVICE_ID_TOKEN: "t", SERVICE_ID_TOKEN_FILE: "f" }
    assert.deepStrictEqual(childEnvironment({ ...own, ...request }, [], nothing).env, {})
    assert.deepStrictEqual(childEnvironment(request, [], nothing).env, request)
    const allowed = new Set([...Object.keys(request), ...Object.keys(own)])
    assert.deepStrictEqual(childEnvironment({ ...own, ...request }, [], { ...nothing, allowed }).env, request)
  })

  it("lets the store win, and takes the client's own credential away", () => {
    const own = { SERVICE_API_KEY: "k", SERVICE_API_KEY_FILE: "f", SERVICE_HEADERS_FILE: "f", SERVICE_HEADER_X_ID: "i" }
    const inherited = { A: "outer", B: "outer", ...own, UNSET: undefined }
    const { env } = childEnvironment(inherited, [{ key: "A", value: "" }], nothing)
    assert.deepStrictEqual(env, { A: "", B: "outer" })
  })

  it("lets an inherited variable win when told to, and says which one differs", () => {
    const secrets = ["A", "B", "C", "SERVICE_API_KEY"].map((key) => ({ key, value: "store" }))
    const inherited = { A: "outer", B: "store", SERVICE_API_KEY: "k" }
    const rules = { allowed: new Set(["SERVICE_API_KEY"]), isOverriding: false }
    const { env, kept } = childEnvironment(inherited, secrets, rules)
    assert.deepStrictEqual(env, { A: "outer", B: "store", C: "store", SERVICE_API_KEY: "store" })
    assert.deepStrictEqual(kept, ["A"])
  })

  it("leaves out what makes other programs run code, unless it is allowed by name", () => {
    const keys = [
      ...["PATH", "IFS", "ENV", "BASH_ENV", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS"],
      ...["PYTHONSTARTUP", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS", "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT"],
      ...["SERVICE_API_KEY", "SERVICE_API_KEY_FILE"]
    ]
    const secrets = [...keys, "MY_PATH", "path", "ENVIRONMENT", "LD"].map((key) => ({ key, value: "x" }))
    const found = childEnvironment({ PATH: "/bin" }, secrets, { ...nothing, allowed: new Set(["ENV"]) })
    assert.deepStrictEqual(
      found.dangerous,
      keys.filter((key) => key !== "ENV")
    )
    assert.deepStrictEqual(found.env, { PATH: "/bin", ENV: "x", MY_PATH: "x", path: "x", ENVIRONMENT: "x", LD: "x" })
  })

  it("leaves out what the manuals of the usual programs say runs code", () => {
    const keys = [
      ...["PYTHONWARNINGS", "BROWSER", "PYTHONPATH", "PYTHONBREAKPOINT", "PERL5DB", "PERL5LIB", "RUBYLIB", "GEM_PATH"],
      ...["GIT_EXTERNAL_DIFF", "GIT_SSH", "GIT_PAGER", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GIT_CONFIG", "GIT_DIR"],
      ...[
        "npm_config_node_options",
        "Npm_Config_prefix",
        "NPM_CONFIG_SCRIPT_SHELL",
        "NODE_PATH",
        "_JAVA_OPTIONS",
        "JDK_JAVA_OPTIONS"
      ],
      ...["DOTNET_STARTUP_HOOKS", "CORECLR_PROFILER_PATH", "LESSOPEN", "LESS", "PAGER", "EDITOR", "MANPAGER", "SHELL"],
      ...["MAKEFLAGS", "MAKEFILES", "SUDO_ASKPASS", "SSH_ASKPASS", "RSYNC_RSH", "PROMPT_COMMAND", "PS4", "SHELLOPTS"]
    ]
    const harmless = [
      "GIT_TOKEN",
      "GIT_AUTHOR_NAME",
      "NPM_TOKEN",
      "NODE_ENV",
      "NODE_AUTH_TOKEN",
      "JAVA_VERSION",
      "CARGO_REGISTRY_TOKEN",
      "LESSON",
      "PYTHON",
      "YARN_NPM_AUTH_TOKEN",
      "DOTNET_ENVIRONMENT"
    ]
    const secrets = [...keys, ...harmless].map((key) => ({ key, value: "x" }))
    const found = childEnvironment({ PAGER: "cat" }, secrets, nothing)
    assert.deepStrictEqual(found.dangerous, keys)
    assert.deepStrictEqual(Object.keys(found.env), ["PAGER", ...harmless])
  })

  it("leaves out exactly what docs/run.md says", () => {
    const page = readFileSync(new URL("../../../../docs/run.md", import.meta.url), "utf8")
    const rows = [...page.matchAll(/^- ([^:`]+): ((?:`[A-Za-z0-9_]+\*?` ?)+)$/gm)]
    const documented = rows.map(([, program, names = ""]) => [program, names.replaceAll("`", "")])
    assert.deepStrictEqual(documented, Object.entries(dangerousVariables))
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

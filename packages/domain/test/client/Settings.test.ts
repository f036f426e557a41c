import { assert, describe, it } from "@effect/vitest"
import { type Given, loadSettings } from "@coffer/domain/client/Settings"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { folder, withVariables } from "./Support.js"

/** Settings in a folder that holds this `service.yml`. */
const settings = (file: string | undefined, given: Given = {}, variables: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const directory = yield* folder
    if (file !== undefined) writeFileSync(join(directory, "service.yml"), file)
    return yield* loadSettings(given, "flag", directory).pipe(withVariables(variables))
  })

describe("settings", () => {
  it.scopedLive("come from the flag, else the variable, else service.yml", () =>
    Effect.gen(function* () {
      const file = "server_url: https://file.example\norg: file-org\nproject: file-project\nenv: file-env\n"
      const variables = { SERVICE_ORG: "var-org", SERVICE_PROJECT: "var-project", SERVICE_ENV: "" }
      const found = yield* settings(file, { org: "flag-org" }, variables)
      assert.deepStrictEqual<unknown>(yield* found.envPath, {
        org_name: "flag-org",
        project_name: "var-project",
        env_name: "file-env"
      })
      assert.deepInclude(yield* found.server, { origin: "https://file.example", source: "file", local: false })
    })
  )

  it.scopedLive("name all that is missing, and the three ways to give each", () =>
    Effect.gen(function* () {
      const found = yield* settings(undefined, { org: "acme" })
      const error = yield* Effect.flip(found.envPath)
      assert.strictEqual(error._tag, "MissingSettings")
      for (const part of ["--project", "SERVICE_PROJECT", '"project: …" in service.yml', "--env", "SERVICE_ENV"]) {
        assert.include(error.message, part)
      }
      assert.notInclude(error.message, "--org")
      assert.deepInclude(yield* found.server, { base: "http://localhost:7100", source: "default", local: true })
    })
  )

  it.scopedLive("refuse a bad name, and say where it is", () =>
    Effect.gen(function* () {
      const found = yield* settings("project: webshop\norg: Not A Name\n")
      const error = yield* Effect.flip(found.orgPath)
      assert.match(error.message, /"Not A Name" \(service\.yml, line 2, org\): an organization name has/)
    })
  )

  it.scopedLive("refuse an address that is none, without showing it", () =>
    Effect.gen(function* () {
      for (const url of ["localhost:7100", "ftp://x", "http://ada:s3cret@x", "https://x/?a", "nonsense"]) {
        const found = yield* settings(undefined, { serverUrl: url })
        const error = yield* Effect.flip(found.server)
        assert.notInclude(error.message, "s3cret")
      }
      const found = yield* settings(undefined, { serverUrl: "https://x.example/coffer/" })
      assert.deepInclude(yield* found.server, { base: "https://x.example/coffer", origin: "https://x.example" })
    })
  )
})

describe("service.yml", () => {
  it.scopedLive("has texts, whatever YAML makes of them", () =>
    Effect.gen(function* () {
      const found = yield* settings("org: 123\nproject: null\nenv: yes # really\n")
      assert.deepStrictEqual<unknown>(yield* found.envPath, { org_name: "123", project_name: "null", env_name: "yes" })
      for (const empty of ["", "# nothing\n", "---\n"]) yield* settings(empty)
    })
  )

  it.scopedLive("is refused by file and line", () =>
    Effect.gen(function* () {
      const cases = [
        ["org: acme\norganisation: acme\n", /service\.yml, line 2: "organisation" is not a key/],
        ["org: acme\n\nproject: [a]\n", /line 3: project must have a text/],
        ["org:\n", /line 1: org must have a text/],
        ["org: acme\norg: other\n", /line 2: not valid YAML/],
        ['org: "acme\n', /line \d: not valid YAML/],
        ["- org\n", /line 1: must hold lines/],
        ["a: &a x\norg: *a\n", /line 1: "a" is not a key/]
      ] as const
      for (const [file, message] of cases) {
        const error = yield* Effect.flip(settings(file))
        assert.strictEqual(error._tag, "BadServiceFile")
        assert.match(error.message, message)
      }
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { type CommandLineSettings, loadSettings } from "@coffer/client/internal/Settings"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { folder, withVariables } from "./Support.js"

/** Settings in a folder that holds this `service.yml`. */
const settings = (file: string | undefined, given: CommandLineSettings = {}, variables: Record<string, string> = {}) =>
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

  it.scopedLive("name each missing setting, and the three ways to give it", () =>
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

  it.scopedLive("refuse an invalid address, without showing it", () =>
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
  /** The settings in `repository/packages/app`, with these files in the folders above. */
  const inApp = (files: Record<string, string>) =>
    Effect.gen(function* () {
      const directory = yield* folder
      const app = join(directory, "repository", "packages", "app")
      mkdirSync(app, { recursive: true })
      for (const [path, text] of Object.entries(files)) writeFileSync(join(directory, path), text)
      return yield* loadSettings({}, "flag", app).pipe(withVariables({}))
    })

  it.scopedLive("is found in parent folders, the nearest first, up to the root of the repository", () =>
    Effect.gen(function* () {
      const root = { "repository/.git": "gitdir: elsewhere", "repository/service.yml": "org: acme" }
      assert.deepStrictEqual<unknown>(yield* (yield* inApp(root)).orgPath, { org_name: "acme" })
      const nearer = yield* inApp({ ...root, "repository/packages/service.yml": "org: nearer" })
      assert.deepStrictEqual<unknown>(yield* nearer.orgPath, { org_name: "nearer" })
    })
  )

  it.scopedLive("is not read above the root of the repository, and nowhere above outside of one", () =>
    Effect.gen(function* () {
      for (const mark of [{ "repository/.git": "" }, {}]) {
        const settings = yield* inApp({ ...mark, "service.yml": "org: stranger" })
        assert.strictEqual((yield* Effect.flip(settings.orgPath))._tag, "MissingSettings")
      }
    })
  )

  it.scopedLive("takes what it does not have from the files above", () =>
    Effect.gen(function* () {
      const files = {
        "repository/.git": "",
        "repository/service.yml":
          "server_url: https://c.example\norg: acme\nproject: shop\nenv: dev\nallow_env: [PATH]\n",
        "repository/packages/app/service.yml": "project: web\n"
      }
      const settings = yield* inApp(files)
      const expected = { org_name: "acme", project_name: "web", env_name: "dev" }
      assert.deepStrictEqual<unknown>(yield* settings.envPath, expected)
      assert.strictEqual(settings.find("env")?.where, "../../service.yml, line 4, env")
      assert.strictEqual(settings.find("project")?.where, "service.yml, line 1, project")
      const { allowEnv, nearest } = settings.files
      assert.deepStrictEqual([nearest?.name, allowEnv?.file.name], ["service.yml", "../../service.yml"])
    })
  )

  it.scopedLive("is named by its path where a setting is missing in it", () =>
    Effect.gen(function* () {
      const settings = yield* inApp({ "repository/.git": "", "repository/packages/service.yml": "org: acme" })
      const { message } = yield* Effect.flip(settings.projectPath)
      assert.include(message, '"project: …" in ../service.yml')
      assert.notInclude(message, "service.yaml")
    })
  )

  it.scopedLive("is not read under the name service.yaml, and a message says so", () =>
    Effect.gen(function* () {
      const settings = yield* inApp({ "repository/.git": "", "repository/packages/service.yaml": "org: acme" })
      for (const path of [settings.orgPath, settings.envPath]) {
        const { message } = yield* Effect.flip(path)
        assert.match(message, /; \.\.\/service\.yaml is not read: rename it to service\.yml$/)
      }
    })
  )

  it.scopedLive("in a parent folder is named by its path where it is wrong", () =>
    Effect.gen(function* () {
      const settings = yield* inApp({ "repository/.git": "", "repository/service.yml": "org: Not A Name" })
      const { message } = yield* Effect.flip(settings.orgPath)
      assert.include(message, "(../../service.yml, line 1, org)")
    })
  )

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

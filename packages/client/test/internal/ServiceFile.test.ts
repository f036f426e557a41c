import { parseSimpleServiceFile } from "@coffer/client/internal/ServiceFile"
import { parseServiceYaml } from "@coffer/client/internal/ServiceYaml"
import { assert, describe, it } from "@effect/vitest"
import { Either, Option } from "effect"
import * as fc from "fast-check"
import { runs } from "../../../domain/test/support/Runs.js"

const key = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("server_url", "org", "project", "env") },
  fc.constantFrom("other", "__proto__", "Org")
)
const bare = fc.stringMatching(/^[a-z0-9:/._ #"'-]{0,12}$/)
const value = fc.oneof(
  bare,
  fc.constantFrom(
    "acme",
    "123",
    "null",
    "~",
    "yes",
    "1e3",
    "http://localhost:7100",
    "https://a.b/c",
    "a: b",
    "a #b",
    "a:"
  ),
  bare.map((text) => `"${text}"`),
  bare.map((text) => `'${text}'`)
)
const names = fc.constantFrom("PATH", '"IFS"', "a", "_x1", "A B", '""', "1A", "#", "[A]", "'Q'", "yes", "")
const allowed = fc
  .tuple(
    fc.constantFrom("allow_env: [", "allow_env:[", "allow_env:  ["),
    fc.array(names, { maxLength: 3 }),
    fc.constantFrom(", ", ",", " , "),
    fc.constantFrom("]", " ]", "] # why", "")
  )
  .map(([start, items, comma, end]) => start + items.join(comma) + end)
/** Mostly one of the first. */
const mostly = <A>(good: ReadonlyArray<A>, bad: ReadonlyArray<A>) =>
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...good) }, fc.constantFrom(...bad))
const credential = fc
  .tuple(
    mostly(["a.b", '"c.d"', "e.f:1"], ["a.b ", "-a", '"g', "A.b", "a:", "a b"]),
    mostly(["ada", '"x-y"'], ["1", "", "a b", '"a', "{"]),
    mostly(["KEY", '"K_1"'], ["1K", "k.e-y", "~"]),
    mostly([" }"], ["}", " } # why", ", env: x }"])
  )
  .map(([host, username, name, end]) => `    ${host}: { username: ${username}, key: ${name}${end}`)
const block = fc
  .tuple(
    mostly(["helpers:"], ["helpers: ", "helpers"]),
    mostly(["  git:", "  docker:"], ["  svn:", "", "git:"]),
    fc.array(fc.oneof({ weight: 3, arbitrary: credential }, fc.constantFrom("  git:", "  docker:", "# why")), {
      maxLength: 3
    })
  )
  .map(([start, tool, lines]) => [start, tool, ...lines].join("\n"))
const line = fc.oneof(
  { weight: 3, arbitrary: allowed },
  { weight: 3, arbitrary: block },
  {
    weight: 8,
    arbitrary: fc.tuple(key, fc.constantFrom(": ", ":", ":  ", " : "), value).map((parts) => parts.join(""))
  },
  fc.constantFrom("", "# a comment", "  ", "---", "...", "- a", "\t", "{}", "#", "? a", "&a b", "org: acme\r")
)

describe("a service.yml", () => {
  it("is read as the parser would read it where it is simple enough to need no parser", () => {
    let simple = 0
    let withHelpers = 0
    fc.assert(
      fc.property(fc.array(line, { maxLength: 5 }), (lines) => {
        const source = lines.join("\n")
        const found = parseSimpleServiceFile(source)
        if (Option.isNone(found)) return
        simple++
        if (found.value.helpers !== undefined) withHelpers++
        assert.deepStrictEqual(Either.getOrThrow(parseServiceYaml(source)), found.value, source)
      }),
      { numRuns: runs(20_000) }
    )
    assert.isAbove(simple, runs(200))
    assert.isAbove(withHelpers, runs(20))
  })

  it("has a list of variables in each form that YAML has for it", () => {
    const found = { allow_env: { names: ["PATH", "IFS"], line: 1 } }
    assert.deepStrictEqual(parseSimpleServiceFile('allow_env: [PATH, "IFS"]'), Option.some(found))
    for (const source of ["allow_env: [PATH, 'IFS']", "allow_env:\n  - PATH\n  - IFS", "allow_env:\n- PATH\n- IFS\n"]) {
      assert.deepStrictEqual(Either.getOrThrow(parseServiceYaml(source)), found, source)
    }
    for (const source of [
      "allow_env: PATH",
      "allow_env: [A-B]",
      "allow_env: [[A]]",
      "allow_env: {A: B}",
      "allow_env:"
    ]) {
      const { line, problem } = Either.getOrThrow(Either.flip(parseServiceYaml(source)))
      assert.deepStrictEqual(
        [line, problem],
        [1, "allow_env must be a list of names of variables, as in [NODE_OPTIONS]"]
      )
    }
  })

  it("names the role of each lease by the name of its variables", () => {
    const source = 'org: acme\nleases:\n  DB: app-role\n  REPORTS: "reader"\n'
    assert.isTrue(Option.isNone(parseSimpleServiceFile(source)))
    const { leases } = Either.getOrThrow(parseServiceYaml(source))
    const roles = new Map([
      ["DB", "app-role"],
      ["REPORTS", "reader"]
    ])
    assert.deepStrictEqual(leases, { roles, line: 2 })
    for (const value of ["", "{}", "[DB]", "app-role", "{ 1DB: a }", "{ DB: A B }", "{ DB: [a] }", "{ DB: '' }"]) {
      const { line, problem } = Either.getOrThrow(Either.flip(parseServiceYaml(`env: dev\nleases: ${value}`)))
      assert.deepStrictEqual(
        [line, problem],
        [2, "leases must name variables and roles, as in { DB: app-role }"],
        value
      )
    }
  })

  it("names the credential of each host in each form that YAML has for it", () => {
    const rule = { tool: "git", host: "github.com", path: "", username: "x-access-token", key: "GITHUB_TOKEN" } as const
    const credential = '{ username: "x-access-token", key: GITHUB_TOKEN }'
    for (const source of [
      `helpers: { git: { "GitHub.com": ${credential} } }`,
      `helpers:\n  git:\n    github.com: ${credential}`,
      "helpers:\n  git:\n    github.com:\n      key: GITHUB_TOKEN\n      username: x-access-token\n"
    ]) {
      const found = Either.getOrThrow(parseServiceYaml(source))
      const simple = parseSimpleServiceFile(source)
      assert.isTrue(Option.isNone(simple) || source.includes("    github.com: {"))
      assert.deepStrictEqual(found.helpers, { rules: [rule], line: 1 }, source)
    }
    for (const value of [
      "",
      "{}",
      "[git]",
      "{ git: {} }",
      `{ svn: { a.b: ${credential} } }`,
      "{ git: { github.com: GITHUB_TOKEN } }",
      "{ git: { github.com: { key: GITHUB_TOKEN } } }",
      "{ git: { github.com: { username: a, key: 1KEY } } }",
      '{ git: { github.com: { username: "a\\nb", key: KEY } } }',
      "{ git: { github.com: { username: a, key: KEY, env: prod } } }",
      `{ git: { "https://github.com": ${credential} } }`,
      `{ git: { "*": ${credential} } }`
    ]) {
      const { line, problem } = Either.getOrThrow(Either.flip(parseServiceYaml(`env: dev\nhelpers: ${value}`)))
      assert.deepStrictEqual(
        [line, problem.slice(0, 57)],
        [2, "helpers must name programs, hosts and credentials, as in "],
        value
      )
    }
  })

  it("as `coffer init` writes it is simple enough", () => {
    const source = 'server_url: "http://127.0.0.1:7100"\norg: "acme"\nproject: webshop\n# where we are\nenv: dev\n'
    assert.deepStrictEqual(
      parseSimpleServiceFile(source),
      Option.some({
        server_url: { text: "http://127.0.0.1:7100", line: 1 },
        org: { text: "acme", line: 2 },
        project: { text: "webshop", line: 3 },
        env: { text: "dev", line: 5 }
      })
    )
  })
})

import { keyedPieces, keyedTargets } from "@coffer/domain/guides/Keyed"
import { keylessPieces } from "@coffer/domain/guides/Keyless"
import { fillPieces } from "@coffer/domain/guides/Fill"
import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { parse } from "yaml"

const folder = new URL("../../src/guides/", import.meta.url)
const files = readdirSync(folder).filter((name) => name.endsWith(".json"))
const textOf = (file: string) => readFileSync(new URL(file, folder), "utf8")

const names = [
  ...["server", "org", "project", "env", "account", "role", "audience", "place", "environment", "version"],
  ...["namespace", "serviceAccount", "release", "sum", "install", "image", "ifKey", "ifPod", "ifUntrusted"]
]
const forms = ["json", "word", "dollars", "member"]

describe("guides for other programs", () => {
  it.each(files)("%s: each placeholder has a known name and form", (file) => {
    const found = [...textOf(file).matchAll(/<([^<>]*)>/g)].map(([, placeholder = ""]) => placeholder)
    assert.isNotEmpty(found)
    for (const placeholder of found) {
      const [name = "", form, ...more] = placeholder.split(":")
      assert.include(names, name)
      if (form !== undefined) assert.include(forms, form)
      assert.isEmpty(more)
    }
  })

  const place = { server: "https://coffer.example.com/a", org: "acme", project: "web-shop", env: "prod" }

  it.each(keyedTargets)(
    "%s: the lines for an account with a key have the server, the place and no placeholder",
    (target) => {
      const pieces = keyedPieces(target, place, "1.2.3")
      const last = pieces.at(-1)?.lines ?? ""
      for (const value of Object.values(place)) assert.include(last, value)
      for (const { lines } of pieces) assert.notMatch(lines, /<|undefined/)
      assert.match(JSON.stringify(pieces), /SERVICE_API_KEY.*coffer-1\.2\.3|coffer-1\.2\.3.*SERVICE_API_KEY/)
      if (target !== "systemd") assert.isObject(parse(last))
    }
  )

  const use = {
    server: place.server,
    audience: "coffer:a/acme/d",
    account: "acme/deploy it",
    place: "acme/web-shop/prod"
  }
  const more = { environment: 'a "b": c', serviceAccount: "web" }

  it.each(["github", "gitlab", "kubernetes", "buildkite", "circleci", "other"] as const)(
    "%s: the lines for an account without a key are YAML with the account, whatever the texts are",
    (system) => {
      const [{ lines } = assert.fail("no lines"), ...others] = keylessPieces(system, { ...use, ...more }, "1.2.3")
      assert.isEmpty(others)
      assert.notMatch(lines, /<|undefined/)
      const document = JSON.stringify(parse(lines))
      assert.include(document, use.account)
      assert.include(document, use.server)
      const bare = keylessPieces(system, { ...use, environment: undefined, serviceAccount: "web" }, "1.2.3")
      const isDeployed = system === "github" || system === "gitlab"
      assert.strictEqual(bare[0]?.lines, isDeployed ? lines.replace(/^ +environment: .*\n/m, "") : lines)
      assert.strictEqual(document.includes(JSON.stringify(more.environment)), isDeployed)
    }
  )

  it("a line is left out without its text, repeated for a list, and never filled twice", () => {
    const pieces = [
      { what: "In <name>:", lines: ["a: <name>", "b: <nothing>", "  - <list>", "", "c: <name:json>, <name:dollars>"] },
      { what: "Left out:", lines: ["<nothing>x"] }
    ]
    assert.deepStrictEqual(fillPieces(pieces, { name: '<list>"$1', list: ["1", "<name>"] }), [
      {
        what: 'In <list>"$1:',
        lines: 'a: <list>"$1\n  - 1\n  - <name>\n\nc: "<list>\\"$1", <list>"$$1\n'
      }
    ])
  })
})

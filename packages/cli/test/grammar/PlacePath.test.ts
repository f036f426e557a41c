import type { CommandLineSettings } from "@coffer/client/internal/Settings"
import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { splitPaths } from "../../src/grammar/PlacePath.js"

const none = { org: undefined, project: undefined, env: undefined }

describe("a place in one word", () => {
  it.each<[CommandLineSettings, CommandLineSettings]>([
    [{ env: "prod" }, { env: "prod" }],
    [{ env: "webshop/prod" }, { project: "webshop", env: "prod" }],
    [{ env: "acme/webshop/prod" }, { org: "acme", project: "webshop", env: "prod" }],
    [{ project: "acme/webshop" }, { org: "acme", project: "webshop" }],
    [
      { project: "acme/webshop", env: "prod" },
      { org: "acme", project: "webshop", env: "prod" }
    ],
    [
      { org: "acme", project: "webshop", env: "acme/webshop/prod" },
      { org: "acme", project: "webshop", env: "prod" }
    ],
    [
      { serverUrl: "http://a/b", org: "acme" },
      { serverUrl: "http://a/b", org: "acme" }
    ]
  ])("%j is %j", (given, expected) => {
    assert.deepStrictEqual(Either.getOrThrow(splitPaths(given)), { ...none, ...expected })
  })

  it.each<[CommandLineSettings, string]>([
    [{ env: "a/b/c/d" }, "--env takes [[ORG/]PROJECT/]ENV"],
    [{ env: "/prod" }, "--env takes [[ORG/]PROJECT/]ENV"],
    [{ env: "webshop/" }, "--env takes [[ORG/]PROJECT/]ENV"],
    [{ project: "a/b/c" }, "--project takes [ORG/]PROJECT"],
    [
      { env: "acme/webshop/prod", org: "globex" },
      "--org globex and acme/webshop/prod name two different organizations: leave one of them out"
    ],
    [
      { env: "webshop/prod", project: "acme/shop" },
      "--project shop and webshop/prod name two different projects: leave one of them out"
    ]
  ])("%j is refused", (given, sentence) => {
    assert.deepStrictEqual(Either.getOrThrow(Either.flip(splitPaths(given))), sentence)
  })
})

import { afterAll, beforeAll, describe, it } from "vitest"
import { TestHome } from "../support/Programs.js"
import {
  assertLinesOfZsh,
  assertOffers,
  type Case,
  needs,
  offersOfBash,
  offersOfFish,
  writeScripts
} from "../support/Shells.js"

const home = new TestHome("http://127.0.0.1:9")

const cases: ReadonlyArray<Case> = [
  ["coffer serv", ["service-account"]],
  ["coffer service-account ro", ["rotate"]],
  [
    "coffer env ",
    [
      "list",
      "create",
      "extend",
      "delete",
      "restore",
      "erase",
      "diff",
      "copy",
      "revisions",
      "revert",
      "protection",
      "protect",
      "unprotect"
    ]
  ],
  ["coffer master-key ", ["rotate"]],
  ["coffer secret set --if", ["--if-version"]],
  ["coffer login --em", ["--email"]],
  ["coffer run --offline-", ["--offline-fallback", "--offline-max-age"]],
  ["coffer delegate --permission ", ["use", "read", "write"]],
  ["coffer secret export --format ", ["env", "shell", "docker", "json", "yaml"]],
  ["coffer completions ", ["bash", "zsh", "fish"]],
  ["coffer secret import ", []],
  ["coffer secret set KEY --file ", []]
]

const typed = cases.map(([line]) => line)

beforeAll(() => writeScripts(home))

afterAll(() => home.remove())

describe("the tab key", () => {
  it("completes commands, options and their values in bash", async (context) => {
    needs(context, "bash")
    assertOffers(cases, await offersOfBash(home, typed))
  })

  it("completes a value behind = in bash", async (context) => {
    needs(context, "bash")
    assertOffers([["", ["write"]]], await offersOfBash(home, ["coffer delegate --permission=w"]))
  })

  it("completes commands, options and their values in fish", async (context) => {
    needs(context, "fish")
    assertOffers(cases, await offersOfFish(home, typed))
  })

  it("completes commands, options, their values and files in zsh", async (context) => {
    needs(context, "zsh")
    await assertLinesOfZsh(home, [
      ["coffer servi", "coffer service-account "],
      ["coffer service-account ro", "coffer service-account rotate "],
      ["coffer master-key ro", "coffer master-key rotate "],
      ["coffer secret set --if", "coffer secret set --if-version "],
      ["coffer delegate --permission wr", "coffer delegate --permission write "],
      ["coffer delegate --permission=wr", "coffer delegate --permission=write "],
      ["coffer completions zs", "coffer completions zsh "],
      ["coffer secret import coffer.ba", "coffer secret import coffer.bash "]
    ])
  })
})

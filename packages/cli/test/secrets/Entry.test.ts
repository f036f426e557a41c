import { assert, describe, it } from "@effect/vitest"
import { entryFor } from "../../src/secrets/Entry.js"

const isTaken = (line: string) => entryFor(line.split(" ")) !== undefined

describe("the entry of secret get, set and list", () => {
  it("takes the usual command lines", () => {
    for (const line of [
      "get KEY",
      "get KEY KEY --at 2 --json --env acme/webshop/prod",
      "get --raw KEY --server-url=http://localhost",
      "set KEY",
      "set KEY value --if-version 0 --org acme",
      "set KEY=value",
      "set KEY --file - --allow-empty",
      "set KEY --generate=64,hex",
      "set KEY -- -x",
      "set KEY --reason INC-12",
      "set KEY --break-glass=INC-12 --json",
      "list",
      "list --env prod --json",
      "list prod"
    ]) {
      assert.isTrue(isTaken(line), line)
    }
  })

  it("leaves everything else to the full client", () => {
    for (const line of [
      "get",
      "get --help",
      "get KEY -h",
      "get KEY OTHER",
      "get KEY --format json",
      "get KEY --at 0",
      "get KEY --at 1 --format env",
      "get KEY --colour",
      "get 1KEY",
      "set",
      "set KEY=value OTHER",
      "set KEY a b",
      "set KEY --generate=0",
      "set KEY x --generate",
      "set KEY --reason=",
      "list --all-envs",
      "list prod more",
      "edit KEY",
      "help get"
    ]) {
      assert.isFalse(isTaken(line), line)
    }
  })
})

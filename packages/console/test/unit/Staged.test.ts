import { EnvName, SecretKey } from "@coffer/domain/base/Names"
import { SecretValue } from "@coffer/domain/secrets/SecretValues"
import { Redacted } from "effect"
import { assert, describe, it } from "vitest"
import {
  type Change,
  changeOf,
  countOf,
  nothingStaged,
  rebase,
  stage,
  unstage,
  withoutEnv
} from "../../src/staging/Staged.js"

const [dev, prod] = [EnvName.make("dev"), EnvName.make("prod")]
const [a, b] = [SecretKey.make("A"), SecretKey.make("B")]
const base = { etag: '"one"', revision: 1 }
const later = { etag: '"two"', revision: 2 }
const set = (text: string): Change => ({ type: "set", kind: "text", value: Redacted.make(SecretValue.make(text)) })

describe("staged changes", () => {
  it("are kept by environment and key, the last of a key", () => {
    const staged = stage(stage(nothingStaged, dev, base, [[a, set("1")]]), dev, base, [
      [a, { type: "delete" }],
      [b, set("2")]
    ])
    assert.strictEqual(countOf(staged), 2)
    assert.deepStrictEqual(changeOf(staged, dev, a), { type: "delete" })
    assert.isNull(changeOf(staged, prod, a))
  })

  it("keep the state of the environment that the first of them was made for", () => {
    const staged = stage(stage(nothingStaged, dev, base, [[a, set("1")]]), dev, later, [[b, set("2")]])
    assert.deepStrictEqual(staged.get(dev)?.base, base)
    assert.deepStrictEqual(rebase(staged, dev, later).get(dev)?.base, later)
    assert.strictEqual(countOf(rebase(staged, dev, later)), 2)
  })

  it("leave no environment without changes behind", () => {
    const staged = stage(nothingStaged, dev, base, [[a, set("1")]])
    assert.strictEqual(unstage(staged, dev, a).size, 0)
    assert.strictEqual(withoutEnv(staged, dev).size, 0)
    assert.strictEqual(unstage(staged, prod, a), staged)
  })

  it("do not show their values when they are printed", () => {
    const staged = stage(nothingStaged, dev, base, [[a, set("canary-17")]])
    assert.notInclude(JSON.stringify([...(staged.get(dev)?.changes ?? [])]), "canary-17")
  })
})

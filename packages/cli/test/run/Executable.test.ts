import { assert, describe, it } from "@effect/vitest"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { findExecutable } from "../../src/run/Executable.js"

const root = mkdtempSync(join(tmpdir(), "coffer-path-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const file = (name: string, text: string, mode = 0o755) => {
  const path = join(root, name)
  mkdirSync(join(path, ".."), { recursive: true })
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

describe("findExecutable", () => {
  it("goes along the PATH as execvp does, past what cannot be executed", () => {
    file("one/tool", "", 0o644)
    mkdirSync(join(root, "two/tool"), { recursive: true })
    const found = file("three/tool", "#!/bin/sh\n")
    const path = ["none", "one", "two", "three"].map((name) => join(root, name)).join(":")
    assert.deepStrictEqual<unknown>(findExecutable("tool", path), {
      type: "found",
      path: found,
      forShell: false,
      sure: true
    })
    assert.strictEqual(findExecutable("tool", join(root, "one")).type, "not_executable")
    assert.strictEqual(findExecutable("tool", join(root, "none")).type, "not_found")
    assert.strictEqual(findExecutable("sh", undefined).type, "found")
  })

  it("is sure only of what the kernel will take", () => {
    const sure = (path: string) => {
      const found = findExecutable(path, "")
      return found.type === "found" ? [found.forShell, found.sure] : found.type
    }
    assert.deepStrictEqual(sure(process.execPath), [false, true])
    assert.deepStrictEqual(sure(file("plain", "echo hello\n")), [true, true])
    assert.deepStrictEqual(sure(file("empty", "")), [true, true])
    assert.deepStrictEqual(sure(file("script", "#! /bin/sh -e\n")), [false, true])
    assert.deepStrictEqual(sure(file("lost", "#!/no/such/interpreter\n")), [false, false])
    assert.deepStrictEqual(sure(file("dos", "#!/bin/sh\r\n")), [false, false])
    assert.deepStrictEqual(sure(file("nested", `#!${join(root, "script")}\n`)), [false, true])
    assert.deepStrictEqual(sure(file("loop", `#!${join(root, "loop")}\n`)), [false, false])
    assert.deepStrictEqual(sure(file("cut-elf", "\x7fELF")), [false, false])
  })
})

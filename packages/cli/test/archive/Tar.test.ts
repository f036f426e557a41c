import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import fc from "fast-check"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runs } from "../../../domain/test/support/Runs.js"
import { readTar, type TarFile, tarOf } from "../../src/archive/Tar.js"

const now = 1_780_000_000
const archive = (files: ReadonlyArray<TarFile>) => Buffer.concat(tarOf(files, now))
const file = (name: string, text: string): TarFile => ({ name, content: Buffer.from(text) })
const refusal = (bytes: Buffer) => Either.getOrElse(Either.flip(readTar(bytes)), () => assert.fail("it was read"))

const part = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$/)
const name = fc.oneof(
  fc.constantFrom("coffer.json", "organization.json"),
  fc.tuple(part, part).map(([project, env]) => `projects/${project}/${env}.json`)
)
const content = fc.uint8Array({ maxLength: 1500 }).map((bytes) => Buffer.from(bytes))
const files = fc.uniqueArray(fc.record({ name, content }), { maxLength: 6, selector: (each) => each.name })

describe("a tar archive", () => {
  it("holds what was put into it, and nothing of it is read when it is cut off or its headers are changed", () => {
    fc.assert(
      fc.property(files, fc.nat(), fc.nat({ max: 511 }), (all, cut, offset) => {
        const bytes = archive(all)
        assert.deepStrictEqual(Either.getOrThrow(readTar(bytes)), all)
        assert.isTrue(Either.isLeft(readTar(bytes.subarray(0, cut % bytes.length))))
        const changed = Buffer.from(bytes)
        changed[offset] = (changed[offset] ?? 0) ^ 1
        assert.isTrue(Either.isLeft(readTar(changed)), `changed at ${offset}`)
      }),
      { numRuns: runs(200) }
    )
  })

  it("is unpacked by tar, with the longest names, for its owner alone", () => {
    const longest = `projects/${"p".repeat(50)}/${"e".repeat(50)}.json`
    const all = [file("coffer.json", "{}\n"), file("organization.json", ""), file(longest, "x".repeat(512))]
    const folder = mkdtempSync(join(tmpdir(), "coffer-tar-"))
    execFileSync("tar", ["-x", "-C", folder], { input: archive(all) })
    for (const { content, name } of all) {
      assert.deepStrictEqual(readFileSync(join(folder, name)), content, name)
      assert.strictEqual(statSync(join(folder, name)).mode & 0o777, 0o600)
      assert.strictEqual(statSync(join(folder, name)).mtimeMs, now * 1000)
    }
    const again = execFileSync("tar", ["-c", "--format=ustar", "-C", folder, ...all.map(({ name }) => name)])
    assert.deepStrictEqual(Either.getOrThrow(readTar(again)), all)
    rmSync(folder, { recursive: true })
  })

  it("is refused with what is wrong with it", () => {
    const one = file("organization.json", "{}")
    const whole = archive([one])
    assert.strictEqual(refusal(archive([one, one])), "holds organization.json twice")
    assert.strictEqual(refusal(whole.subarray(0, 700)), "ends too early")
    assert.strictEqual(refusal(whole.subarray(0, 1024)), "ends too early")
    assert.strictEqual(refusal(Buffer.concat([whole, Buffer.from("more")])), "does not end as an archive does")
    const hidden = Buffer.from(whole)
    hidden.write("more", 520)
    assert.strictEqual(refusal(hidden), "holds more than organization.json in its place")
    const folder = mkdtempSync(join(tmpdir(), "coffer-tar-"))
    const link = execFileSync(
      "sh",
      ["-c", "ln -s /etc/passwd organization.json && tar -c --format=ustar organization.json"],
      {
        cwd: folder
      }
    )
    assert.strictEqual(refusal(link), "holds organization.json, which is no plain file in the ustar format")
    rmSync(folder, { recursive: true })
  })
})

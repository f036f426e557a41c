import { assert, describe, it } from "vitest"
import { until } from "../../../cli/test/support/Programs.js"
import { nameOfFailure, renewing } from "../../src/internal/Renewal.js"

/** Resources that note when they are opened and closed. Those with a password in `bad` cannot be opened. */
const scene = async () => {
  const log: Array<string> = []
  const warnings: Array<string> = []
  const bad = new Set<string>()
  /** Attempts that wait until the test lets them go. */
  const slow = new Map<string, Promise<void>>()
  let password: string | undefined = "one"
  const renewal = await renewing<string>({
    texts: () => [password],
    open: async () => {
      const own = password ?? "none"
      await slow.get(own)
      if (bad.has(own)) throw Object.assign(new Error(`wrong password ${own}`), { code: "28P01" })
      log.push(`open ${own}`)
      return own
    },
    close: (own) => void log.push(`close ${own}`),
    warn: (sentence) => void warnings.push(sentence),
    name: "the pool"
  })
  const change = (next: string | undefined) => {
    password = next
    renewal.look()
  }
  const logged = (line: string) => until(() => (log.includes(line) ? true : undefined), line)
  return { bad, change, log, logged, renewal, slow, warnings }
}

describe("a resource opened again when its keys change", () => {
  it("is closed only after the new one has replaced it and its users have ended", async () => {
    const { change, log, logged, renewal } = await scene()
    const [first, second] = [renewal.current().hold(), renewal.current().hold()]
    change("two")
    await logged("open two")
    await until(() => (renewal.current().resource === "two" ? true : undefined), "the new one")
    first()
    first()
    await new Promise((resolve) => setTimeout(resolve, 20))
    assert.deepStrictEqual(log, ["open one", "open two"])
    second()
    await logged("close one")
    await renewal.close()
    assert.deepStrictEqual(log, ["open one", "open two", "close one", "close two"])
  })

  it("stays while the new one cannot be opened, which is tried again", async () => {
    const { bad, change, log, logged, renewal, warnings } = await scene()
    bad.add("two")
    change("two")
    await until(() => (warnings.length > 0 ? true : undefined), "a warning")
    assert.deepStrictEqual(warnings, ["the pool could not be opened again, so the old one stays: Error 28P01"])
    assert.strictEqual(renewal.current().resource, "one")
    bad.clear()
    await logged("close one")
    assert.deepStrictEqual(log, ["open one", "open two", "close one"])
    await renewal.close()
  })

  it("stays when the key gets its old value back, and the attempt ends", async () => {
    const { bad, change, log, renewal, warnings } = await scene()
    bad.add("two")
    change("two")
    await until(() => (warnings.length > 0 ? true : undefined), "a warning")
    change("one")
    bad.clear()
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    assert.deepStrictEqual(log, ["open one"])
    await renewal.close()
  })

  it("does not wait for an outdated attempt, and closes its result", async () => {
    const { change, log, logged, renewal, slow } = await scene()
    let finish: () => void = () => undefined
    slow.set("two", new Promise((resolve) => (finish = resolve)))
    change("two")
    change("three")
    await logged("close one")
    assert.strictEqual(renewal.current().resource, "three")
    finish()
    await logged("close two")
    assert.strictEqual(renewal.current().resource, "three")
    assert.deepStrictEqual(log, ["open one", "open three", "close one", "open two", "close two"])
    await renewal.close()
  })

  it("is closed once: at the end of its last use, if the renewal ended before", async () => {
    const { change, log, renewal } = await scene()
    const release = renewal.current().hold()
    const closed = Promise.all([renewal.close(), renewal.close()])
    change("two")
    release()
    await closed
    assert.deepStrictEqual(log, ["open one", "close one"])
  })

  it("fails with the first attempt's own error", async () => {
    const failure = new Error("no")
    const started = renewing({
      texts: () => ["one"],
      open: () => Promise.reject(failure),
      close: () => undefined,
      warn: () => undefined,
      name: "the pool"
    })
    assert.strictEqual(await started.then(undefined, (error: unknown) => error), failure)
  })
})

describe("the name of a failure in a warning", () => {
  it.each([
    [Object.assign(new TypeError("canary"), { code: "ERR_INVALID_URL" }), "TypeError ERR_INVALID_URL"],
    [{ _tag: "Refused", password: "canary" }, "Refused"],
    [{ _tag: "the canary" }, "an error"],
    [Object.assign(new Error("x"), { code: "canary-1" }), "an error"],
    [Object.assign(new Error("x"), { code: "a\nb" }), "an error"],
    ["canary", "an error"],
    [undefined, "an error"]
  ])("has no value: %#", (failure, name) => {
    assert.strictEqual(nameOfFailure(failure, ["canary", undefined, ""]), name)
  })
})

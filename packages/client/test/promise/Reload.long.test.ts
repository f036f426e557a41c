import { assert, beforeAll, describe, it } from "vitest"
import { until } from "../../../cli/test/support/Programs.js"
import { connect, type ConnectOptions, MissingSecretError } from "../../src/promise.js"
import { type Account, testPlace } from "../support/Place.js"

const place = testPlace()
let reader: Account

beforeAll(async () => {
  reader = await place.account("reader", "app*")
})

const options = (env: string, more?: Partial<ConnectOptions>): ConnectOptions => ({
  server: place.bridge.url,
  place: `acme/webshop/${env}`,
  credential: { apiKey: reader.apiKey },
  every: 200,
  ...more
})

const later = (what: () => boolean, name: string) => until(() => (what() ? true : undefined), name)

describe("coffer.reload", () => {
  it("opens again with the new values, keeps the old one for its work, and ends with the connection", async () => {
    await place.environment("app1", { USER: "ada", PASSWORD: "one", OTHER: "x" })
    const coffer = await connect(options("app1"))
    const log: Array<string> = []
    const pool = await coffer.reload(
      ["USER", "PASSWORD"],
      ({ PASSWORD, USER }) => {
        log.push(`open ${USER} ${PASSWORD}`)
        return `${USER} ${PASSWORD}`
      },
      (old) => void log.push(`close ${old}`)
    )
    assert.strictEqual(pool.current, "ada one")
    let finish: () => void = () => undefined
    const work = pool.use(async (held) => {
      await new Promise<void>((resolve) => (finish = resolve))
      return held
    })
    await place.write("app1", { set: { OTHER: "y" } })
    await later(() => coffer.get("OTHER") === "y", "another key")
    assert.lengthOf(log, 1)
    await place.write("app1", { set: { PASSWORD: "two" } })
    await later(() => pool.current === "ada two", "the new one")
    assert.deepStrictEqual(log, ["open ada one", "open ada two"])
    finish()
    assert.strictEqual(await work, "ada one")
    await later(() => log.includes("close ada one"), "the end of the old one")
    await coffer.close()
    assert.deepStrictEqual(log.at(-1), "close ada two")
    const closed = await pool.use(() => "used").then(undefined, (error: unknown) => String(error))
    assert.strictEqual(closed, "Error: the resource of USER, PASSWORD is closed")
  })

  it("keeps the old one through a wrong value and a removed key, and warns without values", async () => {
    await place.environment("app2", { PASSWORD: "canary-1" })
    const warnings: Array<string> = []
    const coffer = await connect(options("app2", { onWarning: (message) => warnings.push(message) }))
    const pool = await coffer.reload(["PASSWORD"], ({ PASSWORD }) => {
      if (PASSWORD === "canary-2") throw Object.assign(new Error(`${PASSWORD} is wrong`), { code: "28P01" })
      return PASSWORD
    })
    await place.write("app2", { set: { PASSWORD: "canary-2" } })
    await later(() => warnings.length > 0, "a warning")
    assert.strictEqual(pool.current, "canary-1")
    await place.write("app2", { delete: ["PASSWORD"] })
    await later(
      () => warnings.some((warning) => warning.endsWith(": PASSWORD does not exist in acme/webshop/app2")),
      "a warning"
    )
    assert.strictEqual(await pool.use((password) => password), "canary-1")
    await place.write("app2", { set: { PASSWORD: "canary-3" } })
    await later(() => pool.current === "canary-3", "the new one")
    for (const warning of warnings) {
      assert.match(
        warning,
        /^the resource of PASSWORD could not be opened again, so the old one stays: \w+( 28P01| does not exist in \S+)$/
      )
      assert.notInclude(warning, "canary")
    }
    await pool.close()
    await coffer.close()
  })

  it.each(["the connection", "the resource"])(
    "closes %s inside of its use, and the resource after the work",
    async (what) => {
      await place.environment("app4", { A: "1" })
      const coffer = await connect(options("app4"))
      const log: Array<string> = []
      const one = await coffer.reload(
        ["A"],
        () => "one",
        (name) => void log.push(`close ${name}`)
      )
      const two = await coffer.reload(
        ["A"],
        () => "two",
        (name) => void log.push(`close ${name}`)
      )
      let finish: () => void = () => undefined
      const other = two.use(() => new Promise<void>((resolve) => (finish = resolve)))
      await one.use(async () => {
        await (what === "the resource" ? one : coffer).close()
        log.push("work")
      })
      finish()
      await other
      await coffer.close()
      assert.deepStrictEqual(log, ["work", "close one", "close two"])
      await place.ok("env", "delete", "app4", "--yes")
    }
  )

  it("fails at first if a key does not exist", async () => {
    await place.environment("app3", { A: "1" })
    const coffer = await connect(options("app3"))
    const failed = await coffer.reload(["NONE"], () => 1).then(undefined, (error: unknown) => error)
    assert.instanceOf(failed, MissingSecretError)
    await coffer.close()
  })
})

import { assert, describe, it } from "vitest"
import { workplace } from "./support/Workplace.js"

const place = workplace()
const { ok, prints } = place

const elsewhere = { cwd: "/" }

describe("a place in one word", () => {
  it("is where a command works, and where run takes the secrets from", async () => {
    await ok("project", "create", "shop")
    await ok("secret", "set", "GREETING", "hello", "--env", "shop/staging")
    assert.strictEqual(await prints("secret", "get", "GREETING", "--env", "acme/shop/staging"), "hello")
    assert.strictEqual((await prints("env", "list", "--project", "acme/shop")).split("\n").length, 4)
    const run = await place.home.coffer(["run", "acme/shop/staging", "--", "printenv", "GREETING"], elsewhere)
    assert.deepStrictEqual([run.code, run.stdout], [0, "hello\n"], run.stderr)
    const option = await place.home.coffer(
      ["run", "--org", "acme", "--env=shop/staging", "printenv", "GREETING"],
      elsewhere
    )
    assert.deepStrictEqual([option.code, option.stdout], [0, "hello\n"], option.stderr)
  })

  it("must not contradict the options", async () => {
    const { code, stderr, stdout } = await place.home.coffer([
      "secret",
      "list",
      "--env",
      "webshop/dev",
      "--project",
      "shop"
    ])
    assert.deepStrictEqual([code, stdout], [2, ""])
    assert.include(stderr, "--project shop and webshop/dev name two different projects: leave one of them out")
    const run = await place.home.coffer(["run", "--org", "globex", "acme/webshop/dev", "--", "true"])
    assert.strictEqual(run.code, 125)
    assert.include(run.stderr, "--org globex and acme/webshop/dev name two different organizations")
  })

  it("is a command for run where -- does not come next, and is told so when it is none", async () => {
    const run = await place.home.coffer(["run", "acme/webshop/dev", "true"])
    assert.strictEqual(run.code, 127)
    assert.include(run.stderr, "to name a place, write -- behind it: coffer run acme/webshop/dev -- COMMAND")
    const env = await place.home.coffer(["run", "staging", "--", "true"])
    assert.strictEqual(env.code, 127)
    assert.include(env.stderr, "to name the environment, write: coffer run --env staging -- COMMAND")
  })
})

import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, beforeAll, describe, it } from "vitest"
import { finish, TestHome, until } from "./support/Programs.js"
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

  it("is a command for run unless -- comes next, and run says how to name a place where no such command exists", async () => {
    const run = await place.home.coffer(["run", "acme/webshop/dev", "true"])
    assert.strictEqual(run.code, 127)
    assert.include(run.stderr, "to name a place, write -- behind it: coffer run acme/webshop/dev -- COMMAND")
    const env = await place.home.coffer(["run", "staging", "--", "true"])
    assert.strictEqual(env.code, 127)
    assert.include(env.stderr, "to name the environment, write: coffer run --env staging -- COMMAND")
  })
})

describe("run with several places", () => {
  const run = (...args: ReadonlyArray<string>) => place.home.coffer(["run", ...args], elsewhere)

  beforeAll(async () => {
    await ok("project", "create", "shared")
    for (const [env, pairs] of Object.entries({
      "webshop/dev": { A: "dev", BOTH: "dev", SAME: "same" },
      "webshop/staging": { B: "staging", BOTH: "staging" },
      "shared/prod": { C: "prod", BOTH: "prod", SAME: "same" }
    })) {
      for (const [key, value] of Object.entries(pairs)) await ok("secret", "set", key, value, "--env", env)
    }
  })

  it("merges them, lets later ones win, and names the keys whose values differ", async () => {
    const places = ["acme/webshop/dev", "--also", "shared/prod", "--also", "staging"]
    const [first = "", ...others] = places
    const { code, stderr, stdout } = await run(...others, first, "--", "sh", "-c", "echo $A $B $C $BOTH $SAME")
    assert.deepStrictEqual([code, stdout], [0, "dev staging prod staging same\n"], stderr)
    assert.strictEqual(stderr, "coffer: taken from acme/webshop/staging, where other places have other values: BOTH\n")
  })

  it("refuses names that cannot be, places that do not exist, and a choice of keys", async () => {
    for (const [args, message] of [
      [["--also", "a/b/c/d"], "--also takes [[ORG/]PROJECT/]ENV"],
      [["--also", "Shop/prod"], '"Shop" (--project)'],
      [["--also", "shared/qa"], "qa"],
      [["--also", "staging", "--only", "A"], "--only names keys of one place"]
    ] as const) {
      const { code, stderr, stdout } = await run(...args, "acme/webshop/dev", "--", "echo", "started")
      assert.deepStrictEqual([code, stdout], [125, ""])
      assert.include(stderr, message)
    }
  })

  it("follows all of them", async () => {
    const said = join(place.home.folder, "several")
    const script = `echo "$A $C" >> ${said}; exec sleep 60`
    const watching = ["--also", "shared/prod", "--watch", "--watch-interval", "200ms"]
    const child = place.home.start(["run", ...watching, "--env", "acme/webshop/dev", "sh", "-c", script])
    const says = (text: string) =>
      until(() => (existsSync(said) && readFileSync(said, "utf8") === text ? true : undefined), text)
    await says("dev prod\n")
    await ok("secret", "set", "C", "second", "--env", "shared/prod")
    await says("dev prod\ndev second\n")
    await ok("secret", "set", "A", "third", "--env", "webshop/dev")
    await says("dev prod\ndev second\nthird second\n")
    child.kill("SIGTERM")
    assert.strictEqual((await finish(child)).signal, "SIGTERM")
  })

  it("keeps a copy of each", async () => {
    const offline = [
      "--also",
      "shared/prod",
      "--offline-fallback",
      "acme/webshop/staging",
      "--",
      "sh",
      "-c",
      "echo $B $BOTH"
    ]
    assert.strictEqual((await run(...offline)).stdout, "staging prod\n")
    const port = { SERVICE_SERVER_URL: place.server.url }
    await place.server.stop()
    const away = await place.home.coffer(["run", ...offline], { ...elsewhere, env: port })
    assert.deepStrictEqual([away.code, away.stdout], [0, "staging prod\n"], away.stderr)
  })
})

it("a run inside another one says why it has no credential", async () => {
  const home = new TestHome(place.server.url)
  const { code, stderr } = await home.coffer(["run", "acme/webshop/dev", "--", "true"], elsewhere)
  home.remove()
  assert.strictEqual(code, 125)
  assert.match(stderr, /SERVICE_API_KEY.*inside another coffer run there is none.*--also/)
})

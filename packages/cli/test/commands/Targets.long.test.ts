import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { KvServer, token } from "../../../server/test/delivery/KvServer.js"
import { workplace } from "../support/Workplace.js"

const place = workplace("ada@example.com", () => ({ SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8" }))
const canary = "sk_live_Canary7_0123456789"

let kv: KvServer

beforeAll(async () => {
  kv = await KvServer.start()
  await place.ok("secret", "set", "VAULT_TOKEN", token)
  await place.ok("secret", "set", "STRIPE_KEY", canary)
})
afterAll(() => kv.stop())

describe("coffer target and coffer push", () => {
  it("add a target, show what a push would change, and push it", async () => {
    const at = ["--place", `url=${kv.url}`, "--place", "mount=secret", "--place", "path=webshop/prod"]
    const options = ["--kind", "vault", "--credential", "VAULT_TOKEN", "--prefix", "WEB_", "--remove", "own"]
    const made = await place.ok("target", "create", "bao", ...options, ...at)
    assert.include(made.stdout + made.stderr, "coffer push bao --plan")
    assert.match(await place.prints("target", "list"), /bao\tvault\t.*\toff\t.*never/)

    const planned = await place.ok("push", "bao")
    assert.match(planned.stdout, /WEB_STRIPE_KEY\tSTRIPE_KEY\tnew/)
    assert.include(planned.stderr, "nothing was pushed; --apply pushes it")
    assert.deepStrictEqual(kv.data("webshop/prod"), {})

    const pushed = await place.ok("push", "bao", "--apply")
    assert.include(pushed.stderr, "1 pushed, 0 removed there")
    assert.deepStrictEqual(kv.data("webshop/prod"), { WEB_STRIPE_KEY: canary })
    for (const text of [planned, pushed]) assert.notInclude(text.stdout + text.stderr, canary)
    const shown = JSON.parse(await place.prints("target", "show", "bao", "--json"))
    assert.deepInclude(shown, { owned: 1, credential_key: "VAULT_TOKEN", prefix: "WEB_", remove: "own" })

    assert.match(await place.prints("target", "check", "bao"), /WEB_STRIPE_KEY\tSTRIPE_KEY\tin step/)
    kv.write("webshop/prod", { WEB_STRIPE_KEY: "by hand" })
    const drifted = await place.home.coffer(["target", "check", "bao"])
    assert.match(drifted.stdout, /WEB_STRIPE_KEY\tSTRIPE_KEY\tchanged there/)
    assert.include(drifted.stderr, "coffer push bao --plan")
    assert.strictEqual(drifted.code, 1)
    assert.match(await place.prints("target", "list"), /bao\tvault\t.*\toff\tchanged there/)

    kv.write("webshop/prod", { WEB_STRIPE_KEY: canary, OTHER: "x" })
    await place.ok("secret", "delete", "STRIPE_KEY", "--yes")
    const { data } = JSON.parse(await place.prints("push", "bao", "--plan", "--json"))
    assert.deepStrictEqual(
      data.map(({ change, name }: { readonly change: string; readonly name: string }) => [name, change]),
      [
        ["OTHER", "theirs"],
        ["WEB_STRIPE_KEY", "removed"]
      ]
    )
    await place.ok("push", "bao", "--apply")
    assert.deepStrictEqual(kv.data("webshop/prod"), { OTHER: "x" })

    await place.ok("target", "edit", "bao", "--automatic", "push")
    await place.ok("set", "LATER", "by itself")
    const until = Date.now() + 5_000
    while (kv.data("webshop/prod")["WEB_LATER"] === undefined && Date.now() < until) await sleep(50)
    assert.deepStrictEqual(kv.data("webshop/prod"), { OTHER: "x", WEB_LATER: "by itself" })
    assert.match(await place.prints("doctor"), /ok\ttargets\tbao is pushed by the server/)
    const mistaken = await place.home.coffer(["push", "boa"])
    assert.match(
      mistaken.stderr,
      /target boa does not exist; did you mean bao\? coffer target list \S+ shows what exists/
    )
    kv.write("webshop/prod", { WEB_LATER: "by hand" })
    assert.strictEqual((await place.home.coffer(["target", "check", "bao"])).code, 1)
    assert.include(
      (await place.home.coffer(["doctor"])).stdout,
      "warning\ttargets\tbao: keys are changed there: coffer push bao --plan"
    )
    kv.before = () => Promise.resolve(403)
    await place.ok("set", "LATER", "by itself again")
    while (!(await place.prints("target", "show", "bao")).includes("failed once") && Date.now() < until + 20_000)
      await sleep(100)
    assert.match(
      (await place.home.coffer(["doctor"])).stdout,
      /bao is not pushed: it answered with the status 403: [^;]*; tried again at 20\S+ \S+ UTC; now: coffer target resume bao/
    )
    kv.before = () => Promise.resolve(undefined)
    await place.ok("target", "pause", "bao")
    assert.match(await place.prints("target", "show", "bao"), /automatic.*push, stopped[^]*paused by ada@example.com/)
    await place.ok("target", "resume", "bao")

    await place.ok("target", "delete", "bao", "--yes")
    assert.include((await place.home.coffer(["push", "bao"])).stderr, "target bao")
  })
})

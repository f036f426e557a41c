import { assert, describe, expect, it } from "vitest"
import { workplace } from "../support/Workplace.js"

const place = workplace("ada@example.com", () => ({ SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8" }))
const { ok, prints } = place

const overview = async () => JSON.parse(await prints("org", "overview", "--json"))

describe("org overview", () => {
  it("notes the webhooks that fail, and prints nothing of webhooks while all arrive", async () => {
    // The address has no listener.
    await ok("webhook", "create", "https://127.0.0.1:9/nobody", "--event", "secret.*")
    assert.strictEqual((await overview()).failing_webhooks, 0)
    assert.strictEqual((await ok("org", "overview")).stderr, "")
    await ok("secret", "set", "KEY", "x")
    await expect.poll(async () => (await overview()).failing_webhooks, { timeout: 20_000, interval: 200 }).toBe(1)
    const { stderr, stdout } = await ok("org", "overview")
    assert.match(stdout, /^webshop\t3\t1\t/m)
    assert.strictEqual(stderr, "coffer: 1 webhook fails: coffer webhook list\n")
  })

  it("notes the secrets that are due", async () => {
    await ok("secret", "set", "OLD", "x")
    await ok("secret", "edit", "OLD", "--expires", "2020-01-01")
    const { stderr } = await ok("org", "overview")
    assert.include(stderr, "coffer: 1 secret is overdue, or due within 14 days: coffer secret due\n")
    const { due } = await overview()
    assert.deepStrictEqual(
      due.map(({ key }: { readonly key: string }) => key),
      ["OLD"]
    )
  })
})

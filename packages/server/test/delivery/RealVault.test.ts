import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process"
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { freePort } from "../support/Port.js"
import { removeSecret, setSecret } from "../support/Services.js"
import { token } from "./KvServer.js"
import { canary, changesOf, plan, push, withPlatform, world } from "./World.js"

const program = ["bao", "vault"].find((name) => spawnSync(name, ["version"]).status === 0)

interface Bao {
  readonly url: string
  readonly kv: (...words: ReadonlyArray<string>) => string
  readonly child: ChildProcess
}

const start = async (name: string): Promise<Bao> => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const env = { ...process.env, BAO_ADDR: url, VAULT_ADDR: url, BAO_TOKEN: token, VAULT_TOKEN: token }
  const dev = ["server", "-dev", "-dev-no-store-token", `-dev-root-token-id=${token}`]
  const child = spawn(name, [...dev, `-dev-listen-address=127.0.0.1:${port}`], { env, stdio: "ignore" })
  for (let tries = 0; spawnSync(name, ["status"], { env }).status !== 0; tries++) {
    assert.isBelow(tries, 100)
    await sleep(100)
  }
  const kv = (...words: ReadonlyArray<string>) =>
    execFileSync(name, ["kv", ...words], { env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
  return { url, kv, child }
}

const bao = Effect.acquireRelease(
  Effect.promise(() => start(program ?? assert.fail())),
  ({ child }) => Effect.sync(() => child.kill())
)

const field = ({ kv }: Bao, name: string) => kv("get", "-mount=secret", `-field=${name}`, "webshop/prod").trim()

describe.skipIf(program === undefined)("a real OpenBao (needs bao in the PATH)", () => {
  it.effect(
    "takes what is pushed, keeps what others wrote, and refuses what has changed meanwhile",
    () =>
      Effect.gen(function* () {
        const real = yield* bao
        const { kv, url } = real
        const { ada } = yield* world({ place: { url, mount: "secret", path: "webshop/prod" }, remove: "own" })
        assert.deepStrictEqual(yield* changesOf(ada), ["STRIPE_KEY new"])
        yield* push(ada)
        assert.strictEqual(field(real, "STRIPE_KEY"), canary)
        kv("patch", "-mount=secret", "webshop/prod", "OTHER=theirs")
        yield* setSecret(ada, "STRIPE_KEY", "another")
        assert.deepStrictEqual(yield* changesOf(ada), ["OTHER theirs", "STRIPE_KEY changed"])
        const planned = (yield* plan(ada)).plan
        kv("patch", "-mount=secret", "webshop/prod", "OTHER=again")
        const refused = yield* Effect.flip(push(ada, { plan: planned }))
        assert.match(refused.message, /has changed since the plan/)
        yield* push(ada)
        assert.deepStrictEqual([field(real, "STRIPE_KEY"), field(real, "OTHER")], ["another", "again"])
        yield* removeSecret(ada, "STRIPE_KEY")
        assert.strictEqual((yield* push(ada)).removed, 1)
        assert.throws(() => field(real, "STRIPE_KEY"))
        assert.strictEqual(field(real, "OTHER"), "again")

        yield* setSecret(ada, "AGAIN", "and again")
        kv("delete", "-mount=secret", "webshop/prod")
        assert.deepStrictEqual(yield* changesOf(ada), ["AGAIN new"])
        yield* push(ada)
        assert.strictEqual(field(real, "AGAIN"), "and again")
      }).pipe(withPlatform),
    60_000
  )
})

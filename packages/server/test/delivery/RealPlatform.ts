import { type ChildProcess, spawn } from "node:child_process"
import { setTimeout as sleep } from "node:timers/promises"
import type { TargetKindName, TargetPlace } from "@coffer/domain/secrets/TargetKinds"
import { TargetChecks } from "@coffer/server/secrets/delivery/TargetChecks"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { envPath, removeSecret, setSecret } from "../support/Services.js"
import { asPerson, bao, canary, changesOf, plan, push, withPlatform, world } from "./World.js"

/** A platform that runs here, as its own people read and write it. */
export interface RealPlatform {
  readonly kind: TargetKindName
  readonly place: TargetPlace
  /** The credential of the target; another one is refused there. */
  readonly credential?: string
  readonly values: () => Promise<Readonly<Record<string, string>>>
  readonly write: (name: string, value: string | null) => Promise<unknown>
  /** Whether a removed name can be there again; default: true. */
  readonly restores?: boolean
}

/** Starts a program that serves, and waits for it. */
export const started = (command: string, args: ReadonlyArray<string>, isReady: () => Promise<boolean>) =>
  Effect.acquireRelease(
    Effect.promise(async (): Promise<ChildProcess> => {
      const child = spawn(command, args, { stdio: "ignore" })
      for (let tries = 0; !(await isReady().catch(() => false)); tries++) {
        assert.isBelow(tries, 600, `${command} does not serve`)
        await sleep(100)
      }
      return child
    }),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )

const check = Effect.flatMap(TargetChecks, (checks) => checks.check(envPath(), bao))

/** A target's life: new, changed and removed keys, those of others, a stale plan, drift and its repair. */
export const life = ({ credential, kind, place, restores = true, values, write }: RealPlatform) =>
  Effect.gen(function* () {
    const { ada } = yield* world({ kind, place, remove: "own" })
    if (credential !== undefined) yield* setSecret(ada, "VAULT_TOKEN", credential)
    const there = Effect.promise(values)
    const byHand = (name: string, value: string | null) => Effect.promise(() => write(name, value))
    const state = Effect.map(check.pipe(asPerson(ada), Effect.scoped), (found) => found.state)

    yield* byHand("OTHER", "somebody's value")
    assert.deepStrictEqual(yield* changesOf(ada), ["OTHER theirs", "STRIPE_KEY new"])
    yield* push(ada)
    assert.deepStrictEqual(yield* there, { OTHER: "somebody's value", STRIPE_KEY: canary })
    assert.deepStrictEqual(yield* changesOf(ada), ["OTHER theirs", "STRIPE_KEY same"])
    assert.strictEqual(yield* state, "in step")

    const odd = 'a "value":\n\té\\ {} $X %41'
    yield* setSecret(ada, "STRIPE_KEY", odd)
    yield* setSecret(ada, "SECOND", "x".repeat(4_000))
    assert.deepStrictEqual(yield* changesOf(ada), ["OTHER theirs", "SECOND new", "STRIPE_KEY changed"])
    const planned = (yield* plan(ada)).plan
    yield* byHand("OTHER", "another")
    const stale = yield* Effect.flip(push(ada, { plan: planned }))
    assert.match(stale.message, /has changed since the plan/)
    yield* push(ada)
    assert.deepStrictEqual(yield* there, { OTHER: "another", SECOND: "x".repeat(4_000), STRIPE_KEY: odd })

    yield* byHand("STRIPE_KEY", "by hand")
    assert.strictEqual(yield* state, "changed there")
    yield* push(ada)
    assert.strictEqual((yield* there)["STRIPE_KEY"], odd)
    yield* byHand("STRIPE_KEY", null)
    assert.strictEqual(yield* state, "missing there")
    yield* push(ada)
    assert.strictEqual((yield* there)["STRIPE_KEY"], odd)

    yield* removeSecret(ada, "SECOND")
    assert.strictEqual((yield* push(ada)).removed, 1)
    assert.deepStrictEqual(yield* there, { OTHER: "another", STRIPE_KEY: odd })
    if (restores) {
      yield* setSecret(ada, "SECOND", "again")
      yield* push(ada)
      assert.strictEqual((yield* there)["SECOND"], "again")
    }

    for (let index = 0; index < 30; index++) yield* setSecret(ada, `KEY_${index}`, `value ${index}`)
    assert.strictEqual((yield* push(ada)).pushed, 30)
    assert.strictEqual((yield* there)["KEY_29"], "value 29")
    assert.isTrue((yield* changesOf(ada)).every((change) => /( same|OTHER theirs)$/.test(change)))
  }).pipe(Effect.provide(TargetChecks.Default), withPlatform)

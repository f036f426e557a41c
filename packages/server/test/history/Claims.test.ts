import type { UserActor } from "@coffer/domain/Actor"
import type { Transaction } from "@coffer/server/database/Database"
import { Bundles } from "@coffer/server/secrets/services/Bundles"
import { History } from "@coffer/server/secrets/services/History"
import { Promotion } from "@coffer/server/secrets/services/Promotion"
import { Revisions } from "@coffer/server/secrets/services/Revisions"
import { Secrets } from "@coffer/server/secrets/services/Secrets"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Asked, statementsOf } from "../support/FailingDriver.js"
import { envPath, key, organization, removeSecret, setSecret, transaction, value } from "../support/Services.js"
import { enterFor, everything, onHistory } from "./Support.js"

const isClaim = ({ text }: Asked): boolean =>
  /^UPDATE environments SET revision = revision WHERE id = \? AND removed_at IS NULL/.test(text)

/** The statements of a call that read or write environments and what is in them. */
const statementsOn = <A, E, R>(call: Effect.Effect<A, E, R>) =>
  Effect.map(statementsOf(call), ({ statements }) =>
    statements.filter(({ text }) => /\b(environments|secrets|secret_versions|secret_changes\w*)\b/.test(text))
  )

const assertClaimed = ([first, ...rest]: ReadonlyArray<Asked>) => {
  assert.isTrue(first !== undefined && isClaim(first), first?.text)
  assert.isAbove(rest.length, 0)
}

const writing = (actor: UserActor) => enterFor(actor, "secret.write")

const bundle = (actor: UserActor, request: Parameters<Bundles["write"]>[1]) =>
  Effect.map(Effect.all([writing(actor), Bundles]), ([place, bundles]) => bundles.write(place, request, undefined))

const copy = (actor: UserActor, from: string, to: string, dry_run = false) =>
  Effect.gen(function* () {
    const target = yield* enterFor(actor, "secret.write", envPath(to))
    const source = yield* enterFor(actor, "secret.copy", envPath(from))
    return (yield* Promotion).copy(target, source, { dry_run })
  })

const revert = (actor: UserActor, to: number, dry_run = false) =>
  Effect.map(Effect.all([writing(actor), Revisions]), ([place, revisions]) =>
    revisions.revert(place, { to, dry_run }, undefined)
  )

/** Each change of an environment: enters its place, and returns the call. */
const changes = {
  set: (actor: UserActor) =>
    Effect.map(Effect.all([writing(actor), Secrets]), ([place, secrets]) =>
      secrets.set(place, key("A"), { kind: "text", value: value("new") })
    ),
  delete: (actor: UserActor) =>
    Effect.map(Effect.all([writing(actor), Secrets]), ([place, secrets]) => secrets.remove(place, key("A"))),
  "write of a bundle": (actor: UserActor) => bundle(actor, { set: new Map([[key("A"), value("new")]]) }),
  copy: (actor: UserActor) => copy(actor, "staging", "prod"),
  revert: (actor: UserActor) => revert(actor, 1),
  rollback: (actor: UserActor) =>
    Effect.map(Effect.all([writing(actor), History]), ([place, history]) =>
      history.rollback(place, key("A"), { version: 1 })
    ),
  undelete: (actor: UserActor) =>
    Effect.map(Effect.all([writing(actor), History]), ([place, history]) => history.undelete(place, key("GONE"))),
  destroy: (actor: UserActor) =>
    Effect.map(Effect.all([enterFor(actor, "secret.destroy"), History]), ([place, history]) =>
      history.destroy(place, key("A"), [1])
    )
}

/** The same, where nothing is to be changed. */
const idle = {
  "write of a bundle": (actor: UserActor) => bundle(actor, { set: new Map([[key("A"), value("three")]]) }),
  "write of a bundle that is only tried": (actor: UserActor) =>
    bundle(actor, { set: new Map([[key("A"), value("new")]]), dry_run: true }),
  "copy that is only tried": (actor: UserActor) => copy(actor, "staging", "prod", true),
  "revert to what is there": (actor: UserActor) => revert(actor, 5),
  "revert that is only tried": (actor: UserActor) => revert(actor, 1, true)
}

/** Secret A at its third version in prod, where GONE is removed, and another in staging. */
const scene = Effect.gen(function* () {
  const ada = yield* organization()
  for (const text of ["one", "two", "three"]) yield* setSecret(ada, "A", text)
  yield* setSecret(ada, "GONE", "gone")
  yield* removeSecret(ada, "GONE")
  yield* setSecret(ada, "B", "staged", { path: envPath("staging") })
  return ada
})

describe("a change of an environment takes the environment's row before anything else", () => {
  for (const [name, enter] of Object.entries(changes)) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const call: Effect.Effect<unknown, { readonly _tag: string }, Transaction> = yield* enter(yield* scene)
        const before = yield* everything
        assertClaimed(yield* statementsOn(transaction(call)))
        assert.notDeepEqual(yield* everything, before)
      }).pipe(onHistory)
    )
  }

  for (const [name, enter] of Object.entries(idle)) {
    it.effect(`and leaves it as it was where nothing is changed: ${name}`, () =>
      Effect.gen(function* () {
        const call: Effect.Effect<unknown, { readonly _tag: string }, Transaction> = yield* enter(yield* scene)
        const before = yield* everything
        assertClaimed(yield* statementsOn(transaction(call)))
        assert.deepStrictEqual(yield* everything, before)
      }).pipe(onHistory)
    )
  }

  it.effect("and those of two environments in one order, whichever is copied to the other", () =>
    Effect.gen(function* () {
      const ada = yield* scene
      const claimed: Array<ReadonlyArray<unknown>> = []
      for (const [from, to] of [["prod", "staging"] as const, ["staging", "prod"] as const]) {
        const statements = yield* statementsOn(transaction(yield* copy(ada, from, to, true)))
        claimed.push(statements.slice(0, 2).flatMap((each) => (isClaim(each) ? each.parameters : [])))
      }
      const [there, back] = claimed
      assert.strictEqual(new Set(there).size, 2)
      assert.deepStrictEqual(back, there)
    }).pipe(onHistory)
  )
})

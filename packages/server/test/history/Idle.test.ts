import type { UserActor } from "@coffer/domain/access/Actor"
import type { Transaction } from "@coffer/server/database/Database"
import { Bundles } from "@coffer/server/secrets/services/Bundles"
import { Promotion } from "@coffer/server/secrets/services/Promotion"
import { Revisions } from "@coffer/server/secrets/services/Revisions"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { statementsOf } from "../support/FailingDriver.js"
import { envPath, key, organization, setSecret, transaction, value } from "../support/Services.js"
import { enterFor, everything, onHistory } from "./Support.js"

const bundle = (actor: UserActor, request: Parameters<Bundles["write"]>[1]) =>
  Effect.map(Effect.all([enterFor(actor, "secret.write"), Bundles]), ([place, bundles]) =>
    bundles.write(place, request, undefined)
  )

const copy = (actor: UserActor, from: string, to: string) =>
  Effect.gen(function* () {
    const target = yield* enterFor(actor, "secret.write", envPath(to))
    const source = yield* enterFor(actor, "secret.copy", envPath(from))
    return (yield* Promotion).copy(target, source, { dry_run: true })
  })

const revert = (actor: UserActor, to: number, dry_run = false) =>
  Effect.map(Effect.all([enterFor(actor, "secret.write"), Revisions]), ([place, revisions]) =>
    revisions.revert(place, { to, dry_run }, undefined)
  )

/** Calls that change nothing: each enters its place, and returns the call. */
const idle = {
  "a write of a bundle that is stored already": (actor: UserActor) =>
    bundle(actor, { set: new Map([[key("A"), value("three")]]) }),
  "a dry run of a write": (actor: UserActor) =>
    bundle(actor, { set: new Map([[key("A"), value("new")]]), dry_run: true }),
  "a dry run of a copy": (actor: UserActor) => copy(actor, "staging", "prod"),
  "a revert to the current revision": (actor: UserActor) => revert(actor, 3),
  "a dry run of a revert": (actor: UserActor) => revert(actor, 1, true)
}

describe("a call that changes nothing writes nothing:", () => {
  for (const [name, enter] of Object.entries(idle)) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const ada = yield* organization()
        for (const text of ["one", "two", "three"]) yield* setSecret(ada, "A", text)
        yield* setSecret(ada, "B", "staged", { path: envPath("staging") })
        const call: Effect.Effect<unknown, { readonly _tag: string }, Transaction> = yield* enter(ada)
        const before = yield* everything
        const { statements } = yield* statementsOf(transaction(call))
        assert.isTrue(statements.some(({ text }) => text.includes("FROM environments")))
        assert.deepStrictEqual(
          statements.filter(({ text }) => /^(INSERT|UPDATE|DELETE)/.test(text)),
          []
        )
        assert.deepStrictEqual(yield* everything, before)
      }).pipe(onHistory)
    )
  }
})

import type { Actor } from "@coffer/domain/access/Actor"
import type { Transaction } from "@coffer/server/database/Database"
import { Dues } from "@coffer/server/secrets/dues/Dues"
import { Bundles } from "@coffer/server/secrets/services/Bundles"
import { History } from "@coffer/server/secrets/services/History"
import { Promotion } from "@coffer/server/secrets/services/Promotion"
import { Revisions } from "@coffer/server/secrets/services/Revisions"
import { Secrets } from "@coffer/server/secrets/services/Secrets"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { statementsOf } from "../support/FailingDriver.js"
import { envPath, key, organization, removeSecret, setSecret, transaction, value } from "../support/Services.js"
import { enterFor, onHistory } from "./Support.js"

const inProd =
  <A>(write: (place: Effect.Effect.Success<ReturnType<typeof enterFor<"secret.write">>>) => A) =>
  (actor: Actor) =>
    Effect.map(enterFor(actor, "secret.write"), write)

/** Small writes, after their handlers entered the place. */
const makeWrites = Effect.gen(function* () {
  const [secrets, history, bundles, promotion, revisions] = yield* Effect.all([
    Secrets,
    History,
    Bundles,
    Promotion,
    Revisions
  ])
  return {
    "creates a secret": inProd((place) => secrets.set(place, key("NEW"), { kind: "text", value: value("new") })),
    "updates a secret": inProd((place) => secrets.set(place, key("A"), { kind: "text", value: value("newer") })),
    "makes a reference": inProd((place) => secrets.set(place, key("R"), { kind: "reference", value: value("${A}") })),
    "removes a secret": inProd((place) => secrets.remove(place, key("B"))),
    "rolls back": inProd((place) => history.rollback(place, key("A"), { version: 1 })),
    undeletes: inProd((place) => history.undelete(place, key("GONE"))),
    "writes a bundle of one": inProd((place) =>
      bundles.write(place, { set: new Map([[key("A"), value("newer")]]) }, undefined)
    ),
    "removes a bundle of one": inProd((place) => bundles.write(place, { delete: [key("B")] }, undefined)),
    "reverts one": inProd((place) => revisions.revert(place, { to: 5 }, undefined)),
    "copies one": (actor: Actor) =>
      Effect.gen(function* () {
        const to = yield* enterFor(actor, "secret.write")
        const from = yield* enterFor(actor, "secret.copy", envPath("staging"))
        return promotion.copy(to, from, { keys: [key("A")] })
      })
  } as const
})

type Writes = Effect.Effect.Success<typeof makeWrites>

/** The most statements that each may take without those of the audit log, and where secrets are to be replaced at an age. */
const most: { readonly [Name in keyof Writes]: readonly [number, number] } = {
  "creates a secret": [6, 6],
  "updates a secret": [6, 8],
  "makes a reference": [10, 10],
  "removes a secret": [6, 6],
  "rolls back": [7, 9],
  undeletes: [7, 7],
  "writes a bundle of one": [6, 8],
  "removes a bundle of one": [6, 6],
  "reverts one": [10, 12],
  "copies one": [8, 10]
}
const names = Object.keys(most) as ReadonlyArray<keyof Writes>

const rotate = (actor: Actor) =>
  Effect.gen(function* () {
    const place = yield* enterFor(actor, "secret.write")
    yield* transaction((yield* Dues).update(place, key("A"), { rotate_every_days: 30 }))
  }).pipe(Effect.provide(Dues.Default))

const countOf = (name: keyof Writes, isRotating: boolean) =>
  Effect.gen(function* () {
    const ada = yield* organization()
    for (const text of ["one", "two"]) yield* setSecret(ada, "A", text)
    for (const name of ["B", "GONE"]) yield* setSecret(ada, name, name)
    yield* removeSecret(ada, "GONE")
    yield* setSecret(ada, "A", "three")
    yield* setSecret(ada, "A", "staged", { path: envPath("staging") })
    if (isRotating) yield* rotate(ada)
    const write: Effect.Effect<unknown, { readonly _tag: string }, Transaction> = yield* (yield* makeWrites)[name](ada)
    const { statements } = yield* statementsOf(transaction(write))
    const at = (text: string) => statements.findIndex((statement) => statement.text === text)
    return at("RELEASE change") - at("SAVEPOINT change") - 1
  }).pipe(onHistory)

describe("a small write takes few statements where it", () => {
  for (const name of names) {
    it.effect(name, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual([yield* countOf(name, false), yield* countOf(name, true)], most[name])
      })
    )
  }
})

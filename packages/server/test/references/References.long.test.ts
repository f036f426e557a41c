import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { isSoak } from "../../../domain/test/support/Runs.js"
import {
  account,
  entries,
  envPath,
  grant,
  isOnPostgres,
  organization,
  outcome,
  readBundle,
  readSecret,
  removeSecret,
  setSecret,
  writeBundle
} from "../support/Services.js"
import {
  around,
  copy,
  diff,
  newEnv,
  read,
  refer,
  refusal,
  removeEnv,
  revert,
  rollback,
  scene,
  undelete,
  withReferences
} from "./Scene.js"

const shared = { path: envPath("shared") }

/** A reference whose way to a value has this many references: over the keys L1, L2 and so on to L0. */
const chain = (actor: Effect.Effect.Success<typeof scene>["ada"], length: number) =>
  Effect.gen(function* () {
    yield* setSecret(actor, "L0", "end")
    for (let at = 1; at <= length; at++) yield* refer(actor, `L${at}`, `\${L${at - 1}}`)
  })

describe("a reference", () => {
  it.effect("leads to the values of other secrets, whatever stands around them", () =>
    Effect.gen(function* () {
      const { ada } = yield* scene
      yield* setSecret(ada, "PASSWORD", "p$1${x}$$")
      yield* setSecret(ada, "NAME", "shop", shared)
      yield* refer(ada, "URL", "postgres://app:${PASSWORD}@db/${shared:NAME}?a=$${PASSWORD}&b=$1&c=$${}$")
      assert.strictEqual(yield* read(ada, "URL"), "postgres://app:p$1${x}$$@db/shop?a=${PASSWORD}&b=$1&c=${}$")
      yield* setSecret(ada, "NAME", "store", shared)
      assert.include(yield* read(ada, "URL"), "@db/store?")
      const raw = yield* readSecret(ada, "URL", { raw: true })
      assert.include(raw.value, "${shared:NAME}")
    }).pipe(withReferences)
  )

  it.effect("stands where it was written: another environment's reference never takes the reader's values", () =>
    Effect.gen(function* () {
      const { ada } = yield* scene
      yield* setSecret(ada, "HOST", "shared.internal", shared)
      yield* refer(ada, "DSN", "db://${HOST}", "shared")
      yield* setSecret(ada, "HOST", "prod.internal")
      yield* refer(ada, "URL", "${shared:DSN}/${HOST}")
      assert.strictEqual(yield* read(ada, "URL"), "db://shared.internal/prod.internal")
    }).pipe(withReferences)
  )

  it.effect("is never made of a text: a password with ${ in it stays as it is", () =>
    Effect.gen(function* () {
      const { ada } = yield* scene
      yield* setSecret(ada, "HOST", "db")
      yield* setSecret(ada, "PASSWORD", "a${HOST}b$${HOST}${")
      assert.strictEqual(yield* read(ada, "PASSWORD"), "a${HOST}b$${HOST}${")
      yield* refer(ada, "PASSWORD", "a${HOST}b")
      yield* setSecret(ada, "PASSWORD", "a${HOST}b")
      assert.strictEqual(yield* read(ada, "PASSWORD"), "a${HOST}b", "the same characters as a text are another value")
      const { data } = yield* readBundle(ada)
      assert.deepStrictEqual(
        data?.map((secret) => [secret.key, secret.value, secret.version, "kind" in secret]),
        [
          ["HOST", "db", 1, false],
          ["PASSWORD", "a${HOST}b", 3, false]
        ]
      )
    }).pipe(withReferences)
  )

  it.effect("needs read on every environment that it passes, and fails its key alone", () =>
    Effect.gen(function* () {
      const { ada, bob } = yield* scene
      yield* setSecret(ada, "NAME", "shop", shared)
      yield* setSecret(ada, "HOST", "db")
      yield* refer(ada, "DSN", "${HOST}/${shared:NAME}")
      yield* refer(ada, "URL", "x://${DSN}")
      const refused = "and this needs read on environment shared"
      assert.strictEqual(
        yield* refusal(read(bob, "URL")),
        `REFERENCE_REFUSED: URL refers to DSN, which refers to shared:NAME, ${refused}`
      )
      const bundle = yield* readBundle(bob)
      assert.deepStrictEqual(
        bundle.data?.map(({ key, value }) => [key, value]),
        [["HOST", "db"]]
      )
      assert.deepStrictEqual(
        bundle.errors?.map(({ code, key, message }) => `${key} ${code} ${message}`),
        [
          `DSN REFERENCE_REFUSED DSN refers to shared:NAME, ${refused}`,
          `URL REFERENCE_REFUSED URL refers to DSN, which refers to shared:NAME, ${refused}`
        ]
      )
      assert.include(
        yield* refusal(readBundle(bob, { format: "object" })),
        `DSN refers to shared:NAME, ${refused}; URL`
      )
      assert.lengthOf((yield* readBundle(bob, { raw: true })).data ?? [], 3)
      // The same words, whether or not the key is there: bob may not find out.
      yield* removeSecret(ada, "NAME", { ...shared, force: true })
      assert.include(yield* refusal(read(bob, "DSN")), refused)
      assert.include(yield* refusal(read(ada, "DSN")), "DSN refers to shared:NAME, which does not exist")
      yield* removeEnv(ada, "shared")
      assert.include(yield* refusal(read(ada, "DSN")), "DSN refers to shared:NAME, which does not exist")
    }).pipe(withReferences)
  )

  it.effect("is refused when it is written, if it could never lead to a value", () =>
    Effect.gen(function* () {
      const { ada, bob } = yield* scene
      yield* setSecret(ada, "NAME", "shop", shared)
      yield* chain(ada, 5)
      yield* refer(ada, "A", "${L0}")
      yield* refer(ada, "B", "${A}")
      const many = Array.from({ length: 33 }, () => "${L0}").join()
      const refusals = {
        malformed: yield* refusal(refer(ada, "X", "user:${L0}@${no key}")),
        open: yield* refusal(refer(ada, "X", "${L0")),
        absent: yield* refusal(refer(ada, "X", "${NOWHERE}")),
        elsewhere: yield* refusal(refer(ada, "X", "${nowhere:L0}")),
        unreadable: yield* refusal(refer(bob, "X", "${shared:NAME}")),
        unknown: yield* refusal(refer(bob, "X", "${shared:NOTHING}")),
        itself: yield* refusal(refer(ada, "L0", "${L0}")),
        cycle: yield* refusal(refer(ada, "L0", "${B}")),
        deep: yield* refusal(refer(ada, "X", "${L5}")),
        deepAbove: yield* refusal(refer(ada, "L0", "${NAME}")),
        many: yield* refusal(refer(ada, "X", many))
      }
      assert.deepStrictEqual(refusals, {
        malformed:
          "VALIDATION_ERROR: X: the reference at character 12 is neither ${KEY} nor ${environment:KEY}; write $${ for the characters ${",
        open: "VALIDATION_ERROR: X: the reference at character 1 is neither ${KEY} nor ${environment:KEY}; write $${ for the characters ${",
        absent: "REFERENCE_REFUSED: X refers to NOWHERE, which does not exist: set that first",
        elsewhere: "REFERENCE_REFUSED: X refers to nowhere:L0, which does not exist: set that first",
        unreadable: "REFERENCE_REFUSED: X refers to shared:NAME, and this needs read on environment shared",
        unknown: "REFERENCE_REFUSED: X refers to shared:NOTHING, and this needs read on environment shared",
        itself: "REFERENCE_REFUSED: L0 would refer to itself: L0 -> L0",
        cycle: "REFERENCE_REFUSED: L0 would refer to itself: L0 -> B -> A -> L0",
        deep: "REFERENCE_REFUSED: X would exceed the maximum reference depth of 5",
        deepAbove: "REFERENCE_REFUSED: L0 refers to NAME, which does not exist: set that first",
        many: "REFERENCE_REFUSED: X has 33 references: a value has at most 32"
      })
      yield* setSecret(ada, "END", "end")
      assert.include(yield* refusal(refer(ada, "L0", "${END}")), "maximum reference depth of 5")
      yield* refer(ada, "X", Array.from({ length: 32 }, () => "${L0}").join(""))
      assert.strictEqual(yield* read(ada, "X"), "end".repeat(32))
      assert.strictEqual(yield* read(ada, "L5"), "end")
    }).pipe(withReferences)
  )

  it.effect("is written by those alone who may read all that it passes, and its refusal tells of nothing else", () =>
    Effect.gen(function* () {
      const { ada, bob } = yield* scene
      yield* newEnv(ada, "far")
      yield* grant(bob, "read", { env: "shared" })
      const far = { path: envPath("far") }
      yield* setSecret(ada, "START", "start")
      yield* setSecret(ada, "END", "end", far)
      yield* refer(ada, "HIDDEN", "${prod:START}", "far")
      yield* refer(ada, "LINK", "${far:END}", "shared")
      yield* refer(ada, "BACK", "${far:HIDDEN}", "shared")
      yield* refer(ada, "HERE", "${shared:LINK}")
      const needed = "and this needs read on environment far"
      assert.strictEqual(
        yield* refusal(refer(bob, "X", "${shared:LINK}")),
        `REFERENCE_REFUSED: X refers to shared:LINK, which refers to far:END, ${needed}`
      )
      assert.strictEqual(
        yield* refusal(writeBundle(bob, { references: { W: "${X}", X: "${HERE}" } })),
        `REFERENCE_REFUSED: W refers to X, which refers to HERE, which refers to shared:LINK, which refers to far:END, ${needed}`
      )
      assert.strictEqual(
        yield* refusal(refer(bob, "START", "${shared:BACK}")),
        `REFERENCE_REFUSED: START refers to shared:BACK, which refers to far:HIDDEN, ${needed}`,
        "the way back passes what bob may not know"
      )
      yield* grant(bob, "read", { env: "far" })
      yield* refer(bob, "X", "${shared:LINK}")
      assert.strictEqual(yield* read(bob, "X"), "end")
      assert.include(yield* refusal(refer(bob, "START", "${shared:BACK}")), "START would refer to itself")
    }).pipe(withReferences)
  )

  it.effect("may be written with what it refers to, in any order, and never in a circle", () =>
    Effect.gen(function* () {
      const { ada } = yield* scene
      yield* writeBundle(ada, { references: { A: "${B}!", B: "${C}?" }, set: { C: "c" } })
      assert.strictEqual(yield* read(ada, "A"), "c?!")
      const circle = writeBundle(ada, { references: { C: "${A}" }, dry_run: true })
      assert.include(yield* refusal(circle), "C would refer to itself")
      assert.include(yield* refusal(writeBundle(ada, { references: { D: "${E}" }, delete: ["E"] })), "does not exist")
      assert.strictEqual(
        yield* outcome(writeBundle(ada, { references: { A: "x" }, set: { A: "y" } })),
        "ValidationError"
      )
    }).pipe(withReferences)
  )

  it.effect("fails its key if its value has more than 64 KB", () =>
    Effect.gen(function* () {
      const { ada } = yield* scene
      yield* setSecret(ada, "BIG", "x".repeat(40_000))
      yield* refer(ada, "TWICE", "${BIG}${BIG}")
      yield* refer(ada, "OVER", "${TWICE}")
      const { data, errors } = yield* readBundle(ada)
      assert.deepStrictEqual(
        data?.map(({ key }) => key),
        ["BIG"]
      )
      assert.deepStrictEqual(
        errors?.map(({ message }) => message),
        [
          "OVER refers to TWICE, which is longer than 64 KB with the values that it refers to",
          "TWICE is longer than 64 KB with the values that it refers to"
        ]
      )
    }).pipe(withReferences)
  )

  it.effect("fails keys whose values would make an answer of more than 8 MiB", () =>
    Effect.gen(function* () {
      const { ada } = yield* scene
      yield* setSecret(ada, "BIG", "x".repeat(64_000))
      const names = Array.from({ length: 140 }, (_, index) => `R${String(index).padStart(3, "0")}`)
      yield* writeBundle(ada, { references: Object.fromEntries(names.map((name) => [name, "${BIG}"])) })
      const { data, errors } = yield* readBundle(ada)
      assert.lengthOf(data ?? [], 1 + 131)
      assert.lengthOf(errors ?? [], 9)
      assert.include(errors?.[0]?.message, "R131 does not fit")
    }).pipe(withReferences)
  )
})

describe("the references of a project", { timeout: 120_000 }, () => {
  // The limits are counted alike on both engines.
  it.effect.skipIf(isOnPostgres() && !isSoak)("have limits: 20,000 of them, and 32 MiB of values for one answer", () =>
    Effect.gen(function* () {
      const { ada } = yield* scene
      yield* setSecret(ada, "N", "")
      const names = Array.from({ length: 32 }, (_, index) => `N${index}`)
      yield* writeBundle(ada, { set: Object.fromEntries(names.map((name) => [name, ""])) })
      const text = names.map((name) => `\${${name}}`).join("")
      const full = Array.from({ length: 625 }, (_, index) => [`R${index}`, text] as const)
      yield* writeBundle(ada, { references: Object.fromEntries(full) })
      assert.strictEqual(yield* outcome(refer(ada, "ONE_MORE", "${N}")), "LimitExceeded")
      yield* refer(ada, "R0", `${text}, rewritten`)
      assert.strictEqual(yield* read(ada, "R0"), ", rewritten")

      yield* writeBundle(ada, { set: Object.fromEntries(full.map(([name]) => [name, ""])) })
      yield* setSecret(ada, "BIG", "x".repeat(60_000))
      const steps = ["A", "B", "C", "D", "E"]
      const chains = Array.from({ length: 120 }, (_, index) =>
        steps.map((step, at) => [`${step}${index}`, `x\${${at === 0 ? "BIG" : `${steps[at - 1]}${index}`}}`] as const)
      )
      yield* writeBundle(ada, { references: Object.fromEntries(chains.flat()) })
      const { data, errors } = yield* readBundle(ada, { keys: chains.map((_, index) => `E${index}`) })
      assert.strictEqual((data ?? []).length + (errors ?? []).length, 120)
      assert.isAbove(data?.length ?? 0, 100)
      assert.include(errors?.at(-1)?.message, "pass at most 32 MiB of values")
    }).pipe(withReferences)
  )
})

describe("a key that others refer to", () => {
  it.effect("stays, unless its removal is forced", () =>
    Effect.gen(function* () {
      const { ada, bob } = yield* scene
      yield* setSecret(ada, "HOST", "db")
      yield* refer(ada, "URL", "x://${HOST}")
      yield* refer(ada, "LINK", "${prod:HOST}", "shared")
      assert.strictEqual(
        yield* refusal(removeSecret(ada, "HOST")),
        "CONFLICT: URL, shared:LINK refer to secret HOST: change them first, or force the removal (they then cannot be read)"
      )
      assert.include(yield* refusal(removeSecret(bob, "HOST")), "URL, 1 more refer to secret HOST")
      assert.include(yield* refusal(writeBundle(ada, { delete: ["HOST"] })), "URL, shared:LINK refer to secret HOST")
      assert.include(yield* refusal(revert(ada, 0)), "shared:LINK refers to")
      yield* setSecret(ada, "LINK", "alone", shared)
      yield* writeBundle(ada, { delete: ["HOST", "URL"] })
      yield* setSecret(ada, "HOST", "db")
      yield* refer(ada, "URL", "x://${HOST}")
      yield* writeBundle(ada, { delete: ["HOST"], set: { URL: "x://" } })
      yield* setSecret(ada, "HOST", "db")
      yield* refer(ada, "URL", "x://${HOST}")
      yield* removeSecret(ada, "HOST", { force: true })
      assert.include(yield* refusal(read(ada, "URL")), "HOST, which does not exist")
      yield* undelete(ada, "HOST")
      assert.strictEqual(yield* read(ada, "URL"), "x://db")
      // However many secrets go with it, none that stays is overlooked.
      const going = Array.from({ length: 50 }, (_, index) => `AT_${String(index).padStart(2, "0")}`)
      yield* writeBundle(ada, { references: Object.fromEntries(going.map((name) => [name, "${HOST}"])) })
      yield* refer(ada, "LINK", "${prod:HOST}", "shared")
      const all = writeBundle(ada, { delete: ["HOST", "URL", ...going] })
      assert.include(yield* refusal(all), "shared:LINK refers to secret HOST")
    }).pipe(withReferences)
  )

  it.effect("keeps its environment, unless the removal is forced or only the environment itself refers to it", () =>
    Effect.gen(function* () {
      const { ada } = yield* scene
      yield* setSecret(ada, "HOST", "db", shared)
      yield* setSecret(ada, "PORT", "1", shared)
      yield* refer(ada, "DSN", "${HOST}", "shared")
      yield* refer(ada, "URL", "${shared:DSN}:${shared:PORT}")
      assert.strictEqual(
        yield* refusal(removeEnv(ada, "shared", false)),
        "CONFLICT: prod:URL refers to secrets of environment shared: change prod:URL first, or force the removal (prod:URL then cannot be read)"
      )
      assert.strictEqual(yield* read(ada, "URL"), "db:1")
      yield* removeEnv(ada, "prod", false)
      yield* removeEnv(ada, "shared", false)
      yield* newEnv(ada, "prod")
      yield* newEnv(ada, "shared")
      yield* setSecret(ada, "HOST", "db", shared)
      yield* refer(ada, "URL", "${shared:HOST}")
      yield* removeEnv(ada, "shared")
      assert.include(yield* refusal(read(ada, "URL")), "URL refers to shared:HOST, which does not exist")
    }).pipe(withReferences)
  )

  it.effect("shows who refers to it, as far as the caller may see", () =>
    Effect.gen(function* () {
      const { ada, bob } = yield* scene
      yield* setSecret(ada, "HOST", "db")
      yield* refer(ada, "URL", "x://${HOST}/${HOST}")
      yield* refer(ada, "LINK", "${prod:HOST}", "shared")
      assert.deepStrictEqual(yield* around(ada, "URL"), {
        kind: "reference",
        refers_to: ["prod:HOST"],
        referred_by: [],
        hidden: 0
      })
      assert.deepStrictEqual(yield* around(ada, "HOST"), {
        kind: "text",
        refers_to: [],
        referred_by: ["prod:URL", "shared:LINK"],
        hidden: 0
      })
      assert.deepStrictEqual((yield* around(bob, "HOST")).referred_by, ["prod:URL"])
      assert.strictEqual((yield* around(bob, "HOST")).hidden, 1)
      yield* setSecret(ada, "URL", "no more")
      assert.deepStrictEqual((yield* around(ada, "HOST")).referred_by, ["shared:LINK"])
    }).pipe(withReferences)
  )
})

describe("changes of references at the same time", () => {
  it.effect("make no circle together, and leave no reference without what it names", () =>
    Effect.gen(function* () {
      const { ada } = yield* scene
      for (let round = 0; round < 5; round++) {
        yield* setSecret(ada, "A", "a")
        yield* setSecret(ada, "B", "b", shared)
        const circle = yield* Effect.all(
          [outcome(refer(ada, "A", "${shared:B}")), outcome(refer(ada, "B", "${prod:A}", "shared"))],
          { concurrency: "unbounded" }
        )
        assert.sameMembers(circle, ["success", "ReferenceRefused"])
        yield* setSecret(ada, "A", "a")
        yield* setSecret(ada, "B", "b", shared)
        const orphan = yield* Effect.all(
          [outcome(refer(ada, "A", "${shared:B}")), outcome(removeSecret(ada, "B", shared))],
          { concurrency: "unbounded" }
        )
        assert.include([["success", "Conflict"].join(), ["ReferenceRefused", "success"].join()], orphan.join())
      }
    }).pipe(withReferences)
  )
})

describe("the text of a reference", () => {
  it.effect("is what versions, rollback, undelete, revert and copy work on", () =>
    Effect.gen(function* () {
      const { ada, bob } = yield* scene
      yield* setSecret(ada, "HOST", "prod.db")
      yield* setSecret(ada, "HOST", "shared.db", shared)
      yield* refer(ada, "URL", "x://${HOST}")
      yield* setSecret(ada, "URL", "plain")
      yield* rollback(ada, "URL", 1)
      assert.strictEqual(yield* read(ada, "URL"), "x://prod.db")
      yield* copy(ada, "prod", "shared", ["URL"])
      assert.strictEqual(yield* read(ada, "URL", "shared"), "x://shared.db", "the copy stands in shared")
      yield* removeSecret(ada, "URL")
      yield* undelete(ada, "URL")
      assert.strictEqual(yield* read(ada, "URL"), "x://prod.db")
      yield* revert(ada, 3)
      assert.strictEqual(yield* read(ada, "URL"), "plain")
      yield* revert(ada, 2)
      assert.strictEqual(yield* read(ada, "URL"), "x://prod.db")
      // A person who brings a reference back needs read where it points.
      yield* refer(ada, "SECRET", "${shared:HOST}")
      yield* setSecret(bob, "SECRET", "plain")
      assert.include(yield* refusal(rollback(bob, "SECRET", 1)), "needs read on environment shared")
      yield* rollback(ada, "SECRET", 1)
      yield* removeSecret(ada, "SECRET")
      assert.include(yield* refusal(undelete(bob, "SECRET")), "needs read on environment shared")
    }).pipe(withReferences)
  )

  it.effect("is what a comparison compares, unless it is asked for the values", () =>
    Effect.gen(function* () {
      const { ada } = yield* scene
      yield* writeBundle(ada, { set: { HOST: "db", PLAIN: "x://db", TEXT: "${HOST}" } })
      yield* writeBundle(ada, { references: { SAME: "x://${HOST}", TEXT: "${HOST}", PLAIN: "x://${HOST}" } })
      yield* setSecret(ada, "TEXT", "${HOST}")
      yield* writeBundle(ada, { set: { HOST: "other" } }, shared)
      yield* writeBundle(
        ada,
        { references: { SAME: "x://${HOST}", TEXT: "${HOST}" }, set: { PLAIN: "x://db" } },
        shared
      )
      assert.deepStrictEqual(yield* diff(ada, "prod", "shared", false), {
        HOST: "different",
        PLAIN: "different",
        SAME: "same",
        TEXT: "different"
      })
      assert.deepStrictEqual(yield* diff(ada, "prod", "shared", true), {
        HOST: "different",
        PLAIN: "same",
        SAME: "different",
        TEXT: "different"
      })
      yield* removeSecret(ada, "HOST", { ...shared, force: true })
      assert.include(yield* refusal(diff(ada, "prod", "shared", true)), "SAME refers to")
    }).pipe(withReferences)
  )
})

describe("the ETag of a bundle", () => {
  it.effect("never names two contents, whatever a reference passes", () =>
    Effect.gen(function* () {
      const { ada, bob } = yield* scene
      yield* newEnv(ada, "far")
      yield* setSecret(ada, "END", "1", { path: envPath("far") })
      yield* refer(ada, "LINK", "${far:END}", "shared")
      yield* setSecret(ada, "OWN", "own")
      const plain = yield* readBundle(ada)
      yield* refer(ada, "URL", "${shared:LINK}")
      const seen = new Map<string, string>()
      const look = (actor: typeof ada) =>
        Effect.gen(function* () {
          const { data, errors, etag } = yield* readBundle(actor)
          const contents = JSON.stringify([data?.map(({ key, value }) => [key, value]), errors])
          assert.strictEqual(seen.get(etag) ?? contents, contents)
          seen.set(etag, contents)
          assert.isUndefined((yield* readBundle(actor, { ifNoneMatch: etag })).data, "nothing has changed since")
          for (const other of [plain.etag, ...seen.keys()]) {
            if (other === etag) continue
            assert.isDefined((yield* readBundle(actor, { ifNoneMatch: other })).data)
          }
          return etag
        })
      const first = yield* look(ada)
      yield* look(bob)
      yield* setSecret(ada, "END", "2", { path: envPath("far") })
      yield* look(ada)
      yield* look(bob)
      yield* grant(bob, "read", { env: "shared" })
      yield* look(bob)
      yield* grant(bob, "read", { env: "far" })
      yield* look(bob)
      yield* removeSecret(ada, "END", { path: envPath("far"), force: true })
      yield* look(ada)
      yield* removeEnv(ada, "far")
      yield* look(ada)
      yield* newEnv(ada, "far")
      yield* look(ada)
      yield* setSecret(ada, "END", "1", { path: envPath("far") })
      const last = yield* look(ada)
      assert.notStrictEqual(first, last)
      // A write takes the tag of the environment or that of its bundle.
      yield* writeBundle(ada, { set: { OWN: "new" } }, { ifMatch: last })
      assert.strictEqual(yield* outcome(writeBundle(ada, { set: { OWN: "newer" } }, { ifMatch: last })), "Conflict")
      // Nothing has changed either for keys that refer to nothing.
      const some = yield* readBundle(ada, { keys: ["OWN"] })
      assert.isUndefined((yield* readBundle(ada, { keys: ["OWN"], ifNoneMatch: some.etag })).data)
    }).pipe(withReferences)
  )
})

describe("the audit log", () => {
  it.effect("has an entry for each environment whose values were read", () =>
    Effect.gen(function* () {
      const { ada } = yield* scene
      yield* setSecret(ada, "NAME", "shop", shared)
      yield* setSecret(ada, "HOST", "db")
      yield* refer(ada, "URL", "${HOST}/${shared:NAME}")
      const before = (yield* entries()).length
      yield* read(ada, "URL")
      const after = (yield* entries()).slice(before)
      assert.deepStrictEqual(
        after.map(({ action, metadata }) => [action, metadata]),
        [
          ["secret.read", { project: "webshop", env: "prod", key: "URL", version: 1 }],
          [
            "secret.read",
            { project: "webshop", env: "prod", keys: [{ key: "HOST", version: 1 }], referred_from: "prod" }
          ],
          [
            "secret.read",
            { project: "webshop", env: "shared", keys: [{ key: "NAME", version: 1 }], referred_from: "prod" }
          ]
        ]
      )
      // A bundle names the keys of its own environment once.
      const between = (yield* entries()).length
      yield* readBundle(ada)
      assert.deepStrictEqual(
        (yield* entries()).slice(between).map(({ metadata }) => metadata),
        [
          {
            project: "webshop",
            env: "prod",
            revision: 2,
            keys: [
              { key: "HOST", version: 1 },
              { key: "URL", version: 1 }
            ]
          },
          { project: "webshop", env: "shared", keys: [{ key: "NAME", version: 1 }], referred_from: "prod" }
        ]
      )
    }).pipe(withReferences)
  )
})

describe("references of two projects", () => {
  it.effect("never meet: a name means an environment of its own project", () =>
    Effect.gen(function* () {
      const { ada } = yield* scene
      const eve = yield* organization("evil", "webshop", "eve@example.com")
      yield* setSecret(ada, "NAME", "shop", shared)
      const there = envPath("prod", "webshop", "evil")
      const steal = setSecret(eve, "X", "${shared:NAME}", { kind: "reference", path: there })
      assert.strictEqual(
        yield* refusal(steal),
        "REFERENCE_REFUSED: X refers to shared:NAME, which does not exist: set that first"
      )
    }).pipe(withReferences)
  )
})

describe("an account that may not reveal", () => {
  it.effect("writes references to what it may copy, and never reads what they lead to", () =>
    Effect.gen(function* () {
      const { ada } = yield* scene
      const blind = yield* account("blind", { reveal: false })
      yield* grant(blind, "write", { env: "prod" })
      yield* setSecret(ada, "HOST", "db")
      yield* setSecret(ada, "NAME", "shop", shared)
      yield* refer(blind, "URL", "x://${HOST}")
      assert.strictEqual(yield* outcome(read(blind, "URL")), "Forbidden")
      assert.include(yield* refusal(refer(blind, "OTHER", "${shared:NAME}")), "needs read on environment shared")
    }).pipe(withReferences)
  )
})

import type { Actor, Delegated, UserActor } from "@coffer/domain/access/Actor"
import { DelegationId, EnvId, RequestId } from "@coffer/domain/base/Ids"
import { EnvName } from "@coffer/domain/base/Names"
import { ApprovalRequired } from "@coffer/domain/errors/Errors"
import { type Guarded, makeGate } from "@coffer/server/access/gate/Gate"
import { ChangeMode, type ChangeRecord, type GateDecision } from "@coffer/server/access/gate/GateDecision"
import { VotesMissing } from "@coffer/server/access/gate/VotesMissing"
import { freedNamesRepo } from "@coffer/server/access/place/FreedNames"
import { actorSource } from "@coffer/server/audit/AuditEvent"
import { Mailer, type Notice } from "@coffer/server/base/mail/Mailer"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  account,
  enter,
  entries,
  envPath,
  member,
  newProject,
  onDatabase,
  organization,
  person,
  transaction
} from "../support/Services.js"
import { protect } from "../support/Protecting.js"

type Mode = GateDecision | { readonly kind: "direct" }

const direct: Mode = { kind: "direct" }
const dryRun: Mode = { kind: "dryRun" }
const glass: Mode = { kind: "breakGlass", reason: "INC-12" }

const newRecord = (): ChangeRecord => ({ entered: false, affected: [], revision: null })
const requested = (envId: EnvId, record = newRecord()): Mode => {
  const approval = { id: RequestId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"), by: ["bob@example.com"] }
  return { kind: "requested", envId, approval, record }
}

/** The gate of an organization with an owner and an admin, and the mails that it sends. */
const scene = Effect.gen(function* () {
  const ada = yield* organization()
  const bob = yield* member("bob@example.com", "admin")
  const mails: Array<Notice> = []
  const mailer = Mailer.make({
    sendLoginCode: () => Effect.void,
    sendInvitation: () => Effect.void,
    sendNotice: (notice) => Effect.sync(() => void mails.push(notice))
  })
  const gate = yield* Effect.provideService(makeGate, Mailer, mailer)

  /** A change of an environment by somebody who has entered it. */
  const changing = (actor: Actor, { action = "secret.write", env = "prod", project = "webshop" } = {}) =>
    Effect.map(enter(ada, "secret.list", envPath(env, project)), (place): Guarded => {
      const names = { project: place.project.name, env: place.env.name }
      const source = { ...actorSource(actor), orgId: place.org.id, ...names }
      return { actor, action, source, envId: place.env.id, org: place.org, ...names }
    })
  return { ada, bob, changing, gate, mails, sql: yield* SqlClient.SqlClient }
})

/** How a step ends in a mode: "passes", or the message that refuses it. */
const said = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>, mode: Mode) =>
  Effect.match(Effect.provideService(effect, ChangeMode, mode), {
    onSuccess: () => "passes",
    onFailure: ({ message }) => message
  })

const votesMissing = "environment webshop/prod is protected, and nothing was changed: send Prefer: respond-async"
const mayUnlock = "as a superadmin you may do this at once"
const notNamed = "the protection of webshop/prod does not let you change it at once: ask for approval"

/** Terms that no owner can ever meet. */
const stuck = { approvers: ["nobody@example.com"] }

const delegationIn = (guarded: Guarded, actor: UserActor): UserActor => {
  const place = {
    project: { id: guarded.envId, name: guarded.project },
    env: { id: guarded.envId, name: EnvName.make(guarded.env) }
  }
  const delegation = {
    ...{ id: DelegationId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"), name: "agent", org: guarded.org },
    ...{ places: [place], permission: "write", reveal: true, keys: null },
    ...{ ofSuperadmin: actor.superadmin, createdAt: "2026-01-01T00:00:00.000Z", expiresAt: "2026-01-02T00:00:00.000Z" }
  } as unknown as Delegated
  return { ...actor, delegation }
}

describe("the gate lets a change of a protected environment through", () => {
  it.effect("directly: for nobody, not even an owner or a superadmin; the refusal says which votes it lacks", () =>
    Effect.gen(function* () {
      const { ada, bob, changing, gate } = yield* scene
      yield* protect()
      const root = yield* person("root@example.com", { superadmin: true })
      for (const actor of [ada, bob, root, yield* account("bot")]) {
        const guarded = yield* changing(actor)
        const refused = yield* Effect.flip(gate.admit(guarded))
        assert.instanceOf(refused, VotesMissing)
        assert.deepStrictEqual(refused instanceof VotesMissing && refused.at, {
          envId: guarded.envId,
          org: guarded.org
        })
        assert.include(refused.message, votesMissing)
      }
    }).pipe(onDatabase())
  )

  it.effect("as a dry run, which writes nothing", () =>
    Effect.gen(function* () {
      const { ada, changing, gate } = yield* scene
      yield* protect()
      const guarded = yield* changing(ada)
      assert.strictEqual(yield* Effect.provideService(gate.admit(guarded), ChangeMode, dryRun), dryRun)
    }).pipe(onDatabase())
  )

  it.effect("as a request's own change, and notes that it came; in another environment it lacks the votes", () =>
    Effect.gen(function* () {
      const { ada, changing, gate } = yield* scene
      yield* protect()
      const guarded = yield* changing(ada)
      const record = newRecord()
      const own = requested(guarded.envId, record)
      assert.strictEqual(yield* Effect.provideService(gate.admit(guarded), ChangeMode, own), own)
      assert.isTrue(record.entered)

      const elsewhere = newRecord()
      const { envId } = yield* changing(ada, { env: "dev" })
      assert.include(yield* said(gate.admit(guarded), requested(envId, elsewhere)), votesMissing)
      assert.isFalse(elsewhere.entered)
    }).pipe(onDatabase())
  )

  it.effect("by breaking the glass: for the people whom the protection names, and for them alone", () =>
    Effect.gen(function* () {
      const { ada, bob, changing, gate, sql } = yield* scene
      yield* protect({ break_glass: [ada.email] })
      const guarded = yield* changing(ada)
      const bot = yield* account("bot")
      const root = yield* person("root@example.com", { superadmin: true })
      for (const [actor, expected] of [
        [ada, "passes"],
        [bob, notNamed],
        [delegationIn(guarded, ada), notNamed],
        [bot, notNamed],
        [{ ...bot, email: ada.email } as Actor, notNamed],
        [root, notNamed]
      ] as const) {
        const changed = yield* changing(actor)
        assert.strictEqual(yield* said(transaction(gate.admit(changed)), glass), expected)
      }
      yield* sql`DELETE FROM protections`
      assert.strictEqual(yield* said(transaction(gate.admit(guarded)), glass), notNamed, "nothing names anybody")
    }).pipe(onDatabase())
  )

  it.effect("by breaking the glass: its reason is recorded and mailed to the owners; a refusal is recorded alone", () =>
    Effect.gen(function* () {
      const { ada, bob, changing, gate, mails } = yield* scene
      yield* protect({ break_glass: [ada.email] })
      yield* member("second@example.com", "owner")
      const guarded = yield* changing(ada)
      const before = (yield* entries()).length
      const added = Effect.map(entries(), (all) =>
        all.slice(before).map(({ action, actor, metadata, resource }) => ({ action, actor, metadata, resource }))
      )

      assert.strictEqual(yield* said(gate.admit(guarded), glass), "passes", "before its transaction")
      assert.deepStrictEqual([yield* added, mails], [[], []])

      assert.strictEqual(yield* Effect.provideService(transaction(gate.admit(guarded)), ChangeMode, glass), glass)
      yield* said(gate.admit(yield* changing(bob)), glass)
      const place = { project: "webshop", env: "prod" }
      const resource = ["env", guarded.envId]
      assert.deepStrictEqual(yield* added, [
        {
          ...{ action: "secret.break_glass", actor: ada.email, resource },
          metadata: { ...place, action: "secret.write", reason: "INC-12" }
        },
        { ...{ action: "access.denied", actor: bob.email, resource }, metadata: { ...place, action: "secret.write" } }
      ])
      assert.sameMembers(
        mails.map(({ to }) => to),
        [ada.email, "second@example.com"]
      )
      for (const { subject, text } of mails) {
        assert.strictEqual(subject, "Protected environment webshop/prod of acme was changed at once")
        const facts = ["Organization: acme", "Environment:  webshop/prod", "Action:       secret.write"]
        for (const fact of [ada.email, ...facts, "Reason:       INC-12"]) assert.include(text, fact)
      }
    }).pipe(onDatabase())
  )

  it.effect("for a superadmin who ends what nobody could vote on, at once and with a reason, and not otherwise", () =>
    Effect.gen(function* () {
      const { ada, changing, gate, sql } = yield* scene
      yield* protect(stuck)
      const root = yield* person("root@example.com", { superadmin: true })
      const ends = [
        ...["protection.set", "protection.delete", "env.delete", "env.restore", "env.erase"],
        ...["project.delete", "project.restore", "project.erase", "org.delete"]
      ]
      for (const action of ends) {
        const guarded = yield* changing(root, { action })
        assert.include(yield* said(gate.admit(guarded), direct), mayUnlock, action)
        assert.notInstanceOf(yield* Effect.flip(gate.admit(guarded)), VotesMissing, action)
        assert.strictEqual(yield* said(transaction(gate.admit(guarded)), glass), "passes", action)
      }
      for (const [actor, action] of [
        [root, "secret.write"],
        [root, "project.update"],
        [ada, "protection.delete"],
        [delegationIn(yield* changing(root), root), "protection.delete"],
        [yield* account("bot"), "protection.delete"],
        [{ ...(yield* account("super")), superadmin: true } as Actor, "protection.delete"]
      ] as const) {
        const guarded = yield* changing(actor, { action })
        assert.include(yield* said(gate.admit(guarded), direct), votesMissing, action)
        assert.strictEqual(yield* said(transaction(gate.admit(guarded)), glass), notNamed, action)
      }

      const ending = yield* changing(root, { action: "protection.delete" })
      yield* sql`UPDATE protections SET approvers = 'admins'`
      assert.include(yield* said(gate.admit(ending), direct), votesMissing, "an owner could end it")
      yield* sql`UPDATE protections SET removed_at = 'now'`
      assert.include(yield* said(gate.admit(ending), direct), votesMissing, "it has ended")
    }).pipe(onDatabase())
  )
})

describe("the gate lets a change of several protected environments through", () => {
  const rowsOf = (all: ReadonlyArray<Guarded>) =>
    all.map(({ env, envId, project }) => ({ env_id: envId, project, env }) as never)

  const several = Effect.gen(function* () {
    const found = yield* scene
    const { ada, changing, gate } = found
    yield* newProject(ada, "api")
    for (const env of ["dev", "staging", "prod"]) yield* protect({ break_glass: [ada.email] }, envPath(env))
    yield* protect({ break_glass: [ada.email] }, envPath("dev", "api"))
    const all = yield* Effect.forEach(["dev", "staging", "prod"], (env) => changing(ada, { env }))
    const more = yield* changing(ada, { env: "dev", project: "api" })
    const admitAll = (which: ReadonlyArray<Guarded>, wayOut?: (names: string) => string) =>
      gate.admitAll(
        "project webshop",
        rowsOf(which),
        ({ env, project }) =>
          [...which].find((one) => one.env === env && one.project === project) ?? assert.fail("another row"),
        wayOut
      )
    return { ...found, all, more, admitAll }
  })

  it.effect("if there is nothing protected, or its request has the votes of the only kind", () =>
    Effect.gen(function* () {
      const { admitAll, all } = yield* several
      const [one] = all
      assert.isDefined(one)
      assert.strictEqual(yield* said(admitAll([]), direct), "passes")
      assert.strictEqual(yield* said(admitAll([one]), requested(one.envId)), "passes")
      assert.include(
        yield* said(admitAll([one]), direct),
        votesMissing.replace("prod", "dev"),
        "it can be asked for by a request"
      )
    }).pipe(onDatabase())
  )

  it.effect("never by one request, which has the votes of one kind: the refusal names them and a way out", () =>
    Effect.gen(function* () {
      const { admitAll, all, more } = yield* several
      const refused = yield* Effect.flip(admitAll(all))
      assert.instanceOf(refused, ApprovalRequired)
      assert.notInstanceOf(refused, VotesMissing)
      const names = "webshop/dev, webshop/staging, webshop/prod"
      const words = "project webshop holds protected environments that need different votes, and nothing was changed: "
      const first = all[0]?.envId
      assert.isDefined(first)
      for (const mode of [direct, dryRun, requested(first)]) {
        assert.strictEqual(
          yield* said(admitAll(all), mode),
          `${words}give ${names} the same protection, or end it, first`
        )
      }
      assert.strictEqual(
        yield* said(
          admitAll([...all, more], (some) => `look at ${some}`),
          direct
        ),
        `${words}look at ${names} and more`
      )
      assert.include(yield* said(admitAll(all.slice(0, 2)), direct), "give webshop/dev, webshop/staging the same")
    }).pipe(onDatabase())
  )

  it.effect("by breaking the glass of each of three at most, if all of them name the person", () =>
    Effect.gen(function* () {
      const { admitAll, all, more, sql } = yield* several
      const before = (yield* entries()).length
      assert.strictEqual(yield* said(transaction(admitAll(all)), glass), "passes")
      assert.deepStrictEqual(
        (yield* entries()).slice(before).map(({ resource_id }) => resource_id),
        all.map(({ envId }) => envId)
      )
      assert.include(yield* said(transaction(admitAll([...all, more])), glass), "webshop/prod and more")
      const last = all[2]?.envId ?? ""
      yield* sql`UPDATE protections SET break_glass = '[]' WHERE env_id = ${last}`
      assert.strictEqual(yield* said(transaction(admitAll(all)), glass), notNamed)
    }).pipe(onDatabase())
  )

  it.effect("which are found below an organization or a project: one for each kind of votes, and four at most", () =>
    Effect.gen(function* () {
      const { ada, gate, sql } = yield* scene
      yield* newProject(ada, "api")
      const { org } = yield* enter(ada, "secret.list")
      const below = (project: string | null) =>
        Effect.map(gate.protectedBelow(org.id, project as never), (rows) =>
          rows.map(({ env, project }) => `${project}/${env}`)
        )
      yield* protect({}, envPath("dev"))
      yield* protect({}, envPath("prod"))
      assert.lengthOf(yield* below(null), 1, "both ask for the same votes")
      yield* protect({ needed: 2 }, envPath("staging"))
      yield* sql`UPDATE protections SET self = 1 WHERE env_id IN (SELECT id FROM environments WHERE name = 'prod')`
      assert.deepStrictEqual(yield* below(null), ["webshop/dev", "webshop/prod", "webshop/staging"])
      yield* protect({ approvers: "owners" }, envPath("dev", "api"))
      yield* protect({ passkey: true }, envPath("prod", "api"))
      assert.deepStrictEqual(yield* below(null), ["api/dev", "api/prod", "webshop/dev", "webshop/prod"])
      assert.deepStrictEqual(yield* below("webshop"), ["webshop/dev", "webshop/prod", "webshop/staging"])
      assert.deepStrictEqual(yield* below("nowhere"), [])
    }).pipe(onDatabase())
  )

  it.effect("which come back with a removed place, or whose values go with it", () =>
    Effect.gen(function* () {
      const { ada, gate, sql } = yield* scene
      const { org, project } = yield* enter(ada, "secret.list")
      for (const [index, env] of ["dev", "staging", "prod"].entries()) {
        yield* protect({ needed: index + 1 }, envPath(env))
      }
      yield* newProject(ada, "api")
      for (const [index, env] of ["dev", "staging", "prod"].entries()) {
        yield* protect({ needed: index + 1, self: true }, envPath(env, "api"))
      }
      const { env: dev } = yield* enter(ada, "secret.list", envPath("dev"))
      const trashed = { org_id: org.id, project_id: project.id, removed_by: ada.email, removed_at: 0 }
      yield* sql`INSERT INTO trash ${sql.insert({
        ...trashed,
        ...{ place_id: dev.id, kind: "env", name: "dev", restorable_until: 4_000_000_000_000 }
      })}`
      yield* sql`UPDATE environments SET removed_at = 'now' WHERE id = ${dev.id}`
      yield* sql`UPDATE projects SET removed_at = 'now' WHERE id = ${project.id}`
      const found = (id: string, change: "restore" | "erase") =>
        Effect.map(gate.protectedInRemoved(id, change), (rows) => rows.map(({ env, project }) => `${project}/${env}`))
      assert.deepStrictEqual(yield* found(dev.id, "restore"), ["webshop/dev"])
      assert.deepStrictEqual(yield* found(project.id, "restore"), ["webshop/prod", "webshop/staging"])
      assert.deepStrictEqual(yield* found(project.id, "erase"), ["webshop/dev", "webshop/prod", "webshop/staging"])
      yield* sql`UPDATE projects SET removed_at = NULL WHERE id = ${project.id}`
      const first = ["api/dev", "api/prod", "api/staging", "webshop/dev"]
      assert.deepStrictEqual(yield* found(org.id, "erase"), first, "four at most")
    }).pipe(onDatabase())
  )
})

describe("the gate lets a place take the name that a protected one had", () => {
  /** The name of prod was given up, and another environment takes it. */
  const freed = Effect.gen(function* () {
    const found = yield* scene
    yield* protect()
    const guarded = yield* found.changing(found.ada)
    const { project } = yield* enter(found.ada, "secret.list")
    const names = yield* freedNamesRepo
    const named = { kind: "env", projectId: project.id, name: EnvName.make("prod") } as const
    const before = { ...named, id: guarded.envId }
    yield* transaction(names.free(before))
    const taking = { ...named, id: EnvId.make("0192f0c1-5b7e-7c3a-9d2e-ffffffffffff") }
    const isHeld = Effect.map(names.find(taking, found.ada.id), (row) => row !== undefined)
    const admitName = (actor: Actor, place: typeof taking = taking, orgId: string | null = guarded.org.id) =>
      transaction(
        found.gate.admitName({ ...guarded, actor, source: { ...guarded.source, orgId: orgId as never } }, place)
      )
    return { ...found, admitName, before, guarded, isHeld, project, taking }
  })
  const heldWords =
    "the environment name prod belonged to what is protected as webshop/prod, whose votes it needs until "
  const hiddenWords = "the environment name prod belonged to a place that was protected, and is given out again on "

  it.effect("with its votes alone, which let the name go for good", () =>
    Effect.gen(function* () {
      const { ada, admitName, guarded, isHeld } = yield* freed
      const refused = yield* Effect.flip(admitName(ada))
      assert.instanceOf(refused, VotesMissing)
      assert.deepStrictEqual(refused instanceof VotesMissing && refused.at, { envId: guarded.envId, org: guarded.org })
      assert.match(refused.message, new RegExp(`^${heldWords}\\d{4}-\\d\\d-\\d\\dT[^ ]+Z, and nothing was changed`))
      assert.isTrue(yield* isHeld)
      assert.strictEqual(yield* said(admitName(ada), requested(guarded.envId)), "passes")
      assert.isFalse(yield* isHeld)
      assert.strictEqual(yield* said(admitName(ada), direct), "passes")
    }).pipe(onDatabase())
  )

  it.effect("by breaking the glass where it belonged to", () =>
    Effect.gen(function* () {
      const { ada, admitName, isHeld, sql } = yield* freed
      yield* sql`UPDATE protections SET break_glass = ${JSON.stringify([ada.email])}`
      const before = (yield* entries()).length
      assert.strictEqual(yield* said(admitName(ada), glass), "passes")
      assert.isFalse(yield* isHeld)
      assert.deepStrictEqual(
        (yield* entries()).slice(before).map(({ action, actor, metadata }) => [action, actor, metadata]),
        [
          [
            ...["secret.break_glass", ada.email],
            { project: "webshop", env: "prod", action: "secret.write", reason: "INC-12" }
          ]
        ]
      )
    }).pipe(onDatabase())
  )

  it.effect("freely if it had the name itself, if nobody held it, or once the protection has ended", () =>
    Effect.gen(function* () {
      const { ada, admitName, before, isHeld, sql, taking } = yield* freed
      assert.strictEqual(yield* said(admitName(ada, before), direct), "passes")
      assert.strictEqual(yield* said(admitName(ada, { ...taking, name: EnvName.make("other") }), direct), "passes")
      assert.isTrue(yield* isHeld)
      yield* sql`UPDATE protections SET removed_at = 'now'`
      assert.strictEqual(yield* said(admitName(ada), direct), "passes")
      assert.isFalse(yield* isHeld)
    }).pipe(onDatabase())
  )

  it.effect("by asking there, for its members and in its organization; to others it is just not given out yet", () =>
    Effect.gen(function* () {
      const { ada, admitName, isHeld, sql } = yield* freed
      yield* organization("other", "unused", "eve@example.com")
      const { org } = yield* enter(yield* person("eve@example.com"), "secret.list", envPath("prod", "unused", "other"))
      const eve = yield* person("eve@example.com")
      for (const [actor, orgId, words] of [
        [ada, undefined, heldWords],
        [ada, org.id, heldWords],
        [yield* account("bot"), undefined, heldWords],
        [yield* account("outside", { org: "other" }), org.id, hiddenWords],
        [eve, org.id, hiddenWords]
      ] as const) {
        const message = yield* said(admitName(actor, undefined, orgId), direct)
        assert.isTrue(message.startsWith(words), message)
      }
      const outside = yield* Effect.flip(admitName(eve, undefined, org.id))
      assert.strictEqual(outside._tag, "Conflict")
      assert.match(outside.message, /again on \d{4}-\d\d-\d\dT[^ ]+Z: choose another$/)
      yield* sql`UPDATE freed_names SET env_id = '0192f0c1-5b7e-7c3a-9d2e-000000000000'`
      for (const orgId of [undefined, null]) {
        const message = yield* said(admitName(ada, undefined, orgId), direct)
        assert.isTrue(message.startsWith(hiddenWords), "nothing is left of the environment")
      }
      assert.isTrue(yield* isHeld)
    }).pipe(onDatabase())
  )
})

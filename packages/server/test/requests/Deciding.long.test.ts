import type { Actor, UserActor } from "@coffer/domain/access/Actor"
import { CurrentCaller } from "@coffer/domain/access/Actor"
import { EnvId, ProjectId, type RequestId } from "@coffer/domain/base/Ids"
import { EnvName } from "@coffer/domain/base/Names"
import type { ApprovalRequest } from "@coffer/domain/requests/ApprovalRequest"
import type { SecretValue } from "@coffer/domain/secrets/SecretValues"
import { Access } from "@coffer/server/access/Access"
import { Requester } from "@coffer/server/access/caller/Requester"
import { freedNamesRepo } from "@coffer/server/access/place/FreedNames"
import type { CallRequest } from "@coffer/server/directory/requests/CallCodec"
import { makeGrantedAccess } from "@coffer/server/directory/requests/GrantedAccess"
import { Requests } from "@coffer/server/directory/requests/Requests"
import { Votes } from "@coffer/server/directory/requests/Votes"
import { heldIn } from "@coffer/server/database/Changing"
import { orgScope, type Scope, userScope } from "@coffer/server/database/Scopes"
import { Secrets } from "@coffer/server/secrets/services/Secrets"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { type Context, Effect, Layer, type Redacted, TestClock } from "effect"
import { protect, type StoredTerms } from "../support/Protecting.js"
import {
  account,
  enter,
  entries,
  envPath,
  grant,
  key,
  member,
  onDatabase,
  organization,
  orgPath,
  projectPath,
  readSecret,
  setSecret,
  transaction,
  uuid,
  value
} from "../support/Services.js"

// The decisions of people on requests, without HTTP and sessions: each person acts by its identity.

const onVotes = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  test.pipe(Effect.provide(Layer.mergeAll(Votes.Default, Requests.Default)), onDatabase())

/** How a step ends: "done", or its error's tag and message. */
const said = <A, E extends { readonly _tag: string; readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.match(effect, { onSuccess: () => "done", onFailure: ({ _tag, message }) => `${_tag}: ${message}` })

/** A protected environment with a secret, and people who write there and vote. The developer and the account do not vote. */
const scene = (terms: StoredTerms = {}) =>
  Effect.gen(function* () {
    const ada = yield* organization()
    const bob = yield* member("bob@example.com", "admin")
    const eve = yield* member("eve@example.com", "admin")
    const dev = yield* member("dev@example.com", "developer")
    const bot = yield* account("bot")
    for (const actor of [dev, bot]) yield* grant(actor, "write")
    yield* setSecret(ada, "A", "one")
    yield* protect(terms)
    const { env, org, project } = yield* enter(ada, "secret.list")
    const [access, requests, secrets, votes, rules] = [
      yield* Access,
      yield* Requests,
      yield* Secrets,
      yield* Votes,
      yield* makeGrantedAccess
    ]
    const finished: Array<unknown> = []

    /** Registers a call as its handler does. */
    const registered = <Request extends CallRequest, A, E>(
      call: string,
      run: (request: Request) => Effect.Effect<A, E, CurrentCaller>
    ) => {
      requests.register(call, run, (made) => Effect.sync(() => void finished.push(made)))
      return (actor: Actor, request: Request) =>
        Effect.map(
          as(actor)(requests.ask(call, request, run(request), { envId: env.id, org }, null)),
          ({ request }) => request
        )
    }
    const as = (actor: Actor) => Effect.provideService(CurrentCaller, new Requester(actor, org.id))

    interface SetRequest extends CallRequest {
      readonly path: ReturnType<typeof envPath> & { readonly key: ReturnType<typeof key> }
      readonly payload: { readonly value: Redacted.Redacted<SecretValue> }
    }
    const askToSet = registered("secrets.set", ({ path, payload }: SetRequest) =>
      access.change(access.guarded(path, "secret.write"), (place) =>
        secrets.set(place, path.key, { kind: "text", value: payload.value })
      )
    )
    const change = (actor: Actor, text = "two", name = "A") =>
      askToSet(actor, { path: { ...envPath(), key: key(name) }, payload: { value: value(text) } })

    const pathOf = (id: RequestId) => ({ ...orgPath(), request_id: id })
    const approve = (actor: Actor, { id }: Pick<ApprovalRequest, "id">, comment?: string) =>
      Effect.zipRight(TestClock.adjust("1 second"), as(actor)(votes.approve(pathOf(id), comment)))
    const refuse = (actor: Actor, { id }: Pick<ApprovalRequest, "id">, comment?: string) =>
      as(actor)(votes.refuse(pathOf(id), comment))
    const withdraw = (actor: Actor, { id }: Pick<ApprovalRequest, "id">) => as(actor)(votes.withdraw(pathOf(id)))
    const requestOf = ({ id }: Pick<ApprovalRequest, "id">) =>
      Effect.flatMap(as(ada)(access.org(orgPath(), "request.list")), (place) => requests.get(place, id))
    const stored = Effect.map(readSecret(ada, "A"), (secret) => secret.value)

    const askForAccess = (actor: Actor) =>
      as(actor)(
        access.change(access.org(orgPath(), "request.create"), (place) =>
          rules.ask(place, {
            ...{ project: project.name, env: env.name, permission: "write", expires_in: 60, reason: "a look" }
          })
        )
      )
    const sql = yield* SqlClient.SqlClient
    return {
      ...{ access, ada, approve, as, askForAccess, bob, bot, change, dev, env, eve, finished, org, project },
      ...{ refuse, registered, requestOf, requests, sql, stored, withdraw }
    }
  })

/** The entries about requests that came after the first `before`. */
const decisionsIn = Effect.map(entries(), (all) =>
  all
    .filter(({ action }) => /^(?:request|acl)\./.test(action))
    .map(({ action, actor, metadata }) => [action, actor, metadata])
)
const place = { project: "webshop", env: "prod" }

describe("the last vote that a request needs", () => {
  it.effect("makes its change for whoever asked, and what follows its commit; those before it rehearse", () =>
    Effect.gen(function* () {
      const { ada, approve, bob, change, dev, finished, requestOf, stored } = yield* scene({ needed: 2 })
      const asked = yield* change(dev)
      const first = yield* approve(bob, asked, "looks right")
      assert.deepInclude(first, { state: "pending", needed: 2, may_vote: false })
      assert.deepStrictEqual([yield* stored, finished], ["one", []])

      const last = yield* approve(ada, asked)
      assert.strictEqual(last.state, "done")
      assert.isNumber(last.revision)
      assert.deepStrictEqual(
        last.votes.map(({ by, comment, vote }) => [by, vote, comment]),
        [
          [bob.email, "approve", "looks right"],
          [ada.email, "approve", undefined]
        ]
      )
      assert.deepStrictEqual(yield* requestOf(asked), last)
      assert.strictEqual(yield* stored, "two")
      assert.lengthOf(finished, 1)
      assert.deepInclude(finished[0] as object, { key: "A", version: 2 })
      const made = (yield* entries()).findLast(({ action }) => action === "secret.set")
      assert.deepInclude(made?.metadata as object, { request: asked.id, approved_by: [bob.email, ada.email] })
      const requester = { requester: dev.email, ...place }
      assert.deepStrictEqual((yield* decisionsIn).slice(-3), [
        ["request.approve", bob.email, { ...requester, comment: "looks right" }],
        ["request.approve", ada.email, requester],
        ["request.apply", ada.email, { ...requester, approved_by: [bob.email, ada.email] }]
      ])
    }).pipe(onVotes)
  )

  it.effect("gives the access that was asked for, in the end and by those who voted", () =>
    Effect.gen(function* () {
      const { approve, askForAccess, ada, bob, dev, requestOf, sql } = yield* scene({ needed: 2 })
      yield* sql`UPDATE acl_rules SET removed_at = 'now'`
      const asked = yield* askForAccess(dev)
      const first = yield* approve(bob, asked)
      assert.strictEqual(first.state, "pending")
      assert.deepStrictEqual(yield* sql`SELECT id FROM acl_rules WHERE removed_at IS NULL`, [])
      const last = yield* approve(ada, asked)
      const rules = yield* sql`SELECT id, subject_id, permission, created_by FROM acl_rules WHERE removed_at IS NULL`
      assert.deepStrictEqual(rules, [
        { id: last.rule_id, subject_id: dev.id, permission: "write", created_by: `${bob.email}, ${ada.email}` }
      ])
      assert.strictEqual((yield* requestOf(asked)).state, "done")
      const [granted, applied] = (yield* decisionsIn).slice(-2)
      assert.deepStrictEqual(granted?.slice(0, 2), ["acl.grant", ada.email])
      assert.deepInclude(granted?.[2] as object, { ...place, request: asked.id, approved_by: [bob.email, ada.email] })
      assert.deepStrictEqual(applied?.slice(0, 2), ["request.apply", ada.email])
    }).pipe(onVotes)
  )

  it.effect("counts those of people who may still vote, in their roles of now and not for themselves", () =>
    Effect.gen(function* () {
      const { approve, bob, change, eve, sql, stored } = yield* scene({ needed: 2, self: true })
      const zoe = yield* member("zoe@example.com", "admin")
      const asked = yield* change(bob)
      assert.strictEqual((yield* approve(bob, asked)).state, "pending", "its own vote counts")
      yield* sql`UPDATE protections SET self = 0`
      assert.strictEqual((yield* approve(zoe, asked)).state, "pending", "its own vote counts no more")
      yield* sql`UPDATE members SET role = 'member' WHERE user_id = ${zoe.id}`
      const { state, votes } = yield* approve(eve, asked)
      assert.deepStrictEqual([state, votes.length, yield* stored], ["pending", 3, "one"])
    }).pipe(onVotes)
  )

  it.effect("holds its voter too, whose votes go with a disabling at the same time", () =>
    Effect.gen(function* () {
      const { approve, bob, change, dev, org, requests } = yield* scene()
      const asked = yield* change(dev)
      const held: Array<Scope> = []
      requests.register("secrets.set", () =>
        Effect.contextWithEffect((context: Context.Context<never>) =>
          Effect.sync(() => {
            held.push(...heldIn(context))
          })
        )
      )
      yield* said(approve(bob, asked))
      assert.sameDeepMembers(held, [orgScope(org.id), userScope(bob.id)])
    }).pipe(onVotes)
  )

  it.effect("counts its requester's own where the protection says so", () =>
    Effect.gen(function* () {
      const { approve, bob, change, stored } = yield* scene({ self: true })
      assert.strictEqual((yield* approve(bob, yield* change(bob))).state, "done")
      assert.strictEqual(yield* stored, "two")
    }).pipe(onVotes)
  )
})

describe("a vote is refused", () => {
  it.effect("to whoever the protection does not let vote, and is recorded", () =>
    Effect.gen(function* () {
      const { approve, bob, bot, change, dev, refuse, requestOf, stored } = yield* scene()
      const asked = yield* change(bob)
      const before = (yield* entries()).length
      for (const [actor, words] of [
        [bob, "Forbidden: your own request needs the vote of somebody else"],
        [dev, "NotFound: request"],
        [bot, "NotFound: request"]
      ] as const) {
        assert.include(yield* said(approve(actor, asked)), words)
        assert.include(yield* said(refuse(actor, asked)), words)
      }
      const botAsked = yield* change(bot)
      assert.include(yield* said(approve(bot, botAsked)), "Forbidden: only people vote, as themselves")
      assert.include(
        (yield* entries())
          .slice(before)
          .map(({ action, actor }) => `${action} ${actor}`)
          .join(),
        `access.denied ${bob.email}`
      )
      const { state, votes } = yield* requestOf(asked)
      assert.deepStrictEqual([state, votes, yield* stored], ["pending", [], "one"])
    }).pipe(onVotes)
  )

  it.effect("without a recent passkey, where the protection asks for one", () =>
    Effect.gen(function* () {
      const { approve, bob, change, dev, stored } = yield* scene({ passkey: true })
      const asked = yield* change(dev)
      const withKey = (isRecent: boolean): UserActor => ({ ...bob, hasPasskey: true, passkeyIsRecent: isRecent })
      assert.include(yield* said(approve(bob, asked)), "Forbidden: this needs a passkey")
      assert.include(yield* said(approve(withKey(false), asked)), "Reauthenticate: verify with your passkey first")
      assert.strictEqual(yield* stored, "one")
      assert.strictEqual((yield* approve(withKey(true), asked)).state, "done")
    }).pipe(onVotes)
  )

  it.effect("the second time, and once the request has ended", () =>
    Effect.gen(function* () {
      const { ada, approve, bob, change, dev, eve, refuse, stored, withdraw } = yield* scene({ needed: 2 })
      const asked = yield* change(dev)
      yield* approve(bob, asked)
      for (const again of [approve(bob, asked), refuse(bob, asked)]) {
        assert.strictEqual(yield* said(again), `Conflict: you have voted on request ${asked.id} already`)
      }
      assert.strictEqual(yield* stored, "one")
      yield* approve(ada, asked)
      for (const late of [approve(eve, asked), refuse(eve, asked), withdraw(dev, asked)]) {
        assert.strictEqual(yield* said(late), `Conflict: request ${asked.id} is done: nobody can decide on it any more`)
      }
    }).pipe(onVotes)
  )

  it.effect("if the request ends in the same moment, and nothing is changed", () =>
    Effect.gen(function* () {
      const { approve, bob, change, dev, refuse, requestOf, sql, stored } = yield* scene()
      const asked = yield* change(dev)
      yield* sql`CREATE TRIGGER ended AFTER INSERT ON request_votes
        BEGIN UPDATE requests SET state = 'expired' WHERE id = NEW.request_id; END`
      for (const vote of [approve(bob, asked), refuse(bob, asked)]) {
        assert.strictEqual(yield* said(vote), `Conflict: request ${asked.id} has just ended`)
      }
      yield* sql`DROP TRIGGER ended`
      const { state, votes } = yield* requestOf(asked)
      assert.deepStrictEqual([state, votes, yield* stored], ["pending", [], "one"])
    }).pipe(onVotes)
  )

  it.effect("on a call that this version of the server cannot read as a whole", () =>
    Effect.gen(function* () {
      const { approve, bob, change, dev, requestOf, sql } = yield* scene()
      const asked = yield* change(dev)
      for (const call of ["secrets.rollback", null]) {
        yield* sql`UPDATE requests SET call = ${call}`
        assert.match(
          yield* said(approve(bob, asked)),
          /^Conflict: an earlier version of the server stored this request/
        )
      }
      const { state, votes } = yield* requestOf(asked)
      assert.deepStrictEqual([state, votes], ["pending", []])
    }).pipe(onVotes)
  )
})

describe("a vote for an outdated request", () => {
  /** Asks, lets something happen, and votes: the vote ends the request, and the message says why. */
  const outdated = (
    happens: (found: Effect.Effect.Success<ReturnType<typeof scene>>) => Effect.Effect<unknown, unknown>,
    words: string,
    env = "prod"
  ) =>
    Effect.gen(function* () {
      const found = yield* scene()
      const { approve, bob, change, dev, finished, requestOf, sql } = found
      const asked = yield* change(dev)
      yield* Effect.orDie(happens(found))
      assert.strictEqual(
        yield* said(approve(bob, asked, "fine")),
        `Conflict: request ${asked.id} is outdated, and nothing was changed: ${words}`
      )
      const { outdated, state, votes } = yield* requestOf(asked)
      assert.deepStrictEqual([state, outdated, votes.length], ["outdated", words.split("; "), 1])
      assert.deepStrictEqual(finished, [])
      assert.deepStrictEqual(yield* sql`SELECT max(version) AS version FROM secrets WHERE key = 'A'`, [{ version: 1 }])
      const [voted, ended] = (yield* decisionsIn).slice(-2)
      assert.deepStrictEqual(voted?.slice(0, 2), ["request.approve", bob.email])
      const because = { requester: dev.email, project: "webshop", env, because: words.split("; ") }
      assert.deepStrictEqual(ended, ["request.outdate", bob.email, because])
    }).pipe(onVotes)

  it.effect("ends it if its environment was removed", () =>
    outdated(({ sql }) => sql`UPDATE environments SET removed_at = 'now'`, "environment webshop/prod was removed")
  )

  it.effect("ends it if the protection is another one by now", () =>
    outdated(({ sql }) => sql`UPDATE protections SET version = 2`, "the protection of the environment has changed")
  )

  it.effect("ends it if the protection has ended", () =>
    outdated(
      ({ sql }) => sql`UPDATE protections SET removed_at = 'now'`,
      "the protection of the environment has changed"
    )
  )

  it.effect("ends it if a name in it is that of something else by now", () =>
    outdated(
      ({ sql }) =>
        sql`UPDATE requests SET named = '[["environment","dev","0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"],["member","x","y"]]'`,
      "environment dev does not exist any more; member x does not exist any more"
    )
  )

  it.effect("ends it if a secret that it changes is another one by now", () =>
    outdated(
      ({ sql }) => sql`UPDATE requests SET keys = replace(keys, '"version":1', '"version":7')`,
      "A is at version 1, and was at version 7"
    )
  )

  it.effect("ends it if its environment has another name, under which another one is", () =>
    outdated(
      ({ sql }) =>
        Effect.zipRight(
          sql`UPDATE environments SET name = 'before' WHERE name = 'prod'`,
          sql`UPDATE environments SET name = 'prod' WHERE name = 'dev'`
        ),
      "webshop/before was renamed after the request was made",
      "before"
    )
  )

  it.effect("ends it if whoever asked has lost the right", () =>
    outdated(
      ({ sql }) => sql`UPDATE acl_rules SET removed_at = 'now'`,
      "this needs a rule with permission write for environment webshop/prod of organization acme"
    )
  )

  it.effect("ends it if the change fails in a way that nobody is told of", () =>
    outdated(
      ({ requests }) =>
        Effect.sync(() => {
          requests.register("secrets.set", () => Effect.fail("with a value in it"))
        }),
      "it cannot be made any more"
    )
  )

  it.effect("ends one for access if its environment was removed, or its requester has left", () =>
    Effect.gen(function* () {
      const { approve, askForAccess, bob, dev, eve, sql } = yield* scene()
      yield* sql`UPDATE acl_rules SET removed_at = 'now'`
      const [one, other] = [yield* askForAccess(dev), yield* askForAccess(dev)]
      yield* sql`UPDATE members SET removed_at = 'now' WHERE user_id = ${dev.id}`
      assert.match(yield* said(approve(bob, one)), /is outdated, and nothing was changed: organization acme/)
      yield* sql`UPDATE members SET removed_at = NULL`
      yield* sql`UPDATE environments SET removed_at = 'now'`
      assert.match(yield* said(approve(eve, other)), /nothing was changed: environment webshop\/prod was removed$/)
    }).pipe(onVotes)
  )
})

describe("a vote is possible after the environment was removed", () => {
  it.effect("for whoever takes its name", () =>
    Effect.gen(function* () {
      const { access, approve, bob, dev, env, project, registered, sql } = yield* scene()
      const names = yield* freedNamesRepo
      const named = { kind: "env", projectId: ProjectId.make(project.id), name: EnvName.make("prod") } as const
      yield* transaction(names.free({ ...named, id: env.id }))
      yield* sql`UPDATE environments SET removed_at = 'now' WHERE id = ${env.id}`
      const taking = { ...named, id: EnvId.make(uuid()) }
      const askToTake = registered("environments.create", (_: CallRequest) =>
        access.change(access.org(orgPath(), "request.create"), (place) => access.admitName(place, taking))
      )
      const asked = yield* askToTake(dev, { path: projectPath(), payload: { name: EnvName.make("prod") } })
      assert.strictEqual((yield* approve(bob, asked)).state, "done")
    }).pipe(onVotes)
  )

  it.effect("for whoever restores it", () =>
    Effect.gen(function* () {
      const { access, ada, approve, bob, env, registered, sql } = yield* scene()
      yield* sql`UPDATE environments SET removed_at = 'now' WHERE id = ${env.id}`
      const askToRestore = registered("trash.restoreEnvironment", (_: CallRequest) =>
        access.change(access.project(projectPath(), "env.restore"), (place) =>
          access.admitRemoved(place, "restore", { id: env.id, named: "environment prod" })
        )
      )
      const asked = yield* askToRestore(ada, { path: { ...projectPath(), removed_id: env.id }, payload: {} })
      assert.strictEqual((yield* approve(bob, asked)).state, "done")
    }).pipe(onVotes)
  )
})

describe("a request is over without its change", () => {
  it.effect("if a voter refuses it, with the comment", () =>
    Effect.gen(function* () {
      const { bob, change, dev, refuse, requestOf, stored } = yield* scene({ needed: 2 })
      const asked = yield* change(dev)
      const refused = yield* refuse(bob, asked, "not now")
      assert.strictEqual(refused.state, "refused")
      assert.deepStrictEqual(
        refused.votes.map(({ by, comment, vote }) => [by, vote, comment]),
        [[bob.email, "refuse", "not now"]]
      )
      assert.deepStrictEqual(yield* requestOf(asked), { ...refused, may_vote: false })
      assert.strictEqual(yield* stored, "one")
      const facts = { requester: dev.email, ...place, comment: "not now" }
      assert.deepStrictEqual((yield* decisionsIn).at(-1), ["request.refuse", bob.email, facts])
    }).pipe(onVotes)
  )

  it.effect("if its requester withdraws it, and by nobody else", () =>
    Effect.gen(function* () {
      const { ada, change, dev, requestOf, withdraw } = yield* scene()
      const asked = yield* change(dev)
      assert.strictEqual(yield* said(withdraw(ada, asked)), "Forbidden: only whoever asked withdraws a request")
      assert.strictEqual((yield* requestOf(asked)).state, "pending")
      assert.strictEqual((yield* withdraw(dev, asked)).state, "withdrawn")
      const facts = { requester: dev.email, ...place }
      assert.deepStrictEqual((yield* decisionsIn).at(-1), ["request.withdraw", dev.email, facts])
    }).pipe(onVotes)
  )
})

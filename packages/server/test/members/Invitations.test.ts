import type { UserActor } from "@coffer/domain/access/Actor"
import { OrgName } from "@coffer/domain/base/Names"
import { Access } from "@coffer/server/access/Access"
import { type Invitation, Mailer } from "@coffer/server/base/mail/Mailer"
import { inSteps } from "@coffer/server/database/InSteps"
import { Members } from "@coffer/server/directory/members/Members"
import { Organizations } from "@coffer/server/directory/organizations/Organizations"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { asActor, email, onDatabase, orgPath, person, transaction } from "../support/Services.js"

const grace = email("grace@example.com")

/** Runs a test with members whose invitations are kept, and not mailed. */
const keeping = (environment: Readonly<Record<string, string>> = {}) => {
  const mailed: Array<Invitation> = []
  const mailer = Layer.succeed(
    Mailer,
    Mailer.make({
      sendLoginCode: () => Effect.void,
      sendNotice: () => Effect.void,
      sendInvitation: (invitation) => Effect.sync(() => void mailed.push(invitation))
    })
  )
  const run = <A, E, R>(test: Effect.Effect<A, E, R>) =>
    test.pipe(Effect.provide(Members.Default.pipe(Layer.provide(mailer))), onDatabase(environment))
  return { mailed, run }
}

const owner = person("ada@example.com")

const found = (actor: UserActor, org: string) =>
  Effect.flatMap(Organizations, (organizations) => transaction(organizations.create(actor, OrgName.make(org))))

const invite = (actor: UserActor, address: string, org = "acme") =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).org(orgPath(org), "member.invite").pipe(asActor(actor))
    const { member } = yield* inSteps(transaction((yield* Members).invite(place, email(address), "developer")))
    return member
  })

const remove = (actor: UserActor, address: string, org = "acme") =>
  Effect.gen(function* () {
    const place = yield* (yield* Access).org(orgPath(org), "member.remove").pipe(asActor(actor))
    yield* transaction((yield* Members).remove(place, (yield* person(address)).id))
  })

describe("an invitation", () => {
  it.effect("is mailed once an hour for an organization, and five times for an address", () => {
    const { mailed, run } = keeping()
    return Effect.gen(function* () {
      const ada = yield* owner
      yield* found(ada, "acme")
      yield* invite(ada, grace)
      assert.deepStrictEqual(mailed, [{ to: grace, inviter: ada.email, org: OrgName.make("acme"), role: "developer" }])
      yield* remove(ada, grace)
      yield* invite(ada, grace)
      assert.lengthOf(mailed, 1)
      for (const number of [1, 2, 3, 4, 5, 6]) {
        yield* found(ada, `org-${number}`)
        yield* invite(ada, grace, `org-${number}`)
      }
      assert.lengthOf(mailed, 5)
      yield* invite(ada, "bob@example.com")
      assert.lengthOf(mailed, 6)
      yield* remove(ada, grace)
      yield* TestClock.adjust("1 hour")
      yield* invite(ada, grace)
      assert.lengthOf(mailed, 7)
    }).pipe(run)
  })

  it.effect("is not mailed where the settings say so, and taken all the same", () => {
    const { mailed, run } = keeping({ SERVICE_INVITATION_MAIL: "0" })
    return Effect.gen(function* () {
      const ada = yield* owner
      yield* found(ada, "acme")
      assert.strictEqual((yield* invite(ada, grace)).email, grace)
      assert.deepStrictEqual(mailed, [])
    }).pipe(run)
  })
})

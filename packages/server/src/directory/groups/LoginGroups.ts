import type { UserId } from "@coffer/domain/base/Ids"
import { ProviderGroup } from "@coffer/domain/directory/Group"
import * as Array from "effect/Array"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type Brought, loginGroupsEvent, loginGroupsSource } from "../../access/LoginGroupsEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { ServerConfig } from "../../base/Config.js"
import { nextTick } from "../../base/EventLoop.js"
import { Database } from "../../database/Database.js"
import { endedAtOnce, inSteps, type Step } from "../../database/InSteps.js"
import { isBusy } from "../../database/jobs/EachRow.js"
import type { Ending } from "../../database/jobs/Purge.js"
import { userScope } from "../../database/Scopes.js"
import { loginGroupsRepo, type LoginRow, type MappedRow } from "./LoginRepo.js"

/** How many names of the provider one statement compares or writes. */
const namesAtOnce = 200

/** How many memberships one transaction reads. */
const membershipsAtOnce = 20

const isMappable = Schema.is(ProviderGroup)

const groupsOf = (rows: ReadonlyArray<MappedRow>) => new Set(rows.map(({ group_name }) => group_name))

/**
 * The groups that a login at the provider brings. `provider_groups` has the names of the person's last login, as far as any
 * organization maps them, and `login_groups` the rows of each organization that maps them. The statements that read rights join both
 * with the mappings. So what a login does not bring counts nowhere from its commit on, and a mapping that is removed gives nothing.
 *
 * Others choose of how many organizations a person is a member. So the rows and audit entries of some organizations are part of the
 * login's transaction, and those of the rest follow it in steps. If they are cut off, the next login does them, or maintenance.
 */
export const makeLoginGroups = Effect.gen(function* () {
  const repo = yield* loginGroupsRepo
  const audit = yield* AuditLog
  const { change } = yield* Database
  const maxAge = (yield* ServerConfig).provider?.groups?.maxAge ?? 0

  /** Records which groups a person is in by this login and was not in by the last one, or the other way round. */
  const record = Effect.fnUntraced(function* (
    person: Brought,
    rows: ReadonlyArray<MappedRow>,
    { expires_at }: Pick<LoginRow, "expires_at">
  ) {
    const held = groupsOf(rows.filter(({ is_held }) => is_held === 1))
    const brought = groupsOf(rows.filter(({ is_brought }) => is_brought === 1))
    const added = [...brought].filter((name) => !held.has(name))
    const removed = [...held].filter((name) => !brought.has(name))
    if (added.length === 0 && removed.length === 0) return
    const expiresAt = brought.size > 0 ? expires_at : null
    yield* audit.change(loginGroupsSource(person), loginGroupsEvent(person, { added, removed, expiresAt }))
  })

  /** Brings the groups of a login to some of the person's organizations. Its row says which come next. */
  const bringSome = Effect.fnUntraced(function* (userId: UserId) {
    yield* repo.hold({ userId })
    const login = yield* repo.find({ userId })
    if (login === undefined) return { hasMore: false } satisfies Step
    const memberships = yield* repo.memberships({ userId, after: login.after_org, limit: membershipsAtOnce })
    let written = 0
    let after = login.after_org
    for (const { accepted_at, org_id: orgId } of memberships) {
      if (written >= endedAtOnce) break
      yield* nextTick
      const rows = yield* repo.mapped({ orgId, userId, loggedInAt: login.logged_in_at })
      const names = Array.dedupe(rows.flatMap((row) => (row.is_brought === 1 ? [row.provider_group] : [])))
      yield* repo.remove({ userId, orgId })
      yield* repo.insert(
        names.map((provider_group) => ({
          ...{ user_id: userId, org_id: orgId, provider_group },
          expires_at: login.expires_at
        }))
      )
      // The organization is told when the person accepts the membership.
      if (accepted_at !== null) yield* record({ id: userId, email: login.email, orgId }, rows, login)
      written += names.length
      after = orgId
    }
    const hasMore = memberships.length === membershipsAtOnce || after !== (memberships.at(-1)?.org_id ?? after)
    yield* hasMore ? repo.proceed({ userId, after }) : repo.complete({ userId })
    return { hasMore } satisfies Step
  })

  /** Replaces the names that earlier logins brought by those of this one. */
  const replaceNames = Effect.fnUntraced(function* (userId: UserId, providerGroups: ReadonlyArray<string>) {
    const names = new Set(providerGroups.filter(isMappable))
    const [login] = yield* repo.begin({ userId, maxAge })
    yield* repo.removeNames({ userId })
    for (const some of Array.chunksOf(names, namesAtOnce)) {
      yield* nextTick
      const mapped = (yield* repo.mappedOf(some)).filter(({ provider_group }) => names.has(provider_group))
      yield* repo.insertNames(
        mapped.map(({ provider_group }) => ({
          ...{ user_id: userId, provider_group },
          expires_at: login?.expires_at ?? 0
        }))
      )
    }
  })

  return {
    bringSome,

    /**
     * Replaces what earlier logins brought by the provider's groups of this login. Call it in the transaction of the login. Only
     * organizations of which the person is a member count.
     */
    bring: (userId: UserId, providerGroups: ReadonlyArray<string>) =>
      Effect.zipRight(replaceNames(userId, providerGroups), bringSome(userId)),

    /** Brings them to the other organizations after the commit of a login. */
    bringRest: (userId: UserId, { hasMore }: Step): Effect.Effect<void> =>
      hasMore
        ? inSteps(change([userScope(userId)], bringSome(userId))).pipe(
            Effect.asVoid,
            Effect.catchAllCause((cause) =>
              Effect.logWarning(
                "some organizations of a person have not got the groups of the login: maintenance brings them",
                cause
              )
            )
          )
        : Effect.void
  } as const
})

const skippedIfBusy = (cause: Cause.Cause<never>) => (isBusy(cause) ? Option.some(Effect.void) : Option.none())

/** Completes logins that were cut off between their steps. */
export const groupLoginCompletion = Effect.gen(function* () {
  const repo = yield* loginGroupsRepo
  const { bringSome } = yield* makeLoginGroups

  const completion: Ending = {
    table: "group_logins",
    run: (fenced) =>
      Effect.gen(function* () {
        for (let after = ""; ;) {
          const found = yield* repo.unfinished({ after, limit: membershipsAtOnce })
          for (const { user_id: userId } of found) {
            yield* fenced(bringSome(userId), [userScope(userId)]).pipe(
              Effect.zipLeft(nextTick),
              Effect.repeat({ while: ({ hasMore }) => hasMore }),
              Effect.asVoid,
              Effect.catchSomeCause(skippedIfBusy)
            )
          }
          const last = found.at(-1)
          if (last === undefined || found.length < membershipsAtOnce) return
          after = last.user_id
          yield* nextTick
        }
      })
  }
  return completion
})

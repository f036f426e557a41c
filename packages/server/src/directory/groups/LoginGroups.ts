import type { UserId } from "@coffer/domain/base/Ids"
import type { Email } from "@coffer/domain/base/Names"
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type Brought, loginGroupsEvent, loginGroupsSource } from "../../access/LoginGroupsEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { ServerConfig } from "../../base/Config.js"
import { nextTick } from "../../base/EventLoop.js"
import { loginGroupsRepo, type MappedRow } from "./LoginRepo.js"

interface Person {
  readonly id: UserId
  readonly email: Email
}

const namesOf = (rows: ReadonlyArray<MappedRow>) => new Set(rows.map(({ group_name }) => group_name))

/**
 * The groups that a login at the provider brings. It stores the provider's groups that an organization of the person maps; the
 * statements that read rights join them with the mappings. So a mapping that is removed gives nothing from then on, and one that is
 * added counts at once for a provider group that another mapping names, else from the next login.
 */
export const makeLoginGroups = Effect.gen(function* () {
  const repo = yield* loginGroupsRepo
  const audit = yield* AuditLog
  const maxAge = (yield* ServerConfig).provider?.groups?.maxAge ?? 0

  /** Records which groups a person is in by this login and was not in by the last one, or the other way round. */
  const record = Effect.fnUntraced(function* (
    person: Brought,
    before: ReadonlyArray<MappedRow>,
    after: ReadonlyArray<MappedRow>
  ) {
    const [held, brought] = [namesOf(before), namesOf(after)]
    const added = [...brought].filter((name) => !held.has(name))
    const removed = [...held].filter((name) => !brought.has(name))
    if (added.length === 0 && removed.length === 0) return
    const expiresAt = brought.size > 0 ? (yield* Clock.currentTimeMillis) + maxAge : null
    yield* audit.change(loginGroupsSource(person), loginGroupsEvent(person, { added, removed, expiresAt }))
  })

  /**
   * Replaces what earlier logins brought by the provider's groups of this login. Call it in the transaction of the login. Only
   * organizations of which the person is a member count.
   */
  return Effect.fnUntraced(function* (person: Person, providerGroups: ReadonlyArray<string>) {
    const userId = person.id
    const names = new Set(providerGroups)
    yield* repo.hold({ userId })
    const orgs = yield* repo.orgs({ userId })
    const mapped = yield* Effect.forEach(orgs, ({ accepted_at, org_id: orgId }) =>
      Effect.zipRight(
        nextTick,
        Effect.map(repo.mapped({ orgId, userId }), (rows) => ({ orgId, rows, isAccepted: accepted_at !== null }))
      )
    )
    yield* repo.removeAll({ userId })
    for (const { isAccepted, orgId, rows } of mapped) {
      const after = rows.filter(({ provider_group }) => names.has(provider_group))
      for (const providerGroup of Array.dedupe(after.map(({ provider_group }) => provider_group))) {
        yield* repo.insert({ userId, orgId, providerGroup, maxAge })
      }
      // The organization is told when the person accepts the membership.
      if (!isAccepted) continue
      yield* record(
        { ...person, orgId },
        rows.filter(({ is_held }) => is_held === 1),
        after
      )
    }
  })
})

import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { allPages } from "../../database/Pages.js"
import { query } from "../../database/Query.js"

const ActorRow = Schema.Struct({ actor_name: Schema.String, actor_id: Schema.String })
const NameRow = Schema.Struct({ cursor: Schema.String, actor_name: Schema.String })

/** How many names of each kind are read for a suggestion. */
const maxNames = 5_000

interface NamesRequest {
  readonly log: string
  readonly after: string
  readonly limit: number
}

type NamesPage = (request: NamesRequest) => Effect.Effect<ReadonlyArray<typeof NameRow.Type>>

/** Finds the actors of a log, and people and accounts that have no entry yet. */
export const actorsRepo = Effect.gen(function* () {
  const { all } = yield* query
  const pages = yield* allPages

  const byName = all(ActorRow)`
    SELECT DISTINCT actor_name, actor_id FROM audit_actors WHERE actor_name = ${"actor"}`
  const byNameIn = all(ActorRow)`
    SELECT DISTINCT actor_name, actor_id FROM audit_actors WHERE actor_name = ${"actor"} AND log = ${"log"}`
  // '' stands for an actor without an id.
  const byId = all(ActorRow)`
    SELECT actor_name, actor_id FROM audit_actors WHERE actor_id = ${"actor"} AND actor_id <> '' LIMIT 1`
  const byIdIn = all(ActorRow)`
    SELECT actor_name, actor_id FROM audit_actors
    WHERE log = ${"log"} AND actor_id = ${"actor"} AND actor_id <> '' LIMIT 1`

  const silent = all(ActorRow)`
    SELECT email AS actor_name, id AS actor_id FROM users WHERE email = ${"actor"} OR id = ${"actor"}
    UNION ALL SELECT name, id FROM service_accounts WHERE name = ${"actor"} OR id = ${"actor"}`
  const silentIn = all(ActorRow)`
    SELECT u.email AS actor_name, u.id AS actor_id FROM users u
      WHERE (u.email = ${"actor"} OR u.id = ${"actor"})
        AND EXISTS (SELECT 1 FROM members m WHERE m.user_id = u.id AND m.org_id = ${"log"})
    UNION ALL SELECT name, id FROM service_accounts
      WHERE (name = ${"actor"} OR id = ${"actor"}) AND org_id = ${"log"}`

  const namesOfAll: ReadonlyArray<NamesPage> = [
    all(NameRow)`
      SELECT actor_name AS cursor, actor_name FROM audit_actors
      WHERE actor_name > ${"after"} GROUP BY actor_name ORDER BY actor_name LIMIT ${"limit"}`,
    all(NameRow)`
      SELECT email AS cursor, email AS actor_name FROM users
      WHERE email > ${"after"} ORDER BY email LIMIT ${"limit"}`,
    all(NameRow)`
      SELECT id AS cursor, name AS actor_name FROM service_accounts
      WHERE id > ${"after"} AND removed_at IS NULL ORDER BY id LIMIT ${"limit"}`
  ]
  const namesIn: ReadonlyArray<NamesPage> = [
    all(NameRow)`
      SELECT actor_name AS cursor, actor_name FROM audit_actors
      WHERE log = ${"log"} AND actor_name > ${"after"} GROUP BY actor_name ORDER BY actor_name LIMIT ${"limit"}`,
    all(NameRow)`
      SELECT m.user_id AS cursor, u.email AS actor_name FROM members m JOIN users u ON u.id = m.user_id
      WHERE m.org_id = ${"log"} AND m.user_id > ${"after"} AND m.removed_at IS NULL
      ORDER BY m.user_id LIMIT ${"limit"}`,
    all(NameRow)`
      SELECT name AS cursor, name AS actor_name FROM service_accounts
      WHERE org_id = ${"log"} AND name > ${"after"} AND removed_at IS NULL ORDER BY name LIMIT ${"limit"}`
  ]

  return {
    /** The actors with a name or an id in a log; in any log if it is undefined. */
    inLog: Effect.fnUntraced(function* (log: string | undefined, actor: string) {
      const named = yield* log === undefined ? byName({ actor }) : byNameIn({ actor, log })
      if (named.length > 0) return named
      return yield* log === undefined ? byId({ actor }) : byIdIn({ actor, log })
    }),

    /** Present or former members and service accounts with a name or an id, even without entries; of any log, all users. */
    withoutEntries: (log: string | undefined, actor: string) =>
      log === undefined ? silent({ actor }) : silentIn({ actor, log }),

    /** Names for suggestions: of actors in a log, or in any log, and of people and accounts without entries. */
    names: (log: string | undefined) =>
      Effect.map(
        Effect.forEach(log === undefined ? namesOfAll : namesIn, (page) =>
          pages(
            "",
            (after, limit) => page({ log: log ?? "", after, limit }),
            ({ cursor }): string => cursor,
            maxNames
          )
        ),
        (found) => [...new Set(found.flat().map(({ actor_name }) => actor_name))]
      )
  } as const
})

import { OrgId } from "@coffer/domain/base/Ids"
import { Database } from "@coffer/server/database/Database"
import { query } from "@coffer/server/database/Query"
import { orgScope } from "@coffer/server/database/Scopes"
import { Effect, Schema } from "effect"
import type { Stage } from "../authorization/Scene.js"

const IdRow = Schema.Struct({ id: OrgId })

/** Makes an environment of an organization end in some milliseconds, by the database's clock. */
export const endEnvironment = (server: Pick<Stage, "run">, org: string, name: string, left = 0): Promise<void> =>
  server.run(
    Effect.gen(function* () {
      const { change, clock } = yield* Database
      const { one, write } = yield* query
      const { id } = yield* one(IdRow)`SELECT id FROM organizations WHERE name = ${"org"} AND removed_at IS NULL`({
        org
      })
      const set = write`
        UPDATE environments SET expires_at = ${"at"}
        WHERE name = ${"name"} AND removed_at IS NULL AND project_id IN (SELECT id FROM projects WHERE org_id = ${"id"})`
      yield* change([orgScope(id)], set({ at: (yield* clock) + left, name, id }))
    })
  )

/** A time so many days from now. */
export const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()

import type { GroupMapping, GroupMappings } from "@coffer/domain/directory/Group"
import { Conflict } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import { type Place, sourceOf } from "../../access/Access.js"
import { notFound } from "../../access/place/NotFound.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { ServerConfig } from "../../base/Config.js"
import { method, traced } from "../../base/tracing/Traced.js"
import { mappingsRepo } from "./MappingsRepo.js"

/** A pair as one text. No name of a group has a line break. */
const keyOf = ({ group, provider_group }: GroupMapping): string => `${group}\n${provider_group}`

const textOf = ({ group, provider_group }: GroupMapping): string => `${provider_group} → ${group}`

/** Which groups of the provider stand for which groups of an organization. */
export class Mappings extends Effect.Service<Mappings>()("@coffer/server/Mappings", {
  effect: Effect.gen(function* () {
    const repo = yield* mappingsRepo
    const audit = yield* AuditLog
    const claim = (yield* ServerConfig).provider?.groups?.claim ?? null

    const answer = (data: ReadonlyArray<GroupMapping>): GroupMappings => ({ data, claim })

    const list = traced("Mappings.list")((place: Place<"group.list" | "group.map">) =>
      Effect.map(repo.all({ orgId: place.org.id }), (rows) =>
        answer(rows.map(({ group, provider_group }) => ({ provider_group, group })))
      )
    )

    /** Replaces all mappings. What a removed one gave ends with it, because rights are read through the mappings. */
    const set = method("Mappings.set", function* (place: Place<"group.map">, mappings: ReadonlyArray<GroupMapping>) {
      const orgId = place.org.id
      const groups = yield* repo.groups({ orgId })
      const ids = new Map(groups.map(({ id, name }) => [name, id]))
      const directory = new Set(groups.flatMap(({ is_directory, name }) => (is_directory === 1 ? [name] : [])))
      const before = new Map((yield* repo.all({ orgId })).map((row) => [keyOf(row), row]))
      const after = new Map(mappings.map((mapping) => [keyOf(mapping), mapping]))
      const added = []
      for (const [key, mapping] of after) {
        const group_id = ids.get(mapping.group)
        if (group_id === undefined) return yield* notFound(`group ${mapping.group}`)
        if (!before.has(key) && directory.has(mapping.group)) {
          return yield* new Conflict({
            message: `the directory manages group ${mapping.group} (SCIM), so no login brings people into it`
          })
        }
        if (!before.has(key)) added.push({ ...mapping, group_id })
      }
      const removed = [...before].flatMap(([key, row]) => (after.has(key) ? [] : [row]))
      for (const { group_id: groupId, provider_group: providerGroup } of removed) {
        yield* repo.remove({ orgId, groupId, providerGroup })
      }
      yield* repo.insert(added.map(({ group_id, provider_group }) => ({ org_id: orgId, provider_group, group_id })))
      if (added.length > 0 || removed.length > 0) {
        yield* audit.change(sourceOf(place), {
          action: "group.map",
          resource_type: "org",
          resource_id: orgId,
          metadata: { mappings: after.size, added: added.map(textOf), removed: removed.map(textOf) }
        })
      }
      return yield* list(place)
    })

    return { list, set } as const
  })
}) {}

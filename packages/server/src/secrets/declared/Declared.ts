import { actorName } from "@coffer/domain/access/Actor"
import {
  type Declaration,
  type DeclaredKey,
  maxDeclaredKeys,
  type RequiredIn
} from "@coffer/domain/secrets/DeclaredKey"
import { NotFound, ValidationError } from "@coffer/domain/errors/Errors"
import type { SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { Access, type Place, sourceOf } from "../../access/Access.js"
import type { KeyReach } from "../../access/place/KeyReach.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { recordLimit } from "../../base/Limit.js"
import { now } from "../../base/Time.js"
import { environmentsRepo } from "../../directory/environments/Repo.js"
import { pacing } from "../../base/EventLoop.js"
import { method } from "../../base/tracing/Traced.js"
import { compilePattern } from "./Patterns.js"
import { declaredRepo } from "./Repo.js"

export const declaredLimit = recordLimit(maxDeclaredKeys, (max) => `a project declares at most ${max} keys`)

export type DeclareRequest = Partial<Declaration>

const notDeclared = (key: SecretKey) => new NotFound({ message: `key ${key} is not declared, or not yours to see` })

/** Each name once, in order, so that equal declarations are equal. */
export const sortedNames = (requiredIn: RequiredIn): RequiredIn =>
  requiredIn === "*" ? "*" : [...new Set(requiredIn)].sort()

export const checkPattern = ({ example, pattern }: DeclareRequest): Effect.Effect<void, ValidationError> =>
  pattern === undefined
    ? Effect.void
    : Effect.flatMap(compilePattern(pattern), (matches) =>
        example === undefined || matches(example)
          ? Effect.void
          : new ValidationError({ message: "example: does not match the pattern, which is for the whole value" })
      )

/**
 * Returns the part of a declaration that the audit log records. Examples and descriptions stay out: the log cannot forget a
 * value that slipped in.
 */
const recorded = (declared: DeclaredKey | undefined) =>
  declared === undefined
    ? null
    : { required_in: declared.required_in, ...(declared.pattern !== undefined && { pattern: declared.pattern }) }

/** The keys that projects declare: what is required where, and what values look like. */
export class Declared extends Effect.Service<Declared>()("@coffer/server/Declared", {
  effect: Effect.gen(function* () {
    const { within } = yield* Access
    const repo = yield* declaredRepo
    const environments = yield* environmentsRepo
    const audit = yield* AuditLog

    /** Names of keys are for those who may list them in an environment. Returns which they are. */
    const visible = Effect.fnUntraced(function* (place: Place<"declared.list">) {
      const some: Array<KeyReach> = []
      const pace = pacing()
      for (const env of yield* environments.revisions({ projectId: place.project.id })) {
        const there = within(place, env).place
        if (there?.reach === null) return () => true
        if (there !== null) some.push(there.reach)
        // A caller may have many rules, and a project many environments.
        yield* pace
      }
      return (key: SecretKey) => some.some((reach) => reach.has(key))
    })

    const list = method("Declared.list", function* (place: Place<"declared.list">) {
      const isVisible = yield* visible(place)
      return (yield* repo.all(place.project.id)).filter(({ key }) => isVisible(key))
    })

    const get = method("Declared.get", function* (place: Place<"declared.list">, key: SecretKey) {
      const isVisible = yield* visible(place)
      const found = isVisible(key) ? yield* repo.find(place.project.id, key) : undefined
      return found ?? (yield* notDeclared(key))
    })

    /** Declares a key, or replaces all that is declared of it. */
    const set = method(
      "Declared.set",
      function* (place: Place<"declared.set">, key: SecretKey, request: DeclareRequest) {
        yield* checkPattern(request)
        const updated_at = yield* now
        const projectId = place.project.id
        const before = yield* repo.find(projectId, key)
        if (before === undefined) yield* declaredLimit.room(yield* repo.count({ projectId }))
        const declared: DeclaredKey = {
          key,
          ...request,
          required_in: sortedNames(request.required_in ?? []),
          updated_at,
          updated_by: actorName(place.actor)
        }
        yield* repo.set(projectId, declared)
        yield* audit.change(sourceOf(place), {
          action: "declared.set",
          resource_type: "project",
          resource_id: projectId,
          metadata: { key, ...recorded(declared), before: recorded(before) }
        })
        return declared
      }
    )

    const remove = method("Declared.remove", function* (place: Place<"declared.delete">, key: SecretKey) {
      const projectId = place.project.id
      const [removed] = yield* repo.remove({ projectId, key })
      if (removed === undefined) return yield* notDeclared(key)
      yield* audit.change(sourceOf(place), {
        action: "declared.delete",
        resource_type: "project",
        resource_id: projectId,
        metadata: { key }
      })
    })

    return { list, get, set, remove } as const
  })
}) {}

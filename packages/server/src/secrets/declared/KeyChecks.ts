import { mayReveal } from "@coffer/domain/access/Actor"
import type { KeyCheck } from "@coffer/domain/secrets/DeclaredKey"
import { isRequired } from "@coffer/domain/secrets/Required"
import type { SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { type Place, sourceOf } from "../../access/Access.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { Database } from "../../database/Database.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { kindOf } from "../../keys/Envelope.js"
import { secretsRepo, type WholeRow } from "../stored/Repo.js"
import { Versions } from "../stored/Versions.js"
import { method } from "../../base/tracing/Traced.js"
import { makeMatching } from "./Patterns.js"
import { declaredRepo, type Expected } from "./Repo.js"

/** Compares environments with what their projects declare, without returning values. */
export class KeyChecks extends Effect.Service<KeyChecks>()("@coffer/server/KeyChecks", {
  effect: Effect.gen(function* () {
    const repo = yield* declaredRepo
    const secrets = yield* secretsRepo
    const versions = yield* Versions
    const audit = yield* AuditLog
    const { snapshot } = yield* Database

    /**
     * Reads, in one snapshot, the existing and the expected keys of an environment, and encrypted values to match patterns.
     */
    const read = (place: Place<"secret.compare">) =>
      snapshot(
        Effect.gen(function* () {
          const declared = yield* repo.expected(place.project.id)
          const listed = yield* secrets.list(place.env.id)
          const existing = new Set<string>(listed.map(({ key }) => key))
          const keys = mayReveal(place.actor)
            ? declared.flatMap(({ key, pattern }) => (pattern !== null && existing.has(key) ? [key] : []))
            : []
          // Pages of the whole environment take fewer statements than many keys.
          const wanted = keys.length > listed.length / 20 ? undefined : keys
          const rows = keys.length === 0 ? [] : yield* secrets.select(place.env.id, wanted)
          return { declared, listed, existing, rows }
        })
      )

    /** The keys whose values break their patterns, in slices. Records which values were decrypted. */
    const broken = Effect.fnUntraced(function* (
      place: Place<"secret.compare">,
      declared: ReadonlyArray<Expected>,
      rows: ReadonlyArray<WholeRow>
    ) {
      const patterns = new Map<string, string | null>(declared.map(({ key, pattern }) => [key, pattern]))
      const looked: Array<{ readonly key: SecretKey; readonly version: number }> = []
      const matches = makeMatching()
      const found = yield* forEachInSlices(
        rows,
        Effect.fnUntraced(function* (row) {
          const pattern = patterns.get(row.key) ?? null
          // A reference leads to the value of another secret, which is validated there.
          if (pattern === null || kindOf(row) === "reference") return []
          const value = yield* versions.open(place, row, row)
          looked.push({ key: row.key, version: row.version })
          return (yield* matches(pattern, Redacted.value(value))) ? [] : [row.key]
        })
      ).pipe(
        Effect.ensuring(
          Effect.suspend(() =>
            looked.length === 0
              ? Effect.void
              : audit.seen(sourceOf(place), {
                  action: "secret.check",
                  resource_type: "env",
                  resource_id: place.env.id,
                  metadata: { keys: looked }
                })
          )
        )
      )
      return found.flat()
    })

    const check = method("KeyChecks.check", function* (place: Place<"secret.compare">) {
      const { declared, existing, listed, rows } = yield* read(place)
      for (const row of listed) yield* versions.checkNewest(place, row)
      const known = new Set<string>(declared.map(({ key }) => key))
      const answer: KeyCheck = {
        declared: declared.length,
        missing: declared.flatMap(({ key, required_in }) =>
          isRequired(required_in, place.env.name) && !existing.has(key) ? [key] : []
        ),
        extra: listed.flatMap(({ key }) => (known.has(key) ? [] : [key])),
        breaks: mayReveal(place.actor) ? yield* broken(place, declared, rows) : null
      }
      return answer
    })

    return { check } as const
  }),
  dependencies: [Versions.Default]
}) {}

import { ChangeRequested } from "@coffer/domain/requests/ApprovalRequest"
import type { Conflict } from "@coffer/domain/errors/Errors"
import type { EnvName, OrgName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import type { BundleWritten } from "@coffer/domain/secrets/Bundle"
import type { Revision } from "@coffer/domain/secrets/Revision"
import type { SecretKind } from "@coffer/domain/secrets/Secret"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { call, type Failure } from "../client/Calls.js"
import type { Base, Staged, StagedEnv } from "./Staged.js"

export interface ProjectPlace {
  readonly org: OrgName
  readonly project: ProjectName
}

const pathOf = ({ org, project }: ProjectPlace, env: EnvName) => ({
  org_name: org,
  project_name: project,
  env_name: env
})

const etagOf = ({ headers }: HttpClientResponse): string => headers["etag"] ?? ""

/** Keys that a later revision changed. */
export interface ConflictingRevision {
  readonly revision: Revision
  /** Those that are staged as well. */
  readonly staged: ReadonlyArray<SecretKey>
}

/** An environment that was not written, and why. */
export interface Refused {
  readonly type: "refused"
  readonly env: EnvName
  readonly failure: Failure
}

/** An environment whose change waits for votes. */
export interface Requested {
  readonly type: "requested"
  readonly env: EnvName
}

/** Result of a write or dry run, or the conflicting revisions. */
export type WriteResult =
  | Requested
  | { readonly type: "written"; readonly env: EnvName; readonly written: BundleWritten; readonly etag: string }
  | {
      readonly type: "conflict"
      readonly env: EnvName
      readonly between: ReadonlyArray<ConflictingRevision>
      /** The state that these revisions have led to. */
      readonly base: Base
    }
  | Refused

const payloadOf = ({ changes, note }: StagedEnv, isDryRun: boolean) => {
  const valuesOf = (kind: SecretKind) =>
    [...changes].flatMap(([key, change]) =>
      change.type === "set" && change.kind === kind ? [[key, change.value] as const] : []
    )
  const [set, references] = [valuesOf("text"), valuesOf("reference")]
  const removed = [...changes].flatMap(([key, change]) => (change.type === "delete" ? [key] : []))
  return {
    ...(set.length > 0 && { set: new Map(set) }),
    ...(references.length > 0 && { references: new Map(references) }),
    ...(removed.length > 0 && { delete: removed }),
    ...(note !== undefined && { note }),
    dry_run: isDryRun
  }
}

/**
 * The revisions of an environment after the one that the changes were made for. There is no conflict if the environment
 * has every change already, such as after a write whose response was lost.
 */
const readConflicts = Effect.fnUntraced(function* (place: ProjectPlace, env: EnvName, staged: StagedEnv) {
  const { base, changes } = staged
  const path = pathOf(place, env)
  const tryOut = (payload: ReturnType<typeof payloadOf>) =>
    call("environments", (api) => api.writeBundle({ path, headers: {}, payload, withResponse: true }))
  // First the state, then what has led to it: a revision after both must not go unseen.
  const [written, response] = yield* Effect.orElse(tryOut(payloadOf(staged, true)), () => tryOut({ dry_run: true }))
  const { revision } = written
  const isInPlace = written.data.length > 0 && written.data.every(({ change }) => change === "unchanged")
  if (isInPlace) return { type: "written", env, written, etag: etagOf(response) } satisfies WriteResult
  const { data } = yield* call("environments", (api) => api.revisions({ path, urlParams: { limit: maxPageSize } }))
  const between = data
    .filter((one) => one.revision > base.revision && one.revision <= revision)
    .map((one): ConflictingRevision => ({
      revision: one,
      staged: one.keys.map(({ key }) => key).filter((key) => changes.has(key))
    }))
  return { type: "conflict", env, between, base: { etag: etagOf(response), revision } } satisfies WriteResult
})

const writeEnv = (place: ProjectPlace, env: EnvName, staged: StagedEnv, isDryRun: boolean) =>
  call("environments", (api) =>
    api.writeBundle({
      path: pathOf(place, env),
      headers: { "if-match": staged.base.etag },
      payload: payloadOf(staged, isDryRun),
      withResponse: true
    })
  ).pipe(
    Effect.map(([written, response]): WriteResult => ({ type: "written", env, written, etag: etagOf(response) })),
    Effect.catchTag("Conflict", (conflict) =>
      Effect.flatMap(readConflicts(place, env, staged), (result): Effect.Effect<WriteResult, Conflict> =>
        // There was no concurrent write: the change itself is refused, such as the removal of a referenced secret.
        result.type === "conflict" && result.base.revision === staged.base.revision ? conflict : Effect.succeed(result)
      )
    )
  )

/** Environments settle one by one: a failure of one is a result of its own. */
const settled = <A>(env: EnvName, attempt: Effect.Effect<A, Failure>): Effect.Effect<A | Refused | Requested> =>
  Effect.map(Effect.either(attempt), (result) => {
    if (Either.isRight(result)) return result.right
    return result.left instanceof ChangeRequested
      ? { type: "requested", env }
      : { type: "refused", env, failure: result.left }
  })

/** Staged changes, and the results of their dry run. */
export interface Reviewed {
  readonly staged: Staged
  readonly results: ReadonlyArray<WriteResult>
}

/** Says what all staged changes would do. Writes nothing. */
export const review = (place: ProjectPlace, staged: Staged) =>
  Effect.map(
    Effect.forEach(staged, ([env, changes]) => settled(env, writeEnv(place, env, changes, true)), { concurrency: 3 }),
    (results): Reviewed => ({ staged, results })
  )

/** Writes the changes of an environment, all or nothing. */
export const send = (place: ProjectPlace, env: EnvName, staged: StagedEnv) =>
  settled(env, writeEnv(place, env, staged, false))

/** A write that can be undone. */
export interface Sent {
  readonly env: EnvName
  readonly revision: number
  readonly etag: string
}

/** Undoes a write by one new revision with what was before it. It is refused if the environment has changed since. */
export const undoWrite = (place: ProjectPlace, { env, etag, revision }: Sent) =>
  settled(
    env,
    Effect.as(
      call("environments", (api) =>
        api.revert({ path: pathOf(place, env), headers: { "if-match": etag }, payload: { to: revision - 1 } })
      ),
      { type: "reverted" } as const
    )
  )

/** The write that led to a revision, for its undo; null if the environment has changed since. */
export const sentAs = (place: ProjectPlace, env: EnvName, revision: number) =>
  Effect.map(
    call("environments", (api) =>
      api.writeBundle({ path: pathOf(place, env), headers: {}, payload: { dry_run: true }, withResponse: true })
    ),
    ([now, response]): Sent | null => (now.revision === revision ? { env, revision, etag: etagOf(response) } : null)
  )

import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import type { SecretKind } from "@coffer/domain/secrets/Secret"
import type { SecretValue } from "@coffer/domain/secrets/SecretValues"
import type * as Redacted from "effect/Redacted"

/** A change that is not sent yet. */
export type Change =
  | {
      readonly type: "set"
      readonly value: Redacted.Redacted<SecretValue>
      readonly kind: SecretKind
      /** The length of the value that it replaces, if the person began with that one. */
      readonly replaced?: number
    }
  | { readonly type: "delete" }

/** The state of an environment that a change was made for. The server refuses it for any other. */
export interface Base {
  readonly etag: string
  readonly revision: number
}

/** The staged changes of an environment. */
export interface StagedEnv {
  readonly base: Base
  readonly changes: ReadonlyMap<SecretKey, Change>
  /** The note on the changes for the history, if all come from one import. */
  readonly note?: string
}

/** The staged changes of a project. It never has an environment without changes. */
export type Staged = ReadonlyMap<EnvName, StagedEnv>

export const nothingStaged: Staged = new Map()

const withEnv = (staged: Staged, env: EnvName, next: StagedEnv): Staged => {
  const copy = new Map(staged)
  if (next.changes.size === 0) copy.delete(env)
  else copy.set(env, next)
  return copy
}

/** Adds changes of an environment. Its base stays that of the first change: what came between must not be overwritten unseen. */
export const stage = (
  staged: Staged,
  env: EnvName,
  base: Base,
  changes: Iterable<readonly [SecretKey, Change]>,
  note?: string
): Staged => {
  const before = staged.get(env)
  return withEnv(staged, env, {
    base: before?.base ?? base,
    changes: new Map([...(before?.changes ?? []), ...changes]),
    ...(note !== undefined && (before === undefined || before.note === note) && { note })
  })
}

export const unstage = (staged: Staged, env: EnvName, key: SecretKey): Staged => {
  const before = staged.get(env)
  if (before === undefined) return staged
  const changes = new Map(before.changes)
  changes.delete(key)
  return withEnv(staged, env, { ...before, changes })
}

export const withoutEnv = (staged: Staged, env: EnvName): Staged => {
  const copy = new Map(staged)
  copy.delete(env)
  return copy
}

/** Keeps the changes of an environment over a later state of it, which the person has seen. */
export const rebase = (staged: Staged, env: EnvName, base: Base): Staged => {
  const before = staged.get(env)
  return before === undefined ? staged : withEnv(staged, env, { ...before, base })
}

export const changeOf = (staged: Staged, env: EnvName, key: SecretKey): Change | null =>
  staged.get(env)?.changes.get(key) ?? null

export const countOf = (staged: Staged): number =>
  [...staged.values()].reduce((sum, { changes }) => sum + changes.size, 0)

import type { SecretKey } from "@coffer/domain/base/Names"
import { allKeys, fitsAllKeys, fitsKeyPattern } from "@coffer/domain/secrets/KeyPatterns"

/** The keys of an environment that rules give, where they do not give all: those of `gives` without those of `takes`. */
export class KeyReach {
  constructor(
    readonly gives: ReadonlyArray<string>,
    readonly takes: ReadonlyArray<string>
  ) {}

  has(key: SecretKey): boolean {
    const fits = (pattern: string) => fitsKeyPattern(pattern, key)
    return this.gives.some(fits) && !this.takes.some(fits)
  }

  /** Equal texts are equal keys: for ETags, under which callers with other rules see other secrets. */
  get text(): string {
    return JSON.stringify([[...new Set(this.gives)].sort(), [...new Set(this.takes)].sort()])
  }
}

/** The keys of rules by their patterns: null if they are all, undefined if they are none. */
export const reachOf = (gives: ReadonlyArray<string>, takes: ReadonlyArray<string>): KeyReach | null | undefined => {
  if (gives.length === 0 || takes.some(fitsAllKeys)) return undefined
  const isAll = gives.some(fitsAllKeys)
  return isAll && takes.length === 0 ? null : new KeyReach(isAll ? [allKeys] : gives, takes)
}

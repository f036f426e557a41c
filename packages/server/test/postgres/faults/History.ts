import { assert } from "vitest"

/** A call on one secret, with the times of its start and end in milliseconds. */
export interface Operation {
  readonly kind: "write" | "read"
  readonly key: string
  readonly start: number
  readonly end: number
  /** `unknown`: no answer that tells whether the change was made. */
  readonly outcome: "done" | "refused" | "unknown"
  /** The value written or read. */
  readonly value: string
  /** The version written or read, if it is done. */
  readonly version: number
}

/** A read of a whole environment. */
export interface BundleRead {
  readonly start: number
  readonly end: number
  readonly etag: string
  readonly revision: number
  readonly data: ReadonlyArray<Pick<Operation, "key" | "value" | "version">>
}

/** The values of a secret by their versions, from 1. */
export type Versions = ReadonlyMap<string, ReadonlyArray<string>>

/** Finds the highest version of operations that had ended, at any time. */
const highestBefore = (
  operations: ReadonlyArray<Pick<Operation, "end" | "outcome" | "version">>
): ((time: number) => number) => {
  const ends = operations.filter(({ outcome }) => outcome === "done").sort((a, b) => a.end - b.end)
  const highest: Array<number> = []
  for (const { version } of ends) highest.push(Math.max(version, highest.at(-1) ?? 0))
  return (time) => {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle]?.end ?? 0) < time) low = middle + 1
      else high = middle
    }
    return highest[low - 1] ?? 0
  }
}

/**
 * Checks that the operations on each secret are linearizable: there is one order of its versions which agrees with every answer
 * and with the times of the calls. No acknowledged write is lost, no refused one is there, and no version repeats.
 */
export const checkHistory = (operations: ReadonlyArray<Operation>, found: Versions): void => {
  for (const [key, values] of found) {
    const ofKey = operations.filter((operation) => operation.key === key)
    const writes = ofKey.filter(({ kind }) => kind === "write")
    const byValue = new Map(writes.map((write) => [write.value, write]))
    assert.strictEqual(new Set(values).size, values.length, `${key}: no write was made twice`)
    values.forEach((value, index) => {
      const write = byValue.get(value)
      assert.isDefined(write, `${key}: version ${index + 1} was written by nobody`)
      assert.notStrictEqual(write.outcome, "refused", `${key}: version ${index + 1} was refused, and is there`)
    })
    const before = highestBefore(ofKey)
    for (const { end, kind, outcome, start, value, version } of ofKey) {
      if (outcome !== "done") continue
      assert.strictEqual(values[version - 1], value, `${key}: version ${version} has the value that was acknowledged`)
      const least = before(start) + (kind === "write" ? 1 : 0)
      assert.isAtLeast(version, least, `${key}: a ${kind} that began after version ${least} was known`)
      const written = byValue.get(value)
      if (kind === "read")
        assert.isBelow(written?.start ?? Infinity, end, `${key}: version ${version} was read before its write`)
    }
  }
  for (const { key, outcome, value } of operations) {
    if (outcome === "done") assert.include(found.get(key) ?? [], value, `${key}: an acknowledged write is lost`)
  }
}

/**
 * Checks reads of whole environments: an ETag and a revision name one content, revisions never decrease, and each secret is
 * as new as what was acknowledged before the read began.
 */
export const checkBundles = (
  bundles: ReadonlyArray<BundleRead>,
  operations: ReadonlyArray<Operation>,
  found: Versions
): void => {
  const contents = new Map<string, string>()
  const highest = new Map(
    [...found.keys()].map((key) => [key, highestBefore(operations.filter((operation) => operation.key === key))])
  )
  const revisionBefore = highestBefore(
    bundles.map(({ end, revision }) => ({ end, outcome: "done", version: revision }))
  )
  for (const { data, etag, revision, start } of bundles) {
    const content = JSON.stringify(data)
    for (const name of [`ETag ${etag}`, `revision ${revision}`]) {
      assert.strictEqual(contents.get(name) ?? content, content, `the ${name} names two contents`)
      contents.set(name, content)
    }
    assert.isAtLeast(revision, revisionBefore(start), "a later read has an earlier revision")
    const versions = new Map(data.map(({ key, version }) => [key, version]))
    for (const { key, value, version } of data) assert.strictEqual(found.get(key)?.[version - 1], value, key)
    for (const [key, before] of highest) {
      assert.isAtLeast(versions.get(key) ?? 0, before(start), `${key}: a bundle without an acknowledged version`)
    }
  }
}

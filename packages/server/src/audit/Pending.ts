import { makeShare } from "../base/Share.js"
import { sharedBounds } from "../base/SharedBounds.js"
import { countEntries, type EntryGroup, inBatches } from "./AuditEvent.js"

const batchSize = 200

/** The groups of entries that wait for their log, oldest first, and how many entries there was no room for. */
export const makePending = () => {
  const groups: Array<EntryGroup> = []
  const share = makeShare(sharedBounds.pendingEntries)
  /** The characters of metadata: one entry can have 250,000. */
  const characters = makeShare(sharedBounds.pendingCharacters)
  const missing = new Map<string, number>()

  /** Returns false, and keeps nothing, if there is no room. */
  const offer = (group: EntryGroup): boolean => {
    if (!share.has(group.log, 1) || !characters.take(group.log, group.characters)) return false
    share.keep(group.log, 1)
    groups.push(group)
    return true
  }

  const forget = (group: EntryGroup): void => {
    share.giveBack(group.log, 1)
    characters.giveBack(group.log, group.characters)
  }

  /** Keeps a group that could not be appended, or counts its entries as missing if there is no room. */
  const keep = (group: EntryGroup): void => {
    if (!offer(group)) missing.set(group.log, (missing.get(group.log) ?? 0) + countEntries([group]))
  }

  /** Takes the oldest groups, at most `most`, in batches that are appended in one event-loop tick each. */
  const take = (byLog: boolean, most: number): ReadonlyArray<ReadonlyArray<EntryGroup>> => {
    const taken = groups.splice(0, Math.min(batchSize, most))
    taken.forEach(forget)
    if (!byLog) return inBatches(taken)
    const logs = new Map<string, Array<EntryGroup>>()
    for (const group of taken) logs.set(group.log, [...(logs.get(group.log) ?? []), group])
    return [...logs.values()].flatMap(inBatches)
  }

  /** Puts back what could not be appended, in front of what came later. */
  const putBack = (some: ReadonlyArray<EntryGroup>): void => {
    groups.unshift(...some)
    for (const group of some) {
      share.keep(group.log, 1)
      characters.keep(group.log, group.characters)
    }
  }

  /** Returns the numbers of missing entries by log, and forgets them. */
  const takeMissing = (): ReadonlyArray<readonly [log: string, entries: number]> => {
    const found = [...missing]
    missing.clear()
    return found
  }

  /** Takes everything. Returns the groups, and how many more entries are missing. */
  const takeAll = () => {
    groups.forEach(forget)
    return {
      groups: groups.splice(0),
      missing: takeMissing().reduce((sum, [, entries]) => sum + entries, 0)
    }
  }

  return {
    offer,
    keep,
    take,
    takeAll,
    putBack,
    takeMissing,
    isEmpty: () => groups.length === 0 && missing.size === 0,
    size: (): number => groups.length
  } as const
}

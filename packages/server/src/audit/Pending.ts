import { countEntries, type EntryGroup, inBatches } from "./AuditEvent.js"

const maxGroups = 10_000
/** How many characters of metadata are kept: one entry can have 250,000. */
const maxCharacters = 16 * 1024 * 1024
const batchSize = 200

/** The groups of entries that wait for their log, oldest first, and how many entries there was no room for. */
export const makePending = () => {
  const groups: Array<EntryGroup> = []
  let characters = 0
  const missing = new Map<string, number>()

  /** Returns false, and keeps nothing, if there is no room. */
  const offer = (group: EntryGroup): boolean => {
    const more = group.characters
    if (groups.length >= maxGroups || characters + more > maxCharacters) return false
    groups.push(group)
    characters += more
    return true
  }

  /** Keeps a group that could not be appended, or counts its entries as missing if there is no room. */
  const keep = (group: EntryGroup): void => {
    if (!offer(group)) missing.set(group.log, (missing.get(group.log) ?? 0) + countEntries([group]))
  }

  /** Takes the oldest groups, in batches that are appended in one event-loop tick each. */
  const take = (byLog: boolean): ReadonlyArray<ReadonlyArray<EntryGroup>> => {
    const taken = groups.splice(0, batchSize)
    for (const group of taken) characters -= group.characters
    if (!byLog) return inBatches(taken)
    const logs = new Map<string, Array<EntryGroup>>()
    for (const group of taken) logs.set(group.log, [...(logs.get(group.log) ?? []), group])
    return [...logs.values()].flatMap(inBatches)
  }

  /** Puts back what could not be appended, in front of what came later. */
  const putBack = (some: ReadonlyArray<EntryGroup>): void => {
    groups.unshift(...some)
    for (const group of some) characters += group.characters
  }

  /** Returns the numbers of missing entries by log, and forgets them. */
  const takeMissing = (): ReadonlyArray<readonly [log: string, entries: number]> => {
    const found = [...missing]
    missing.clear()
    return found
  }

  /** Takes everything. Returns the groups, and how many more entries are missing. */
  const takeAll = () => ({
    groups: groups.splice(0),
    missing: takeMissing().reduce((sum, [, entries]) => sum + entries, 0)
  })

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

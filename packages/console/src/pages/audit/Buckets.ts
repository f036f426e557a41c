import type { AuditEntry } from "@coffer/domain/AuditEntry"

const columns = 48
/** The rest is one kind: more colours could not be told apart. */
const namedKinds = 5

export interface Kind {
  readonly name: string
  readonly count: number
}

export interface ActivityPicture {
  /** The count of each kind in each column. */
  readonly columns: ReadonlyArray<ReadonlyArray<number>>
  readonly kinds: ReadonlyArray<Kind>
  /** The count of the fullest column, at least 1. */
  readonly most: number
  readonly from: string
  readonly until: string
}

const second = (millis: number): string => new Date(millis).toISOString().slice(0, 19).replace("T", " ")

const sum = (counts: ReadonlyArray<number>): number => counts.reduce((total, count) => total + count, 0)

/** Counts entries by kind in spans of equal length, the most frequent kinds first. */
export const activityOf = (
  entries: ReadonlyArray<AuditEntry>,
  kindOf: (entry: AuditEntry) => string
): ActivityPicture => {
  const totals = new Map<string, number>()
  for (const entry of entries) totals.set(kindOf(entry), (totals.get(kindOf(entry)) ?? 0) + 1)
  const sorted = [...totals].map(([name, count]): Kind => ({ name, count })).sort((a, b) => b.count - a.count)
  const others = sorted.slice(namedKinds)
  const kinds = [
    ...sorted.slice(0, namedKinds),
    ...(others.length === 0
      ? []
      : [
          {
            name: others.length === 1 ? "1 other" : `${others.length} others`,
            count: sum(others.map(({ count }) => count))
          }
        ])
  ]
  const times = entries.map(({ created_at }) => Date.parse(created_at))
  const [from, until] = [Math.min(...times), Math.max(...times)]
  const length = Math.max(until - from, 1)
  const counts = Array.from({ length: columns }, () => kinds.map(() => 0))
  for (const entry of entries) {
    const place = Math.min(columns - 1, Math.floor(((Date.parse(entry.created_at) - from) / length) * columns))
    const kind = sorted.findIndex(({ name }) => name === kindOf(entry))
    const column = counts[place]
    const index = Math.min(kind, kinds.length - 1)
    if (column !== undefined) column[index] = (column[index] ?? 0) + 1
  }
  return { columns: counts, kinds, most: Math.max(1, ...counts.map(sum)), from: second(from), until: second(until) }
}

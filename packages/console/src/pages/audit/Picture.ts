import { type ActivityKind, type AuditActivity, spanText } from "@coffer/domain/audit/AuditActivity"

/** The rest is one kind: more colours could not be told apart. */
const namedKinds = 5

const hour = 3_600_000

/** The times from which a person chooses at once, by their lengths in milliseconds; null: since the first entry. */
export const times = { "All time": null, "Last hour": hour, "24 hours": 24 * hour, "30 days": 720 * hour } as const

export interface Kind {
  readonly name: string
  readonly count: number
  /** False for the rest. */
  readonly isOne: boolean
}

export interface ActivityPicture {
  /** The count of each kind in each column. */
  readonly columns: ReadonlyArray<ReadonlyArray<number>>
  readonly kinds: ReadonlyArray<Kind>
  /** The count of the fullest column, at least 1. */
  readonly most: number
  readonly caption: string
}

const captionOf = ({ complete, entries, seconds, since }: AuditActivity): string =>
  [
    `${entries.toLocaleString("en")} ${entries === 1 ? "entry" : "entries"} since ${since.slice(0, 16).replace("T", " ")} UTC`,
    `a column is ${spanText(seconds)}`,
    ...(complete ? [] : ["earlier entries are left out"])
  ].join("; ")

/** Stacks the most frequent kinds, and all others on top of them. */
export const pictureOf = (activity: AuditActivity, found: ReadonlyArray<ActivityKind>): ActivityPicture => {
  const named = found.slice(0, namedKinds)
  const sum = (column: number) => named.reduce((total, { counts }) => total + (counts[column] ?? 0), 0)
  const others = activity.entries - named.reduce((total, { entries }) => total + entries, 0)
  return {
    columns: activity.counts.map((count, column) => [
      ...named.map(({ counts }) => counts[column] ?? 0),
      count - sum(column)
    ]),
    kinds: [
      ...named.map(({ entries, name }) => ({ name, count: entries, isOne: true })),
      ...(others === 0 ? [] : [{ name: "all others", count: others, isOne: false }])
    ],
    most: Math.max(1, ...activity.counts),
    caption: captionOf(activity)
  }
}

/** The time of some columns, as filters name it: from the first to the last of them. */
export const timeOf = ({ seconds, since }: AuditActivity, first: number, last: number) => {
  const at = (column: number) => new Date(Date.parse(since) + column * seconds * 1_000).toISOString().slice(0, 19) + "Z"
  return { since: at(Math.min(first, last)), until: at(Math.max(first, last) + 1) }
}

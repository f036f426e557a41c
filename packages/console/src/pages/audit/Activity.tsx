import type { AuditEntry } from "@coffer/domain/AuditEntry"
import { useSignal } from "@preact/signals"
import { Choose } from "../../kit/Choose.js"
import { activityOf } from "./Buckets.js"

const height = 72
const step = 10

const by = ["action", "actor"] as const
type By = (typeof by)[number]

/** Colours are told apart by the legend's numbers too. */
const colour = (index: number) => `audit-colour-${Math.min(index, 5)}`

/** How much happened when, by action or by actor: one column a span of time. */
export const Activity = ({ entries }: { readonly entries: ReadonlyArray<AuditEntry> }) => {
  const split = useSignal<By>("action")
  if (entries.length < 2) return null
  const { columns, from, kinds, most, until } = activityOf(entries, (entry) =>
    split.value === "action" ? entry.action : entry.actor_name
  )
  return (
    <figure class="audit-activity">
      <figcaption>
        <span>
          The {entries.length} entries below, from {from} to {until}
        </span>
        <Choose label="by" value={split.value} words={by} choose={(word) => (split.value = word)} />
      </figcaption>
      <svg viewBox={`0 0 ${columns.length * step} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        {columns.map((counts, column) => {
          let below = 0
          return counts.map((count, kind) => {
            const size = (count / most) * height
            below += size
            return count === 0 ? null : (
              <rect
                key={`${column} ${kind}`}
                class={colour(kind)}
                x={column * step + 1}
                y={height - below}
                width={step - 2}
                height={size}
              />
            )
          })
        })}
      </svg>
      <ul>
        {kinds.map(({ count, name }, index) => (
          <li key={name}>
            <span class={`audit-mark ${colour(index)}`} aria-hidden="true" />
            {name} <strong>{count}</strong>
          </li>
        ))}
      </ul>
    </figure>
  )
}

import type { AuditActivity } from "@coffer/domain/audit/AuditActivity"
import type { OrgName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import { Choose } from "../../kit/Choose.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { wallMillis } from "../../state/ServerTime.js"
import { nameOf, readActivity, type Typed } from "./Filters.js"
import { pictureOf, timeOf, times } from "./Picture.js"

const height = 72
const step = 10

const by = ["action", "actor"] as const
type By = (typeof by)[number]

/** Colours are told apart by the legend's numbers too. */
const colour = (index: number) => `audit-colour-${Math.min(index, 5)}`

type Choose = (filters: Partial<Typed>) => void

interface BarsProps {
  readonly activity: AuditActivity
  readonly columns: ReadonlyArray<ReadonlyArray<number>>
  readonly most: number
  readonly choose: Choose
}

/** The columns of a picture. A press on one, or a way over several, filters by their time; the fields do the same by the keyboard. */
const Bars = ({ activity, choose, columns, most }: BarsProps) => {
  const brush = useSignal<readonly [number, number] | null>(null)
  const columnAt = ({ clientX, currentTarget }: PointerEvent): number => {
    if (!(currentTarget instanceof Element)) return 0
    const { left, width } = currentTarget.getBoundingClientRect()
    return Math.max(0, Math.min(columns.length - 1, Math.floor(((clientX - left) / width) * columns.length)))
  }
  return (
    <svg
      viewBox={`0 0 ${columns.length * step} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      onPointerDown={(event) => {
        const at = columnAt(event)
        event.currentTarget.setPointerCapture(event.pointerId)
        brush.value = [at, at]
      }}
      onPointerMove={(event) => {
        if (brush.value !== null) brush.value = [brush.value[0], columnAt(event)]
      }}
      onPointerCancel={() => (brush.value = null)}
      onPointerUp={() => {
        if (brush.value !== null) choose(timeOf(activity, ...brush.value))
        brush.value = null
      }}
    >
      {brush.value !== null && (
        <rect
          class="audit-brush"
          x={Math.min(...brush.value) * step}
          y={0}
          width={(Math.abs(brush.value[1] - brush.value[0]) + 1) * step}
          height={height}
        />
      )}
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
  )
}

interface PictureProps {
  readonly activity: AuditActivity
  readonly split: By
  readonly choose: Choose
}

const Picture = ({ activity, choose, split }: PictureProps) => {
  const { caption, columns, kinds, most } = pictureOf(activity, split === "action" ? activity.actions : activity.actors)
  return (
    <>
      <p class="quiet">{caption}</p>
      <Bars activity={activity} columns={columns} most={most} choose={choose} />
      <ul>
        {kinds.map(({ count, isOne, name }, index) => (
          <li key={name}>
            <span class={`audit-mark ${colour(index)}`} aria-hidden="true" />
            {isOne ? (
              <button type="button" class="plain" onClick={() => choose({ [split]: name })}>
                {name}
              </button>
            ) : (
              name
            )}{" "}
            <strong>{count.toLocaleString("en")}</strong>
          </li>
        ))}
      </ul>
    </>
  )
}

interface ActivityProps {
  readonly org: OrgName
  readonly typed: Typed
  readonly choose: Choose
}

/** How much happened when, by action or by actor: one column a span of time. It counts the entries that fit the filters. */
export const Activity = ({ choose, org, typed }: ActivityProps) => {
  const chosen = useSignal<By | null>(null)
  const found = useLoad(nameOf(org, typed), () => readActivity(org, typed))
  // All columns of one action have one colour: actors tell more then.
  const split = chosen.value ?? (typed.action === "" ? "action" : "actor")
  return (
    <figure class="audit-activity">
      <figcaption>
        <h2>Activity</h2>
        {Object.entries(times).map(([name, length]) => (
          <button
            key={name}
            type="button"
            class="plain"
            onClick={() => {
              const from = length === null ? "" : new Date(wallMillis() - length).toISOString().slice(0, 19) + "Z"
              choose({ since: from, until: "" })
            }}
          >
            {name}
          </button>
        ))}
        <Choose label="by" value={split} words={by} choose={(word) => (chosen.value = word)} />
      </figcaption>
      {/* The list below says which filter is not valid. */}
      {found.loaded.value.failure?._tag !== "ValidationError" && (
        <Reading of={found}>{(activity) => <Picture activity={activity} split={split} choose={choose} />}</Reading>
      )}
    </figure>
  )
}

import type { AuditActivity } from "@coffer/domain/audit/AuditActivity"
import type { OrgName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { Choose } from "../../kit/Choose.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { wallMillis } from "../../state/ServerTime.js"
import { pictureOf, times, type TimeName } from "./Picture.js"

const height = 72
const step = 10

const by = ["action", "actor"] as const
type By = (typeof by)[number]

/** Colours are told apart by the legend's numbers too. */
const colour = (index: number) => `audit-colour-${Math.min(index, 5)}`

interface PictureProps {
  readonly activity: AuditActivity
  readonly split: By
  /** Filters the log by an action or an actor. */
  readonly choose: (name: By, word: string) => void
}

const Picture = ({ activity, choose, split }: PictureProps) => {
  const { caption, columns, kinds, most } = pictureOf(activity, split === "action" ? activity.actions : activity.actors)
  return (
    <>
      <p class="quiet">{caption}</p>
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
        {kinds.map(({ count, isOne, name }, index) => (
          <li key={name}>
            <span class={`audit-mark ${colour(index)}`} aria-hidden="true" />
            {isOne ? (
              <button
                type="button"
                class="plain"
                onClick={() => {
                  choose(split, name)
                }}
              >
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
  readonly choose: PictureProps["choose"]
}

/** How much happened when in the whole log, by action or by actor: one column a span of time. */
export const Activity = ({ choose, org }: ActivityProps) => {
  const split = useSignal<By>("action")
  const time = useSignal<TimeName>("all of it")
  const found = useLoad(`${org} ${time.value}`, () => {
    const length = times[time.peek()]
    const since = length === null ? undefined : new Date(wallMillis() - length).toISOString()
    return call("audit", (api) =>
      api.activity({ path: { org_name: org }, urlParams: since === undefined ? {} : { since } })
    )
  })
  const names = Object.keys(times).filter((name): name is TimeName => name in times)
  return (
    <figure class="audit-activity">
      <figcaption>
        <h2>Activity</h2>
        <Choose label="of" value={time.value} words={names} choose={(word) => (time.value = word)} />
        <Choose label="by" value={split.value} words={by} choose={(word) => (split.value = word)} />
      </figcaption>
      <Reading of={found}>{(activity) => <Picture activity={activity} split={split.value} choose={choose} />}</Reading>
    </figure>
  )
}

import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import type { Diff } from "@coffer/domain/secrets/Diff"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { AskAccess } from "../../kit/AskAccess.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { query } from "../../routing/Router.js"
import { pickedKeys } from "../../staging/Picked.js"
import { SentBar } from "../../staging/SentBar.js"
import type { Sent } from "../../staging/Writes.js"
import type { PlaceAt } from "../PageProps.js"
import { type Promotion, PromotionDialog } from "./PromotionDialog.js"
import { type MissingRight, missingRight } from "./Rights.js"

interface ChoiceProps {
  readonly place: PlaceAt<"project">
  readonly from: EnvName
  readonly to: EnvName
  readonly isProtected: boolean
}

type Compared = Diff["data"][number]

const canCopy = ({ status }: Compared): boolean => status === "only_here" || status === "different"

interface KeysProps {
  readonly to: EnvName
  readonly able: ReadonlyArray<Compared>
  readonly chosen: ReadonlySet<SecretKey>
  readonly choose: (keys: ReadonlySet<SecretKey>) => void
}

const Keys = ({ able, choose, chosen, to }: KeysProps) => (
  <table class="list promote-keys">
    <thead>
      <tr>
        <th scope="col">
          <input
            type="checkbox"
            aria-label="All"
            checked={chosen.size === able.length}
            onChange={({ currentTarget }) => {
              choose(new Set(currentTarget.checked ? able.map(({ key }) => key) : []))
            }}
          />
        </th>
        <th scope="col">Key</th>
        <th scope="col">In {to}</th>
      </tr>
    </thead>
    <tbody>
      {able.map(({ key, status }) => (
        <tr key={key}>
          <td>
            <input
              id={`promote-${key}`}
              type="checkbox"
              checked={chosen.has(key)}
              onChange={({ currentTarget }) => {
                const next = new Set(chosen)
                if (currentTarget.checked) next.add(key)
                else next.delete(key)
                choose(next)
              }}
            />
          </td>
          <td>
            <label class="key" for={`promote-${key}`}>
              {key}
            </label>
          </td>
          <td>
            <span class={status === "different" ? "badge warn" : "badge good"}>
              {status === "different" ? "another value" : "missing"}
            </span>
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

interface Found {
  readonly why: MissingRight | null
  readonly compared: ReadonlyArray<Compared>
  /** How many keys are not compared, because the rules of the caller are for some keys. */
  readonly leftOut: number
}

/** Without the right, nothing is compared: the attempt would be refused, and recorded as such. */
const read = ({ from, place, to }: Omit<ChoiceProps, "isProtected">) =>
  Effect.flatMap(missingRight(place, from, to), (why) =>
    why === null
      ? Effect.map(
          call("environments", (api) =>
            api.diff({
              path: { org_name: place.org, project_name: place.project, env_name: from },
              urlParams: { with: to }
            })
          ),
          ({ data, left_out = 0 }): Found => ({ why, compared: data, leftOut: left_out })
        )
      : Effect.succeed<Found>({ why, compared: [], leftOut: 0 })
  )

/** The keys that differ, to choose from. */
export const Choice = (props: ChoiceProps) => {
  const { from, isProtected, place, to } = props
  const diff = useLoad(`${place.org}/${place.project} ${from} ${to}`, () => read(props))
  const wanted = query.value.get("key")
  const ticked = useSignal<ReadonlySet<SecretKey> | null>(pickedKeys(place))
  const reviewed = useSignal<Promotion | null>(null)
  const sent = useSignal<ReadonlyArray<Sent>>([])
  const isWritten = useSignal(false)
  // A write whose response was lost may have changed what is compared.
  const close = () => {
    reviewed.value = null
    diff.reload()
  }
  return (
    <>
      <SentBar place={place} sent={sent} reload={diff.reload} />
      {isWritten.value && <p role="status">Written to {to}.</p>}
      <Reading of={diff}>
        {({ compared, leftOut, why }) => {
          if (why !== null) {
            return (
              <>
                <p>{`You may not promote from ${from} to ${to}: it ${why.text}.`}</p>
                <AskAccess org={place.org} project={place.project} envs={[why.env]} permission={why.permission} />
              </>
            )
          }
          const able = compared.filter(canCopy)
          const rest = compared.filter((one) => !canCopy(one))
          const chosen = new Set(able.flatMap(({ key }) => ((ticked.value?.has(key) ?? key === wanted) ? [key] : [])))
          return (
            <>
              {able.length === 0 ? (
                <p>
                  {to} has every secret of {from}, with equal values.
                </p>
              ) : (
                <Keys
                  to={to}
                  able={able}
                  chosen={chosen}
                  choose={(keys) => {
                    ticked.value = keys
                  }}
                />
              )}
              {rest.length > 0 && (
                <p class="hint">
                  {rest.filter(({ status }) => status === "same").length} equal,{" "}
                  {rest.filter(({ status }) => status === "only_there").length} only in {to}: these stay as they are.
                </p>
              )}
              {leftOut > 0 && <p class="hint">{leftOut} left out: your rules are for other keys.</p>}
              {able.length > 0 && (
                <p class="row">
                  <button
                    type="button"
                    class="primary"
                    disabled={chosen.size === 0}
                    onClick={() => {
                      reviewed.value = { place, from, to, keys: [...chosen], isProtected }
                    }}
                  >
                    {chosen.size === 0 ? "Review" : `Review ${chosen.size.toLocaleString("en")} for ${to}`}
                  </button>
                  {chosen.size === 0 && (
                    <span class="quiet">
                      Choose what {to} shall have as {from} has it.
                    </span>
                  )}
                </p>
              )}
            </>
          )
        }}
      </Reading>
      {reviewed.value !== null && (
        <PromotionDialog
          promotion={reviewed.value}
          close={close}
          done={(write) => {
            close()
            ticked.value = new Set()
            sent.value = write === null ? [] : [write]
            isWritten.value = write === null
          }}
        />
      )}
    </>
  )
}

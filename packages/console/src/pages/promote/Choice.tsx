import type { EnvName, SecretKey } from "@coffer/domain/Names"
import type { BundleWritten, Diff } from "@coffer/domain/Secret"
import { useSignal } from "@preact/signals"
import { Effect } from "effect"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import type { PlaceAt } from "../PageProps.js"

interface ChoiceProps {
  readonly place: PlaceAt<"project">
  readonly from: EnvName
  readonly to: EnvName
}

const words: Readonly<Record<string, string>> = {
  only_here: "new there",
  different: "different",
  same: "equal",
  only_there: "only there"
}

/** What a dry run said, and the ETag that the copy then requires: it writes what was shown, or nothing. */
interface Tried {
  /** The keys that were asked for. */
  readonly keys: ReadonlyArray<SecretKey>
  readonly answer: BundleWritten
  readonly etag: string
}

const copy = ({ from, place, to }: ChoiceProps, keys: ReadonlyArray<SecretKey>, etag: string | null) =>
  call("environments", (api) =>
    api.copy({
      path: { org_name: place.org, project_name: place.project, env_name: to },
      headers: etag === null ? {} : { "if-match": etag },
      payload: { from, keys, dry_run: etag === null },
      withResponse: true
    })
  ).pipe(Effect.map(([answer, { headers }]): Tried => ({ keys, answer, etag: headers["etag"] ?? "" })))

const canCopy = ({ status }: Diff["data"][number]): boolean => status === "only_here" || status === "different"

const Plan = ({ answer }: { readonly answer: BundleWritten }) => (
  <ul class="promote-plan">
    {answer.data.map(({ change, key, version }) => (
      <li key={key}>
        <span class="key">{key}</span> {change}
        {change === "unchanged" ? "" : ` as version ${version}`}
      </li>
    ))}
  </ul>
)

/** The keys that differ, to choose from; then a dry run, then the copy. */
export const Choice = (props: ChoiceProps) => {
  const { from, place, to } = props
  const diff = useLoad(`${place.org}/${place.project} ${from} ${to}`, () =>
    Effect.map(
      call("environments", (api) =>
        api.diff({
          path: { org_name: place.org, project_name: place.project, env_name: from },
          urlParams: { with: to }
        })
      ),
      ({ data }) => data
    )
  )
  const chosen = useSignal<ReadonlySet<SecretKey>>(new Set())
  const tried = useSignal<Tried | null>(null)
  const written = useSignal(0)
  const act = useAct()
  const choose = (keys: ReadonlySet<SecretKey>) => {
    chosen.value = keys
    tried.value = null
    written.value = 0
  }
  return (
    <Reading of={diff}>
      {(found) => {
        const able = found.filter(canCopy).map(({ key }) => key)
        const keys = [...chosen.value]
        const rest = found.filter((one) => !canCopy(one))
        return (
          <>
            {written.value > 0 && (
              <p role="status">
                {written.value} written to {to}.
              </p>
            )}
            {able.length === 0 ? (
              <p>
                {to} has every secret of {from}, with equal values.
              </p>
            ) : (
              <table class="list">
                <thead>
                  <tr>
                    <th scope="col">
                      <input
                        type="checkbox"
                        aria-label="All"
                        checked={keys.length === able.length}
                        onChange={({ currentTarget }) => {
                          choose(new Set(currentTarget.checked ? able : []))
                        }}
                      />
                    </th>
                    <th scope="col">Key</th>
                    <th scope="col">
                      {from} against {to}
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {found.filter(canCopy).map(({ key, status }) => (
                    <tr key={key}>
                      <td>
                        <input
                          type="checkbox"
                          aria-label={key}
                          checked={chosen.value.has(key)}
                          onChange={({ currentTarget }) => {
                            const next = new Set(chosen.value)
                            if (currentTarget.checked) next.add(key)
                            else next.delete(key)
                            choose(next)
                          }}
                        />
                      </td>
                      <td class="key">{key}</td>
                      <td>
                        <span class={status === "different" ? "badge warn" : "badge good"}>
                          {words[status] ?? status}
                        </span>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
            {rest.length > 0 && (
              <p class="hint">
                {rest.filter(({ status }) => status === "same").length} equal,{" "}
                {rest.filter(({ status }) => status === "only_there").length} only in {to}: these stay as they are.
              </p>
            )}
            <Problem failure={act.failure.value} />
            {tried.value !== null && <Plan answer={tried.value.answer} />}
            <div class="row">
              <button
                type="button"
                disabled={keys.length === 0 || act.isBusy.value}
                onClick={() => {
                  act.run(copy(props, keys, null), (answer) => {
                    // The answer for the keys that were chosen before is none for those that are chosen now.
                    if (keys.every((key) => chosen.peek().has(key)) && keys.length === chosen.peek().size) {
                      tried.value = answer
                    }
                  })
                }}
              >
                Try
              </button>
              <button
                type="button"
                class="primary"
                disabled={tried.value === null || act.isBusy.value}
                title={tried.value === null ? "try it first: nothing is written by a try" : undefined}
                onClick={() => {
                  const what = tried.peek()
                  if (what === null) return
                  act.run(copy(props, what.keys, what.etag), ({ answer }) => {
                    choose(new Set())
                    written.value = answer.data.filter(({ change }) => change !== "unchanged").length
                    diff.reload()
                  })
                }}
              >
                Write to {to}
              </button>
            </div>
          </>
        )
      }}
    </Reading>
  )
}

import type { ProjectPath } from "@coffer/domain/api/Paths"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Check } from "../../kit/Check.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { noteDone } from "../../state/Done.js"

interface StrictProps {
  readonly path: ProjectPath
  /** The right that is missing, in words; null if none is. */
  readonly why: string | null
}

/** Whether values that break their declared pattern are refused. */
export const Strict = ({ path, why }: StrictProps) => {
  const found = useLoad(`${path.org_name}/${path.project_name}`, () => call("projects", (api) => api.get({ path })))
  const chosen = useSignal<boolean | null>(null)
  const act = useAct()
  return (
    <Reading of={found}>
      {({ strict = false }) => (
        <>
          <Check
            isChecked={chosen.value ?? strict}
            isDisabled={why !== null || act.isBusy.value}
            choose={(isChecked) => (chosen.value = isChecked)}
          >
            Refuse values that break the declared pattern
          </Check>
          <p class="hint">Otherwise such a value is written, with a warning. Existing values stay.</p>
          {why === null && (
            <p>
              <button
                type="button"
                disabled={act.isBusy.value || chosen.value === null || chosen.value === strict}
                onClick={() => {
                  const set = (isStrict: boolean) =>
                    call("projects", (api) => api.rename({ path, payload: { strict: isStrict } }))
                  const next = chosen.peek() ?? strict
                  act.run(set(next), () => {
                    chosen.value = null
                    found.reload()
                    noteDone(
                      `Values that break their declared pattern are ${next ? "refused" : "written with a warning"}.`,
                      {
                        effect: set(strict),
                        done: found.reload
                      }
                    )
                  })
                }}
              >
                Save<span class="hidden"> what is refused</span>
              </button>
            </p>
          )}
          {why !== null && <p class="quiet">To change that, one {why}.</p>}
          <Problem failure={act.failure.value} />
        </>
      )}
    </Reading>
  )
}

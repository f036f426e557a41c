import type { PlannedEnv } from "@coffer/domain/formats/tools/ImportPlan"
import type { ToolDocument } from "@coffer/domain/formats/tools/ReadDocument"
import type { EnvName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { Choose } from "../../../kit/Choose.js"
import { useLoad } from "../../../kit/Load.js"
import { Problem, sentence } from "../../../kit/Problem.js"
import { Table } from "../../../kit/Table.js"
import { type Model, stageAll } from "../Model.js"
import { withoutOption } from "./Messages.js"
import { changesOf, countsOf, noteOf, planOf, type Tried, tryAll } from "./Plan.js"
import { Remarks } from "./Remarks.js"
import { guessTargets, nameOfPlace, projectsOf } from "./Targets.js"

interface ImportPlanProps {
  readonly model: Model
  readonly document: ToolDocument
  readonly env: EnvName | null
  readonly close: () => void
}

/** Stands for no environment: none can have this name. */
const nowhere = "leave it out"

const heads = ["Environment", "Into", "New", "Changed", "Same", "References", "Not storable", "Left"]

interface CountsProps {
  readonly planned: PlannedEnv
  readonly tried: Tried | undefined
}

const Counts = ({ planned, tried }: CountsProps) => {
  const { created, left, refused, same, translated, updated } = countsOf(planned, tried)
  const cells = [
    [created, "badge good"],
    [updated, "badge warn"],
    [same, "badge"],
    [translated, "badge"],
    [refused, "badge bad"],
    [left, "badge"]
  ] as const
  return (
    <>
      {cells.map(([count, look], index) => (
        <td key={heads[index + 2]}>
          {count === null ? "…" : count === 0 ? <span class="quiet">0</span> : <span class={look}>{count}</span>}
        </td>
      ))}
    </>
  )
}

/** The matrix of an import: the environments of a document, where they go, and what becomes of their keys there. */
export const ImportPlan = ({ close, document, env, model }: ImportPlanProps) => {
  const columns = model.grid.value.columns.filter(({ canWrite }) => canWrite)
  const names = columns.map(({ name }) => name)
  const projects = projectsOf(document)
  const project = useSignal(projects.find((one) => one === model.place.project) ?? projects[0])
  const places = document.places.filter((place) => place.project === project.value)
  const guess = () =>
    guessTargets(document.places.filter((one) => one.project === project.peek()).map(nameOfPlace), names, env)
  const targets = useSignal(guess())
  const plan = useMemo(
    () => planOf(document, project.value, targets.value, model.place),
    [document, project.value, targets.value]
  )
  const { loaded, reload } = useLoad(JSON.stringify([project.value, ...targets.value]), () =>
    tryAll(model.place, plan.envs)
  )
  const { failure, isLoading, value: tried } = loaded.value
  const triedOf = (name: EnvName) => tried?.find((one) => one.env === name)
  const changes = plan.envs.flatMap((planned) => {
    const column = columns.find(({ name }) => name === planned.env)
    const found = changesOf(planned, triedOf(planned.env))
    return column === undefined || found.length === 0
      ? []
      : [{ column, changes: found, note: noteOf(planned, document) }]
  })
  const count = changes.reduce((sum, one) => sum + one.changes.length, 0)
  const isReady = !isLoading && failure === null && plan.problems.length === 0 && count > 0
  const seen = new Set<EnvName>()
  return (
    <>
      {projects.length > 1 && (
        <Choose
          label="Project of the document"
          value={project.value ?? ""}
          words={projects}
          choose={(word) => {
            project.value = word
            targets.value = guess()
          }}
        />
      )}
      <Table label="Plan of the import" class="import-plan" heads={heads}>
        {places.map((place) => {
          const name = nameOfPlace(place)
          const target = targets.value.get(name) ?? null
          const planned = plan.envs.find((one) => one.env === target)
          const isFirst = target !== null && !seen.has(target)
          if (target !== null) seen.add(target)
          return (
            <tr key={name}>
              <th scope="row">
                {name === "" ? "the document" : name}{" "}
                <span class="quiet import-keys">
                  {place.keys.length.toLocaleString("en")} {place.keys.length === 1 ? "key" : "keys"}
                </span>
              </th>
              <td>
                <Choose
                  label={`Into, for ${name === "" ? "the document" : name}`}
                  isLabelHidden
                  value={target ?? nowhere}
                  words={[nowhere, ...names]}
                  choose={(word) => {
                    targets.value = new Map(targets.peek()).set(name, names.find((one) => one === word) ?? null)
                  }}
                />
              </td>
              {planned === undefined || !isFirst ? (
                <td colSpan={6} class="quiet">
                  {target === null ? "left out" : isFirst ? "no keys" : "counted above"}
                </td>
              ) : (
                <Counts planned={planned} tried={isLoading ? undefined : triedOf(target)} />
              )}
            </tr>
          )
        })}
      </Table>
      <div role="status">
        {plan.problems.map((problem) => (
          <p key={problem} class="hint bad">
            {sentence(withoutOption(problem))}
          </p>
        ))}
        {(tried ?? []).map(
          (one) =>
            one.problem !== null && (
              <p key={one.env} class="hint bad">
                {one.env}: {one.problem}
              </p>
            )
        )}
        {plan.envs.map((planned) => (
          <Remarks key={planned.env} planned={planned} />
        ))}
      </div>
      <Problem failure={failure} retry={reload} />
      <footer>
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          class="primary"
          disabled={!isReady}
          onClick={() => {
            stageAll(model, changes)
            close()
          }}
        >
          {count === 0 || isLoading
            ? "Stage"
            : `Stage ${count.toLocaleString("en")} for ${changes.map(({ column }) => column.name).join(", ")}`}
        </button>
      </footer>
    </>
  )
}

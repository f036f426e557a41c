import { type FormatName, formatNames } from "@coffer/domain/formats/FormatNames"
import type { BundleWritten } from "@coffer/domain/Secret"
import type { EnvName } from "@coffer/domain/Names"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { useLayoutEffect, useRef } from "preact/hooks"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { Problem, sentence } from "../../kit/Problem.js"
import { tooLarge } from "../../staging/Pasted.js"
import type { Column } from "./Grid.js"
import { type Model, stageIn } from "./Model.js"
import { envOfFile, guessFormat, type Pasted, readPasted } from "./Paste.js"

interface ImportProps {
  readonly model: Model
  readonly env: EnvName | null
  readonly text: string
  readonly file: string
  readonly close: () => void
}

/** What is asked of the server. */
interface Question {
  readonly env: EnvName
  readonly format: FormatName
  readonly file: string
  readonly text: string
}

const isSame = (one: Question, other: Question | null): boolean =>
  one.env === other?.env && one.format === other.format && one.file === other.file && one.text === other.text

/** What the server would do with what was read. */
interface Plan {
  readonly question: Question
  readonly pasted: Pasted
  readonly preview: BundleWritten | null
}

const planOf = (model: Model, question: Question) =>
  Effect.gen(function* () {
    const { env, file, format, text } = question
    const pasted = yield* readPasted(format, file === "" ? "the text" : file, text)
    if (pasted.mistakes.length > 0 || pasted.secrets.size === 0)
      return { question, pasted, preview: null } satisfies Plan
    const { org, project } = model.place
    const preview = yield* call("environments", (api) =>
      api.writeBundle({
        path: { org_name: org, project_name: project, env_name: env },
        headers: {},
        payload: { set: pasted.secrets, dry_run: true }
      })
    )
    return { question, pasted, preview } satisfies Plan
  })

const count = ({ data }: BundleWritten, change: string): number => data.filter((one) => one.change === change).length

const Outcome = ({ plan: { preview, pasted } }: { readonly plan: Plan }) => (
  <div role="status">
    {pasted.mistakes.length > 0 && (
      <ul class="import-mistakes">
        {pasted.mistakes.slice(0, 20).map(({ line, problem }) => (
          <li key={`${line} ${problem}`}>
            <span class="quiet">Line {line}</span> {problem}
          </li>
        ))}
        {pasted.mistakes.length > 20 && <li>and {pasted.mistakes.length - 20} more</li>}
      </ul>
    )}
    {pasted.mistakes.length === 0 && pasted.secrets.size === 0 && <p class="quiet">There are no secrets in it.</p>}
    {preview !== null && (
      <p class="import-sum">
        <span class="badge good">{count(preview, "created")} created</span>{" "}
        <span class="badge warn">{count(preview, "updated")} changed</span>{" "}
        <span class="badge">{count(preview, "unchanged")} left as they are</span>
      </p>
    )}
    {pasted.warnings.map((warning) => (
      <p key={warning} class="hint">
        {sentence(warning)}
      </p>
    ))}
  </div>
)

const stagePlan = (model: Model, column: Column, { preview, pasted }: Plan) => {
  const changed = new Set<string>(
    preview?.data.flatMap(({ change, key }) => (change === "unchanged" ? [] : [key])) ?? []
  )
  stageIn(
    model,
    column,
    [...pasted.secrets].flatMap(([key, value]) =>
      changed.has(key) ? [[key, { type: "set", kind: "text", value }] as const] : []
    )
  )
}

const waitMillis = 250

/** Reads a pasted text or a dropped file, and says what it would change. */
export const ImportDialog = ({ close, env: first, file, model, text }: ImportProps) => {
  const columns = model.grid.value.columns.filter(({ canWrite }) => canWrite)
  const names = columns.map(({ name }) => name)
  const env = useSignal(envOfFile(file, names) ?? first ?? names[0] ?? null)
  const format = useSignal<FormatName | null>(null)
  const plan = useSignal<Plan | null>(null)
  const area = useRef<HTMLTextAreaElement>(null)
  const problem = useSignal<string | null>(null)
  const act = useAct()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)

  const asked = (): Question | null => {
    const content = area.current?.value ?? ""
    const target = env.peek()
    return content.trim() === "" || target === null
      ? null
      : { env: target, format: format.peek() ?? guessFormat(content, file), file, text: content }
  }
  const check = () => {
    plan.value = null
    problem.value = tooLarge(area.current?.value.length ?? 0, "")
    // Not even parsed: it would stop the page.
    if (problem.peek() !== null) return
    const question = asked()
    if (question === null) return
    act.run(planOf(model, question), (found) => {
      // The preview of an earlier paste or column does not hold for the present one.
      if (isSame(question, asked())) plan.value = found
      else checkSoon()
    })
  }
  const checkSoon = () => {
    clearTimeout(timer.current)
    timer.current = setTimeout(check, waitMillis)
  }
  // Before anything can be typed, which this would replace.
  useLayoutEffect(() => {
    if (area.current !== null) {
      area.current.value = text
      area.current.focus()
    }
    check()
    return () => {
      clearTimeout(timer.current)
    }
  }, [])

  const column = columns.find(({ name }) => name === plan.value?.question.env)
  const changes = plan.value?.preview?.data.filter(({ change }) => change !== "unchanged").length ?? 0
  return (
    <Dialog title="Import" class="wide" close={close}>
      <div class="row import-head">
        <label for="import-env">Into</label>
        <select
          id="import-env"
          value={env.value ?? ""}
          onChange={({ currentTarget }) => {
            env.value = columns.find(({ name }) => name === currentTarget.value)?.name ?? null
            check()
          }}
        >
          {columns.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <label for="import-format">as</label>
        <select
          id="import-format"
          value={format.value ?? ""}
          onChange={({ currentTarget }) => {
            format.value = formatNames.find((name) => name === currentTarget.value) ?? null
            check()
          }}
        >
          <option value="">its own format</option>
          {formatNames.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <label class="button">
          Choose a file
          <input
            type="file"
            class="hidden"
            onChange={({ currentTarget }) => {
              const [chosen] = currentTarget.files ?? []
              if (chosen === undefined) return
              problem.value = tooLarge(chosen.size, chosen.name)
              if (problem.peek() !== null) return
              void chosen.text().then((content) => {
                model.open.value = { type: "import", env: env.peek(), text: content, file: chosen.name }
              })
            }}
          />
        </label>
      </div>
      <label class="hidden" for="import-text">
        The text of the file
      </label>
      <textarea
        id="import-text"
        ref={area}
        rows={12}
        spellcheck={false}
        autocomplete="off"
        placeholder={"DATABASE_URL=postgres://app@db.internal/shop\nAPI_KEY='k-8c1f'"}
        onInput={checkSoon}
        onPaste={(event) => {
          problem.value = tooLarge(event.clipboardData?.getData("text/plain").length ?? 0, "")
          if (problem.peek() !== null) event.preventDefault()
        }}
      />
      {problem.value !== null && (
        <p class="hint bad" role="alert">
          {problem.value}
        </p>
      )}
      <Problem failure={act.failure.value} retry={check} />
      {plan.value !== null && <Outcome plan={plan.value} />}
      <footer>
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          class="primary"
          disabled={column === undefined || changes === 0}
          onClick={() => {
            if (column !== undefined && plan.value !== null) stagePlan(model, column, plan.value)
            close()
          }}
        >
          {changes === 0 ? "Stage" : `Stage ${changes.toLocaleString("en")} for ${plan.value?.question.env ?? ""}`}
        </button>
      </footer>
    </Dialog>
  )
}

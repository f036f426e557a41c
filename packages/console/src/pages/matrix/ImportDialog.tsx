import { formatNames } from "@coffer/domain/formats/FormatNames"
import { type ToolName, toolNames } from "@coffer/domain/formats/tools/ToolNames"
import type { EnvName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { useLayoutEffect, useRef } from "preact/hooks"
import { useAct } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { useLazy } from "../../kit/Lazy.js"
import { Problem } from "../../kit/Problem.js"
import { tooLarge } from "../../staging/Pasted.js"
import { FileOutcome, type FilePlan, planFile, type Question, stageFile } from "./import/FilePlan.js"
import { storeFile } from "./import/StoreFile.js"
import type { ToolImportProps } from "./import/ToolImport.js"
import type { Model } from "./Model.js"
import { envOfFile, guessFormat } from "./Paste.js"

interface ImportProps {
  readonly model: Model
  readonly env: EnvName | null
  readonly text: string
  readonly file: string
  readonly reload: () => void
  readonly close: () => void
}

const isSame = (one: Question, other: Question | null): boolean =>
  one.env === other?.env && one.format === other.format && one.file === other.file && one.text === other.text

/** The plan for the text: a file of secrets, or the output of another secret manager. */
type Plan =
  | ({ readonly type: "file"; readonly question: Question } & FilePlan)
  | { readonly type: "tool"; readonly question: Question; readonly tool: ToolName; readonly round: number }

/** How people call the tools. */
const toolTitles: Readonly<Record<ToolName, string>> = {
  doppler: "Doppler",
  infisical: "Infisical",
  vault: "Vault or OpenBao",
  "aws-sm": "AWS Secrets Manager",
  "1password": "1Password",
  sops: "SOPS, decrypted",
  dotenvx: "dotenvx, decrypted",
  kubernetes: "Kubernetes",
  phase: "Phase"
}

const asTool = (format: string | null) => toolNames.find((name) => name === format)
const asFile = (format: string | null) => formatNames.find((name) => name === format)

/** Whether a text begins as documents do whose form names their tool. */
const mayBeOfTool = (text: string): boolean =>
  /^\s*[[{]|^(?:apiVersion|kind|request_id|lease_duration|ARN):/m.test(text)

const recognise = (text: string): Effect.Effect<ToolName | undefined> =>
  mayBeOfTool(text)
    ? Effect.flatMap(
        Effect.promise(() => import("./import/Recognition.js")),
        (module) => module.recognise(text)
      )
    : Effect.succeed(undefined)

const planOf = (model: Model, question: Question, round: number) =>
  Effect.gen(function* () {
    const { file, format, text } = question
    const tool = asTool(format) ?? (format === null ? yield* recognise(text) : undefined)
    if (tool !== undefined) return { type: "tool", question, tool, round } satisfies Plan
    const plan = yield* planFile(model, question, asFile(format) ?? guessFormat(text, file))
    return { type: "file", question, ...plan } satisfies Plan
  })

const loadToolImport = () => import("./import/ToolImport.js").then(({ ToolImport }) => ToolImport)

const waitMillis = 250

/** Reads a pasted text or a dropped file, and says what it would change. */
export const ImportDialog = ({ close, env: first, file, model, reload, text }: ImportProps) => {
  const columns = model.grid.value.columns.filter(({ canWrite }) => canWrite)
  const names = columns.map(({ name }) => name)
  const env = useSignal(envOfFile(file, names) ?? first ?? names[0] ?? null)
  const format = useSignal<Question["format"]>(null)
  const plan = useSignal<Plan | null>(null)
  const area = useRef<HTMLTextAreaElement>(null)
  const problem = useSignal<string | null>(null)
  const act = useAct()
  const rounds = useRef(0)
  const tool = plan.value?.type === "tool" ? plan.value : null
  const lazy = useLazy<ToolImportProps>(tool !== null, loadToolImport, () => {
    problem.value = "What reads the documents of other tools could not be loaded: reload the page."
  })
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)

  const asked = (): Question | null => {
    const content = area.current?.value ?? ""
    const target = env.peek()
    return content.trim() === "" || target === null ? null : { env: target, format: format.peek(), file, text: content }
  }
  const check = () => {
    plan.value = null
    problem.value = tooLarge(area.current?.value.length ?? 0, "")
    // Not even parsed: it would stop the page.
    if (problem.peek() !== null) return
    const question = asked()
    if (question === null) return
    act.run(planOf(model, question, ++rounds.current), (found) => {
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

  const filed = plan.value?.type === "file" ? plan.value : null
  const column = columns.find(({ name }) => name === filed?.question.env)
  const isFirst = model.grid.value.rows.length === 0
  const writing = useAct()
  const changes = filed?.preview?.data.filter(({ change }) => change !== "unchanged").length ?? 0
  return (
    <Dialog title="Import" class="wide" busy={writing.isBusy} close={close}>
      <div class="row import-head">
        <label for="import-env" class={tool === null ? undefined : "hidden"}>
          Into
        </label>
        <select
          id="import-env"
          hidden={tool !== null}
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
            format.value = asFile(currentTarget.value) ?? asTool(currentTarget.value) ?? null
            check()
          }}
        >
          <option value="">its own format</option>
          <optgroup label="A file">
            {formatNames.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </optgroup>
          <optgroup label="What another tool prints">
            {toolNames.map((name) => (
              <option key={name} value={name}>
                {toolTitles[name]}
              </option>
            ))}
          </optgroup>
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
                model.setOpen({ type: "import", env: env.peek(), text: content, file: chosen.name })
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
        rows={tool === null ? 12 : 5}
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
      {filed !== null && <FileOutcome plan={filed} />}
      {tool !== null && lazy !== null ? (
        <lazy.Part
          key={tool.round}
          model={model}
          tool={tool.tool}
          text={tool.question.text}
          file={file}
          env={tool.question.env}
          close={close}
        />
      ) : (
        <footer>
          <Problem failure={writing.failure.value} />
          <button type="button" disabled={writing.isBusy.value} onClick={close}>
            Cancel
          </button>
          {isFirst && column !== undefined && filed !== null && (
            <button
              type="button"
              class="primary"
              disabled={changes === 0 || writing.isBusy.value}
              onClick={() => {
                writing.run(storeFile(model, column, filed), () => {
                  close()
                  reload()
                })
              }}
            >
              Store {changes.toLocaleString("en")} in {column.name}
            </button>
          )}
          <button
            type="button"
            class={isFirst ? undefined : "primary"}
            disabled={column === undefined || changes === 0 || writing.isBusy.value}
            onClick={() => {
              if (column !== undefined && filed !== null) stageFile(model, column, filed)
              close()
            }}
          >
            {changes === 0 ? "Stage" : `Stage ${changes.toLocaleString("en")} for ${filed?.question.env ?? ""}`}
          </button>
        </footer>
      )}
    </Dialog>
  )
}

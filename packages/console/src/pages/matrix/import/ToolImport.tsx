import type { BadFile } from "@coffer/domain/formats/Format"
import { type ToolDocument, readDocument } from "@coffer/domain/formats/tools/ReadDocument"
import { tools } from "@coffer/domain/formats/tools/Tools"
import type { ToolName } from "@coffer/domain/formats/tools/ToolNames"
import type { EnvName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Check } from "../../../kit/Check.js"
import { useLoad } from "../../../kit/Load.js"
import { Reading } from "../../../kit/Reading.js"
import { Mistakes } from "./Mistakes.js"
import type { Model } from "../Model.js"
import { ImportPlan } from "./ImportPlan.js"

export interface ToolImportProps {
  readonly model: Model
  readonly tool: ToolName
  readonly text: string
  readonly file: string
  /** Where a document goes that names no environment. */
  readonly env: EnvName | null
  readonly close: () => void
}

type Read = { readonly document: ToolDocument } | { readonly mistakes: BadFile["mistakes"] }

/** The tools that have values in which keys stand, and those with binary values. */
const splits: ReadonlySet<ToolName> = new Set(["aws-sm", "vault"])
const binary: ReadonlySet<ToolName> = new Set(["aws-sm", "kubernetes"])

/** Reads what another secret manager printed, and plans what goes where. */
export const ToolImport = ({ close, env, file, model, text, tool }: ToolImportProps) => {
  const split = useSignal(false)
  const base64 = useSignal(false)
  const options = { split: split.value, base64: base64.value }
  const found = useLoad(`${split.value} ${base64.value}`, () =>
    readDocument(tool, file === "" ? "the text" : file, Redacted.make(text), options).pipe(
      Effect.map((document): Read => ({ document })),
      Effect.catchTag("BadFile", ({ mistakes }) => Effect.succeed<Read>({ mistakes }))
    )
  )
  return (
    <>
      <p class="hint">
        Read as what <code>{tools[tool].prints}</code> prints.
      </p>
      {splits.has(tool) && (
        <Check isChecked={split.value} choose={(isChecked) => (split.value = isChecked)}>
          Make a key of each member of a JSON value
        </Check>
      )}
      {binary.has(tool) && (
        <Check isChecked={base64.value} choose={(isChecked) => (base64.value = isChecked)}>
          Keep binary values as base64
        </Check>
      )}
      <Reading of={found}>
        {(read) =>
          "mistakes" in read ? (
            <>
              <Mistakes mistakes={read.mistakes} />
              <footer>
                <button type="button" onClick={close}>
                  Cancel
                </button>
              </footer>
            </>
          ) : (
            <ImportPlan
              key={`${split.value} ${base64.value}`}
              model={model}
              document={read.document}
              env={env}
              close={close}
            />
          )
        }
      </Reading>
    </>
  )
}

import type { FormatName } from "@coffer/domain/formats/FormatNames"
import type { ToolName } from "@coffer/domain/formats/tools/ToolNames"
import type { EnvName } from "@coffer/domain/base/Names"
import type { BundleWritten } from "@coffer/domain/secrets/Bundle"
import * as Effect from "effect/Effect"
import { call } from "../../../client/Calls.js"
import { sentence } from "../../../kit/Problem.js"
import type { Column } from "../Grid.js"
import { type Model, stageIn } from "../Model.js"
import { type Pasted, readPasted } from "../Paste.js"
import { InvisibleValues } from "./InvisibleValues.js"
import { Mistakes } from "./Mistakes.js"

/** The input of an import that the server is asked to preview. */
export interface Question {
  readonly env: EnvName
  /** As what the text is to be read; null: as what it looks like. */
  readonly format: FormatName | ToolName | null
  readonly file: string
  readonly text: string
}

/** The secrets that were read in a file, and the server's dry run of writing them. */
export interface FilePlan {
  readonly pasted: Pasted
  readonly preview: BundleWritten | null
}

export const planFile = (model: Model, { env, file, text }: Question, format: FormatName) =>
  Effect.gen(function* () {
    const pasted = yield* readPasted(format, file === "" ? "the text" : file, text)
    if (pasted.mistakes.length > 0 || pasted.secrets.size === 0) return { pasted, preview: null } satisfies FilePlan
    const { org, project } = model.place
    const preview = yield* call("environments", (api) =>
      api.writeBundle({
        path: { org_name: org, project_name: project, env_name: env },
        headers: {},
        payload: { set: pasted.secrets, dry_run: true }
      })
    )
    return { pasted, preview } satisfies FilePlan
  })

const count = ({ data }: BundleWritten, change: string): number => data.filter((one) => one.change === change).length

/** The changes that a file would make, or its mistakes. */
export const FileOutcome = ({ plan: { preview, pasted } }: { readonly plan: FilePlan }) => (
  <div role="status">
    {pasted.mistakes.length > 0 && <Mistakes mistakes={pasted.mistakes} />}
    {pasted.mistakes.length === 0 && pasted.secrets.size === 0 && <p class="quiet">There are no secrets in it.</p>}
    {preview !== null && (
      <p class="import-sum">
        <span class="badge good">{count(preview, "created")} created</span>{" "}
        <span class="badge warn">{count(preview, "updated")} changed</span>{" "}
        <span class="badge">{count(preview, "unchanged")} left as they are</span>
      </p>
    )}
    <InvisibleValues secrets={pasted.secrets} />
    {pasted.warnings.map((warning) => (
      <p key={warning} class="hint">
        {sentence(warning)}
      </p>
    ))}
  </div>
)

export const stageFile = (model: Model, column: Column, { preview, pasted }: FilePlan) => {
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

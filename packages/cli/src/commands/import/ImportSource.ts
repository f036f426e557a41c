import type { BadSetting } from "@coffer/client/internal/Variables"
import type { BadFile } from "@coffer/domain/formats/Format"
import { readDocument, type ToolDocument } from "@coffer/domain/formats/tools/ReadDocument"
import type { ReadOptions } from "@coffer/domain/formats/tools/Tool"
import type { ToolName } from "@coffer/domain/formats/tools/ToolNames"
import * as Effect from "effect/Effect"
import { type CannotDo, WrongUsage } from "../../base/Failures.js"
import { sourceOf } from "../../terminal/Bytes.js"
import { withDefaultSignals } from "../../terminal/DefaultSignals.js"
import { readText } from "../../terminal/TextFile.js"
import type { Live, LiveDocument } from "./live/Live.js"

/** The tools that are read without a file. Each is loaded when it is needed. */
const live: { readonly [Name in ToolName]?: () => Promise<Live> } = {
  doppler: async () => (await import("./live/Doppler.js")).readDoppler,
  infisical: async () => (await import("./live/Infisical.js")).readInfisical,
  vault: async () => (await import("./live/Vault.js")).readVault,
  kubernetes: async () => (await import("./live/Kubernetes.js")).readKubernetes
}

/** The largest document, in bytes. */
const largest = 64 * 1024 * 1024

interface SourceOptions {
  readonly tool: ToolName
  readonly file: string | undefined
  readonly from: string | undefined
}

const documentsOf = Effect.fnUntraced(function* ({ file, from, tool }: SourceOptions) {
  if (file !== undefined) {
    const source = sourceOf(file)
    const text = yield* readText(source, largest, "larger than any export of secrets: check that it is the right file")
    return [{ name: source.name, text } satisfies LiveDocument]
  }
  const load = live[tool]
  if (load === undefined) {
    return yield* new WrongUsage({ message: `${tool} is read from a file: name FILE, or - for standard input` })
  }
  const read = yield* Effect.promise(load)
  return yield* read(from)
})

/** Reads what a tool has. A signal ends the program while a large document is parsed. */
export const readSource = Effect.fnUntraced(function* (
  options: SourceOptions,
  reading: Partial<ReadOptions>
): Effect.fn.Return<
  ToolDocument,
  BadFile | BadSetting | CannotDo | WrongUsage,
  Effect.Effect.Context<ReturnType<typeof documentsOf>>
> {
  const { tool } = options
  const documents: ReadonlyArray<LiveDocument> = yield* documentsOf(options)
  const places = yield* Effect.forEach(documents, ({ name, place = {}, text }) =>
    Effect.map(withDefaultSignals(readDocument(tool, name, text, reading)), (document) =>
      document.places.map((each) => ({
        ...each,
        project: each.project ?? place.project,
        env: each.env ?? place.env
      }))
    )
  )
  return { tool, places: places.flat() }
})

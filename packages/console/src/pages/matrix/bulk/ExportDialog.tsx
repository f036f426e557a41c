import { type FormatName, formatNames } from "@coffer/domain/formats/FormatNames"
import type { EnvName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { useAct } from "../../../kit/Act.js"
import { Choose } from "../../../kit/Choose.js"
import { Dialog } from "../../../kit/Dialog.js"
import { Problem, sentence } from "../../../kit/Problem.js"
import { useStillOpen } from "../../../kit/StillOpen.js"
import { envOf } from "../../../routing/Places.js"
import { query } from "../../../routing/Router.js"
import { keysIn } from "../Chosen.js"
import type { GridRow } from "../Grid.js"
import type { Model } from "../Model.js"
import { copyValue } from "../GridValues.js"
import { download, type ExportFile, type ExportRead, fileNameOf, fileOf, readForExport } from "./Export.js"

interface ExportProps {
  readonly model: Model
  readonly rows: ReadonlyArray<GridRow>
  readonly close: () => void
}

/** A file that was made, while the dialog is open. */
interface Made {
  readonly env: EnvName
  readonly format: FormatName
  readonly read: ExportRead
  readonly file: ExportFile
}

/** At most this many secrets that a file does not hold are named. */
const maxShown = 50

const LeftOut = ({ file: { left }, format }: Pick<Made, "file" | "format">) =>
  left.length === 0 ? null : (
    <>
      <p>
        <strong>
          The format {format} cannot hold {left.length.toLocaleString("en")} of them.
        </strong>{" "}
        Choose another format, or leave {left.length === 1 ? "it" : "them"} out.
      </p>
      <ul class="import-mistakes">
        {left.slice(0, maxShown).map((why) => (
          <li key={why}>{sentence(why)}</li>
        ))}
        {left.length > maxShown && <li>and {left.length - maxShown} more</li>}
      </ul>
    </>
  )

const countOf = ({ file: { count } }: Made): string =>
  count === 1 ? "1 secret" : `${count.toLocaleString("en")} secrets`

/** Writes secrets of an environment to a file, and names what the format cannot hold. */
export const ExportDialog = ({ close, model, rows }: ExportProps) => {
  const { columns, rows: all } = model.grid.value
  const sources = columns.filter(({ reveals }) => reveals).map(({ name }) => name)
  const marked = envOf(query.value)
  const chosenEnv = useSignal<EnvName | null>(sources.find((name) => name === marked) ?? sources[0] ?? null)
  const format = useSignal<FormatName>("env")
  const made = useSignal<Made | null>(null)
  const said = useSignal<string | null>(null)
  const act = useAct()
  const isOpen = useStillOpen()
  const env = chosenEnv.value
  const column = columns.find(({ name }) => name === env)
  const keys = column === undefined ? [] : keysIn(rows, model.grid.value, column)
  /** Reads once for each environment: another format is made of what was read. */
  const make = (env: EnvName, name: FormatName, done: (found: Made) => void) => {
    const before = made.peek()
    const reading =
      before?.env === env
        ? Effect.succeed(before.read)
        : readForExport(model.place, env, rows.length === all.length ? null : keys)
    act.run(
      Effect.flatMap(reading, (read) => Effect.map(fileOf(read, name), (file) => ({ env, format: name, read, file }))),
      (found) => {
        // A person who has closed the dialog does not want the file any more.
        if (!isOpen()) return
        made.value = found
        done(found)
      }
    )
  }
  const store = (found: Made) => {
    download(fileNameOf(model.place, found.env, found.format), found.file.text)
    said.value = `${countOf(found)} of ${found.env} written to ${fileNameOf(model.place, found.env, found.format)}.`
  }
  const copy = (found: Made) => {
    act.run(copyValue(found.file.text), () => {
      said.value = `${countOf(found)} of ${found.env} copied.`
    })
  }
  /** Does it at once if the format holds everything, and else names what it does not. */
  const press = (act: (found: Made) => void) => () => {
    if (env === null) return
    said.value = null
    const now = made.peek()
    if (now?.env === env && now.format === format.peek()) return act(now)
    make(env, format.peek(), (found) => {
      if (found.file.left.length === 0) act(found)
    })
  }
  const shown = made.value?.env === env && made.value.format === format.value ? made.value : null
  const isPartial = shown !== null && shown.file.left.length > 0
  return (
    <Dialog title="Export" close={close}>
      {env === null ? (
        <p>You may not read the values of any environment.</p>
      ) : (
        <>
          <div class="fields">
            <Choose label="From" value={env} words={sources} choose={(name) => (chosenEnv.value = name)} />
            <Choose
              label="Format"
              value={format.value}
              words={formatNames}
              choose={(name) => {
                format.value = name
                said.value = null
                if (made.peek()?.env === env) make(env, name, () => {})
              }}
            />
          </div>
          <p class="quiet">
            {keys.length.toLocaleString("en")} {keys.length === 1 ? "secret" : "secrets"}. The audit log records that
            you read {keys.length === 1 ? "it" : "them"}.
          </p>
          {shown !== null && <LeftOut file={shown.file} format={shown.format} />}
        </>
      )}
      <Problem failure={act.failure.value} />
      <p role="status">{said.value}</p>
      <footer>
        <button type="button" onClick={close}>
          Close
        </button>
        <button type="button" disabled={keys.length === 0 || act.isBusy.value} onClick={press(copy)}>
          {isPartial ? "Copy without them" : "Copy"}
        </button>
        <button type="button" class="primary" disabled={keys.length === 0 || act.isBusy.value} onClick={press(store)}>
          {isPartial ? "Download without them" : "Download"}
        </button>
      </footer>
    </Dialog>
  )
}

import { sentenceOf } from "@coffer/domain/BrokenRules"
import { secretKeyForm } from "@coffer/domain/NameForms"
import { useSignal } from "@preact/signals"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { useLayoutEffect, useRef } from "preact/hooks"
import { Dialog } from "../../kit/Dialog.js"
import { Generate } from "./Generate.js"
import { type Model, stageIn } from "./Model.js"
import { decodeValue } from "./Paste.js"

/** A new key with a value for each environment that it shall have one in. */
export const NewKeyDialog = ({ close, first, model }: { model: Model; first: string; close: () => void }) => {
  const key = useSignal(first)
  const problem = useSignal<string | null>(null)
  const form = useRef<HTMLFormElement>(null)
  const keyField = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    keyField.current?.focus()
  }, [])
  const writable = model.grid.value.columns.filter(({ canWrite }) => canWrite)
  // Not one field for each preview, unless they are open, or there is nothing else to write in.
  const shown = writable.filter(({ name }) => model.tracks.value.some((track) => track.name === name))
  const columns = shown.length === 0 ? writable : shown
  const name = key.value
  const isTaken = model.grid.value.rows.some((row) => row.key === name)
  const submit = () => {
    if (form.current === null || !secretKeyForm.is(name)) return
    const fields = new FormData(form.current)
    const found = columns.flatMap((column) => {
      const text = fields.get(column.name)
      return typeof text === "string" && text !== "" ? [{ column, value: decodeValue(text) }] : []
    })
    if (found.length === 0) {
      problem.value = "enter a value for at least one environment"
      return
    }
    for (const { column, value } of found) {
      if (Either.isLeft(value)) {
        problem.value = `${column.name}: ${sentenceOf(value.left, "this is not a value")}`
        return
      }
    }
    for (const { column, value } of found) {
      if (Either.isRight(value))
        stageIn(model, column, [[name, { type: "set", kind: "text", value: Redacted.make(value.right) }]])
    }
    close()
  }
  return (
    <Dialog title="New key" close={close}>
      <form
        ref={form}
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <label for="new-key">Key</label>
        <input
          id="new-key"
          class="key wide"
          ref={keyField}
          value={name}
          placeholder="DATABASE_URL"
          autocomplete="off"
          spellcheck={false}
          maxLength={secretKeyForm.maxLength}
          aria-describedby="new-key-rule"
          onInput={({ currentTarget }) => {
            key.value = currentTarget.value
            problem.value = null
          }}
        />
        <p id="new-key-rule" class={name !== "" && !secretKeyForm.is(name) ? "hint bad" : "hint"}>
          {isTaken ? "This key exists: the values below will replace its values." : `${secretKeyForm.characters}.`}
        </p>
        {columns.map((column) => (
          <p key={column.name}>
            <label for={`value-${column.name}`}>{column.name}</label>
            <textarea id={`value-${column.name}`} name={column.name} rows={1} spellcheck={false} autocomplete="off" />
          </p>
        ))}
        <Generate
          word="Fill empty fields"
          fill={(next) => {
            problem.value = null
            // Each environment has a value of its own.
            for (const field of form.current?.querySelectorAll("textarea") ?? [])
              if (field.value === "") field.value = next()
          }}
        />
        <p class="hint">An environment whose field is empty gets no secret.</p>
        {problem.value !== null && (
          <p class="hint bad" role="alert">
            {problem.value}
          </p>
        )}
        <footer>
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button class="primary" disabled={!secretKeyForm.is(name)}>
            Stage
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

import { sentenceOf } from "@coffer/domain/errors/BrokenRules"
import { secretKeyForm } from "@coffer/domain/base/NameForms"
import type { EnvName } from "@coffer/domain/base/Names"
import { type Signal, signal, useSignal } from "@preact/signals"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { useLayoutEffect, useRef } from "preact/hooks"
import { Dialog } from "../../kit/Dialog.js"
import { Generate } from "./Generate.js"
import type { Column } from "./Grid.js"
import { type Model, stageIn } from "./Model.js"
import { decodeValue } from "./TypedValue.js"
import { ValueField } from "./ValueField.js"

/** A new key with a value for each environment that it shall have one in. */
export const NewKeyDialog = ({ close, first, model }: { model: Model; first: string; close: () => void }) => {
  const key = useSignal(first)
  const problem = useSignal<string | null>(null)
  const texts = useRef(new Map<EnvName, Signal<string>>())
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
  /** The field of an environment keeps its text when the columns change. */
  const textOf = ({ name: env }: Column): Signal<string> => {
    const text = texts.current.get(env) ?? signal("")
    texts.current.set(env, text)
    return text
  }
  const submit = () => {
    if (!secretKeyForm.is(name)) return
    const found = columns.flatMap((column) => {
      const text = textOf(column).peek()
      return text === "" ? [] : [{ column, value: decodeValue(text) }]
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
          <div key={column.name} class="field">
            <ValueField
              id={`value-${column.name}`}
              label={column.name}
              rows={1}
              text={textOf(column)}
              changed={() => (problem.value = null)}
              enter={submit}
            />
          </div>
        ))}
        <Generate
          word="Fill empty fields"
          fill={(next) => {
            problem.value = null
            // Each environment has a value of its own.
            for (const column of columns) {
              const text = textOf(column)
              if (text.peek() === "") text.value = next()
            }
          }}
        />
        <p class="hint">An environment whose field is empty gets no secret. Shift+Enter begins another line.</p>
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

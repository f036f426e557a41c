import { sentenceOf } from "@coffer/domain/errors/BrokenRules"
import { useSignal } from "@preact/signals"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { useAct } from "../../kit/Act.js"
import { Check } from "../../kit/Check.js"
import { Problem, sentence } from "../../kit/Problem.js"
import { takeTexts } from "../../routing/Typed.js"
import { keepTexts } from "../../routing/Unsent.js"
import { Generate } from "./Generate.js"
import { baseOf, type Model, type Spot, stagedIn, stageIn, storedIn } from "./Model.js"
import { decodeValue } from "./TypedValue.js"
import { ValueField } from "./ValueField.js"
import { readValue } from "./GridValues.js"

interface EditorProps {
  readonly model: Model
  readonly spot: Spot
  /** Whether the environment is gone: the text stays, for the person to copy. */
  readonly isGone: boolean
  readonly close: () => void
}

/** A field for the new value of a secret. */
export const ValueEditor = ({ close, isGone, model, spot }: EditorProps) => {
  const { column, row } = spot
  const [stored, staged] = [storedIn(spot), stagedIn(spot)]
  const area = useRef<HTMLTextAreaElement>(null)
  const form = useRef<HTMLFormElement>(null)
  const problem = useSignal<string | null>(null)
  const before = staged?.type === "set" ? staged.kind : stored?.kind
  const refers = useSignal(before === "reference")
  const text = useSignal("")
  const isEmpty = text.value === ""
  const storesEmpty = useSignal(false)
  /** The state of the secret that the person saw: a later version must not be overwritten unseen. */
  const opened = useRef({ base: baseOf(column), version: stored?.version })
  const replaced = useRef(staged?.type === "set" ? staged.replaced : undefined)
  /** The line ends of the text that the editor began with, which a text field replaces by LF. */
  const lineEnd = useRef("\n")
  const act = useAct()
  const begin = (given: string) => {
    const ends = new Set(given.match(/\r\n|\n|\r/g) ?? [])
    const [end = "\n"] = ends
    if (ends.size > 1 || end === "\r") {
      problem.value = `the value has line ends that a browser's text field would change: use coffer secret edit ${row.key}`
      return
    }
    lineEnd.current = end
    text.value = given.replaceAll("\r\n", "\n")
  }
  // Before the next key is pressed: it must not go to the grid. The panel has no place yet to scroll to.
  useLayoutEffect(() => {
    if (staged?.type === "set") begin(Redacted.value(staged.value))
    area.current?.focus({ preventScroll: true })
  }, [])
  useEffect(() => {
    area.current?.scrollIntoView({ block: "nearest" })
  }, [])
  const submit = () => {
    if (isGone) return
    const typed = text.peek()
    if (typed === "" && !storesEmpty.value) {
      problem.value = "type the new value first, or choose to store the empty text"
      return
    }
    Either.match(decodeValue(lineEnd.current === "\n" ? typed : typed.replaceAll("\n", lineEnd.current)), {
      onLeft: (refused) => {
        problem.value = sentenceOf(refused, "this is not a value")
      },
      onRight: (value) => {
        const { base, version } = opened.current
        const change = {
          type: "set",
          kind: refers.value ? "reference" : "text",
          value: Redacted.make(value),
          ...(replaced.current !== undefined && { replaced: replaced.current })
        } as const
        stageIn(model, column, [[row.key, change]], version === stored?.version ? baseOf(column) : base)
        takeTexts(form.current)()
        close()
      }
    })
  }
  const latest = useRef(submit)
  latest.current = submit
  // Opening something else while the text is not staged stages the text.
  useEffect(
    () =>
      form.current === null
        ? undefined
        : keepTexts(form.current, () => {
            latest.current()
          }),
    []
  )
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <ValueField
        id="matrix-editor"
        label={`New value of ${row.key} in ${column.name}`}
        isLabelHidden
        field={area}
        rows={3}
        text={text}
        placeholder="New value; Shift+Enter for another line"
        changed={() => {
          // Text that is typed into an empty field does not continue another text.
          if (text.peek() === "") lineEnd.current = "\n"
          problem.value = null
        }}
        enter={submit}
      />
      <Generate
        word="Fill in"
        fill={(next) => {
          problem.value = null
          begin(next())
          refers.value = false
          area.current?.focus()
        }}
      />
      <Check
        isChecked={refers.value}
        choose={(isChecked) => {
          refers.value = isChecked
        }}
      >
        Refers to other secrets: <code>{"${KEY}"}</code> or <code>{"${environment:KEY}"}</code>
      </Check>
      {isEmpty && (
        <Check
          isChecked={storesEmpty.value}
          choose={(isChecked) => {
            storesEmpty.value = isChecked
            problem.value = null
          }}
        >
          Store the empty text
        </Check>
      )}
      {isGone && <p class="hint bad">{column.name} is gone: your text is kept here until you close this.</p>}
      {problem.value !== null && (
        <p class="hint bad" role="alert">
          {sentence(problem.value)}
        </p>
      )}
      <Problem failure={act.failure.value} />
      <div class="row">
        <button class="primary" disabled={isGone}>
          Stage
        </button>
        {stored !== null && column.reveals && (
          <button
            type="button"
            onClick={() => {
              act.run(readValue(model.place, column.name, row.key, refers.value), (value) => {
                replaced.current = Redacted.value(value).length
                begin(Redacted.value(value))
                area.current?.focus()
              })
            }}
          >
            Begin with the current value
          </button>
        )}
      </div>
    </form>
  )
}

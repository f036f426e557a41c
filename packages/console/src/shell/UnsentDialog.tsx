import { useLayoutEffect, useRef } from "preact/hooks"
import { useAct } from "../kit/Act.js"
import { Dialog } from "../kit/Dialog.js"
import { Problem } from "../kit/Problem.js"
import { forget, type Instead, keepAndLeave, question } from "../routing/Unsent.js"

type Question = NonNullable<typeof question.value>

const Ask = ({ asked: { go, lost, mayKeep, stay, way } }: { readonly asked: Question }) => {
  const act = useAct()
  const back = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => back.current?.focus(), [])
  const close = () => {
    question.value = null
    stay()
  }
  const end = () => {
    question.value = null
    forget(way)
    go()
  }
  const run = ({ done, effect }: Instead) => {
    act.run(effect, () => {
      done()
      question.value = null
      keepAndLeave(way, go, stay)
    })
  }
  return (
    <Dialog title="Leave this behind?" class="unsent" busy={act.isBusy} isOfBack close={close}>
      {lost.map(({ what }) => (
        <p key={what}>{what}</p>
      ))}
      <Problem failure={act.failure.value} />
      <footer>
        <button type="button" class="danger" disabled={act.isBusy.value} onClick={end}>
          Leave it
        </button>
        {lost.map(
          ({ instead, what }) =>
            instead !== undefined && (
              <button
                key={what}
                type="button"
                class="danger"
                disabled={act.isBusy.value}
                onClick={() => {
                  run(instead)
                }}
              >
                {instead.word}
              </button>
            )
        )}
        {mayKeep && (
          <button
            type="button"
            onClick={() => {
              question.value = null
              keepAndLeave(way, go, stay)
            }}
          >
            Stage it
          </button>
        )}
        <button type="button" ref={back} class="primary" disabled={act.isBusy.value} onClick={close}>
          Go back to it
        </button>
      </footer>
    </Dialog>
  )
}

/** Asks before a way out loses what a person has typed, or a key that is shown once. */
export const UnsentDialog = () => {
  const asked = question.value
  return asked === null ? null : <Ask asked={asked} />
}

import type { EnvPath } from "@coffer/domain/api/Paths"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { endOf, Ends, useEnd } from "../../kit/Ends.js"
import { Problem } from "../../kit/Problem.js"
import { exactly } from "../../kit/Exactly.js"
import { Ahead } from "../../kit/When.js"
import { noteDone } from "../../state/Done.js"

interface ExtendProps {
  readonly path: EnvPath
  /** When it ends now. */
  readonly end: string
  /** Whether the person may let it last. */
  readonly mayLast: boolean
  readonly changed: () => void
  readonly close: () => void
}

/** Sets another end of an environment that ends. */
export const ExtendDialog = ({ changed, close, end: before, mayLast, path }: ExtendProps) => {
  const act = useAct()
  const end = useEnd("in 7 days")
  const chosen = endOf(end)
  const save = () => {
    if (chosen === null) return
    const { expires_at = null } = chosen
    const set = (time: string | null) =>
      call("environments", (api) => api.extend({ path, payload: { expires_at: time } }))
    act.run(set(expires_at), () => {
      close()
      changed()
      const what = expires_at === null ? `${path.env_name} lasts.` : `${path.env_name} ends at ${exactly(expires_at)}.`
      noteDone(what, { effect: set(before), done: changed })
    })
  }
  return (
    <Dialog title={`When ${path.env_name} ends`} busy={act.isBusy} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        <p>
          It ends <Ahead time={before} />, at {exactly(before)}, and is removed then with its secrets.
        </p>
        <Ends end={end} mayLast={mayLast} />
        <Problem failure={act.failure.value} />
        <footer>
          <button type="button" disabled={act.isBusy.value} onClick={close}>
            Cancel
          </button>
          <button class="primary" disabled={act.isBusy.value || chosen === null}>
            Save
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

import { Reason } from "@coffer/domain/requests/ApprovalRequest"
import type { Protection } from "@coffer/domain/access/Protection"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { useEffect, useRef } from "preact/hooks"
import type { Failure } from "../client/Calls.js"
import { plainCall } from "../client/Client.js"
import { votersOf } from "../kit/Approvers.js"
import { Dialog } from "../kit/Dialog.js"
import { useLoad } from "../kit/Load.js"
import { TextField } from "../kit/TextField.js"
import { envOfPath } from "../routing/ApiPlace.js"
import { answer, breakGlassWith, requestWith, suggestedReason } from "../state/Approval.js"
import { me } from "../state/Session.js"

const isReason = Schema.is(Reason)

const maxReason = 500

/** The protection of the environment, or null: a project or an organization may hold several. */
const read = (path: string): Effect.Effect<Protection | null, Failure> => {
  const env = envOfPath(path)
  return env === null ? Effect.succeed(null) : plainCall("protections", (api) => api.get({ path: env }))
}

const nameOf = (path: string): string => {
  const [, , , org = "", , project, , env] = path.split("/")
  return project === undefined ? org : env === undefined ? project : `${project}/${env}`
}

const decline = () => {
  answer(null)
}

/** Says that a change needs votes, and asks for a reason: for a request, or for breaking the glass. */
export const ApprovalDialog = ({ path }: { readonly path: string }) => {
  const { failure, isLoading, value: protection } = useLoad(path, () => read(path)).loaded.value
  const isBreaking = useSignal(false)
  const reason = useSignal(suggestedReason.peek())
  const text = reason.value.trim()
  const name = nameOf(path)
  const isEnv = envOfPath(path) !== null
  // Where it is not known, the server says whether the person is named: an emergency is no time to look for a button.
  const mayBreak =
    !isEnv ||
    failure !== null ||
    protection?.break_glass.some((email) => email === me.value?.email) === true ||
    (protection?.stuck === true && me.value?.is_superadmin === true)
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    // The button that was pressed is gone.
    if (isBreaking.value) form.current?.querySelector("input")?.focus()
  }, [isBreaking.value])
  const isGood = isReason(text) || (text === "" && !isBreaking.value)
  return (
    <Dialog
      title={
        isEnv
          ? `${name} is protected`
          : name === ""
            ? "A protected organization had this name"
            : `${name} holds a protected environment`
      }
      close={decline}
    >
      <form
        ref={form}
        onSubmit={(event) => {
          event.preventDefault()
          if (isGood) answer(isBreaking.value ? breakGlassWith(text) : requestWith(text))
        }}
      >
        {isBreaking.value ? (
          <p class="warning" role="alert">
            <strong>This changes {name} at once, without votes.</strong> All owners are mailed who did it and why, and
            the audit log records it.
            {!isEnv && " Each protection has to name you for that."}
          </p>
        ) : (
          <p>
            Nothing was changed yet. Request the change: it is made once{" "}
            {protection === null
              ? "those who vote on it have"
              : `${votersOf(protection)} ${protection.needed === 1 ? "has" : "have"}`}{" "}
            approved it.
          </p>
        )}
        <TextField
          label={isBreaking.value ? "Reason" : "Reason (optional)"}
          text={reason}
          placeholder="INC-12"
          maxLength={maxReason}
          hint={isBreaking.value ? "For the mail to all owners" : "For the people who vote"}
        />
        <footer>
          {mayBreak && !isBreaking.value && (
            <>
              <button type="button" class="danger" onClick={() => (isBreaking.value = true)}>
                Break glass…
              </button>
              <span class="space" />
            </>
          )}
          <button type="button" onClick={isBreaking.value ? () => (isBreaking.value = false) : decline}>
            {isBreaking.value ? "Back" : "Cancel"}
          </button>
          <button class={isBreaking.value ? "danger" : "primary"} disabled={!isGood || isLoading}>
            {isBreaking.value ? "Break the glass" : "Request change"}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

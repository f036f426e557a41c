import { useSignal } from "@preact/signals"
import { maxTypedCode, typedCode, typedCodePattern } from "@coffer/domain/base/NameForms"
import type { Email } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { useEffect, useRef } from "preact/hooks"
import { plainCall } from "../client/Client.js"
import { useAct } from "../kit/Act.js"
import { Dialog } from "../kit/Dialog.js"
import { useLoad } from "../kit/Load.js"
import { Problem } from "../kit/Problem.js"
import { asked, loginAddress, type LoginReason } from "../state/Login.js"
import { me } from "../state/Session.js"
import { release } from "../routing/Unsent.js"

const reasons: Readonly<Record<LoginReason, string>> = {
  ended: "Your session has ended. What you have entered on this page is still here.",
  recent: "This needs a login from the last 15 minutes."
}

interface FormProps {
  readonly email: Email
  readonly done: () => void
}

/** A login by a code of 6 digits, without leaving the page. */
const CodeForm = ({ done, email }: FormProps) => {
  const isSent = useSignal(false)
  const code = useRef<HTMLInputElement>(null)
  const again = useRef<HTMLButtonElement>(null)
  const act = useAct()
  // A wrong code ends the one of the mail.
  const isSpent = act.failure.value?._tag === "InvalidCode"
  const isAsked = isSent.value && !isSpent
  useEffect(() => {
    if (isAsked) code.current?.focus()
    else if (isSpent) again.current?.focus()
  }, [isAsked, isSpent])
  const send = () => {
    if (isSpent) isSent.value = false
    act.run(
      plainCall("auth", (api) => api.login({ payload: { email } })),
      () => {
        isSent.value = true
      }
    )
  }
  const enter = (event: Event) => {
    event.preventDefault()
    const text = typedCode(code.current?.value ?? "")
    act.run(
      plainCall("auth", (api) => api.verify({ payload: { email, code: Redacted.make(text), session: "cookie" } })),
      done
    )
  }
  return (
    <form onSubmit={enter}>
      <Problem failure={act.failure.value} />
      {isAsked && (
        <>
          <label for="login-code">Code from the mail to {email}</label>
          <input
            id="login-code"
            class="code"
            data-passing
            ref={code}
            inputMode="numeric"
            autocomplete="one-time-code"
            pattern={typedCodePattern}
            maxLength={maxTypedCode}
            title="6 digits"
            required
          />
        </>
      )}
      <footer>
        {isAsked && (
          <button type="button" disabled={act.isBusy.value} onClick={send}>
            Send another code
          </button>
        )}
        {isAsked ? (
          <button class="primary" disabled={act.isBusy.value}>
            Log in
          </button>
        ) : (
          <button type="button" ref={again} class="primary" disabled={act.isBusy.value} onClick={send}>
            Send {isSpent ? "another" : "a"} code to {email}
          </button>
        )}
      </footer>
    </form>
  )
}

interface ProviderProps {
  readonly name: string
  readonly reason: LoginReason
  readonly done: () => void
}

/** A login by the provider happens in another tab; this page looks when the person comes back. */
const ProviderForm = ({ done, name, reason }: ProviderProps) => {
  const act = useAct()
  useEffect(() => {
    const look = () => {
      if (document.hidden) return
      act.run(
        plainCall("auth", (api) => api.me()),
        (identity) => {
          // The content of this page is not for another person.
          if (identity.id === me.peek()?.id) done()
          else {
            release()
            location.reload()
          }
        }
      )
    }
    document.addEventListener("visibilitychange", look)
    return () => {
      document.removeEventListener("visibilitychange", look)
    }
  }, [])
  return (
    <p>
      <a class="button primary" href={loginAddress("/", reason)} target="_blank" rel="noopener">
        Log in with {name}, in another tab
      </a>
    </p>
  )
}

/** A proof with a passkey, which is a login for those who have one. */
const PasskeyForm = ({ done }: { readonly done: () => void }) => {
  const act = useAct()
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => button.current?.focus(), [])
  const prove = () => {
    act.run(
      Effect.flatMap(
        Effect.promise(() => import("../client/PasskeyCeremonies.js")),
        (passkeys) => passkeys.prove()
      ),
      done
    )
  }
  return (
    <>
      <p>
        <button type="button" ref={button} class="primary" disabled={act.isBusy.value} onClick={prove}>
          Use your passkey
        </button>
      </p>
      <Problem failure={act.failure.value} />
    </>
  )
}

/** Asks the person to log in, while what is on the page stays. */
export const LoginDialog = () => {
  const ask = asked.value
  const person = me.value
  return ask === null || person === null ? null : <Login email={person.email} ask={ask} />
}

interface LoginProps {
  readonly email: Email
  readonly ask: NonNullable<typeof asked.value>
}

/** How the person can log in: by the methods of the server, and a passkey, which counts only for a session that lives. */
const read = (reason: LoginReason) =>
  Effect.all({
    methods: plainCall("auth", (api) => api.methods()),
    hasPasskey:
      reason === "ended"
        ? Effect.succeed(false)
        : Effect.map(
            plainCall("passkeys", (api) => api.list()),
            ({ data }) => data.length > 0
          )
  })

const Login = ({ ask, email }: LoginProps) => {
  const ways = useLoad("ways", () => read(ask.reason))
  const { failure, value } = ways.loaded.value
  const done = () => {
    ask.settle(true)
  }
  const byMethods = value !== null && (
    <>
      {value.methods.provider !== null && (
        <ProviderForm name={value.methods.provider.name} reason={ask.reason} done={done} />
      )}
      {value.methods.email && <CodeForm email={email} done={done} />}
    </>
  )
  return (
    <Dialog
      title={value?.hasPasskey === true ? "Prove who you are" : "Log in again"}
      close={() => {
        ask.settle(false)
      }}
    >
      <p>{value?.hasPasskey === true ? "This needs your passkey." : reasons[ask.reason]}</p>
      <Problem failure={failure} retry={ways.reload} />
      {value?.hasPasskey === true ? (
        <>
          <PasskeyForm done={done} />
          <details>
            <summary>You have lost it</summary>
            <p>Log in again. That lets you remove the passkey, under My account, and nothing else.</p>
            {byMethods}
          </details>
        </>
      ) : (
        byMethods
      )}
    </Dialog>
  )
}

import { useSignal } from "@preact/signals"
import type { Session } from "@coffer/domain/directory/Session"
import { sessionName } from "@coffer/domain/directory/SessionName"
import { prove } from "../../client/PasskeyCeremonies.js"
import { useAct } from "../../kit/Act.js"
import { Problem } from "../../kit/Problem.js"
import { When } from "../../kit/When.js"
import { setQuery } from "../../routing/Router.js"
import { Visible } from "../../kit/Visible.js"

/** A terminal asks for a proof, by `coffer reauthenticate`. The person sees which one before they give it. */
export const ProveSession = ({ session }: { readonly session: Session | undefined }) => {
  const act = useAct()
  const isProven = useSignal(false)
  if (session === undefined) {
    return (
      <p class="card" role="status">
        The session that asks for your passkey has ended, or is not yours.
      </p>
    )
  }
  const { created_at, id, ip_address } = session
  return (
    <section class="card" aria-label="Prove a session">
      <h2>
        Prove the session of <Visible text={sessionName(session)} />
      </h2>
      {isProven.value ? (
        <p role="status">It is proven. Go back to the terminal; you can close this page.</p>
      ) : (
        <>
          <p>
            It asks for your passkey from {ip_address ?? "an unknown address"}, and began <When time={created_at} />.
            Whoever uses it may then do what needs a recent login. Refuse if you did not ask for this, and end that
            session in the list below.
          </p>
          <p class="row">
            <button
              type="button"
              class="primary"
              disabled={act.isBusy.value}
              onClick={() => {
                act.run(prove(id), () => {
                  isProven.value = true
                })
              }}
            >
              Prove it with your passkey
            </button>
            <button
              type="button"
              onClick={() => {
                setQuery("session", null)
              }}
            >
              Refuse
            </button>
          </p>
          <Problem failure={act.failure.value} />
        </>
      )}
    </section>
  )
}

import type { AuthorizationRequest } from "@coffer/domain/directory/Consent"
import { useSignal } from "@preact/signals"
import * as Redacted from "effect/Redacted"
import { organizations } from "../../client/Organizations.js"
import { call } from "../../client/Calls.js"
import { Choose } from "../../kit/Choose.js"
import { useLoad } from "../../kit/Load.js"
import { sentence } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { Visible } from "../../kit/Visible.js"
import { query } from "../../routing/Router.js"
import { ConsentForm } from "./ConsentForm.js"
import { lastConsent } from "./LastConsent.js"

type RequestProps = { readonly request: AuthorizationRequest }

/** Names who asks: the host that was proved, or that nobody vouches for the program. */
const Asker = ({ request: { answer_to, is_local, program } }: RequestProps) => (
  <>
    <p>
      A program that calls itself{" "}
      <strong>
        <Visible text={program.name} />
      </strong>{" "}
      asks for a part of your rights. It comes from
    </p>
    <p class="asker">
      {program.host ??
        (is_local ? "a program on this computer, which nobody vouches for" : "a program that nobody vouches for")}
    </p>
    <p>
      The answer goes to <code>{answer_to}</code>
      {is_local ? ", on this computer." : "."} Go on only if you have just asked that program to connect.
    </p>
  </>
)

const Leaving = () => <p role="status">The answer is on its way. If the program has it, you can close this page.</p>

/** The decision of the person about a request that can be granted. */
const Decision = ({
  client,
  query: asked,
  request
}: RequestProps & { readonly client: string; readonly query: string }) => {
  const last = lastConsent(client)
  const own = organizations.value.map(({ name }) => name)
  const chosen = useSignal(last?.org ?? own[0])
  const isLeaving = useSignal(false)
  const org = own.find((name) => name === chosen.value) ?? own[0]
  const open = (address: string) => {
    isLeaving.value = true
    location.assign(address)
  }
  if (isLeaving.value) return <Leaving />
  const refuse = (
    <button
      type="button"
      onClick={() => {
        open(request.refuse_to)
      }}
    >
      Refuse
    </button>
  )
  return org === undefined ? (
    <>
      <p>You are in no organization yet: there is nothing that the program could get.</p>
      {refuse}
    </>
  ) : (
    <ConsentForm
      key={org}
      client={client}
      last={last?.org === org ? last : undefined}
      org={org}
      query={asked}
      refuse={refuse}
      request={request}
      done={({ continue_to }) => {
        open(Redacted.value(continue_to))
      }}
    >
      <Choose label="Organization" value={org} words={own} choose={(word) => (chosen.value = word)} />
    </ConsentForm>
  )
}

/** Asks a person whether a program gets a part of their rights (OAuth 2.1, section 4.1). */
export const Page = () => {
  const asked = query.value.toString()
  const client = query.value.get("client_id") ?? ""
  const review = useLoad(asked, () => call("consents", (api) => api.review({ payload: { request: asked } })))
  return (
    <section class="consent">
      <h1>Connect a program?</h1>
      <Reading of={review}>
        {(request) => (
          <>
            <Asker request={request} />
            {request.problem === undefined ? (
              <Decision client={client} query={asked} request={request} />
            ) : (
              <>
                <p role="alert" class="problem">
                  It asks in a way that cannot be granted: {sentence(request.problem)}
                </p>
                <button
                  type="button"
                  onClick={() => {
                    location.assign(request.refuse_to)
                  }}
                >
                  Back to the program
                </button>
              </>
            )}
          </>
        )}
      </Reading>
    </section>
  )
}

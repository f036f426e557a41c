import { maxTypedCode, typedCodePattern } from "@coffer/domain/base/NameForms"
import type { Email } from "@coffer/domain/base/Names"
import { type Html, markup } from "./Html.js"
import { page } from "./Page.js"

/** A problem that a login page shows. */
export interface Problem {
  readonly message: string
  readonly status: number
  readonly retryAfter?: number | undefined
}

const title = "Log in to Coffer"

/** Messages of errors begin in lowercase and have no full stop. */
const sentence = (message: string): string => `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`

export const alert = (problem: Problem | null): Html | null =>
  problem === null ? null : markup`<p class="error" role="alert">${sentence(problem.message)}</p>`

export const optionsOf = (problem: Problem | null) => ({
  title,
  ...(problem !== null && { status: problem.status }),
  ...(problem?.retryAfter !== undefined && { headers: { "retry-after": String(problem.retryAfter) } })
})

const emailForm = ({
  csrf,
  email,
  isAgain
}: Pick<Choice, "csrf" | "email" | "isAgain">): Html => markup`<form method="post" action="/login">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="step" value="email">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" value="${email}" autocomplete="email" maxlength="254"${isAgain ? null : markup` autofocus`} required>
${isAgain ? markup`<button autofocus>Send another code</button>` : markup`<button>Send me a code</button>`}
</form>`

const providerLink = (name: string): Html => markup`<a class="button" href="/login/provider">Log in with ${name}</a>`

interface Choice {
  readonly csrf: string
  readonly email: string
  /** The provider's name; null for none. */
  readonly provider: string | null
  readonly hasCodes: boolean
  readonly problem: Problem | null
  /** Whether a code was wrong, which ends it: another one is a click away. */
  readonly isAgain: boolean
}

/** The first page: the provider, or an address for a code. */
export const choosePage = ({ csrf, email, hasCodes, isAgain, problem, provider }: Choice) =>
  page(
    optionsOf(problem),
    markup`${alert(problem)}
${provider === null ? null : providerLink(provider)}
${provider !== null && hasCodes ? markup`<div class="or">or</div>` : null}
${hasCodes ? emailForm({ csrf, email, isAgain }) : null}`
  )

/** The page for the code of the mail. */
export const codePage = (csrf: string, email: Email, problem: Problem | null = null) =>
  page(
    { ...optionsOf(problem), title: "Enter the code" },
    markup`${alert(problem)}
<p>If ${email} may log in, a code of 6 digits is on its way. It is good for 10 minutes.</p>
<form method="post" action="/login">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="step" value="code">
<label for="code">Code</label>
<input id="code" class="code" name="code" inputmode="numeric" autocomplete="one-time-code" pattern="${typedCodePattern}" maxlength="${String(maxTypedCode)}" title="6 digits" autofocus required>
<button>Log in</button>
</form>
<p class="quiet">No mail? <a href="/login?again">Ask for another code</a>, which replaces this one.</p>`
  )

/** The last page of a login. It redirects by itself: an HTTP redirect would arrive without the new cookie, which is `Strict`. */
export const donePage = (email: Email, next: string) =>
  page(
    { title: "You are logged in", next },
    markup`<p>As ${email}.</p>
<a class="button" href="${next}">Continue</a>`
  )

/** The error page. */
export const failedPage = (problem: Problem) =>
  page(
    { ...optionsOf(problem), title: "That did not work" },
    markup`${alert(problem)}
<a class="button second" href="/login?again">Start again</a>`
  )

/** The page at the server's root. */
export const homePage = () =>
  page(
    { title: "Coffer" },
    markup`<p>This server keeps secrets. People and programs use it with the commands <code>coffer</code> and <code>coffer-mcp</code>.</p>
<a class="button" href="/login">Log in</a>
<p class="quiet"><a href="/docs">The HTTP API</a></p>`
  )

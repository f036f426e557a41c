import type { Email } from "@coffer/domain/base/Names"
import type { PendingLogin } from "../../directory/login/ClientLogins.js"
import { type Html, markup } from "./Html.js"
import type { Loopback } from "./Intents.js"
import { alert, optionsOf, type Problem } from "./LoginPages.js"
import { page } from "./Page.js"

/** The page for the code that a program shows. */
export const userCodePage = (csrf: string, code: string, problem: Problem | null = null) =>
  page(
    { ...optionsOf(problem), title: "Log in on a machine" },
    markup`${alert(problem)}
<p>Enter the code that <code>coffer login</code> shows there.</p>
<form method="post" action="/device">
<input type="hidden" name="csrf" value="${csrf}">
<label for="code">Code</label>
<input id="code" class="code" name="code" value="${code}" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="20" title="8 letters, such as WDJB-MJHT" autofocus required>
<button>Continue</button>
</form>`
  )

const questionPage = (csrf: string, facts: Html) =>
  page(
    { title: "Let coffer log in?" },
    markup`${facts}
<p>Say yes only if you have just run <code>coffer login</code> there yourself.</p>
<form method="post" action="/login/decide">
<input type="hidden" name="csrf" value="${csrf}">
<p><button name="answer" value="yes">Yes, log it in</button></p>
<button class="second" name="answer" value="no">No</button>
</form>`
  )

const named = (machine: string | null): Html =>
  machine === null ? markup`a machine without a name` : markup`<strong>${machine}</strong>`

/** Asks about a program on the browser's machine. */
export const loopbackQuestion = (csrf: string, email: Email, { machine, redirect_uri }: Loopback) =>
  questionPage(
    csrf,
    markup`<p>The program <strong>coffer</strong> on this machine, ${named(machine)}, asks to be logged in as ${email}.</p>
<p class="quiet">It waits at ${new URL(redirect_uri).host}.</p>`
  )

const utc = (timestamp: string): string => `${timestamp.slice(0, 10)} ${timestamp.slice(11, 16)} UTC`

/** Asks about a program whose code the person has entered. */
export const deviceQuestion = (csrf: string, email: Email, { created_at, ip, machine }: PendingLogin) =>
  questionPage(
    csrf,
    markup`<p>The program <strong>coffer</strong> on ${named(machine)} asks to be logged in as ${email}. It may be any machine: whoever runs the program there will act as you.</p>
<p class="quiet">It asked at ${utc(created_at)}, from ${ip ?? "an unknown address"}.</p>`
  )

/** The last page of a login by device. */
export const decidedPage = (isApproved: boolean) =>
  isApproved
    ? page({ title: "The program is logged in" }, markup`<p>You can close this window and go back to the terminal.</p>`)
    : page({ title: "The login is refused" }, markup`<p>The program gets nothing. You can close this window.</p>`)

/** Takes the browser back to the program. The page redirects by itself: the policy allows no form to lead elsewhere. */
export const returnPage = (next: string) =>
  page({ title: "Back to the program", next }, markup`<a class="button" href="${next}">Continue</a>`)

import type { Role } from "@coffer/domain/directory/Member"
import type { Email, OrgName } from "@coffer/domain/base/Names"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { SmtpSettings } from "../config/MailSettings.js"
import { ServerConfig } from "../Config.js"
import { sharedBounds } from "../SharedBounds.js"
import { type MailKind, smtpSender } from "./SmtpSender.js"

const loginCodes: MailKind = {
  name: "a login code",
  queue: sharedBounds.loginMails,
  connections: 4,
  lifetime: Duration.minutes(10)
}
const notices: MailKind = {
  name: "a notice",
  queue: sharedBounds.otherMails,
  connections: 1,
  lifetime: Duration.hours(1)
}
const invitations: MailKind = {
  name: "an invitation",
  queue: sharedBounds.otherMails,
  connections: 1,
  lifetime: Duration.hours(1)
}

const body = (code: string) => `Your login code is ${code}

It is good for 10 minutes and for one login. Nobody from Coffer will ever ask you for it.

If you did not try to log in, ignore this mail: without the code nobody gets in.
`

/** A mail about what has happened. */
export interface Notice {
  readonly to: Email
  readonly subject: string
  readonly text: string
  /** Runs if the mail server cannot be reached or refuses the mail for now, so that it can be queued again. */
  readonly lost?: Effect.Effect<void>
  /** A notice that waited longer is not sent. At most an hour. */
  readonly lifetime?: Duration.Duration
}

export interface Invitation {
  readonly to: Email
  readonly inviter: string
  readonly org: OrgName
  readonly role: Role
}

// The commands contain no address: the inviter chose it, and it may contain shell metacharacters.
const invitationText = ({
  inviter,
  org,
  role
}: Invitation) => `${inviter} invites you to the organization ${org} on Coffer, with the role ${role}.

Coffer keeps secrets for programs. To begin, ask ${inviter} for the server's address, and run:

  coffer login --server-url ADDRESS
  coffer project list --server-url ADDRESS --org ${org}

The login asks for your e-mail address, this one, and mails you a code.
Your first call in ${org} accepts the invitation. To decline it, run: coffer org leave --server-url ADDRESS --org ${org}
If you do not know ${inviter}, ignore this mail: nothing binds you.
`

// Bypasses the log's level and format, because nobody could log in without the code.
const printedSender = (to: Email, code: Redacted.Redacted) =>
  Effect.sync(() => {
    process.stderr.write(`login code for ${to}: ${Redacted.value(code)}\n`)
  })

const printedInvitation = ({ inviter, org, role, to }: Invitation) =>
  Effect.logInfo(`invitation for ${to}: ${inviter} invites to ${org} as ${role}`)

const printedNotice = ({ subject, text, to }: Notice) => Effect.logInfo(`mail to ${to}: ${subject}: ${text}`)

const smtpSenders = (smtp: SmtpSettings) =>
  Effect.gen(function* () {
    const sendCode = yield* smtpSender(smtp, loginCodes)
    const sendInvitation = yield* smtpSender(smtp, invitations)
    const sendNotice = yield* smtpSender(smtp, notices)
    return {
      code: (to: Email, code: Redacted.Redacted) =>
        sendCode({ to, subject: "Your Coffer login code", text: Redacted.make(body(Redacted.value(code))) }),
      invitation: (invitation: Invitation) =>
        sendInvitation({
          to: invitation.to,
          subject: `You are invited to ${invitation.org} on Coffer`,
          text: Redacted.make(invitationText(invitation))
        }),
      notice: ({ text, ...notice }: Notice) => sendNotice({ ...notice, text: Redacted.make(text) })
    }
  })

/** Sends login codes, invitations and notices by SMTP (RFC 5321), or prints them to stderr in development mode. */
export class Mailer extends Effect.Service<Mailer>()("@coffer/server/Mailer", {
  scoped: Effect.gen(function* () {
    const { mail } = yield* ServerConfig
    const send =
      mail._tag === "Log"
        ? { code: printedSender, invitation: printedInvitation, notice: printedNotice }
        : yield* smtpSenders(mail)
    return {
      /**
       * Queues the mail and returns at once, so that the response's time and status do not depend on the mail server or reveal
       * whether the address exists. A mail that fails 3 times is logged without address and code.
       */
      sendLoginCode: (email: Email, code: Redacted.Redacted): Effect.Effect<void> => send.code(email, code),

      /** As `sendLoginCode`. */
      sendInvitation: (invitation: Invitation): Effect.Effect<void> => send.invitation(invitation),

      /** As `sendLoginCode`. */
      sendNotice: (notice: Notice): Effect.Effect<void> => send.notice(notice)
    } as const
  })
}) {}

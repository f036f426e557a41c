import type { Email } from "@coffer/domain/base/Names"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Mailbox from "effect/Mailbox"
import * as Metric from "effect/Metric"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import type { SMTPTransportOptions } from "nodemailer"
import { counter } from "../Metrics.js"
import type { SmtpSettings } from "../config/MailSettings.js"
import { RequestInfo } from "../RequestInfo.js"
import { makeShare } from "../Share.js"
import type { SharedBound } from "../SharedBounds.js"
import { Tenant } from "../Tenant.js"

/** Mails that the mail server did not accept. */
const mailFailures = counter(
  "coffer_mail_failures_total",
  "Login codes, invitations and reminders that the mail server did not accept"
)

interface Mail {
  readonly to: Email
  readonly subject: string
  readonly text: Redacted.Redacted
  /** The id of the request that caused the mail, for the log. */
  readonly request: string
  readonly tenant: string
  /** Milliseconds since the epoch. */
  readonly queuedAt: number
  /** Runs if the mail was not sent, but a later mail to the same address may be. */
  readonly lost: Effect.Effect<void>
  /** A mail that waited longer is not sent. */
  readonly lifetime: Duration.Duration
}

/** The codes of an SMTP error. Its text is dropped, because it may contain the address or the login code. */
export class SmtpFailure extends Data.TaggedError("SmtpFailure")<{
  readonly code: string
  readonly responseCode: number | null
  readonly permanent: boolean
  /** Whether the mail server refused the greeting (EHLO). */
  readonly atGreeting: boolean
}> {}

/** A kind of mail. Each kind has its own queue, so that login codes do not wait for other mails. */
export interface MailKind {
  /** For the log. */
  readonly name: string
  readonly queue: SharedBound
  readonly connections: number
  /** The longest that a mail waits. */
  readonly lifetime: Duration.Duration
}

const drainTime = Duration.seconds(5)
/** The timeouts of the connection do not end an attempt with a server that responds slowly but steadily. */
const attemptTime = Duration.seconds(60)
const retries = Schedule.intersect(Schedule.exponential("1 second"), Schedule.recurs(2))

/**
 * The connection options of nodemailer: implicit TLS or required STARTTLS. If the settings require neither, STARTTLS is used if it
 * is offered, without verifying the certificate, because cleartext is allowed too (opportunistic security, RFC 7435).
 */
export const transportOptions = (smtp: SmtpSettings): SMTPTransportOptions => ({
  host: smtp.host,
  port: smtp.port,
  name: smtp.ehloName,
  secure: smtp.secure,
  ...(smtp.secure || smtp.requireTls
    ? { requireTLS: smtp.requireTls }
    : { requireTLS: false, opportunisticTLS: true, tls: { rejectUnauthorized: false } }),
  ...(smtp.username === null || smtp.password === null
    ? {}
    : { auth: { user: smtp.username, pass: Redacted.value(smtp.password) } }),
  connectionTimeout: 10_000,
  greetingTimeout: 10_000,
  dnsTimeout: 10_000,
  socketTimeout: 20_000,
  disableFileAccess: true,
  disableUrlAccess: true
})

export const smtpFailure = (error: unknown): SmtpFailure => {
  // nodemailer replaces `code` by its own and keeps the system's code (ECONNREFUSED) in `originalCode`.
  const codes = [
    Predicate.hasProperty(error, "originalCode") ? error.originalCode : null,
    Predicate.hasProperty(error, "code") ? error.code : null
  ]
  const code = codes.find(Predicate.isString) ?? "UNKNOWN"
  const responseCode =
    Predicate.hasProperty(error, "responseCode") && Predicate.isNumber(error.responseCode) ? error.responseCode : null
  return new SmtpFailure({
    code,
    responseCode,
    permanent: Predicate.hasProperty(error, "permanent") && error.permanent === true,
    atGreeting: Predicate.hasProperty(error, "command") && (error.command === "EHLO" || error.command === "HELO")
  })
}

/** Queues mails of a kind, and sends them to the mail server (RFC 5321). */
export const smtpSender = (smtp: SmtpSettings, { connections, lifetime: longest, name, queue: bound }: MailKind) =>
  Effect.gen(function* () {
    // Loaded on demand: development mode does not need it.
    const { createTransport } = yield* Effect.promise(() => import("nodemailer"))
    const transport = yield* Effect.acquireRelease(
      Effect.sync(() => createTransport(transportOptions(smtp))),
      (transport) => Effect.sync(() => transport.close())
    )
    const queue = yield* Mailbox.make<Mail>()
    const share = makeShare(bound)

    const attempt = ({ subject, text, to }: Mail) =>
      Effect.tryPromise({
        try: (signal) =>
          transport.sendMail({
            // Pass addresses as objects: nodemailer would parse a string and could find a second address in it.
            envelope: { from: smtp.from.address, to: [to] },
            from: { name: smtp.from.name ?? "", address: smtp.from.address },
            to: { address: to },
            subject,
            text: Redacted.value(text),
            // Suppresses automatic replies (RFC 3834).
            headers: { "Auto-Submitted": "auto-generated" },
            signal
          }),
        catch: smtpFailure
      }).pipe(
        Effect.timeoutFail({
          duration: attemptTime,
          onTimeout: () =>
            new SmtpFailure({ code: "ETIMEDOUT", responseCode: null, permanent: false, atGreeting: false })
        })
      )

    const deliver = (mail: Mail) =>
      Effect.gen(function* () {
        const age = (yield* Clock.currentTimeMillis) - mail.queuedAt
        if (age > Duration.toMillis(mail.lifetime)) {
          yield* Metric.increment(mailFailures)
          yield* mail.lost
          return yield* Effect.logError(`${name} was not mailed: it expired while the mail server was slow`)
        }
        yield* attempt(mail).pipe(Effect.retry({ schedule: retries, while: (failure) => !failure.permanent }))
      }).pipe(
        Effect.catchAll(({ code, permanent, responseCode }) =>
          Effect.logError(`${name} was not mailed`).pipe(
            Effect.annotateLogs({
              smtp_error: code,
              ...(responseCode === null ? {} : { smtp_response: responseCode })
            }),
            Effect.zipLeft(Metric.increment(mailFailures)),
            Effect.zipLeft(permanent ? Effect.void : mail.lost)
          )
        ),
        Effect.annotateLogs({ request: mail.request })
      )

    const next = Effect.tap(queue.take, ({ tenant }) => {
      share.giveBack(tenant, 1)
    })
    const worker = Effect.forever(Effect.flatMap(next, deliver)).pipe(
      Effect.catchTag("NoSuchElementException", () => Effect.void)
    )
    const workers = yield* Effect.forkScoped(
      Effect.all(
        Array.from({ length: connections }, () => worker),
        { concurrency: connections, discard: true }
      )
    )
    yield* Effect.addFinalizer(() =>
      Effect.zipRight(queue.end, Fiber.await(workers)).pipe(
        Effect.interruptible,
        Effect.timeoutTo({
          duration: drainTime,
          onSuccess: () => Effect.void,
          onTimeout: () =>
            Effect.logWarning(
              `the mail server was too slow: queued mails (${name} or more) were not sent before the shutdown`
            )
        }),
        Effect.flatten
      )
    )

    return ({
      lifetime = longest,
      lost = Effect.void,
      ...given
    }: Pick<Mail, "subject" | "text" | "to"> & Partial<Pick<Mail, "lifetime" | "lost">>) =>
      Effect.gen(function* () {
        const { id } = yield* RequestInfo
        const tenant = (yield* Tenant).name
        const mail = { ...given, lifetime, lost, tenant }
        if (share.take(tenant, 1)) {
          yield* queue.offer({ ...mail, request: id, queuedAt: yield* Clock.currentTimeMillis })
        } else {
          yield* Metric.increment(mailFailures)
          yield* Effect.logError(`${name} was not mailed: too many mails wait for the mail server`)
          yield* mail.lost
        }
      })
  })

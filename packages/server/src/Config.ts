import { readFile } from "node:fs/promises"
import { isIP } from "node:net"
import { Email } from "@coffer/domain/Names"
import { Array, Context, Data, Effect, LogLevel, Option, Order, Predicate, Record, Redacted, Schema } from "effect"

export interface SmtpSettings {
  readonly _tag: "Smtp"
  readonly host: string
  readonly port: number
  /** Null, as the password is then: no authentication. */
  readonly username: string | null
  readonly password: Redacted.Redacted | null
  readonly from: { readonly name: string | null; readonly address: Email }
  /** Whether a server without STARTTLS is refused. */
  readonly requireTls: boolean
  /** Whether TLS begins with the connection, as on port 465 (RFC 8314, section 3.3). */
  readonly secure: boolean
}

export interface BackupSettings {
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  readonly accessKey: string
  readonly secretKey: Redacted.Redacted
  /** Put before every object's name; may be empty. */
  readonly prefix: string
  /** 0: no scheduled backups. */
  readonly scheduleHours: number
  readonly retainDailyDays: number
  readonly retainWeeklyWeeks: number
}

export interface Settings {
  /** 64 hex digits. */
  readonly masterKey: Redacted.Redacted
  /** In the order of their numbers, each once. */
  readonly superadmins: ReadonlyArray<Email>
  readonly mail: { readonly _tag: "Log" } | SmtpSettings
  readonly dbPath: string
  readonly host: string
  /** 0: a free port of the system's choice. */
  readonly port: number
  readonly corsAllowedOrigins: ReadonlyArray<string>
  readonly backups: BackupSettings | null
  readonly logLevel: LogLevel.LogLevel
  readonly logFormat: "pretty" | "json"
  readonly metricsPort: number | null
  readonly signup: "open" | "invited"
  /** In lowercase; people of these domains need no invitation. */
  readonly signupDomains: ReadonlyArray<string>
  readonly orgCreation: "anyone" | "superadmin"
  readonly auditStream: null | "stdout" | { readonly file: string }
  readonly auditRequired: boolean
  /** `headers` is as OTEL_EXPORTER_OTLP_HEADERS has it: `name=value,name=value`. */
  readonly tracing: null | {
    readonly endpoint: string
    readonly serviceName: string
    readonly headers: Redacted.Redacted | null
  }
  /** Variables that look like settings and are none: misspelt, most likely. */
  readonly unknown: ReadonlyArray<string>
}

export class ServerConfig extends Context.Tag("@coffer/server/ServerConfig")<ServerConfig, Settings>() {}

export interface ConfigProblem {
  readonly variable: string
  /** A sentence's end: "SERVICE_PORT must be …". It never holds what was given. */
  readonly rule: string
}

/** Everything that is wrong with the settings, at once; the message is made for the person who starts the server. */
export class ConfigProblems extends Data.TaggedError("ConfigProblems")<{
  readonly problems: ReadonlyArray<ConfigProblem>
}> {
  override get message() {
    const count = this.problems.length === 1 ? "a setting is" : `${this.problems.length} settings are`
    return [
      `The server cannot start: ${count} not right.`,
      ...this.problems.map(({ rule, variable }) => `  ${variable} ${rule}`)
    ].join("\n")
  }
}

type Problems = ReadonlyArray<ConfigProblem>
type Setting<A> = Effect.Effect<A, Problems>

const problem = (variable: string, rule: string): Setting<never> => Effect.fail([{ variable, rule }])

/** Asks more of a setting than its own text can tell. */
const satisfying =
  <A>(variable: string, rule: string, holds: (value: A) => boolean) =>
  (setting: Setting<A>): Setting<A> =>
    Effect.filterOrFail(setting, holds, (): Problems => [{ variable, rule }])

/** The problems of all settings that were read together in the mode `validate`, as one list. */
const joined = (errors: Record<string, Option.Option<Problems>>): Problems =>
  Array.flatten(Array.getSomes(Record.values(errors)))

/** How the text of a variable is read, and the rule to tell when it cannot be: "must be …". */
interface Format<A> {
  readonly rule: string
  readonly read: (text: string) => Option.Option<A>
}

const matching = (rule: string, holds: (text: string) => boolean): Format<string> => ({
  rule,
  read: Option.liftPredicate(holds)
})

const pattern = (rule: string, regex: RegExp): Format<string> => matching(rule, (text) => regex.test(text))

const integer = (minimum: number, maximum: number): Format<number> => ({
  rule: `must be a whole number from ${minimum} to ${maximum}`,
  read: (text) =>
    Option.liftPredicate(
      Number(text),
      (value) => /^(0|[1-9][0-9]{0,9})$/.test(text) && value >= minimum && value <= maximum
    )
})

const word = <A>(words: Readonly<Record<string, A>>): Format<A> => ({
  rule: `must be ${Record.keys(words).join(" or ")}`,
  read: (text) => Record.get(words, text)
})

const listOf = <A>(item: Format<A>): Format<ReadonlyArray<A>> => ({
  rule: item.rule,
  read: (text) =>
    Option.map(
      Option.all(
        text
          .split(",")
          .map((part) => part.trim())
          .filter((part) => part !== "")
          .map(item.read)
      ),
      Array.dedupe
    )
})

const masterKey = pattern(
  "must be 64 hex characters (256 bits), such as `openssl rand -hex 32` prints",
  /^[0-9a-fA-F]{64}$/
)

const text = pattern("must be text without control characters", /^\P{Cc}+$/u)

const password = matching("must not be empty", (value) => value !== "")

const host = matching(
  "must be a host name or an IP address, without a port",
  (value) =>
    isIP(value) !== 0 ||
    (value.length <= 253 && /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/i.test(value))
)

const file = matching("must be the path of a file", (value) => value !== ":memory:" && !value.endsWith("/"))

const listeningPort = integer(0, 65_535)

const email: Format<Email> = {
  rule: "must be an e-mail address such as ada@example.com",
  read: Schema.decodeOption(Email)
}

const sender: Format<SmtpSettings["from"]> = {
  rule: "must be an address, or a name and an address: Coffer <coffer@example.com>",
  read: (value) => {
    const [, quoted, plain = "", address = value] = /^\s*(?:"([^"]*)"|([^"<>]*))\s*<([^<>]*)>\s*$/.exec(value) ?? []
    const name = (quoted ?? plain).trim()
    return /\p{Cc}/u.test(name)
      ? Option.none()
      : Option.map(email.read(address), (address) => ({ name: name === "" ? null : name, address }))
  }
}

const isHttp = (url: URL) =>
  (url.protocol === "http:" || url.protocol === "https:") && url.username === "" && url.password === ""

const origin = matching(
  "must be a list of origins such as https://app.example.com: scheme, host and port alone, in lowercase, separated by commas",
  (value) => URL.canParse(value) && isHttp(new URL(value)) && new URL(value).origin === value
)

const address = matching(
  "must be an http or https address, without credentials, query or fragment",
  (value) => URL.canParse(value) && isHttp(new URL(value)) && !/[?#\s]/.test(value)
)

const domain: Format<string> = {
  rule: "must be a list of domains such as example.com, separated by commas",
  read: (value) =>
    Option.liftPredicate(value.toLowerCase(), (lower) =>
      /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/.test(lower)
    )
}

const bucket = pattern(
  "must be a bucket's name: 3 to 255 letters, digits, dots, underscores and hyphens",
  /^[A-Za-z0-9][A-Za-z0-9._-]{2,254}$/
)

const prefix = matching(
  "must be at most 200 letters, digits and !-_.*'()/, without a slash first and without empty or dot segments",
  (value) => /^[A-Za-z0-9!_.*'()/-]{1,200}$/.test(value) && !/^\/|\/\/|(^|\/)\.{1,2}(\/|$)/.test(value)
)

const otlpHeaders = pattern(
  "must be headers as name=value, separated by commas",
  /^[^\s=,]+=[^,\p{Cc}]*(,\s*[^\s=,]+=[^,\p{Cc}]*)*$/u
)

const logLevels = { debug: LogLevel.Debug, info: LogLevel.Info, warn: LogLevel.Warning, error: LogLevel.Error } as const

type Environment = Readonly<Record<string, string | undefined>>

/** The ways to read one variable. An empty one counts as unset. */
const reader = (environment: Environment) => {
  const given = (variable: string): string | null => environment[variable] || null

  const decode = <A>(variable: string, format: Format<A>, text: string): Setting<A> =>
    Option.match(format.read(text), {
      onNone: () => problem(variable, format.rule),
      onSome: (value) => Effect.succeed(value)
    })

  const missing = (variable: string, format: Format<unknown>) => problem(variable, `is required and ${format.rule}`)

  const optional = <A>(variable: string, format: Format<A>): Setting<A | null> => {
    const text = given(variable)
    return text === null ? Effect.succeed(null) : decode(variable, format, text)
  }

  const required = <A>(variable: string, format: Format<A>): Setting<A> => {
    const text = given(variable)
    return text === null ? missing(variable, format) : decode(variable, format, text)
  }

  const withDefault = <A, B>(variable: string, format: Format<A>, fallback: B): Setting<A | B> =>
    Effect.map(optional(variable, format), (value) => value ?? fallback)

  const hasSecret = (variable: string) => given(variable) !== null || given(`${variable}_FILE`) !== null

  /** From the variable, or from the file that VARIABLE_FILE names, less one newline at its end. */
  const secret = (variable: string, format: Format<string>): Setting<Redacted.Redacted | null> => {
    const path = given(`${variable}_FILE`)
    if (path === null) {
      return Effect.map(optional(variable, format), (value) => (value === null ? null : Redacted.make(value)))
    }
    if (given(variable) !== null) {
      return problem(variable, `and ${variable}_FILE are both set: give one of them`)
    }
    return Effect.tryPromise({
      try: () => readFile(path, "utf8"),
      // The path stays out of the message: the secret itself may have been put there.
      catch: (error): Problems => [
        {
          variable: `${variable}_FILE`,
          rule: `must name a file that can be read${Predicate.hasProperty(error, "code") ? ` (${String(error.code)})` : ""}`
        }
      ]
    }).pipe(
      Effect.flatMap((content) => decode(`${variable}_FILE`, format, content.replace(/\r?\n$/, ""))),
      Effect.map((value) => Redacted.make(value))
    )
  }

  const requiredSecret = (variable: string, format: Format<string>): Setting<Redacted.Redacted> =>
    Effect.flatMap(secret(variable, format), (value) =>
      value === null ? missing(variable, format) : Effect.succeed(value)
    )

  return { given, optional, required, withDefault, hasSecret, secret, requiredSecret }
}

type Reader = ReturnType<typeof reader>

/** 127.0.0.0/8, ::1 and `localhost` itself: what is below it, a resolver may look for elsewhere. */
const isLoopback = (name: string): boolean =>
  name === "::1" || (isIP(name) === 4 && name.startsWith("127.")) || name.toLowerCase() === "localhost"

const implicitTlsPort = 465

const mail = (settings: Reader): Setting<Settings["mail"]> => {
  const server = settings.required("SMTP_HOST", {
    ...host,
    rule: "must be the mail server's host name or IP address, or log"
  })
  const form = {
    port: settings.withDefault("SMTP_PORT", integer(1, 65_535), 587),
    username: settings.optional("SMTP_USERNAME", text),
    password: settings.secret("SMTP_PASSWORD", password),
    tls: settings.withDefault("SMTP_TLS", word({ required: "required", none: "none" } as const), "required" as const)
  }
  const name = settings.given("SMTP_HOST")
  if (name === null || name === "log") {
    return Effect.all(
      { host: server, ...form, from: settings.optional("SMTP_FROM", sender) },
      { mode: "validate" }
    ).pipe(Effect.mapBoth({ onFailure: joined, onSuccess: () => ({ _tag: "Log" }) as const }))
  }
  return Effect.all(
    {
      host: server,
      port: form.port,
      username: form.username.pipe(
        satisfying(
          "SMTP_USERNAME",
          "is required when SMTP_PASSWORD is set",
          (username) => username !== null || !settings.hasSecret("SMTP_PASSWORD")
        )
      ),
      password: form.password.pipe(
        satisfying(
          "SMTP_PASSWORD",
          "is required when SMTP_USERNAME is set",
          (password) => password !== null || settings.given("SMTP_USERNAME") === null
        )
      ),
      from: settings.required("SMTP_FROM", sender),
      tls: form.tls.pipe(
        satisfying(
          "SMTP_TLS",
          "must not be none with SMTP_PORT 465, where TLS begins with the connection",
          (tls) => tls === "required" || settings.given("SMTP_PORT") !== String(implicitTlsPort)
        )
      )
    },
    { mode: "validate" }
  ).pipe(
    Effect.mapBoth({
      onFailure: joined,
      onSuccess: ({ tls, ...smtp }) =>
        ({
          _tag: "Smtp",
          ...smtp,
          secure: smtp.port === implicitTlsPort,
          requireTls: tls === "required" && !isLoopback(smtp.host)
        }) as const
    })
  )
}

const backups = (settings: Reader): Setting<BackupSettings | null> => {
  const form = {
    region: settings.withDefault("BACKUP_S3_REGION", text, "us-east-1"),
    prefix: settings.withDefault("BACKUP_S3_PREFIX", prefix, ""),
    scheduleHours: settings.withDefault("BACKUP_SCHEDULE_HOURS", integer(0, 8_760), 0),
    retainDailyDays: settings.withDefault("BACKUP_RETAIN_DAILY_DAYS", integer(0, 3_650), 7),
    retainWeeklyWeeks: settings
      .withDefault("BACKUP_RETAIN_WEEKLY_WEEKS", integer(0, 520), 4)
      .pipe(
        satisfying(
          "BACKUP_RETAIN_WEEKLY_WEEKS",
          "and BACKUP_RETAIN_DAILY_DAYS must not both be 0: no backup would be kept",
          (weeks) => weeks > 0 || settings.given("BACKUP_RETAIN_DAILY_DAYS") !== "0"
        )
      )
  }
  return settings.given("BACKUP_S3_ENDPOINT") === null
    ? Effect.all({ ...form, secretKey: settings.secret("BACKUP_S3_SECRET_KEY", password) }, { mode: "validate" }).pipe(
        Effect.mapBoth({ onFailure: joined, onSuccess: () => null })
      )
    : Effect.all(
        {
          endpoint: settings.required("BACKUP_S3_ENDPOINT", address),
          bucket: settings.required("BACKUP_S3_BUCKET", bucket),
          accessKey: settings.required("BACKUP_S3_ACCESS_KEY", text),
          secretKey: settings.requiredSecret("BACKUP_S3_SECRET_KEY", password),
          ...form
        },
        { mode: "validate" }
      ).pipe(Effect.mapError(joined))
}

const tracing = (settings: Reader): Setting<Settings["tracing"]> =>
  Effect.all(
    {
      endpoint: settings.optional("OTEL_EXPORTER_OTLP_ENDPOINT", address),
      serviceName: settings.withDefault("OTEL_SERVICE_NAME", text, "coffer-server"),
      headers: settings.optional("OTEL_EXPORTER_OTLP_HEADERS", otlpHeaders)
    },
    { mode: "validate" }
  ).pipe(
    Effect.mapBoth({
      onFailure: joined,
      onSuccess: ({ endpoint, headers, serviceName }) =>
        endpoint === null ? null : { endpoint, serviceName, headers: headers === null ? null : Redacted.make(headers) }
    })
  )

const superadminVariable = /^SUPERADMIN_EMAIL_([0-9]+)$/

const superadmins = (environment: Environment, settings: Reader): Setting<ReadonlyArray<Email>> => {
  const variables = Record.keys(environment).flatMap((variable) => {
    const number = superadminVariable.exec(variable)?.[1]
    return number === undefined || settings.given(variable) === null ? [] : [{ variable, number: Number(number) }]
  })
  return Effect.validateAll(
    Array.sortWith(variables, ({ number }) => number, Order.number),
    ({ variable }) => settings.required(variable, email)
  ).pipe(Effect.mapBoth({ onFailure: Array.flatten, onSuccess: Array.dedupe }))
}

/** The variables named SERVICE_… that mean something to the server, or to the clients. */
const serviceVariables: ReadonlySet<string> = new Set([
  "SERVICE_MASTER_KEY",
  "SERVICE_MASTER_KEY_FILE",
  "SERVICE_DB_PATH",
  "SERVICE_HOST",
  "SERVICE_PORT",
  "SERVICE_LOG_LEVEL",
  "SERVICE_LOG_FORMAT",
  "SERVICE_METRICS_PORT",
  "SERVICE_SIGNUP",
  "SERVICE_SIGNUP_DOMAINS",
  "SERVICE_ORG_CREATION",
  "SERVICE_AUDIT_STREAM",
  "SERVICE_AUDIT_REQUIRED",
  "SERVICE_NEW_MASTER_KEY",
  "SERVICE_NEW_MASTER_KEY_FILE",
  "SERVICE_SERVER_URL",
  "SERVICE_API_KEY",
  "SERVICE_API_KEY_FILE",
  "SERVICE_ORG",
  "SERVICE_PROJECT",
  "SERVICE_ENV"
])

const isUnknown = (variable: string): boolean =>
  variable.startsWith("SUPERADMIN_EMAIL")
    ? !superadminVariable.test(variable)
    : variable.startsWith("SERVICE_") && !variable.startsWith("SERVICE_MCP_") && !serviceVariables.has(variable)

/**
 * Reads every setting of the server from environment variables, and the files that some of them name.
 *
 * Fails with all that is wrong at once. No part of a value is in the failure.
 */
export const loadConfig = (environment: Environment): Effect.Effect<Settings, ConfigProblems> =>
  Effect.suspend(() => {
    const settings = reader(environment)
    const defaultPort = 7100
    return Effect.all(
      {
        masterKey: settings.requiredSecret("SERVICE_MASTER_KEY", masterKey),
        superadmins: superadmins(environment, settings),
        mail: mail(settings),
        dbPath: settings.withDefault("SERVICE_DB_PATH", file, "service.db"),
        host: settings.withDefault("SERVICE_HOST", host, "127.0.0.1"),
        port: settings.withDefault("SERVICE_PORT", listeningPort, defaultPort),
        corsAllowedOrigins: settings.withDefault("CORS_ALLOWED_ORIGINS", listOf(origin), []),
        backups: backups(settings),
        logLevel: settings.withDefault("SERVICE_LOG_LEVEL", word<LogLevel.LogLevel>(logLevels), LogLevel.Info),
        logFormat: settings.withDefault(
          "SERVICE_LOG_FORMAT",
          word({ pretty: "pretty", json: "json" } as const),
          process.stderr.isTTY ? ("pretty" as const) : ("json" as const)
        ),
        metricsPort: settings
          .optional("SERVICE_METRICS_PORT", listeningPort)
          .pipe(
            satisfying(
              "SERVICE_METRICS_PORT",
              "must not be the port of SERVICE_PORT",
              (port) =>
                port === null || port === 0 || String(port) !== (settings.given("SERVICE_PORT") ?? String(defaultPort))
            )
          ),
        signup: settings.withDefault(
          "SERVICE_SIGNUP",
          word({ open: "open", invited: "invited" } as const),
          "open" as const
        ),
        signupDomains: settings
          .withDefault("SERVICE_SIGNUP_DOMAINS", listOf(domain), [])
          .pipe(
            satisfying(
              "SERVICE_SIGNUP_DOMAINS",
              "must come with SERVICE_SIGNUP=invited: as it is, people of every domain may sign up",
              (domains) => domains.length === 0 || (settings.given("SERVICE_SIGNUP") ?? "open") !== "open"
            )
          ),
        orgCreation: settings.withDefault(
          "SERVICE_ORG_CREATION",
          word({ anyone: "anyone", superadmin: "superadmin" } as const),
          "anyone" as const
        ),
        auditStream: Effect.map(
          settings.optional("SERVICE_AUDIT_STREAM", { ...file, rule: "must be stdout or the path of a file" }),
          (stream) => (stream === null || stream === "stdout" ? stream : { file: stream })
        ),
        auditRequired: settings.withDefault("SERVICE_AUDIT_REQUIRED", word({ 0: false, 1: true }), false),
        tracing: tracing(settings),
        unknown: Effect.succeed(
          Record.keys(environment).filter((name) => settings.given(name) !== null && isUnknown(name))
        )
      },
      { mode: "validate" }
    ).pipe(Effect.mapError((errors) => new ConfigProblems({ problems: joined(errors) })))
  })

import type { Email } from "@coffer/domain/Names"
import { Array, Context, Effect, LogLevel, Order, Record, Redacted } from "effect"
import {
  address,
  bucket,
  directory,
  domain,
  email,
  file,
  host,
  integer,
  listeningPort,
  listOf,
  logLevels,
  masterKey,
  origin,
  otlpHeaders,
  password,
  prefix,
  sender,
  text,
  word
} from "./config/Formats.js"
import { database, type DatabaseSettings } from "./config/DatabaseSettings.js"
import { identity, type IdentitySettings } from "./config/IdentitySettings.js"
import { isLoopback } from "./config/Loopback.js"
import { ConfigProblems, joined, problem, satisfying, type Setting } from "./config/Problems.js"
import { superadminVariable } from "./config/Unknown.js"
import { type Environment, type Reader, reader } from "./config/Variables.js"

export interface SmtpSettings {
  readonly _tag: "Smtp"
  readonly host: string
  readonly port: number
  /** Null, like the password, for no authentication. */
  readonly username: string | null
  readonly password: Redacted.Redacted | null
  readonly from: { readonly name: string | null; readonly address: Email }
  /** Whether mail is not sent to a server without STARTTLS. */
  readonly requireTls: boolean
  /** Implicit TLS, as on port 465 (RFC 8314, section 3.3). */
  readonly secure: boolean
}

export interface S3Settings {
  readonly _tag: "S3"
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  readonly accessKey: string
  readonly secretKey: Redacted.Redacted
  /** Prepended to the name of every object; may be empty. */
  readonly prefix: string
}

export interface DirectorySettings {
  readonly _tag: "Directory"
  readonly path: string
}

export interface BackupSettings {
  readonly store: S3Settings | DirectorySettings
  /** 0: no scheduled backups. */
  readonly scheduleHours: number
  readonly retainDailyDays: number
  readonly retainWeeklyWeeks: number
}

export interface Settings extends DatabaseSettings, IdentitySettings {
  /** 64 hex digits. */
  readonly masterKey: Redacted.Redacted
  /** Sorted by number, without duplicates. */
  readonly superadmins: ReadonlyArray<Email>
  readonly mail: { readonly _tag: "Log" } | SmtpSettings
  readonly host: string
  /** 0: the system chooses a free port. */
  readonly port: number
  readonly corsAllowedOrigins: ReadonlyArray<string>
  readonly backups: BackupSettings | null
  readonly logLevel: LogLevel.LogLevel
  readonly logFormat: "pretty" | "json"
  readonly metricsPort: number | null
  readonly signup: "open" | "invited"
  /** In lowercase. */
  readonly signupDomains: ReadonlyArray<string>
  readonly orgCreation: "anyone" | "superadmin"
  readonly auditStream: null | "stdout" | { readonly file: string }
  readonly auditRequired: boolean
  readonly invitationMail: boolean
  /** `headers` has the format of OTEL_EXPORTER_OTLP_HEADERS: `name=value,name=value`. */
  readonly tracing: null | {
    readonly endpoint: string
    readonly serviceName: string
    readonly headers: Redacted.Redacted | null
  }
}

export class ServerConfig extends Context.Tag("@coffer/server/ServerConfig")<ServerConfig, Settings>() {}

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

/** Settings that have no effect without BACKUP_S3_ENDPOINT. */
const s3Variables = [
  "BACKUP_S3_BUCKET",
  "BACKUP_S3_ACCESS_KEY",
  "BACKUP_S3_SECRET_KEY",
  "BACKUP_S3_SECRET_KEY_FILE",
  "BACKUP_S3_REGION",
  "BACKUP_S3_PREFIX"
]

/** Rejects backup settings that have no effect without a store. A schedule of 0 hours is the default. */
const withoutStore = (settings: Reader): Setting<null> => {
  const others = ["BACKUP_SCHEDULE_HOURS", "BACKUP_RETAIN_DAILY_DAYS", "BACKUP_RETAIN_WEEKLY_WEEKS"]
  const [first] = [...s3Variables, ...others].filter(
    (variable) =>
      settings.given(variable) !== null && (settings.given(variable) !== "0" || variable !== "BACKUP_SCHEDULE_HOURS")
  )
  return first === undefined
    ? Effect.succeed(null)
    : problem(
        "BACKUP_S3_ENDPOINT",
        `is required when ${first} is set, or BACKUP_DIR: without a store there are no backups`
      )
}

const inDirectory = (settings: Reader): Setting<DirectorySettings> => {
  const [first] = s3Variables.filter((variable) => settings.given(variable) !== null)
  return first === undefined
    ? Effect.map(settings.required("BACKUP_DIR", directory), (path) => ({ _tag: "Directory", path }) as const)
    : problem(first, "has no effect with BACKUP_DIR: remove one of them")
}

const inS3 = (settings: Reader): Setting<S3Settings> =>
  Effect.all(
    {
      endpoint: settings.required("BACKUP_S3_ENDPOINT", address),
      region: settings.withDefault("BACKUP_S3_REGION", text, "us-east-1"),
      bucket: settings.required("BACKUP_S3_BUCKET", bucket),
      accessKey: settings.required("BACKUP_S3_ACCESS_KEY", text),
      secretKey: settings.requiredSecret("BACKUP_S3_SECRET_KEY", password),
      prefix: settings.withDefault("BACKUP_S3_PREFIX", prefix, ""),
      only: settings
        .optional("BACKUP_DIR", directory)
        .pipe(
          satisfying("BACKUP_DIR", "and BACKUP_S3_ENDPOINT are both set: remove one of them", (path) => path === null)
        )
    },
    { mode: "validate" }
  ).pipe(Effect.mapBoth({ onFailure: joined, onSuccess: ({ only: _only, ...s3 }) => ({ _tag: "S3", ...s3 }) as const }))

const store = (settings: Reader): Setting<S3Settings | DirectorySettings | null> => {
  if (settings.given("BACKUP_S3_ENDPOINT") !== null) return inS3(settings)
  return settings.given("BACKUP_DIR") !== null ? inDirectory(settings) : withoutStore(settings)
}

const backups = (settings: Reader): Setting<BackupSettings | null> =>
  Effect.all(
    {
      store: store(settings),
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
    },
    { mode: "validate" }
  ).pipe(
    Effect.mapBoth({
      onFailure: joined,
      onSuccess: ({ store, ...rest }) => (store === null ? null : { store, ...rest })
    })
  )

const tracing = (settings: Reader): Setting<Settings["tracing"]> =>
  Effect.all(
    {
      endpoint: settings
        .optional("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        .pipe(
          satisfying(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "is required when OTEL_EXPORTER_OTLP_HEADERS is set: without it no trace is sent",
            (endpoint) => endpoint !== null || settings.given("OTEL_EXPORTER_OTLP_HEADERS") === null
          )
        ),
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

/** Reads all settings from environment variables and the files that they name. Fails with all problems at once, without values. */
export const loadConfig = (environment: Environment): Effect.Effect<Settings, ConfigProblems> =>
  Effect.suspend(() => {
    const settings = reader(environment)
    const defaultPort = 7100
    return Effect.all(
      {
        masterKey: settings.requiredSecret("SERVICE_MASTER_KEY", masterKey),
        superadmins: superadmins(environment, settings),
        mail: mail(settings),
        database: database(settings),
        identity: identity(settings),
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
        invitationMail: settings.withDefault("SERVICE_INVITATION_MAIL", word({ 0: false, 1: true }), true),
        auditRequired: settings.withDefault("SERVICE_AUDIT_REQUIRED", word({ 0: false, 1: true }), false),
        tracing: tracing(settings)
      },
      { mode: "validate" }
    ).pipe(
      Effect.mapBoth({
        onFailure: (errors) => new ConfigProblems({ problems: joined(errors) }),
        onSuccess: ({ database, identity, ...rest }) => ({ ...rest, ...database, ...identity })
      })
    )
  })

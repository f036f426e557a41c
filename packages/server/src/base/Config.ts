import type { Email } from "@coffer/domain/base/Names"
import * as Array from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as LogLevel from "effect/LogLevel"
import * as Order from "effect/Order"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import { backups, type BackupSettings } from "./config/BackupSettings.js"
import { database, type DatabaseSettings } from "./config/DatabaseSettings.js"
import {
  address,
  clientHost,
  contact,
  domain,
  email,
  file,
  integer,
  listeningHost,
  listeningPort,
  listOf,
  logLevels,
  origin,
  otlpHeaders,
  type ScimDomain,
  scimDomain,
  text,
  word
} from "./config/SettingFormats.js"
import { identity, type IdentitySettings } from "./config/IdentitySettings.js"
import { mail, type MailSettings } from "./config/MailSettings.js"
import { masterKey } from "./config/MasterKey.js"
import { type Network, networksOrNone } from "./config/Networks.js"
import { outbound, type OutboundSettings } from "./config/OutboundSettings.js"
import { ConfigProblems, joined, satisfying, type Setting } from "./config/ConfigProblems.js"
import { tls, type TlsSettings } from "./config/TlsSettings.js"
import { superadminVariable } from "./config/Unknown.js"
import { type Environment, type Reader, reader } from "./config/Variables.js"

export interface Settings extends DatabaseSettings, IdentitySettings, OutboundSettings {
  /** 64 hex digits. */
  readonly masterKey: Redacted.Redacted
  /** Sorted by number, without duplicates. */
  readonly superadmins: ReadonlyArray<Email>
  readonly mail: MailSettings
  readonly host: string
  /** 0: the system chooses a free port. */
  readonly port: number
  /** null: the server speaks plain HTTP. */
  readonly tls: TlsSettings | null
  /** The proxies whose headers say who the client is; null: every peer is believed. */
  readonly trustedProxies: ReadonlyArray<Network> | null
  /** Whether the server serves the web console. */
  readonly webConsole: boolean
  /** Whether the server serves the view of Vault's API under /v1. */
  readonly vaultApi: boolean
  /** Whether the server serves tools to agents at /mcp. */
  readonly mcp: boolean
  /** The origins of web pages that may call /mcp. */
  readonly mcpOrigins: ReadonlyArray<string>
  /** The hosts of programs that may ask people for a part of their rights: `*`, names, or `*.example.com`. */
  readonly oauthClients: ReadonlyArray<string>
  /** The domains of the people whom directories may manage by SCIM; empty: none may. */
  readonly scimDomains: ReadonlyArray<ScimDomain>
  /** URIs for who finds a security problem; empty: the server names none. */
  readonly securityContacts: ReadonlyArray<string>
  readonly corsAllowedOrigins: ReadonlyArray<string>
  readonly backups: BackupSettings | null
  readonly logLevel: LogLevel.LogLevel
  readonly logFormat: "pretty" | "json"
  readonly metricsPort: number | null
  readonly signup: "open" | "invited"
  /** In lowercase. */
  readonly signupDomains: ReadonlyArray<string>
  readonly orgCreation: "anyone" | "superadmin"
  readonly delegationMaxHours: number
  /** How long removed organizations, projects and environments can be restored; 0: not at all. */
  readonly trashDays: number
  /** How long entries stay in the audit logs before they leave for archives; 0: for ever. */
  readonly auditKeepDays: number
  readonly auditStream: null | "stdout" | { readonly file: string }
  readonly auditRequired: boolean
  readonly invitationMail: boolean
  readonly approvalMail: boolean
  /** `headers` has the format of OTEL_EXPORTER_OTLP_HEADERS: `name=value,name=value`. */
  readonly tracing: null | {
    readonly endpoint: string
    readonly serviceName: string
    readonly headers: Redacted.Redacted | null
  }
}

export class ServerConfig extends Context.Tag("@coffer/server/Config/ServerConfig")<ServerConfig, Settings>() {}

/** Whether there is a store for backups. */
const hasStore = (settings: Reader): boolean =>
  settings.given("BACKUP_S3_ENDPOINT") !== null || settings.given("BACKUP_DIR") !== null

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

/**
 * Reads all settings from environment variables and the files that they name. Fails with all problems at once, without values.
 * `onSecret` gets each secret that came from a file.
 */
export const loadConfig = (
  environment: Environment,
  onSecret?: (variable: string, value: string) => void
): Effect.Effect<Settings, ConfigProblems> =>
  Effect.suspend(() => {
    const settings = reader(environment, onSecret)
    const defaultPort = 7100
    return Effect.all(
      {
        masterKey: masterKey(environment, settings),
        superadmins: superadmins(environment, settings),
        mail: mail(settings),
        database: database(settings),
        identity: identity(settings),
        outbound: outbound(settings),
        host: settings.withDefault("SERVICE_HOST", listeningHost, "127.0.0.1"),
        port: settings.withDefault("SERVICE_PORT", listeningPort, defaultPort),
        tls: tls(settings),
        trustedProxies: settings.optional("SERVICE_TRUSTED_PROXIES", networksOrNone),
        webConsole: settings.withDefault("SERVICE_CONSOLE", word({ 0: false, 1: true }), true),
        vaultApi: settings.withDefault("SERVICE_VAULT_API", word({ 0: false, 1: true }), false),
        mcp: settings.withDefault("SERVICE_MCP", word({ off: false, on: true }), true),
        mcpOrigins: settings.withDefault("SERVICE_MCP_ORIGINS", listOf(origin), []),
        oauthClients: settings.withDefault("SERVICE_OAUTH_CLIENTS", listOf(clientHost), ["*"]),
        scimDomains: settings.withDefault("SERVICE_SCIM_DOMAINS", listOf(scimDomain), []),
        securityContacts: settings.withDefault("SERVICE_SECURITY_CONTACT", listOf(contact), []),
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
        delegationMaxHours: settings.withDefault("SERVICE_DELEGATION_MAX_HOURS", integer(0, 8_760), 24),
        trashDays: settings.withDefault("SERVICE_TRASH_DAYS", integer(0, 3_650), 30),
        auditKeepDays: settings
          .withDefault("SERVICE_AUDIT_KEEP_DAYS", integer(0, 36_500), 0)
          .pipe(
            satisfying(
              "SERVICE_AUDIT_KEEP_DAYS",
              "must come with BACKUP_DIR or BACKUP_S3_ENDPOINT: older entries leave for archives in that store",
              (days) => days === 0 || hasStore(settings)
            )
          ),
        auditStream: Effect.map(
          settings.optional("SERVICE_AUDIT_STREAM", { ...file, rule: "must be stdout or the path of a file" }),
          (stream) => (stream === null || stream === "stdout" ? stream : { file: stream })
        ),
        invitationMail: settings.withDefault("SERVICE_INVITATION_MAIL", word({ 0: false, 1: true }), true),
        approvalMail: settings.withDefault("SERVICE_APPROVAL_MAIL", word({ 0: false, 1: true }), true),
        auditRequired: settings.withDefault("SERVICE_AUDIT_REQUIRED", word({ 0: false, 1: true }), false),
        tracing: tracing(settings)
      },
      { mode: "validate" }
    ).pipe(
      Effect.mapBoth({
        onFailure: (errors) => new ConfigProblems({ problems: joined(errors) }),
        onSuccess: ({ database, identity, outbound, ...rest }) => ({ ...rest, ...database, ...identity, ...outbound })
      })
    )
  })

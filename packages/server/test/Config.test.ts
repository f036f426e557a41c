import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { OrgName } from "@coffer/domain/base/Names"
import type { Settings } from "@coffer/server/base/Config"
import { loadConfig } from "@coffer/server/base/Config"
import { Effect, LogLevel, Redacted } from "effect"

const masterKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
const least = { SERVICE_MASTER_KEY: masterKey, SMTP_HOST: "log" }
const smtp = {
  ...least,
  SMTP_HOST: "mail.example.com",
  SMTP_USERNAME: "coffer",
  SMTP_PASSWORD: "hunter2-smtp",
  SMTP_FROM: "Coffer <coffer@example.com>"
}
const s3 = {
  ...least,
  BACKUP_S3_ENDPOINT: "https://s3.example.com",
  BACKUP_S3_BUCKET: "backups",
  BACKUP_S3_ACCESS_KEY: "AKIA123",
  BACKUP_S3_SECRET_KEY: "hunter2-s3"
}

type Environment = Readonly<Record<string, string | undefined>>

/** Settings with their secrets laid open, to be compared. */
const plain = ({ masterKey, mail, backups, tracing, provider, ...rest }: Settings) => ({
  ...rest,
  masterKey: Redacted.value(masterKey),
  provider: provider && { ...provider, clientSecret: Redacted.value(provider.clientSecret) },
  mail: mail._tag === "Log" ? mail : { ...mail, password: mail.password && Redacted.value(mail.password) },
  backups: backups && {
    ...backups,
    store:
      backups.store._tag === "S3"
        ? { ...backups.store, secretKey: Redacted.value(backups.store.secretKey) }
        : backups.store
  },
  tracing: tracing && { ...tracing, headers: tracing.headers && Redacted.value(tracing.headers) }
})

const load = (environment: Environment) => Effect.map(loadConfig(environment), plain)

/** The variables that are complained about, in order. */
const complaints = (environment: Environment) =>
  Effect.map(Effect.flip(loadConfig(environment)), ({ problems }) => problems.map(({ variable }) => variable))

const withFiles = <A, E>(
  files: Readonly<Record<string, string>>,
  use: (path: (name: string) => string) => Effect.Effect<A, E>
) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "coffer-config-"))
      for (const [name, text] of Object.entries(files)) {
        writeFileSync(join(folder, name), text)
      }
      return folder
    }),
    (folder) => use((name) => join(folder, name)),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  )

describe("the settings", () => {
  it.effect("have the documented defaults when only what is required is given", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* load(least), {
        masterKey,
        superadmins: [],
        mail: { _tag: "Log" },
        dbPath: "service.db",
        postgres: null,
        workers: 1,
        outboundAllowNetworks: [],
        renewalNetworks: [],
        leasesOfEnvironment: 500,
        leasesOfCaller: 20,
        machineIssuers: [],
        broker: false,
        isBrokerAlone: false,
        brokerUrl: null,
        host: "127.0.0.1",
        port: 7100,
        tls: null,
        trustedProxies: null,
        webConsole: true,
        vaultApi: false,
        mcp: true,
        mcpOrigins: [],
        oauthClients: ["*"],
        corsAllowedOrigins: [],
        backups: null,
        logLevel: LogLevel.Info,
        logFormat: process.stderr.isTTY ? "pretty" : "json",
        metricsPort: null,
        signup: "open",
        signupDomains: [],
        orgCreation: "anyone",
        delegationMaxHours: 24,
        trashDays: 30,
        auditKeepDays: 0,
        auditStream: null,
        auditRequired: false,
        invitationMail: true,
        approvalMail: true,
        tracing: null,
        publicUrl: null,
        scimDomains: [],
        securityContacts: [],
        provider: null,
        emailLogin: true
      })
    })
  )

  it.effect("take an empty SERVICE_PUBLIC_URL for an unset one, and then no provider", () =>
    Effect.gen(function* () {
      const least = { SERVICE_MASTER_KEY: masterKey, SMTP_HOST: "log", SERVICE_PUBLIC_URL: "" }
      assert.isNull((yield* load(least)).publicUrl)
      const provider = {
        SERVICE_OIDC_ISSUER: "https://id.example.com",
        SERVICE_OIDC_CLIENT_ID: "coffer",
        SERVICE_OIDC_CLIENT_SECRET: "secret"
      }
      const error = yield* Effect.flip(load({ ...least, ...provider }))
      assert.match(error.message, /SERVICE_PUBLIC_URL/)
    })
  )

  it.effect("take every variable", () =>
    Effect.gen(function* () {
      const settings = yield* load({
        SERVICE_MASTER_KEY: masterKey,
        SUPERADMIN_EMAIL_0: "Root@Example.com",
        SMTP_HOST: "mail.example.com",
        SMTP_PORT: "2525",
        SMTP_USERNAME: "coffer",
        SMTP_PASSWORD: "hunter2",
        SMTP_FROM: "Coffer <coffer@example.com>",
        SMTP_TLS: "none",
        SERVICE_DB_PATH: "/var/lib/coffer/coffer.db",
        SERVICE_HOST: "0.0.0.0",
        SERVICE_PORT: "8080",
        SERVICE_TRUSTED_PROXIES: "10.0.0.0/8,fd00::1",
        SERVICE_RENEWAL_NETWORKS: "10.20.0.0/16",
        SERVICE_LEASES_PER_ENVIRONMENT: "50",
        SERVICE_LEASES_PER_CALLER: "5",
        SERVICE_TLS_CERT_FILE: "/etc/coffer/tls.crt",
        SERVICE_TLS_KEY_FILE: "/etc/coffer/tls.key",
        SERVICE_TLS_MIN_VERSION: "1.2",
        SERVICE_CONSOLE: "0",
        SERVICE_VAULT_API: "1",
        SERVICE_MCP: "off",
        SERVICE_MCP_ORIGINS: "https://agents.example.com",
        SERVICE_SCIM_DOMAINS: "Example.com, acme:*",
        SERVICE_OAUTH_CLIENTS: "agents.example.com, *.example.org",
        CORS_ALLOWED_ORIGINS: "https://app.example.com, http://localhost:5173",
        BACKUP_S3_ENDPOINT: "https://s3.example.com/storage",
        BACKUP_S3_REGION: "eu-west-1",
        BACKUP_S3_BUCKET: "backups",
        BACKUP_S3_ACCESS_KEY: "AKIA123",
        BACKUP_S3_SECRET_KEY: "s3secret",
        BACKUP_S3_PREFIX: "prod/",
        BACKUP_SCHEDULE_HOURS: "6",
        BACKUP_RETAIN_DAILY_DAYS: "14",
        BACKUP_RETAIN_WEEKLY_WEEKS: "8",
        SERVICE_LOG_LEVEL: "warn",
        SERVICE_LOG_FORMAT: "pretty",
        SERVICE_METRICS_PORT: "9090",
        SERVICE_SIGNUP: "invited",
        SERVICE_SIGNUP_DOMAINS: "Example.com,example.org",
        SERVICE_ORG_CREATION: "superadmin",
        SERVICE_DELEGATION_MAX_HOURS: "8",
        SERVICE_TRASH_DAYS: "7",
        SERVICE_AUDIT_STREAM: "/var/log/coffer/audit.jsonl",
        SERVICE_AUDIT_KEEP_DAYS: "400",
        SERVICE_AUDIT_REQUIRED: "1",
        SERVICE_INVITATION_MAIL: "0",
        SERVICE_APPROVAL_MAIL: "0",
        SERVICE_PUBLIC_URL: "https://Coffer.example.com/",
        SERVICE_OIDC_ISSUER: "https://id.example.com/realms/acme",
        SERVICE_OIDC_CLIENT_ID: "coffer",
        SERVICE_OIDC_CLIENT_SECRET: "oidc-secret",
        SERVICE_OIDC_NAME: "Keycloak",
        SERVICE_OIDC_ALLOWED_DOMAINS: "Example.com",
        SERVICE_OIDC_EMAIL_TRUST: "domains",
        SERVICE_OIDC_LINK: "never",
        SERVICE_OIDC_AUTH_TIME: "assumed",
        SERVICE_OIDC_GROUPS_CLAIM: "groups",
        SERVICE_OIDC_GROUPS_MAX_AGE: "90m",
        SERVICE_EMAIL_LOGIN: "0",
        SERVICE_SECURITY_CONTACT: "mailto:security@example.com, https://example.com/security",
        SERVICE_OUTBOUND_ALLOW_NETWORKS: "10.0.0.0/8, fd00::1",
        SERVICE_OIDC_MACHINE_ISSUERS: "https://gitlab.example.com",
        SERVICE_BROKER: "1",
        SERVICE_BROKER_URL: "https://broker.example.com",
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
        OTEL_SERVICE_NAME: "coffer-eu",
        OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer abc,x-tenant=7"
      })
      assert.deepStrictEqual(settings, {
        masterKey,
        superadmins: ["root@example.com"] as never,
        mail: {
          _tag: "Smtp",
          host: "mail.example.com",
          port: 2525,
          username: "coffer",
          password: "hunter2",
          from: { name: "Coffer", address: "coffer@example.com" as never },
          requireTls: false,
          secure: false,
          ehloName: "coffer.example.com"
        },
        dbPath: "/var/lib/coffer/coffer.db",
        postgres: null,
        workers: 1,
        renewalNetworks: [{ address: "10.20.0.0", prefix: 16, family: "ipv4" }],
        leasesOfEnvironment: 50,
        leasesOfCaller: 5,
        outboundAllowNetworks: [
          { address: "10.0.0.0", prefix: 8, family: "ipv4" },
          { address: "fd00::1", prefix: 128, family: "ipv6" }
        ],
        machineIssuers: ["https://gitlab.example.com"],
        broker: true,
        isBrokerAlone: false,
        brokerUrl: "https://broker.example.com",
        host: "0.0.0.0",
        port: 8080,
        tls: { certFile: "/etc/coffer/tls.crt", keyFile: "/etc/coffer/tls.key", minVersion: "TLSv1.2" },
        trustedProxies: [
          { address: "10.0.0.0", prefix: 8, family: "ipv4" },
          { address: "fd00::1", prefix: 128, family: "ipv6" }
        ],
        webConsole: false,
        vaultApi: true,
        mcp: false,
        mcpOrigins: ["https://agents.example.com"],
        oauthClients: ["agents.example.com", "*.example.org"],
        corsAllowedOrigins: ["https://app.example.com", "http://localhost:5173"],
        backups: {
          store: {
            _tag: "S3",
            endpoint: "https://s3.example.com/storage",
            region: "eu-west-1",
            bucket: "backups",
            accessKey: "AKIA123",
            secretKey: "s3secret",
            prefix: "prod/"
          },
          scheduleHours: 6,
          retainDailyDays: 14,
          retainWeeklyWeeks: 8
        },
        logLevel: LogLevel.Warning,
        logFormat: "pretty",
        metricsPort: 9090,
        signup: "invited",
        signupDomains: ["example.com", "example.org"],
        orgCreation: "superadmin",
        delegationMaxHours: 8,
        trashDays: 7,
        auditKeepDays: 400,
        auditStream: { file: "/var/log/coffer/audit.jsonl" },
        auditRequired: true,
        publicUrl: "https://coffer.example.com",
        provider: {
          issuer: "https://id.example.com/realms/acme",
          clientId: "coffer",
          clientSecret: "oidc-secret",
          name: "Keycloak",
          allowedDomains: ["example.com"],
          emailTrust: "domains",
          linksKnownUsers: false,
          assumesProof: true,
          groups: { claim: "groups", maxAge: 90 * 60_000 }
        },
        emailLogin: false,
        scimDomains: [
          { org: null, domain: "example.com" },
          { org: OrgName.make("acme"), domain: "*" }
        ],
        securityContacts: ["mailto:security@example.com", "https://example.com/security"],
        invitationMail: false,
        approvalMail: false,
        tracing: {
          endpoint: "http://collector:4318",
          serviceName: "coffer-eu",
          headers: "authorization=Bearer abc,x-tenant=7"
        }
      })
    })
  )

  it.effect("take an empty variable for an unset one", () =>
    Effect.gen(function* () {
      const empty = Object.fromEntries(
        ["SERVICE_PORT", "SMTP_TLS", "BACKUP_S3_ENDPOINT", "SUPERADMIN_EMAIL_0", "SERVICE_MASTER_KEY_FILE"].map(
          (variable) => [variable, ""]
        )
      )
      assert.deepStrictEqual(yield* load({ ...empty, ...least }), yield* load(least))
      assert.deepStrictEqual(yield* complaints({ SERVICE_MASTER_KEY: "", SMTP_HOST: "" }), [
        "SERVICE_MASTER_KEY",
        "SMTP_HOST"
      ])
    })
  )

  it.effect("take the audit stream to stdout by that word", () =>
    Effect.map(load({ ...least, SERVICE_AUDIT_STREAM: "stdout" }), ({ auditStream }) =>
      assert.strictEqual(auditStream, "stdout")
    )
  )
})

describe("the superadmins", () => {
  it.effect("are any number, in the order of their numbers, gaps allowed, each once", () =>
    Effect.gen(function* () {
      const { superadmins } = yield* load({
        ...least,
        SUPERADMIN_EMAIL_10: "j@example.com",
        SUPERADMIN_EMAIL_2: " B@Example.com ",
        SUPERADMIN_EMAIL_0: "a@example.com",
        SUPERADMIN_EMAIL_7: "a@example.com"
      })
      assert.deepStrictEqual<ReadonlyArray<string>>(superadmins, ["a@example.com", "b@example.com", "j@example.com"])
    })
  )

  it.effect("are each checked", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* complaints({
          ...least,
          SUPERADMIN_EMAIL_0: "a",
          SUPERADMIN_EMAIL_1: "b@b",
          SUPERADMIN_EMAIL_2: "a@x <b@y>"
        }),
        ["SUPERADMIN_EMAIL_0", "SUPERADMIN_EMAIL_2"]
      )
    })
  )
})

describe("TLS", () => {
  const files = { SERVICE_TLS_CERT_FILE: "tls.crt", SERVICE_TLS_KEY_FILE: "tls.key" }

  it.effect("is of version 1.3, and needs a certificate with its key", () =>
    Effect.gen(function* () {
      const { tls } = yield* load({ ...least, ...files })
      assert.deepStrictEqual(tls, { certFile: "tls.crt", keyFile: "tls.key", minVersion: "TLSv1.3" })
      for (const [environment, variable] of [
        [{ ...files, SERVICE_TLS_KEY_FILE: "" }, "SERVICE_TLS_KEY_FILE"],
        [{ ...files, SERVICE_TLS_CERT_FILE: "" }, "SERVICE_TLS_CERT_FILE"],
        [{ SERVICE_TLS_MIN_VERSION: "1.2" }, "SERVICE_TLS_CERT_FILE"],
        [{ ...files, SERVICE_TLS_MIN_VERSION: "1.1" }, "SERVICE_TLS_MIN_VERSION"],
        [{ ...files, SERVICE_PUBLIC_URL: "http://localhost:7100" }, "SERVICE_PUBLIC_URL"]
      ] as const) {
        assert.deepStrictEqual(yield* complaints({ ...least, ...environment }), [variable])
      }
    })
  )
})

describe("the trusted proxies", () => {
  it.effect("are networks, or no network at all", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* load({ ...least, SERVICE_TRUSTED_PROXIES: "none" })).trustedProxies, [])
      for (const text of ["all", "none,10.0.0.0/8", "10.0.0.0/33", "10.0.0", "fe80::1%eth0"]) {
        const found = yield* complaints({ ...least, SERVICE_TRUSTED_PROXIES: text })
        assert.deepStrictEqual(found, ["SERVICE_TRUSTED_PROXIES"], text)
      }
    })
  )
})

describe("the address to listen at", () => {
  it.effect("may be of IPv6, with or without the brackets of a URL", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* load({ ...least, SERVICE_HOST: "::1" })).host, "::1")
      assert.strictEqual((yield* load({ ...least, SERVICE_HOST: "[::1]" })).host, "::1")
    })
  )
})

describe("what verifies an address at the provider", () => {
  const entra = "https://login.microsoftonline.com"
  const trusting = (SERVICE_OIDC_EMAIL_TRUST: string, environment: Environment = {}) => ({
    ...least,
    SERVICE_PUBLIC_URL: "https://coffer.example.com",
    SERVICE_OIDC_ISSUER: `${entra}/8f3d1a4e-6f0b-4d55-9c1e-2c6c1f1c7a10/v2.0`,
    SERVICE_OIDC_CLIENT_ID: "coffer",
    SERVICE_OIDC_CLIENT_SECRET: "secret",
    SERVICE_OIDC_ALLOWED_DOMAINS: "example.com",
    SERVICE_OIDC_EMAIL_TRUST,
    ...environment
  })

  it.effect("is never trusted to the many tenants of one issuer", () =>
    Effect.gen(function* () {
      for (const trust of ["edov", "domains"]) {
        assert.strictEqual((yield* load(trusting(trust))).provider?.emailTrust, trust)
        for (const issuer of [
          `${entra}/common/v2.0`,
          `${entra}/COMMON/v2.0`,
          `${entra}//common/v2.0`,
          `${entra}/organizations/v2.0`,
          "https://login.microsoftonline.us/organizations/v2.0",
          `${entra}/consumers/v2.0`,
          `${entra}/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0`,
          `${entra}/{tenantid}/v2.0`,
          `${entra}/%7Btenantid%7D/v2.0`,
          `${entra}/%63ommon/v2.0`,
          "https://sts.windows.net/{tenantid}/"
        ]) {
          const shared = trusting(trust, { SERVICE_OIDC_ISSUER: issuer })
          assert.deepStrictEqual(yield* complaints(shared), ["SERVICE_OIDC_EMAIL_TRUST"], issuer)
        }
      }
    })
  )

  it.effect("is an operator's word only for the domains that are named", () =>
    Effect.gen(function* () {
      for (const domains of ["", " , "]) {
        const without = trusting("domains", { SERVICE_OIDC_ALLOWED_DOMAINS: domains })
        assert.deepStrictEqual(yield* complaints(without), ["SERVICE_OIDC_ALLOWED_DOMAINS"])
      }
      yield* load(trusting("edov", { SERVICE_OIDC_ALLOWED_DOMAINS: "" }))
      assert.deepStrictEqual(yield* complaints(trusting("always")), ["SERVICE_OIDC_EMAIL_TRUST"])
      assert.strictEqual((yield* load(trusting(""))).provider?.emailTrust, "verified")
    })
  )
})

describe("the security contacts", () => {
  it.effect("are addresses, pages and numbers, as RFC 9116 has them", () =>
    Effect.gen(function* () {
      const good = "mailto:a@example.com,https://example.com/x?y=1#z,tel:+1-201-555-0123,tel:112"
      assert.deepStrictEqual(
        (yield* load({ ...least, SERVICE_SECURITY_CONTACT: good })).securityContacts,
        good.split(",")
      )
      for (const bad of [
        ...["security@example.com", "mailto:", "mailto:nobody", "http://example.com", "https://", "tel:", "tel:x"],
        ...["https://u:p@example.com", "mailto:a@example.com\nExpires: x", "https://example.com/a b", "javascript:0"]
      ]) {
        const given = { ...least, SERVICE_SECURITY_CONTACT: `tel:112,${bad}` }
        assert.deepStrictEqual(yield* complaints(given), ["SERVICE_SECURITY_CONTACT"], bad)
      }
    })
  )
})

describe("mail", () => {
  const tls = (environment: Environment) =>
    Effect.map(load({ ...smtp, ...environment }), ({ mail }) =>
      mail._tag === "Log" ? null : [mail.secure, mail.requireTls]
    )

  it.effect("begins with TLS on port 465, and must upgrade to it elsewhere", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* tls({}), [false, true])
      assert.deepStrictEqual(yield* tls({ SMTP_PORT: "25" }), [false, true])
      assert.deepStrictEqual(yield* tls({ SMTP_PORT: "465" }), [true, true])
      assert.deepStrictEqual(yield* tls({ SMTP_TLS: "required" }), [false, true])
      assert.deepStrictEqual(yield* tls({ SMTP_TLS: "none" }), [false, false])
      assert.deepStrictEqual(yield* tls({ SMTP_TLS: "implicit", SMTP_PORT: "2465" }), [true, true])
    })
  )

  it.effect("greets with a name that mail servers take, and never with an address of a container", () =>
    Effect.gen(function* () {
      const name = (environment: Environment) =>
        Effect.map(load({ ...smtp, SMTP_FROM: "coffer@mail.example.com", ...environment }), ({ mail }) =>
          mail._tag === "Log" ? null : mail.ehloName
        )
      assert.strictEqual(yield* name({}), "mail.example.com")
      assert.strictEqual(yield* name({ SERVICE_PUBLIC_URL: "https://coffer.example.com" }), "coffer.example.com")
      for (const url of ["http://localhost:7100", "http://127.0.0.1:7100", "http://[::1]:7100"]) {
        assert.strictEqual(yield* name({ SERVICE_PUBLIC_URL: url }), "mail.example.com", url)
      }
      const given = { SERVICE_PUBLIC_URL: "https://coffer.example.com", SMTP_EHLO_NAME: "relay.example.com" }
      assert.strictEqual(yield* name(given), "relay.example.com")
    })
  )

  it.effect("may go without TLS to a loopback host, however the host is written, and to no other", () =>
    Effect.gen(function* () {
      for (const host of ["localhost", "LOCALHOST", "127.0.0.1", "127.8.8.8", "::1"]) {
        assert.deepStrictEqual(yield* tls({ SMTP_HOST: host }), [false, false], host)
      }
      for (const host of [
        "localhost.example.com",
        "mail.localhost",
        "127.example.com",
        "127.0.0.1.example.com",
        "10.0.0.1",
        "::2"
      ]) {
        assert.deepStrictEqual(yield* tls({ SMTP_HOST: host }), [false, true], host)
      }
    })
  )

  it.effect("needs a sender, but no user and no password", () =>
    Effect.gen(function* () {
      const { SMTP_FROM, SMTP_PASSWORD, SMTP_USERNAME, ...bare } = smtp
      assert.deepStrictEqual(yield* complaints({ ...bare, SMTP_USERNAME, SMTP_PASSWORD }), ["SMTP_FROM"])
      const { mail } = yield* load({ ...bare, SMTP_FROM })
      assert.isTrue(mail._tag === "Smtp" && mail.username === null && mail.password === null)
    })
  )

  it.effect("refuses a user without a password, and a password without a user", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* complaints({ ...smtp, SMTP_USERNAME: "" }), ["SMTP_USERNAME"])
      assert.deepStrictEqual(yield* complaints({ ...smtp, SMTP_PASSWORD: "" }), ["SMTP_PASSWORD"])
    })
  )

  it.effect("needs nothing else in dev mode", () =>
    Effect.map(load({ ...least, SMTP_USERNAME: "coffer" }), ({ mail }) => assert.deepStrictEqual(mail, { _tag: "Log" }))
  )

  it.effect("refuses an SMTP_TLS that turns TLS off on the port where TLS begins with the connection", () =>
    Effect.map(complaints({ ...smtp, SMTP_PORT: "465", SMTP_TLS: "none" }), (variables) =>
      assert.deepStrictEqual(variables, ["SMTP_TLS"])
    )
  )

  for (const [text, name, address] of [
    ["coffer@example.com", null, "coffer@example.com"],
    ["Coffer <coffer@example.com>", "Coffer", "coffer@example.com"],
    ["<Coffer@Example.com>", null, "coffer@example.com"],
    ['"Acme, Inc." <it@acme.example>', "Acme, Inc.", "it@acme.example"],
    ["Überraschung AG <a@b.example>", "Überraschung AG", "a@b.example"]
  ] as const) {
    it.effect(`reads the sender ${text}`, () =>
      Effect.map(load({ ...smtp, SMTP_FROM: text }), ({ mail }) =>
        assert.deepStrictEqual<unknown>(mail._tag === "Smtp" ? mail.from : null, { name, address })
      )
    )
  }

  for (const text of ["Coffer", "a@x <b@y> c", "A <a@x", "a@x, b@y", "A\r\nBcc: b@y <a@x>", "A <a@x> <b@y>", "<>"]) {
    it.effect(`refuses the sender ${JSON.stringify(text)}`, () =>
      Effect.map(complaints({ ...smtp, SMTP_FROM: text }), (variables) =>
        assert.deepStrictEqual(variables, ["SMTP_FROM"])
      )
    )
  }
})

describe("backups", () => {
  it.effect("have the documented defaults when an endpoint, a bucket and its keys are given", () =>
    Effect.map(load(s3), ({ backups }) =>
      assert.deepStrictEqual(backups, {
        store: {
          _tag: "S3",
          endpoint: "https://s3.example.com",
          region: "us-east-1",
          bucket: "backups",
          accessKey: "AKIA123",
          secretKey: "hunter2-s3",
          prefix: ""
        },
        scheduleHours: 0,
        retainDailyDays: 7,
        retainWeeklyWeeks: 4
      })
    )
  )

  it.effect("need the bucket and both keys once there is an endpoint", () =>
    Effect.gen(function* () {
      const { BACKUP_S3_ENDPOINT } = s3
      assert.deepStrictEqual(yield* complaints({ ...least, BACKUP_S3_ENDPOINT }), [
        "BACKUP_S3_BUCKET",
        "BACKUP_S3_ACCESS_KEY",
        "BACKUP_S3_SECRET_KEY"
      ])
    })
  )

  it.effect("are off without a store, and refuse every setting that has no effect then", () =>
    Effect.gen(function* () {
      assert.isNull((yield* load({ ...least, BACKUP_SCHEDULE_HOURS: "0" })).backups)
      const halves = {
        BACKUP_S3_BUCKET: "backups",
        BACKUP_S3_ACCESS_KEY: "AKIA123",
        BACKUP_S3_SECRET_KEY: "hunter2-s3",
        BACKUP_S3_REGION: "eu-west-1",
        BACKUP_S3_PREFIX: "coffer/",
        BACKUP_SCHEDULE_HOURS: "6",
        BACKUP_RETAIN_DAILY_DAYS: "30",
        BACKUP_RETAIN_WEEKLY_WEEKS: "8"
      }
      for (const [variable, value] of Object.entries(halves)) {
        const { message } = yield* Effect.flip(loadConfig({ ...least, [variable]: value }))
        assert.include(message, `BACKUP_S3_ENDPOINT is required when ${variable} is set`)
        assert.notInclude(message, "hunter2")
      }
    })
  )

  it.effect("go to a directory instead, on the same schedule; two stores at once are refused", () =>
    Effect.gen(function* () {
      const { backups } = yield* load({ ...least, BACKUP_DIR: "/mnt/backups", BACKUP_SCHEDULE_HOURS: "6" })
      assert.deepStrictEqual(backups, {
        store: { _tag: "Directory", path: "/mnt/backups" },
        scheduleHours: 6,
        retainDailyDays: 7,
        retainWeeklyWeeks: 4
      })
      const error = yield* Effect.flip(loadConfig({ ...s3, BACKUP_DIR: "/mnt/backups" }))
      assert.include(error.message, "BACKUP_DIR and BACKUP_S3_ENDPOINT are both set: remove one of them")
      assert.notInclude(error.message, "/mnt")
      const { auditKeepDays } = yield* load({ ...least, BACKUP_DIR: "/mnt/backups", SERVICE_AUDIT_KEEP_DAYS: "400" })
      assert.strictEqual(auditKeepDays, 400)
      const homeless = yield* Effect.flip(loadConfig({ ...least, SERVICE_AUDIT_KEEP_DAYS: "400" }))
      assert.include(homeless.message, "SERVICE_AUDIT_KEEP_DAYS must come with BACKUP_DIR or BACKUP_S3_ENDPOINT")
      const half = { ...least, BACKUP_DIR: "/mnt/backups", BACKUP_S3_BUCKET: "backups" }
      assert.deepStrictEqual(yield* complaints(half), ["BACKUP_S3_BUCKET"])
    })
  )

  it.effect("refuse to keep no backup at all", () =>
    Effect.gen(function* () {
      const none = { ...s3, BACKUP_RETAIN_DAILY_DAYS: "0", BACKUP_RETAIN_WEEKLY_WEEKS: "0" }
      assert.deepStrictEqual(yield* complaints(none), ["BACKUP_RETAIN_WEEKLY_WEEKS"])
      assert.strictEqual((yield* load({ ...none, BACKUP_RETAIN_WEEKLY_WEEKS: "1" })).backups?.retainDailyDays, 0)
    })
  )
})

describe("tracing", () => {
  it.effect("needs an endpoint when there are headers for it", () =>
    Effect.gen(function* () {
      const headers = { ...least, OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer abc" }
      assert.deepStrictEqual(yield* complaints(headers), ["OTEL_EXPORTER_OTLP_ENDPOINT"])
      // A platform sets the name for every program that it runs.
      assert.isNull((yield* load({ ...least, OTEL_SERVICE_NAME: "coffer-eu" })).tracing)
    })
  )
})

describe("a setting that breaks its rule", () => {
  const wrong: Readonly<Record<string, ReadonlyArray<string>>> = {
    SERVICE_MASTER_KEY: ["abc", `${masterKey}0`, ` ${masterKey}`, "g".repeat(64)],
    SMTP_HOST: ["mail.example.com:25", "smtp://mail.example.com", "a b", "[::1]", "-a"],
    SMTP_PORT: ["0", "65536", "25x", "-1", "0x19", " 25", "1e3", "587.0"],
    SMTP_USERNAME: ["a\nb"],
    SMTP_TLS: ["off", "None", "toString"],
    SERVICE_DB_PATH: [":memory:", "/var/lib/coffer/"],
    SERVICE_HOST: ["http://localhost", "a/b"],
    SERVICE_PORT: ["65536", "http", "tcp://10.0.0.1:80"],
    CORS_ALLOWED_ORIGINS: [
      "*",
      "null",
      "https://a.example/",
      "https://a.example,b.example",
      "ftp://a",
      "https://u:p@a.example"
    ],
    BACKUP_S3_ENDPOINT: [
      "s3.example.com",
      "ftp://s3.example.com",
      "https://u:p@s3.example.com",
      "https://s3.example.com?x=1"
    ],
    BACKUP_S3_BUCKET: ["a/b", "x"],
    BACKUP_S3_PREFIX: ["/a", "a//b", "a/../b", "a b"],
    BACKUP_DIR: ["a\tb"],
    BACKUP_SCHEDULE_HOURS: ["-1", "1.5", "daily"],
    BACKUP_RETAIN_DAILY_DAYS: ["-1", "x"],
    BACKUP_RETAIN_WEEKLY_WEEKS: ["-1", "x"],
    SERVICE_LOG_LEVEL: ["trace", "INFO"],
    SERVICE_LOG_FORMAT: ["text"],
    SERVICE_METRICS_PORT: ["x", "7100"],
    SERVICE_SIGNUP: ["closed"],
    SERVICE_SIGNUP_DOMAINS: ["example.com", "@example.com"],
    SERVICE_ORG_CREATION: ["nobody"],
    SERVICE_DELEGATION_MAX_HOURS: ["-1", "8h", "8761"],
    SERVICE_TRASH_DAYS: ["-1", "30d", "3651"],
    SERVICE_AUDIT_STREAM: ["/var/log/"],
    SERVICE_AUDIT_KEEP_DAYS: ["-1", "30d", "36501"],
    SERVICE_AUDIT_REQUIRED: ["true", "2"],
    SERVICE_INVITATION_MAIL: ["no", "2"],
    SERVICE_APPROVAL_MAIL: ["off", "2"],
    SERVICE_CONSOLE: ["off", "2"],
    SERVICE_VAULT_API: ["on", "2"],
    SERVICE_MCP: ["1", "no"],
    SERVICE_MCP_ORIGINS: ["agents.example.com", "https://agents.example.com/", "*"],
    OTEL_EXPORTER_OTLP_ENDPOINT: ["collector:4318"],
    OTEL_SERVICE_NAME: ["a\tb"],
    OTEL_EXPORTER_OTLP_HEADERS: ["Bearer abc"]
  }
  for (const [variable, values] of Object.entries(wrong)) {
    it.effect(`is named: ${variable}`, () =>
      Effect.gen(function* () {
        for (const value of values) {
          const error = yield* Effect.flip(
            loadConfig({
              ...smtp,
              ...s3,
              SMTP_HOST: "mail.example.com",
              OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
              [variable]: value
            })
          )
          assert.deepStrictEqual([...new Set(error.problems.map((problem) => problem.variable))], [variable], value)
          assert.include(error.message, `  ${variable} must `)
        }
      })
    )
  }

  it.effect("is told together with every other, a sentence each", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        loadConfig({
          SMTP_HOST: "mail.example.com",
          SMTP_PASSWORD: "hunter2",
          SERVICE_PORT: "many",
          SUPERADMIN_EMAIL_3: "root",
          BACKUP_S3_ENDPOINT: "https://s3.example.com",
          BACKUP_SCHEDULE_HOURS: "often",
          SERVICE_SIGNUP: "closed"
        })
      )
      assert.strictEqual(
        error.message,
        [
          "The server cannot start: 10 settings are invalid.",
          "  SERVICE_MASTER_KEY is required and must be 64 hex characters (256 bits), such as `openssl rand -hex 32` prints",
          "  SUPERADMIN_EMAIL_3 must be an e-mail address such as ada@example.com",
          "  SMTP_USERNAME is required when SMTP_PASSWORD is set",
          "  SMTP_FROM is required and must be an address, or a name and an address: Coffer <coffer@example.com>",
          "  SERVICE_PORT must be a whole number from 0 to 65535",
          "  BACKUP_S3_BUCKET is required and must be a bucket's name: 3 to 255 letters, digits, dots, underscores and hyphens",
          "  BACKUP_S3_ACCESS_KEY is required and must be text without control characters",
          "  BACKUP_S3_SECRET_KEY is required and must not be empty",
          "  BACKUP_SCHEDULE_HOURS must be a whole number from 0 to 8760",
          "  SERVICE_SIGNUP must be open or invited"
        ].join("\n")
      )
    })
  )

  it.effect("is not shown, and no other setting with it", () =>
    withFiles({ key: "hunter2-file" }, (path) =>
      Effect.gen(function* () {
        const environment = {
          SERVICE_MASTER_KEY: "hunter2-master",
          SMTP_HOST: "hunter2 host",
          SMTP_PASSWORD: "hunter2-smtp",
          SMTP_FROM: "hunter2-from",
          BACKUP_S3_ENDPOINT: "hunter2-endpoint",
          BACKUP_S3_SECRET_KEY: "hunter2-s3",
          OTEL_EXPORTER_OTLP_HEADERS: "hunter2-headers",
          SERVICE_PORT: "hunter2-port"
        }
        const errors = [
          yield* Effect.flip(loadConfig(environment)),
          yield* Effect.flip(
            loadConfig({ ...environment, SERVICE_MASTER_KEY: "", SERVICE_MASTER_KEY_FILE: path("key") })
          ),
          // Whoever puts the key itself where the file's name belongs must not find it in the log.
          yield* Effect.flip(
            loadConfig({ ...environment, SERVICE_MASTER_KEY: "", SERVICE_MASTER_KEY_FILE: "hunter2-key" })
          )
        ]
        for (const error of errors) {
          assert.notInclude(error.message + inspect(error, { depth: 9 }) + JSON.stringify(error), "hunter2")
        }
      })
    )
  )
})

describe("the settings that hold secrets", () => {
  it.effect("are not shown when the settings are printed", () =>
    Effect.gen(function* () {
      const settings = yield* loadConfig({
        ...smtp,
        ...s3,
        SMTP_HOST: "mail.example.com",
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
        OTEL_EXPORTER_OTLP_HEADERS: "a=hunter2"
      })
      const printed = inspect(settings, { depth: 9 }) + JSON.stringify(settings)
      assert.notInclude(printed, "hunter2")
      assert.notInclude(printed, masterKey)
    })
  )

  it.effect("come from files, of which one newline at the end is dropped", () =>
    withFiles({ key: `${masterKey}\n`, smtp: " pass word \n\n", s3: "s3secret\r\n" }, (path) =>
      Effect.gen(function* () {
        const settings = yield* load({
          ...smtp,
          ...s3,
          SMTP_HOST: "mail.example.com",
          SERVICE_MASTER_KEY: undefined,
          SERVICE_MASTER_KEY_FILE: path("key"),
          SMTP_PASSWORD: undefined,
          SMTP_PASSWORD_FILE: path("smtp"),
          BACKUP_S3_SECRET_KEY: undefined,
          BACKUP_S3_SECRET_KEY_FILE: path("s3")
        })
        assert.strictEqual(settings.masterKey, masterKey)
        assert.strictEqual(settings.mail._tag === "Smtp" ? settings.mail.password : null, " pass word \n")
        assert.strictEqual(settings.backups?.store._tag === "S3" && settings.backups.store.secretKey, "s3secret")
      })
    )
  )

  it.effect("are refused when both forms are given", () =>
    withFiles({ key: masterKey }, (path) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(
          yield* complaints({
            ...smtp,
            ...s3,
            SMTP_HOST: "mail.example.com",
            SERVICE_MASTER_KEY_FILE: path("key"),
            SMTP_PASSWORD_FILE: path("key"),
            BACKUP_S3_SECRET_KEY_FILE: path("key")
          }),
          ["SERVICE_MASTER_KEY", "SMTP_PASSWORD", "BACKUP_S3_SECRET_KEY"]
        )
      })
    )
  )

  it.effect("are refused when the file is missing, a folder, empty, or holds something else", () =>
    withFiles({ empty: "", wrong: "not a key" }, (path) =>
      Effect.gen(function* () {
        const rules = (file: string) =>
          Effect.map(
            Effect.flip(loadConfig({ SMTP_HOST: "log", SERVICE_MASTER_KEY_FILE: file })),
            ({ message }) => message.split("\n")[1] ?? ""
          )
        assert.include(yield* rules(path("none")), "SERVICE_MASTER_KEY_FILE must name a file that can be read (ENOENT)")
        assert.include(yield* rules(path(".")), "SERVICE_MASTER_KEY_FILE must name a file that can be read (EISDIR)")
        assert.include(yield* rules(path("empty")), "SERVICE_MASTER_KEY_FILE must be 64 hex characters")
        assert.include(yield* rules(path("wrong")), "SERVICE_MASTER_KEY_FILE must be 64 hex characters")
        assert.deepStrictEqual(
          yield* complaints({ ...smtp, SMTP_PASSWORD: undefined, SMTP_PASSWORD_FILE: path("empty") }),
          ["SMTP_PASSWORD_FILE"]
        )
      })
    )
  )
})

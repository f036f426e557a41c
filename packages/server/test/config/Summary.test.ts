import { loadConfig } from "@coffer/server/base/Config"
import { summary } from "@coffer/server/base/config/Summary"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterAll } from "vitest"
import { cleanUp, Program } from "../support/Program.js"

const least = { SERVICE_MASTER_KEY: "7".repeat(64), SMTP_HOST: "log" }

const lines = (environment: Readonly<Record<string, string>>) =>
  Effect.map(loadConfig({ ...least, ...environment }), summary)

const everything = {
  SMTP_HOST: "mail.example.com",
  SMTP_USERNAME: "coffer",
  SMTP_PASSWORD: "hunter2-smtp",
  SMTP_FROM: "Coffer <coffer@example.com>",
  BACKUP_S3_ENDPOINT: "https://s3.example.com",
  BACKUP_S3_BUCKET: "backups",
  BACKUP_S3_ACCESS_KEY: "AKIA123",
  BACKUP_S3_SECRET_KEY: "hunter2-s3",
  BACKUP_SCHEDULE_HOURS: "6",
  SERVICE_PUBLIC_URL: "https://coffer.example.com",
  SERVICE_OIDC_ISSUER: "https://id.example.com/realms/acme",
  SERVICE_OIDC_CLIENT_ID: "coffer",
  SERVICE_OIDC_CLIENT_SECRET: "hunter2-oidc",
  SERVICE_TLS_CERT_FILE: "tls.crt",
  SERVICE_TLS_KEY_FILE: "tls.key",
  SERVICE_TRUSTED_PROXIES: "10.1.0.0/16",
  SERVICE_OIDC_EMAIL_TRUST: "edov",
  SERVICE_EMAIL_LOGIN: "0",
  SERVICE_CONSOLE: "0",
  SERVICE_SECURITY_CONTACT: "mailto:security@example.com",
  SERVICE_VAULT_API: "1",
  SERVICE_MCP_ORIGINS: "https://agents.example.com",
  SERVICE_OIDC_MACHINE_ISSUERS: "https://gitlab.example.com,https://git.example.com/api/actions",
  SERVICE_OUTBOUND_ALLOW_NETWORKS: "10.0.0.0/8,fd00::1",
  SERVICE_RENEWAL_NETWORKS: "10.20.0.0/16",
  SERVICE_SIGNUP: "invited",
  SERVICE_SIGNUP_DOMAINS: "example.com",
  SERVICE_ORG_CREATION: "superadmin",
  SUPERADMIN_EMAIL_0: "root@example.com",
  SUPERADMIN_EMAIL_1: "ada@example.com",
  SERVICE_METRICS_PORT: "9464",
  SERVICE_AUDIT_STREAM: "/var/lib/coffer/audit.jsonl",
  SERVICE_AUDIT_KEEP_DAYS: "400",
  SERVICE_AUDIT_REQUIRED: "1",
  OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
  OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer hunter2"
}

afterAll(() => {
  cleanUp()
})

describe("the lines at start", () => {
  it.effect("say what is off", () =>
    Effect.map(lines({}), (found) =>
      assert.deepStrictEqual(found, [
        "mail off (login codes are printed in this log); backups off (no store is configured)",
        "TLS off (plain HTTP); login by e-mail on (codes); single sign-on off; public address off (browsers' sessions on loopback alone); web console on (at /); view of Vault's API off; tool server on (at /mcp); SCIM off; security contacts off",
        "trusted proxies off (the headers of every peer are believed); more issuers of machines' tokens off (those of GitHub and GitLab alone); requests to private networks off; renewal of credentials off",
        "open sign-up on (anyone with a mailbox); open organization creation on (anyone); superadmins off",
        "metrics off; audit stream off; audit archives off; required audit off; tracing off"
      ])
    )
  )

  it.effect("say what is on and how, and no secret", () =>
    Effect.map(lines(everything), (found) => {
      assert.deepStrictEqual(found, [
        "mail on (mail.example.com:587, STARTTLS, with a login, from coffer@example.com); backups on (https://s3.example.com, bucket backups, every 6 h, kept for 7 days and 4 weeks)",
        "TLS on (version 1.3); login by e-mail off; single sign-on on (https://id.example.com/realms/acme, xms_edov counts as verified); public address on (https://coffer.example.com); web console off; view of Vault's API on (at /v1); tool server on (at /mcp, https://agents.example.com); SCIM off; security contacts on (1, at /.well-known/security.txt)",
        "trusted proxies on (10.1.0.0/16); more issuers of machines' tokens on (https://gitlab.example.com, https://git.example.com/api/actions); requests to private networks on (10.0.0.0/8, fd00::1/128); renewal of credentials on (10.20.0.0/16)",
        "open sign-up off (invited people, example.com); open organization creation off (superadmins alone); superadmins on (2)",
        "metrics on (127.0.0.1:9464); audit stream on (/var/lib/coffer/audit.jsonl); audit archives on (of entries older than 400 days); required audit on (no access without its entry); tracing on (http://collector:4318 as coffer-server)"
      ])
      assert.notMatch(found.join(), /hunter2|AKIA|7{8}/)
    })
  )

  it.effect("name the database and its host with PostgreSQL, without its password", () =>
    Effect.map(lines({ SERVICE_DATABASE_URL: "postgres://coffer:hunter2@db.example.com/app" }), ([first]) =>
      assert.strictEqual(first, "PostgreSQL on (app at db.example.com:5432, at most 10 connections, sslmode require)")
    )
  )

  it.effect("tell a store without a schedule, and mail without TLS", () =>
    Effect.map(
      lines({ ...everything, BACKUP_SCHEDULE_HOURS: "", SMTP_TLS: "none", SMTP_USERNAME: "", SMTP_PASSWORD: "" }),
      ([first]) => {
        assert.include(first, "mail.example.com:587, TLS where it is offered, without a login")
        assert.include(first, "bucket backups, manual alone, none is deleted")
      }
    )
  )
})

describe("the server", () => {
  it("logs the lines once it listens, and names what is no setting before", async () => {
    const program = await Program.start({ SMTP_USER: "ada@example.com", SERVICE_LOG_FORMAT: "pretty" })
    await program.said(/listening on/)
    assert.match(
      program.log,
      /^coffer-server: SMTP_USER is not a setting and is ignored: did you mean SMTP_USERNAME\?$/m
    )
    assert.match(program.log, /^\S+ INFO {2}mail off \(.*\); backups off \(.*\)$/m)
    assert.match(program.log, /^\S+ INFO {2}open sign-up on .*; superadmins off$/m)
    assert.match(
      program.log,
      /^\S+ INFO {2}metrics off; audit stream off; audit archives off; required audit off; tracing off$/m
    )
    await program.remove()
  })

  it("does not start with half of a feature", async () => {
    const { code, log } = await Program.refused({ BACKUP_S3_BUCKET: "backups", BACKUP_S3_ACCES_KEY: "x" })
    assert.strictEqual(code, 78)
    assert.match(log, /^coffer-server: BACKUP_S3_ACCES_KEY is not a setting .* did you mean BACKUP_S3_ACCESS_KEY\?$/m)
    assert.match(log, /BACKUP_S3_ENDPOINT is required when BACKUP_S3_BUCKET is set/)
  })
})

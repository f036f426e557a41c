import { unknownMessage, unknownSettings } from "@coffer/server/base/config/Unknown"
import { assert, describe, it } from "@effect/vitest"
import { Record } from "effect"

describe("variables that only look like settings", () => {
  it("are listed, but for those of the clients", () => {
    const found = unknownSettings({
      SERVICE_PROT: "7100",
      SERVICE_DATABASE_PATH: "x.db",
      SERVICE_EMPTY: "",
      SUPERADMIN_EMAIL: "root@example.com",
      SUPERADMIN_EMAIL_12: "ada@example.com",
      SMTP_PASSWORD_FILE: "/run/password",
      SERVICE_SERVER_URL: "http://localhost:7100",
      SERVICE_API_KEY: "svc_sa_x",
      SERVICE_API_KEY_FILE: "/run/key",
      SERVICE_ORG: "acme",
      SERVICE_PROJECT: "web",
      SERVICE_ENV: "prod",
      SERVICE_MCP_READ_ONLY: "1",
      SERVICE_MCP_TOOLS: "usable",
      SERVICE_HEADERS_FILE: "/run/headers",
      SERVICE_HEADER_CF_ACCESS_CLIENT_ID: "x",
      SERVICE_NEW_MASTER_KEY: "x",
      SERVICE_NEW_MASTER_KEY_FILE: "/run/new",
      SERVICE_NEW_MASTER_KEY_COMMAND: "[]",
      PATH: "/bin"
    })
    assert.deepStrictEqual(
      found.map(({ variable }) => variable),
      ["SERVICE_PROT", "SERVICE_DATABASE_PATH", "SUPERADMIN_EMAIL"]
    )
  })

  const pairs: Readonly<Record<string, string | null>> = {
    BACKUP_SCHEDULE_HOUR: "BACKUP_SCHEDULE_HOURS",
    BACKUP_S3_BUKCET: "BACKUP_S3_BUCKET",
    SMTP_USER: "SMTP_USERNAME",
    SMTP_PASS: "SMTP_PASSWORD",
    SMTP_HOSTNAME: "SMTP_HOST",
    SMTP_USERNAME_FILE: "SMTP_USERNAME",
    SUPERADMIN_EMAIL: "SUPERADMIN_EMAIL_0",
    SUPERADMIN_EMAIL_ONE: "SUPERADMIN_EMAIL_0",
    CORS_ALLOWED_ORIGIN: "CORS_ALLOWED_ORIGINS",
    SERVICE_DB: "SERVICE_DB_PATH",
    SERVICE_APIKEY: "SERVICE_API_KEY",
    SERVICE_MCP_READONLY: "SERVICE_MCP_READ_ONLY",
    OTEL_EXPORTER_OTLP_ENDPIONT: "OTEL_EXPORTER_OTLP_ENDPOINT",
    SMTP_SERVICE_ACCOUNT_TOKEN: null
  }
  it("are named with the nearest setting, when one is near", () => {
    const found = unknownSettings(Record.map(pairs, () => "x"))
    assert.deepStrictEqual(Object.fromEntries(found.map(({ nearest, variable }) => [variable, nearest])), pairs)
    for (const one of found) {
      assert.match(
        unknownMessage(one),
        one.nearest === null ? /: docs\/configuration\.md lists the settings$/ : /: did you mean [A-Z0-9_]+\?$/
      )
    }
  })

  it("are not those of OpenTelemetry that other programs read", () => {
    assert.deepStrictEqual(
      unknownSettings({ OTEL_RESOURCE_ATTRIBUTES: "a=b", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc", OTEL_SERVICE_NAME: "x" }),
      []
    )
  })
})

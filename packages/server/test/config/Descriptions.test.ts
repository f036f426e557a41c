import { described } from "@coffer/server/base/config/Descriptions"
import { loadConfig } from "@coffer/server/base/Config"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"

const everything = {
  SERVICE_MASTER_KEY: "0".repeat(64),
  SMTP_HOST: "mail.example.com",
  SMTP_FROM: "coffer@example.com",
  BACKUP_S3_ENDPOINT: "https://s3.example.com",
  BACKUP_S3_BUCKET: "backups",
  BACKUP_S3_ACCESS_KEY: "key",
  BACKUP_S3_SECRET_KEY: "secret",
  SERVICE_TLS_CERT_FILE: "tls.crt",
  SERVICE_TLS_KEY_FILE: "tls.key",
  SUPERADMIN_EMAIL_0: "root@example.com",
  OTEL_EXPORTER_OTLP_ENDPOINT: "https://traces.example.com",
  SERVICE_PUBLIC_URL: "https://coffer.example.com",
  SERVICE_OIDC_ISSUER: "https://id.example.com",
  SERVICE_OIDC_CLIENT_ID: "coffer",
  SERVICE_OIDC_CLIENT_SECRET: "secret"
}

const variables = described.flatMap((group) => group.variables)

const plain = (environment: Record<string, string>) =>
  Effect.map(loadConfig(environment), (settings) =>
    JSON.stringify(settings, (_, value: unknown) => (Redacted.isRedacted(value) ? Redacted.value(value) : value))
  )

describe("the description of the settings", () => {
  it.effect("names every variable that the server reads, and no other", () =>
    Effect.gen(function* () {
      const asked = new Set<string>()
      const environment = new Proxy<Record<string, string>>(everything, {
        get: (target, name) => {
          asked.add(String(name))
          return target[String(name)]
        }
      })
      yield* loadConfig(environment)
      const names = variables.flatMap(({ file, variable }) =>
        file === true ? [variable, `${variable}_FILE`] : variable
      )
      assert.sameMembers([...names], [...asked])
    })
  )

  it.effect("says what is required: without it the server does not start, with all of that it does", () =>
    Effect.gen(function* () {
      yield* loadConfig(everything)
      for (const { required, variable } of variables) {
        const problems = yield* loadConfig({ ...everything, [variable]: "" }).pipe(
          Effect.match({
            onFailure: ({ problems }) => problems.map((problem) => problem.variable),
            onSuccess: () => []
          })
        )
        assert.deepStrictEqual(problems, required === undefined ? [] : [variable], variable)
      }
    })
  )

  it.effect("says what stands for an absent variable", () =>
    Effect.gen(function* () {
      const without = yield* plain(everything)
      for (const { default: fallback, required, variable } of variables) {
        if (fallback !== undefined) assert.strictEqual(yield* plain({ ...everything, [variable]: fallback }), without)
        if (fallback !== undefined) assert.isUndefined(required, variable)
      }
    })
  )
})

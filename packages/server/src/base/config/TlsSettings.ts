import * as Effect from "effect/Effect"
import { file, word } from "./SettingFormats.js"
import { joined, problem, satisfying, type Setting } from "./ConfigProblems.js"
import type { Reader } from "./Variables.js"

/** The server's certificate. The files may change while the server runs. */
export interface TlsSettings {
  readonly certFile: string
  readonly keyFile: string
  readonly minVersion: "TLSv1.2" | "TLSv1.3"
}

const certFile = "SERVICE_TLS_CERT_FILE"
const keyFile = "SERVICE_TLS_KEY_FILE"
const minVersion = "SERVICE_TLS_MIN_VERSION"
const minVersions = word({ "1.3": "TLSv1.3", "1.2": "TLSv1.2" } as const)

const withoutTls = (settings: Reader): Setting<null> =>
  settings.given(minVersion) === null
    ? Effect.succeed(null)
    : problem(certFile, `is required when ${minVersion} is set: without a certificate the server speaks plain HTTP`)

/** Reads the settings of TLS; null if the server speaks plain HTTP. */
export const tls = (settings: Reader): Setting<TlsSettings | null> =>
  settings.given(certFile) === null && settings.given(keyFile) === null
    ? withoutTls(settings)
    : Effect.all(
        {
          certFile: settings.required(certFile, file),
          keyFile: settings.required(keyFile, file),
          minVersion: settings.withDefault(minVersion, minVersions, "TLSv1.3" as const),
          publicUrl: Effect.succeed(settings.given("SERVICE_PUBLIC_URL")).pipe(
            satisfying(
              "SERVICE_PUBLIC_URL",
              `must be an https address when ${certFile} is set`,
              (url) => url === null || !/^http:/i.test(url)
            )
          )
        },
        { mode: "validate" }
      ).pipe(Effect.mapBoth({ onFailure: joined, onSuccess: ({ publicUrl: _publicUrl, ...rest }) => rest }))

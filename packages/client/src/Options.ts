import type * as Duration from "effect/Duration"
import type * as Redacted from "effect/Redacted"

export type CredentialOption =
  | { readonly apiKey: Redacted.Redacted }
  /** A service account that signs in with the token of its platform, or with this token. */
  | { readonly account: string; readonly token?: Redacted.Redacted }
  /** The session of the person who has run `coffer login` on this machine: for development. */
  | { readonly session: "stored" }

export interface Options {
  /** The address of the server, such as `https://coffer.example.com`. */
  readonly server: string
  /** The environment, as ORGANIZATION/PROJECT/ENVIRONMENT. */
  readonly place: string
  /** By default, the API key in `SERVICE_API_KEY` or `SERVICE_API_KEY_FILE`, or else the account in `SERVICE_ACCOUNT`. */
  readonly credential?: CredentialOption
  /** Reads only these keys. By default, reads all. */
  readonly keys?: ReadonlyArray<string>
  /** How often to ask for changes. By default, every 30 seconds. */
  readonly every?: Duration.DurationInput
  /** Keeps an encrypted copy of the values for starts without the server. `coffer run --offline-fallback` can share it. */
  readonly offline?: { readonly folder: string; readonly maxAge: Duration.DurationInput }
  /** The name of the application for the audit log, such as `shop` or `shop 1.4.0`. */
  readonly name?: string
}

import * as Redacted from "effect/Redacted"
import type { Credential } from "./Credentials.js"

const authorization = ({ secret, type }: Credential): Readonly<Record<string, string>> =>
  type === "api_key" ? { "x-api-key": Redacted.value(secret) } : { authorization: `Bearer ${Redacted.value(secret)}` }

/** The headers of a request of `coffer` that is sent without the typed client. */
export const requestHeaders = (credential: Credential, version: string): Readonly<Record<string, string>> => ({
  "user-agent": `coffer/${version}`,
  "x-coffer-client": "cli",
  ...authorization(credential)
})

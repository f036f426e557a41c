import { isIssuer } from "@coffer/domain/directory/Federation"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { address, type Format, integer, listOf, word } from "./SettingFormats.js"
import { type Network, networks } from "./Networks.js"
import { joined, type Setting } from "./ConfigProblems.js"
import type { Reader } from "./Variables.js"

export interface OutboundSettings {
  /** Networks that requests of the server may go to although they are not public. */
  readonly outboundAllowNetworks: ReadonlyArray<Network>
  /** Networks that logins of connections may go to although they are not public; without any, there are no connections. */
  readonly renewalNetworks: ReadonlyArray<Network>
  /** The most leases of one environment, and of one caller in it. */
  readonly leasesOfEnvironment: number
  readonly leasesOfCaller: number
  /** Issuers whose tokens federations may take, without those that every server knows. */
  readonly machineIssuers: ReadonlyArray<string>
  /** Whether this server makes requests with secrets. */
  readonly broker: boolean
  /** Whether this process does nothing else. */
  readonly isBrokerAlone: boolean
  /** Where another process makes them; null if none does. */
  readonly brokerUrl: string | null
}

const issuer: Format<string> = {
  rule: "must be a list of https addresses without credentials, query or fragment, exactly as in the tokens' iss, separated by commas",
  read: Option.liftPredicate(isIssuer)
}

export const outbound = (settings: Reader): Setting<OutboundSettings> =>
  Effect.all(
    {
      outboundAllowNetworks: settings.withDefault("SERVICE_OUTBOUND_ALLOW_NETWORKS", networks, []),
      renewalNetworks: settings.withDefault("SERVICE_RENEWAL_NETWORKS", networks, []),
      leasesOfEnvironment: settings.withDefault("SERVICE_LEASES_PER_ENVIRONMENT", integer(1, 10_000), 500),
      leasesOfCaller: settings.withDefault("SERVICE_LEASES_PER_CALLER", integer(1, 10_000), 20),
      isBrokerAlone: Effect.succeed(false),
      brokerUrl: settings.optional("SERVICE_BROKER_URL", address),
      broker: settings.withDefault("SERVICE_BROKER", word({ 0: false, 1: true }), false),
      machineIssuers: settings.withDefault("SERVICE_OIDC_MACHINE_ISSUERS", listOf(issuer), [])
    },
    { mode: "validate" }
  ).pipe(Effect.mapError(joined))

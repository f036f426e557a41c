import { BlockList, isIP } from "node:net"
import { isIssuer } from "@coffer/domain/Federation"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { address, type Format, listOf, word } from "./Formats.js"
import { joined, type Setting } from "./Problems.js"
import type { Reader } from "./Variables.js"

/** A network such as 10.0.0.0/8. */
export interface Network {
  readonly address: string
  readonly prefix: number
  readonly family: "ipv4" | "ipv6"
}

export interface OutboundSettings {
  /** Networks that requests of the server may go to although they are not public. */
  readonly outboundAllowNetworks: ReadonlyArray<Network>
  /** Issuers whose tokens federations may take, without those that every server knows. */
  readonly machineIssuers: ReadonlyArray<string>
  /** Whether this server makes requests with secrets. */
  readonly broker: boolean
  /** Whether this process does nothing else. */
  readonly isBrokerAlone: boolean
  /** Where another process makes them; null if none does. */
  readonly brokerUrl: string | null
}

const networkOf = (text: string): Option.Option<Network> => {
  const [, address = "", bits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  const widest = version === 4 ? 32 : 128
  const prefix = bits === undefined ? widest : Number(bits)
  return version === 0 || prefix > widest
    ? Option.none()
    : Option.some({ address, prefix, family: version === 4 ? "ipv4" : "ipv6" })
}

const network: Format<Network> = {
  rule: "must be a list of networks such as 10.0.0.0/8 or fd00::/8, separated by commas",
  read: networkOf
}

const issuer: Format<string> = {
  rule: "must be a list of https addresses without credentials, query or fragment, exactly as in the tokens' iss, separated by commas",
  read: Option.liftPredicate(isIssuer)
}

/** Makes a list that says whether an address is in one of the networks. */
export const blockListOf = (networks: ReadonlyArray<Network>): BlockList => {
  const list = new BlockList()
  for (const { address, family, prefix } of networks) list.addSubnet(address, prefix, family)
  return list
}

export const outbound = (settings: Reader): Setting<OutboundSettings> =>
  Effect.all(
    {
      outboundAllowNetworks: settings.withDefault("SERVICE_OUTBOUND_ALLOW_NETWORKS", listOf(network), []),
      isBrokerAlone: Effect.succeed(false),
      brokerUrl: settings.optional("SERVICE_BROKER_URL", address),
      broker: settings.withDefault("SERVICE_BROKER", word({ 0: false, 1: true }), false),
      machineIssuers: settings.withDefault("SERVICE_OIDC_MACHINE_ISSUERS", listOf(issuer), [])
    },
    { mode: "validate" }
  ).pipe(Effect.mapError(joined))

import type { Settings } from "../Config.js"
import type { BackupSettings } from "./BackupSettings.js"
import type { PostgresSettings } from "./DatabaseSettings.js"
import type { EmailTrust } from "./IdentitySettings.js"
import { targetName } from "./DatabaseUrl.js"
import type { Network } from "./Networks.js"

const on = (feature: string, details: string): string => `${feature} on (${details})`
const off = (feature: string, consequence?: string): string =>
  consequence === undefined ? `${feature} off` : `${feature} off (${consequence})`

const database = ({ connections, target }: PostgresSettings): string =>
  on("PostgreSQL", `${targetName(target)}, at most ${connections} connections, sslmode ${target.tls.mode}`)

const several = (workers: number): ReadonlyArray<string> =>
  workers === 1 ? [] : [on("workers", `${workers} processes serve`)]

const mail = ({ isBrokerAlone, mail }: Settings): string =>
  mail._tag === "Log"
    ? off("mail", isBrokerAlone ? "nobody logs in here" : "login codes are printed in this log")
    : on(
        "mail",
        [
          `${mail.host}:${mail.port}`,
          mail.secure ? "TLS" : mail.requireTls ? "STARTTLS" : "TLS where it is offered",
          mail.username === null ? "without a login" : "with a login",
          `from ${mail.from.address}`
        ].join(", ")
      )

const schedule = ({ retainDailyDays, retainWeeklyWeeks, scheduleHours }: BackupSettings): string =>
  scheduleHours === 0
    ? "manual alone, none is deleted"
    : `every ${scheduleHours} h, kept for ${retainDailyDays} days and ${retainWeeklyWeeks} weeks`

const place = ({ store }: BackupSettings): string =>
  store._tag === "S3" ? `${store.endpoint}, bucket ${store.bucket}` : `directory ${store.path}`

const backups = ({ backups }: Settings): string =>
  backups === null ? off("backups", "no store is configured") : on("backups", `${place(backups)}, ${schedule(backups)}`)

const signup = ({ signup, signupDomains }: Settings): string =>
  signup === "open"
    ? on("open sign-up", "anyone with a mailbox")
    : off("open sign-up", ["invited people", ...signupDomains].join(", "))

const orgCreation = ({ orgCreation }: Settings): string =>
  orgCreation === "anyone"
    ? on("open organization creation", "anyone")
    : off("open organization creation", "superadmins alone")

const superadmins = ({ superadmins }: Settings): string =>
  superadmins.length === 0 ? off("superadmins") : on("superadmins", String(superadmins.length))

const metrics = ({ metricsPort }: Settings): string =>
  metricsPort === null ? off("metrics") : on("metrics", `127.0.0.1:${metricsPort}`)

const auditStream = ({ auditStream }: Settings): string =>
  auditStream === null
    ? off("audit stream")
    : on("audit stream", auditStream === "stdout" ? "standard output" : auditStream.file)

const auditArchives = ({ auditKeepDays }: Settings): string =>
  auditKeepDays === 0 ? off("audit archives") : on("audit archives", `of entries older than ${auditKeepDays} days`)

const auditRequired = ({ auditRequired }: Settings): string =>
  auditRequired ? on("required audit", "no access without its entry") : off("required audit")

const tracing = ({ tracing }: Settings): string =>
  tracing === null ? off("tracing") : on("tracing", `${tracing.endpoint} as ${tracing.serviceName}`)

const emailLogin = ({ emailLogin }: Settings): string =>
  emailLogin ? on("login by e-mail", "codes") : off("login by e-mail")

const trusts: Readonly<Record<EmailTrust, ReadonlyArray<string>>> = {
  verified: [],
  edov: ["xms_edov counts as verified"],
  domains: ["addresses of the allowed domains count as verified"]
}

const singleSignOn = ({ provider }: Settings): string =>
  provider === null
    ? off("single sign-on")
    : on("single sign-on", [provider.issuer, ...trusts[provider.emailTrust]].join(", "))

const browsers = ({ publicUrl }: Settings): string =>
  publicUrl === null ? off("public address", "browsers' sessions on loopback alone") : on("public address", publicUrl)

const tls = ({ tls }: Settings): string =>
  tls === null
    ? off("TLS", "plain HTTP")
    : on("TLS", tls.minVersion === "TLSv1.3" ? "version 1.3" : "versions 1.2 and 1.3")

const webConsole = ({ webConsole }: Settings): string => (webConsole ? on("web console", "at /") : off("web console"))

const vaultApi = ({ vaultApi }: Settings): string =>
  vaultApi ? on("view of Vault's API", "at /v1") : off("view of Vault's API")

const mcp = ({ mcp, mcpOrigins }: Settings): string =>
  mcp ? on("tool server", ["at /mcp", ...mcpOrigins].join(", ")) : off("tool server")

const scim = ({ scimDomains }: Settings): string =>
  scimDomains.length === 0
    ? off("SCIM")
    : on("SCIM", scimDomains.map(({ domain, org }) => (org === null ? domain : `${org}:${domain}`)).join(", "))

const securityContacts = ({ securityContacts }: Settings): string =>
  securityContacts.length === 0
    ? off("security contacts")
    : on("security contacts", `${securityContacts.length}, at /.well-known/security.txt`)

const machineIssuers = ({ machineIssuers }: Settings): string =>
  machineIssuers.length === 0
    ? off("more issuers of machines' tokens", "those of GitHub and GitLab alone")
    : on("more issuers of machines' tokens", machineIssuers.join(", "))

const listed = (networks: ReadonlyArray<Network>): string =>
  networks.map(({ address, prefix }) => `${address}/${prefix}`).join(", ")

const trustedProxies = ({ trustedProxies }: Settings): string =>
  trustedProxies === null
    ? off("trusted proxies", "the headers of every peer are believed")
    : on("trusted proxies", trustedProxies.length === 0 ? "none" : listed(trustedProxies))

const networks = ({ outboundAllowNetworks }: Settings): string =>
  outboundAllowNetworks.length === 0
    ? off("requests to private networks")
    : on("requests to private networks", listed(outboundAllowNetworks))

const renewal = ({ renewalNetworks }: Settings): string =>
  renewalNetworks.length === 0 ? off("renewal of credentials") : on("renewal of credentials", listed(renewalNetworks))

/** Log lines that say which features are on or off, without secrets. */
export const summary = (settings: Settings): ReadonlyArray<string> => {
  const line = (...features: ReadonlyArray<(settings: Settings) => string>) =>
    features.map((feature) => feature(settings)).join("; ")
  return [
    ...(settings.postgres === null ? [] : [[database(settings.postgres), ...several(settings.workers)].join("; ")]),
    line(mail, backups),
    line(tls, emailLogin, singleSignOn, browsers, webConsole, vaultApi, mcp, scim, securityContacts),
    line(trustedProxies, machineIssuers, networks, renewal),
    line(signup, orgCreation, superadmins),
    line(metrics, auditStream, auditArchives, auditRequired, tracing)
  ]
}

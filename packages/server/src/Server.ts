import { Api } from "@coffer/domain/Api"
import { Admission } from "@coffer/domain/api/Requirement"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServer from "@effect/platform/HttpServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "./access/Access.js"
import { AclHttp } from "./directory/acl/Http.js"
import { AuditLog } from "./audit/AuditLog.js"
import { UncleanEndsLive } from "./audit/UncleanEnds.js"
import { AuditIndexJob } from "./audit/IndexJob.js"
import { AuditStreamJob } from "./audit/StreamJob.js"
import { ExportsHttp, ImportsHttp } from "./edges/archives/Http.js"
import { AuditHttp } from "./edges/trail/Http.js"
import { AuthHttp } from "./directory/AuthHttp.js"
import { PasskeysHttp } from "./directory/passkeys/Http.js"
import { ConsentsHttp } from "./directory/consents/Http.js"
import { DelegationsHttp } from "./directory/delegations/Http.js"
import { AuthenticationLive } from "./access/caller/Authenticator.js"
import { SuperadminsLive } from "./directory/login/Superadmins.js"
import { AuditArchivesLive } from "./operations/audit-archives/ArchiveJob.js"
import { Backups } from "./operations/backups/Backups.js"
import { BackupsHttp } from "./operations/backups/Http.js"
import { BackupScheduleLive } from "./operations/backups/Schedule.js"
import { ServerConfig } from "./base/Config.js"
import { summary } from "./base/config/Summary.js"
import { Starting } from "./base/Starting.js"
import { ConsoleLive } from "./edges/console/Http.js"
import { DueJob } from "./secrets/dues/DueJob.js"
import { DuesHttp } from "./secrets/dues/Http.js"
import { EngineLive } from "./operations/Engine.js"
import { EnvironmentsHttp } from "./secrets/environments/Http.js"
import { FederationsHttp } from "./directory/federations/Http.js"
import { makeAdmission } from "./access/Admission.js"
import { BoundaryLive } from "./http/Boundary.js"
import { HandedConnections } from "./http/Handed.js"
import { NodeHttpServerLive } from "./http/NodeServer.js"
import { Listening } from "./http/Listening.js"
import { routerConfig } from "./http/Routes.js"
import { ClockCheckLive } from "./database/jobs/ClockCheck.js"
import { HeartbeatLive } from "./database/jobs/Heartbeat.js"
import { InstanceLive } from "./keys/Instance.js"
import { SuccessionLive } from "./database/jobs/Succession.js"
import { KeyringLive } from "./keys/Keyring.js"
import { WrapBudget, WrapCountLive } from "./keys/WrapBudget.js"
import { HistoryHttp } from "./secrets/project-history/Http.js"
import { OverviewHttp } from "./secrets/overview/Http.js"
import { GroupsHttp } from "./directory/groups/Http.js"
import { KeysHttp } from "./secrets/key-search/Http.js"
import { LoggingLive } from "./base/logging/Logging.js"
import { Mailer } from "./base/mail/Mailer.js"
import { MaintenanceLive } from "./operations/maintenance/Maintenance.js"
import { MembersHttp } from "./directory/members/Http.js"
import { MetricsLive } from "./operations/metrics/MetricsServer.js"
import { OrganizationsHttp } from "./directory/organizations/Http.js"
import { PagesLive } from "./edges/pages/Http.js"
import { ConnectionsHttp } from "./secrets/connections/Http.js"
import { DeclaredHttp } from "./secrets/declared/Http.js"
import { ProjectsHttp } from "./directory/projects/Http.js"
import { LeasesHttp } from "./secrets/leases/Http.js"
import { LeasesJob } from "./secrets/leases/LeasesJob.js"
import { LeaseRolesHttp } from "./secrets/leases/RolesHttp.js"
import { RotationsHttp } from "./secrets/rotations/Http.js"
import { RotationsJob } from "./secrets/rotations/RotationsJob.js"
import { SecretsHttp } from "./secrets/services/Http.js"
import { ServiceAccountsHttp } from "./directory/service-accounts/Http.js"
import { DocumentPagesLive } from "./edges/system/DocumentPages.js"
import { SecurityTextLive } from "./edges/system/SecurityText.js"
import { ServerHttp } from "./edges/system/ServerHttp.js"
import { SystemHttp } from "./edges/system/Http.js"
import { PushJob } from "./secrets/delivery/PushJob.js"
import { TargetsHttp } from "./secrets/delivery/Http.js"
import { ApprovalsHttp, UseHttp, UseRulesHttp } from "./secrets/use/Http.js"
import { UnusedAccessJob } from "./directory/unused-access/UnusedAccessJob.js"
import { UsersHttp } from "./directory/users/Http.js"
import { ScimHttp } from "./directory/scim/Http.js"
import { ScimLive } from "./edges/scim/Http.js"
import { TracingLive } from "./base/tracing/Tracing.js"
import { TrashHttp } from "./secrets/trash/Http.js"
import { VaultApi } from "./http/vault/Contract.js"
import { PreviewsHttp } from "./directory/previews/Http.js"
import { ProtectionsHttp, RequestsHttp } from "./directory/requests/Http.js"
import { VaultLive } from "./edges/vault/Http.js"
import { OauthLive } from "./edges/oauth/Http.js"
import { McpLive } from "./edges/mcp/Http.js"
import { InProcessLive } from "./http/InProcess.js"
import { McpApi } from "./http/mcp/McpContract.js"
import { WebhooksHttp } from "./edges/webhooks/Http.js"
import { WebhooksJob } from "./edges/webhooks/Job.js"

const ApiLive = HttpApiBuilder.api(Api).pipe(
  Layer.provide([
    AuthHttp,
    PasskeysHttp,
    DelegationsHttp,
    ConsentsHttp,
    OrganizationsHttp,
    ExportsHttp,
    ImportsHttp,
    MembersHttp,
    ProjectsHttp,
    DeclaredHttp,
    EnvironmentsHttp,
    SecretsHttp,
    DuesHttp,
    KeysHttp,
    HistoryHttp,
    OverviewHttp,
    AclHttp,
    GroupsHttp,
    ServiceAccountsHttp,
    ScimHttp,
    FederationsHttp,
    UseRulesHttp,
    TargetsHttp,
    UseHttp,
    ConnectionsHttp,
    RotationsHttp,
    LeaseRolesHttp,
    LeasesHttp,
    ApprovalsHttp,
    ProtectionsHttp,
    PreviewsHttp,
    RequestsHttp,
    TrashHttp,
    WebhooksHttp,
    UsersHttp,
    AuditHttp,
    BackupsHttp,
    ServerHttp,
    SystemHttp
  ])
)

/** Logs the settings and the address of a server that listens now. A worker, which does not listen, only calls the hook. */
const announceAt = (address: HttpServer.Address, isHanded = false) =>
  Effect.gen(function* () {
    const settings = yield* ServerConfig
    const listening = yield* Listening
    const starting = yield* Starting
    starting.isOver = true
    if (isHanded) return yield* listening("")
    for (const line of summary(settings)) yield* Effect.logInfo(line)
    if (address._tag === "UnixAddress") return yield* Effect.logInfo(`listening on ${address.path}`)
    const host = address.hostname.includes(":") ? `[${address.hostname}]` : address.hostname
    const url = `${settings.tls === null ? "http" : "https"}://${host}:${address.port}`
    yield* Effect.zipRight(Effect.logInfo(`listening on ${url}`), listening(url))
  })

const announce = Layer.effectDiscard(
  Effect.flatMap(HandedConnections, (handed) =>
    HttpServer.addressWith((address) => announceAt(address, handed !== null))
  )
)

const AdmissionLive = Layer.effect(
  Admission,
  Effect.flatMap(ServerConfig, ({ isBrokerAlone }) =>
    makeAdmission(Api.addHttpApi(VaultApi).addHttpApi(McpApi), isBrokerAlone)
  )
)

/** Serves the contract. `around` provides the outer middleware and the pages. */
const served = <E, R>(around: Layer.Layer<never, E, R>) =>
  HttpApiBuilder.serve().pipe(
    Layer.merge(announce),
    Layer.provide([NodeHttpServerLive, HttpServer.layerContext]),
    Layer.provide(around),
    Layer.provide(ApiLive),
    Layer.provide(HttpRouter.setRouterConfig(routerConfig)),
    Layer.provide([AuthenticationLive, AdmissionLive]),
    Layer.provide(InProcessLive)
  )

/** Services of every process. */
const supported = <A, E, R>(services: Layer.Layer<A, E, R>) =>
  services.pipe(
    Layer.provide(MetricsLive),
    Layer.provide(Access.Default),
    Layer.provide([AuditLog.Default, Mailer.Default, WrapBudget.Default]),
    // Released after the audit queue is flushed, so that the index and the stream contains all of its entries.
    Layer.provide([AuditStreamJob, AuditIndexJob]),
    Layer.provide(InstanceLive),
    // Before the first write of this server, and until its last.
    Layer.provide([HeartbeatLive, ClockCheckLive]),
    Layer.provide(SuccessionLive)
  )

/** The outer middleware and the pages of a server. */
const pages = Layer.mergeAll(
  BoundaryLive,
  ConsoleLive,
  DocumentPagesLive,
  McpLive,
  OauthLive,
  PagesLive,
  ScimLive,
  SecurityTextLive,
  VaultLive
)

/** Adds what one process of a server does besides serving. */
const withJobs = <A, E, R>(services: Layer.Layer<A, E, R>) =>
  services.pipe(
    // Before the first request, because requests must not see the superadmins of the previous configuration.
    Layer.provide(SuperadminsLive),
    Layer.merge(MaintenanceLive),
    Layer.merge(UncleanEndsLive),
    Layer.merge(WebhooksJob),
    Layer.merge(DueJob),
    Layer.merge(RotationsJob),
    Layer.merge(LeasesJob),
    Layer.merge(PushJob),
    Layer.merge(UnusedAccessJob),
    Layer.merge(AuditArchivesLive),
    Layer.merge(BackupScheduleLive.pipe(Layer.provide(Backups.Default)))
  )

const ServicesLive = supported(withJobs(served(pages)))

/** Layers are released in reverse order: the socket first, after the requests in flight, then the audit queue, and the database last. */
const on = <A, E, R>(services: Layer.Layer<A, E, R>, database: typeof EngineLive) =>
  services.pipe(
    Layer.provide(database),
    Layer.provide(KeyringLive),
    Layer.provide(TracingLive),
    Layer.provide(LoggingLive)
  )

/** The server on a database. */
export const serverOn = (database: typeof EngineLive) => on(ServicesLive, database)

/** A process that only makes requests with secrets: without pages, and without the jobs of servers. */
export const BrokerLive = on(supported(served(BoundaryLive)), EngineLive)

export const ServerLive = serverOn(EngineLive)

/** The main process of a server with workers, which serves nothing itself. `workers` gets what to run once it listens. */
export const mainOf = <E, R>(workers: (announce: typeof announceAt) => Layer.Layer<never, E, R>) =>
  on(supported(withJobs(workers(announceAt))), EngineLive)

/** A worker of such a server. */
export const WorkerLive = on(supported(served(pages).pipe(Layer.merge(WrapCountLive))), EngineLive)

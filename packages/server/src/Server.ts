import { Api } from "@coffer/domain/Api"
import { Admission } from "@coffer/domain/api/Requirement"
import { HttpApiBuilder, HttpRouter, HttpServer } from "@effect/platform"
import { Effect, Layer } from "effect"
import { Access } from "./access/Access.js"
import { AclHttp } from "./acl/Http.js"
import { AuditLog } from "./audit/AuditLog.js"
import { AuditStreamJob } from "./audit/StreamJob.js"
import { AuditHttp } from "./audit/Http.js"
import { AuthHttp } from "./auth/Http.js"
import { AuthenticationLive } from "./auth/Authenticator.js"
import { SuperadminsLive } from "./auth/Superadmins.js"
import { Backups } from "./backups/Backups.js"
import { BackupsHttp } from "./backups/Http.js"
import { BackupScheduleLive } from "./backups/Schedule.js"
import { ServerConfig } from "./Config.js"
import { summary } from "./config/Summary.js"
import { ConsoleLive } from "./console/Http.js"
import { DueJob } from "./dues/DueJob.js"
import { DuesHttp } from "./dues/Http.js"
import { EngineLive } from "./database/Engine.js"
import { EnvironmentsHttp } from "./environments/Http.js"
import { FederationsHttp } from "./federations/Http.js"
import { makeAdmission } from "./http/Admission.js"
import { BoundaryLive } from "./http/Boundary.js"
import { NodeHttpServerLive } from "./http/NodeServer.js"
import { routerConfig } from "./http/Routes.js"
import { ClockCheckLive } from "./jobs/ClockCheck.js"
import { HeartbeatLive } from "./jobs/Heartbeat.js"
import { InstanceLive } from "./keys/Instance.js"
import { KeyringLive } from "./keys/Keyring.js"
import { WrapBudget } from "./keys/WrapBudget.js"
import { LoggingLive } from "./Logging.js"
import { Mailer } from "./mail/Mailer.js"
import { MaintenanceLive } from "./maintenance/Maintenance.js"
import { MembersHttp } from "./members/Http.js"
import { MetricsLive } from "./metrics/MetricsServer.js"
import { OrganizationsHttp } from "./organizations/Http.js"
import { PagesLive } from "./pages/Http.js"
import { DeclaredHttp } from "./declared/Http.js"
import { ProjectsHttp } from "./projects/Http.js"
import { SecretsHttp } from "./secrets/Http.js"
import { ServiceAccountsHttp } from "./service-accounts/Http.js"
import { ServerHttp } from "./system/ServerHttp.js"
import { SystemHttp } from "./system/Http.js"
import { ApprovalsHttp, UseHttp, UseRulesHttp } from "./use/Http.js"
import { UsersHttp } from "./users/Http.js"
import { TracingLive } from "./tracing/Tracing.js"
import { VaultApi } from "./vault/Contract.js"
import { VaultLive } from "./vault/Http.js"
import { WebhooksHttp } from "./webhooks/Http.js"
import { WebhooksJob } from "./webhooks/Job.js"

const ApiLive = HttpApiBuilder.api(Api).pipe(
  Layer.provide([
    AuthHttp,
    OrganizationsHttp,
    MembersHttp,
    ProjectsHttp,
    DeclaredHttp,
    EnvironmentsHttp,
    SecretsHttp,
    DuesHttp,
    AclHttp,
    ServiceAccountsHttp,
    FederationsHttp,
    UseRulesHttp,
    UseHttp,
    ApprovalsHttp,
    WebhooksHttp,
    UsersHttp,
    AuditHttp,
    BackupsHttp,
    ServerHttp,
    SystemHttp
  ])
)

const announce = Layer.effectDiscard(
  Effect.gen(function* () {
    for (const line of summary(yield* ServerConfig)) yield* Effect.logInfo(line)
    yield* HttpServer.addressWith((address) =>
      Effect.logInfo(
        address._tag === "TcpAddress"
          ? `listening on http://${address.hostname}:${address.port}`
          : `listening on ${address.path}`
      )
    )
  })
)

const AdmissionLive = Layer.effect(
  Admission,
  Effect.flatMap(ServerConfig, ({ isBrokerAlone }) => makeAdmission(Api.addHttpApi(VaultApi), isBrokerAlone))
)

/** Serves the contract; `around` is what surrounds its calls. */
const served = <E, R>(around: Layer.Layer<never, E, R>) =>
  HttpApiBuilder.serve().pipe(
    Layer.merge(announce),
    Layer.provide([NodeHttpServerLive, HttpServer.layerContext]),
    Layer.provide(around),
    Layer.provide(ApiLive),
    Layer.provide(HttpRouter.setRouterConfig(routerConfig)),
    Layer.provide([AuthenticationLive, AdmissionLive])
  )

/** What all processes need beside the database. */
const supported = <A, E, R>(services: Layer.Layer<A, E, R>) =>
  services.pipe(
    Layer.provide(MetricsLive),
    Layer.provide(Access.Default),
    Layer.provide([AuditLog.Default, Mailer.Default, WrapBudget.Default]),
    // Released after the audit queue is flushed, so that the stream contains all of its entries.
    Layer.provide(AuditStreamJob),
    Layer.provide(InstanceLive),
    // Before the first write of this server, and until its last.
    Layer.provide([HeartbeatLive, ClockCheckLive])
  )

const ServicesLive = supported(
  served(Layer.mergeAll(BoundaryLive, ConsoleLive, PagesLive, VaultLive)).pipe(
    // Before the first request, because requests must not see the superadmins of the previous configuration.
    Layer.provide(SuperadminsLive),
    Layer.merge(MaintenanceLive),
    Layer.merge(WebhooksJob),
    Layer.merge(DueJob),
    Layer.merge(BackupScheduleLive.pipe(Layer.provide(Backups.Default)))
  )
)

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

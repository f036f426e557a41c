import { currentActor, delegationOf } from "@coffer/domain/access/Actor"
import { MethodNotAllowed, NotFound, ValidationError } from "@coffer/domain/errors/Errors"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Access } from "../../access/Access.js"
import { Authenticator } from "../../access/caller/Authenticator.js"
import { Sessions } from "../../directory/login/Sessions.js"
import { ServerConfig } from "../../base/Config.js"
import { Environments } from "../../secrets/environments/Environments.js"
import { NodeRequest } from "../../http/NodeRequest.js"
import { vaultRoutes } from "../../http/Routes.js"
import { Bundles } from "../../secrets/services/Bundles.js"
import { Revisions } from "../../secrets/services/Revisions.js"
import { type Namespace, VaultApi, VaultAuthentication } from "../../http/vault/Contract.js"
import { accountOf, KeySessions } from "./KeySessions.js"
import { Logins } from "./Logins.js"
import { envOf, namespaceOf, projectOf } from "./VaultPlaces.js"
import {
  descriptionOf,
  metadataOf,
  noTime,
  tokenOf,
  versionSince,
  withData,
  withToken,
  withValues
} from "./Responses.js"
import * as Status from "./Status.js"

const LoginHttp = HttpApiBuilder.group(VaultApi, "vaultLogin", (handlers) =>
  Effect.map(Logins, ({ approle, federated }) =>
    handlers
      .handle("approle", ({ headers, payload }) => approle(payload.role_id, payload.secret_id, namespaceOf(headers)))
      .handle("jwt", ({ headers, payload }) => federated(payload.role, payload.jwt, namespaceOf(headers)))
      .handle("kubernetes", ({ headers, payload }) => federated(payload.role, payload.jwt, namespaceOf(headers)))
  )
).pipe(Layer.provide(Logins.Default))

const account = Effect.flatMap(currentActor, accountOf)

/** The token of a request. As in Vault, `X-Vault-Token` takes precedence over a bearer token. */
const sentToken = Effect.map(NodeRequest.current, ({ headers }) =>
  Redacted.make(headers["x-vault-token"] || (/^Bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1] ?? ""))
)

const TokenHttp = HttpApiBuilder.group(VaultApi, "vaultToken", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const keySessions = yield* KeySessions
    const sessions = yield* Sessions
    return handlers
      .handle("lookup", () =>
        Effect.gen(function* () {
          const actor = yield* currentActor
          return yield* withData(tokenOf(actor, yield* sentToken, yield* keySessions.lifetime(actor)))
        })
      )
      .handle("renew", () =>
        Effect.gen(function* () {
          const lifetime = yield* access.change(account, keySessions.renew)
          return yield* withToken(yield* sentToken, lifetime, metadataOf(yield* account))
        })
      )
      .handle("revoke", () => access.change(currentActor, sessions.logout))
  })
).pipe(Layer.provide([KeySessions.Default, Sessions.Default]))

const oneVersion = new ValidationError({
  message: "version: an environment is read as it is now: coffer shows the earlier versions of each secret"
})

const listAlone = new ValidationError({ message: "list: send ?list=true, which lists the environments of the project" })

const noFolder = new NotFound({ message: "an environment holds no paths: list the project" })

const KeyValueHttp = HttpApiBuilder.group(VaultApi, "vaultKv", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const bundles = yield* Bundles
    const environments = yield* Environments
    const revisions = yield* Revisions

    /** A project with those of its environments that the token may know of: a delegation, of its own alone. */
    const inProject = Effect.fnUntraced(function* (headers: Namespace, path: { readonly project_name: string }) {
      const names = yield* projectOf(headers, path)
      const delegation = delegationOf(yield* currentActor)
      if (delegation !== null) {
        const [own] = delegation.places
        const places = Array.filter(delegation.places, ({ project }) => project.name === names.project_name)
        // Of another project, the first one is refused.
        const asked = Array.isNonEmptyReadonlyArray(places) ? places : Array.of(own)
        const entered = yield* Effect.forEach(asked, ({ env }) =>
          access.env({ ...names, env_name: env.name }, "secret.list", "some")
        )
        return { name: names.project_name, environments: Effect.succeed(entered.map(({ env }) => env)) }
      }
      const place = yield* access.project(names, "env.list")
      return { name: place.project.name, environments: environments.list(place) }
    })

    const mount = (headers: Namespace, path: { readonly project_name: string }) =>
      Effect.flatMap(inProject(headers, path), ({ name }) => withData(Status.mountOf(name)))

    return handlers
      .handle("read", ({ headers, path, urlParams }) =>
        Effect.gen(function* () {
          if (urlParams.version !== undefined) return yield* oneVersion
          const place = yield* access.env(yield* envOf(headers, path), "secret.read", "some")
          const { bundle } = yield* bundles.read(place, { format: "object" })
          if (bundle === undefined) return yield* Effect.dieMessage("a bundle was read without an ETag")
          const { data, revision } = bundle
          return yield* withValues(
            data.map(({ key, value }) => [key, value] as const),
            {
              ...versionSince(
                data.reduce((newest, { updated_at }) => (updated_at > newest ? updated_at : newest), noTime)
              ),
              custom_metadata: null,
              version: revision
            }
          )
        })
      )
      .handle("list", ({ headers, path, urlParams }) =>
        Effect.gen(function* () {
          if (urlParams.list !== "true") return yield* listAlone
          const project = yield* inProject(headers, path)
          return yield* withData({ keys: (yield* project.environments).map(({ name }) => name) })
        })
      )
      .handle("describe", ({ headers, path, urlParams }) =>
        Effect.gen(function* () {
          if (urlParams.list !== undefined) return yield* noFolder
          const place = yield* access.env(yield* envOf(headers, path), "secret.list", "some")
          return yield* withData(descriptionOf(yield* revisions.current(place)))
        })
      )
      .handle("mount", ({ headers, path }) => mount(headers, path))
      .handle("mountOf", ({ headers, path }) => mount(headers, path))
  })
).pipe(Layer.provide([Bundles.Default, Environments.Default, Revisions.Default]))

const StatusHttp = HttpApiBuilder.group(VaultApi, "vaultStatus", (handlers) =>
  handlers
    .handle("health", () => Status.health)
    .handle("leader", () => Effect.succeed(Status.leader))
    .handle("seal", () => Effect.succeed(Status.seal))
)

const AuthenticationLive = Layer.effect(
  VaultAuthentication,
  Effect.map(Authenticator, ({ identifyToken }) =>
    VaultAuthentication.of({
      token: () => Effect.flatMap(sentToken, (token) => identifyToken(Redacted.value(token)))
    })
  )
).pipe(Layer.provide(Authenticator.Default))

/** Returns true for the requests by which Vault's clients write. */
const isWrite = (method: string, url: string): boolean =>
  method !== "GET" && /^\/v1\/[^/?]+\/(?:data|delete|destroy|metadata|subkeys|undelete)(?:[/?]|$)/.test(url)

/** Answers the paths that are not served, without a look at the caller. */
const unserved = Effect.flatMap(
  NodeRequest.current,
  ({ info, method, sentMethod, url }): Effect.Effect<never, MethodNotAllowed | NotFound> => {
    info.route = "/v1/*"
    const allow = vaultRoutes.allowed(url).join(", ")
    if (isWrite(method, url)) {
      return new MethodNotAllowed({
        message: "this view of Vault's API is read-only: change secrets with coffer or with Coffer's own API",
        allow
      })
    }
    return allow === ""
      ? new NotFound({ message: "this view of Vault's API has no such path: see docs/connect/vault-programs.md" })
      : new MethodNotAllowed({ message: `this path does not take ${sentMethod}: it takes ${allow}`, allow })
  }
)

const UnservedHttp = HttpApiBuilder.Router.use((router) =>
  Effect.zipRight(router.all("/v1", unserved), router.all("/v1/*", unserved))
)

/** The read-only view of Vault's KV v2 API, if it is on. */
export const VaultLive = Layer.unwrapEffect(
  Effect.map(ServerConfig, ({ vaultApi }) =>
    vaultApi
      ? Layer.discard(Layer.mergeAll(LoginHttp, TokenHttp, KeyValueHttp, StatusHttp, UnservedHttp)).pipe(
          Layer.provide(AuthenticationLive)
        )
      : Layer.empty
  )
)

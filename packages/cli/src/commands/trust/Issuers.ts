import { reasonOf } from "@coffer/client/internal/ConnectionProblem"
import { makeSend } from "@coffer/client/internal/NodeRequest"
import { parseJson } from "@coffer/client/internal/ParseJson"
import { textOf } from "@coffer/client/internal/Send"
import { parseServerUrl } from "@coffer/client/internal/ServerUrl"
import { variable, Variables } from "@coffer/client/internal/Variables"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { CannotDo, WrongUsage } from "../../base/Failures.js"
import type { KeylessSystem } from "@coffer/domain/guides/Keyless"
import type { TrustOptions } from "./TrustOptions.js"

export interface Trusted {
  readonly system: KeylessSystem
  readonly issuer: string
  readonly conditions: Readonly<Record<string, string>>
}

const seconds = 30

/** Asks the API of a forge for a record. Its token goes there alone, and not over clear text to another machine. */
const ask = Effect.fnUntraced(function* (
  base: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  next: string
) {
  const server = yield* Effect.mapError(
    parseServerUrl(base, "flag"),
    ({ message }) => new WrongUsage({ message: `--api-url ${message}` })
  )
  const failed = (reason: string) =>
    new CannotDo({ message: `the ids are not known: ${server.base} ${reason}; ${next}` })
  if (!server.secure && !server.local) return yield* failed("is not https")
  const send = yield* makeSend(server)
  const url = new URL(server.base + path)
  const response = yield* send({
    url,
    method: "GET",
    headers: { accept: "application/json", "user-agent": "coffer", ...headers }
  }).pipe(
    Effect.mapError((cause) => failed(`cannot be reached: ${reasonOf(cause)}`)),
    Effect.timeoutFail({
      duration: `${seconds} seconds`,
      onTimeout: () => failed(`did not respond within ${seconds} s`)
    })
  )
  const found = Option.getOrUndefined(parseJson(textOf(response)))
  if (response.status !== 200 || !Predicate.isRecord(found)) return yield* failed(`answered ${response.status}`)
  return found
}, Effect.scoped)

const idIn = (record: unknown): string | undefined =>
  Predicate.hasProperty(record, "id") && typeof record.id === "number" ? String(record.id) : undefined

/** The ids of a repository and its owner: given, or asked of the API. */
const repositoryIds = Effect.fnUntraced(function* (repository: string, options: TrustOptions) {
  const { ownerId, repositoryId } = options
  if (repositoryId !== undefined) {
    return { "/repository_id": repositoryId, ...(ownerId !== undefined && { "/repository_owner_id": ownerId }) }
  }
  const env = yield* Variables
  const token = variable(env, "GITHUB_TOKEN")
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const base = options.apiUrl ?? variable(env, "GITHUB_API_URL") ?? "https://api.github.com"
  const next = "set GITHUB_TOKEN for a private repository, or give --repository-id"
  const found = yield* ask(base, `/repos/${repository}`, headers, next)
  const [id, owner] = [idIn(found), idIn(found["owner"])]
  if (id === undefined || owner === undefined) return yield* new CannotDo({ message: `${base} gives no ids; ${next}` })
  return { "/repository_id": id, "/repository_owner_id": ownerId ?? owner }
})

const projectId = Effect.fnUntraced(function* (project: string, options: TrustOptions) {
  if (options.projectId !== undefined) return options.projectId
  const env = yield* Variables
  const token = variable(env, "GITLAB_TOKEN")
  const base = options.apiUrl ?? "https://gitlab.com/api/v4"
  const next = "set GITLAB_TOKEN for a private project, or give --project-id"
  const headers = token === undefined ? {} : { "private-token": token }
  const id = idIn(yield* ask(base, `/projects/${encodeURIComponent(project)}`, headers, next))
  return id ?? (yield* new CannotDo({ message: `${base} gives no id; ${next}` }))
})

/** The claim that names the branch or tag, where it is not `ref`. */
const refs: Readonly<Record<string, string>> = { buildkite: "/build_branch", circleci: "/oidc.circleci.com~1vcs-ref" }

const narrowed = (system: Trusted["system"], { environment, ref }: TrustOptions): Trusted["conditions"] => ({
  ...(environment !== undefined && { "/environment": environment }),
  ...(ref !== undefined && { [refs[system] ?? "/ref"]: ref })
})

/** The issuer and the conditions that the options name. */
export const trustedBy = Effect.fnUntraced(function* (options: TrustOptions) {
  const { buildkite, circleci, claim, github, gitlab, issuer, kubernetes } = options
  const extra = Object.fromEntries(claim)
  const trusted = (system: Trusted["system"], own: string, conditions: Trusted["conditions"]): Trusted => ({
    system,
    issuer: issuer ?? own,
    conditions: { ...conditions, ...narrowed(system, options), ...extra }
  })
  if (github !== undefined) {
    return trusted("github", "https://token.actions.githubusercontent.com", yield* repositoryIds(github, options))
  }
  if (gitlab !== undefined) {
    return trusted("gitlab", "https://gitlab.com", { "/project_id": yield* projectId(gitlab, options) })
  }
  if (kubernetes !== undefined) {
    const [namespace = "", name = ""] = kubernetes.split("/")
    return trusted("kubernetes", "https://kubernetes.default.svc.cluster.local", {
      "/kubernetes.io/namespace": namespace,
      "/kubernetes.io/serviceaccount/name": name
    })
  }
  if (buildkite !== undefined) {
    return trusted("buildkite", "https://agent.buildkite.com", { "/pipeline_id": buildkite })
  }
  if (circleci !== undefined) {
    const [organization = "", project = ""] = circleci.split("/")
    const id = { "/oidc.circleci.com~1project-id": project }
    return trusted("circleci", `https://oidc.circleci.com/org/${organization}`, id)
  }
  return trusted("other", "", {})
})

import { isPointer } from "@coffer/domain/directory/Claims"
import { Expiry, Issuer, MaxAge, Ttl } from "@coffer/domain/directory/Federation"
import { FederationName } from "@coffer/domain/base/Names"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { argument, option, repeatedOption, secondsOf } from "../../grammar/Fields.js"
import { type Codec, completedBy, old, oneOf } from "../../grammar/Specs.js"
import { lasting } from "../../grammar/Times.js"
import { NameOrId } from "../../subjects/Subjects.js"

const matching = (pattern: RegExp, rule: string): Codec<string> => ({
  value: "text",
  description: "",
  decode: (name, text) => (pattern.test(text) ? Either.right(text) : Either.left(`${name} must be ${rule}`))
})

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const uuids = new RegExp(`${uuid.source.slice(0, -1)}/${uuid.source.slice(1)}`)

const id = matching(/^[0-9]{1,20}$/, "a number")

/** `name=value`, or `/pointer=value` for a claim within others. */
const claim: Codec<readonly [pointer: string, value: string]> = {
  value: "text",
  description: "",
  decode: (name, text) => {
    const at = text.indexOf("=")
    const key = text.slice(0, Math.max(at, 0))
    const pointer = key.startsWith("/") ? key : `/${key.replaceAll("~", "~0")}`
    return isPointer(pointer) && at < text.length - 1
      ? Either.right([pointer, text.slice(at + 1)] as const)
      : Either.left(`${name} must be CLAIM=VALUE, or a JSON Pointer in place of the claim`)
  }
}

export const account = completedBy("account", argument("ACCOUNT", NameOrId, "The service account, by name or id"))

export const trustFields = {
  account,
  github: option("github", matching(/^[\w.-]+\/[\w.-]+$/, "OWNER/REPO"), "A repository, as OWNER/REPO"),
  gitlab: option("gitlab", matching(/^[\w.-]+(\/[\w.-]+)+$/, "GROUP/PROJECT"), "A project, as GROUP/PROJECT"),
  kubernetes: option(
    "kubernetes",
    matching(/^[a-z0-9.-]+\/[a-z0-9.-]+$/, "NAMESPACE/SERVICEACCOUNT"),
    "A workload, as NAMESPACE/SERVICEACCOUNT; needs --jwks or --issuer"
  ),
  buildkite: option("buildkite", matching(uuid, "the id of a pipeline"), "A pipeline, by its id"),
  circleci: option(
    "circleci",
    matching(uuids, "ORGANIZATION_ID/PROJECT_ID"),
    "A project, as ORGANIZATION_ID/PROJECT_ID"
  ),
  issuer: option("issuer", Issuer),
  environment: option("environment", Schema.NonEmptyString, "Only jobs of this deployment environment"),
  ref: option("ref", Schema.NonEmptyString, "Only jobs of this branch or tag, as the tokens name it: refs/heads/main"),
  claim: repeatedOption("claim", claim, "A claim that tokens must have, as CLAIM=VALUE; may be given again"),
  jwks: option("jwks", Schema.NonEmptyString, "A file with the issuer's public keys, if the server cannot reach it"),
  repositoryId: option("repository-id", id, "The repository's id, instead of asking GitHub"),
  ownerId: option("owner-id", id, "The id of the repository's owner"),
  projectId: option("project-id", id, "The project's id, instead of asking GitLab"),
  apiUrl: option("api-url", Schema.NonEmptyString, "The API to ask for the ids, such as that of GitHub Enterprise"),
  name: option("name", FederationName),
  ttl: oneOf(
    option("session-for", secondsOf(Ttl), "How long a session lasts, from 1m to 1h; default: 15m"),
    old(option("ttl", secondsOf(Ttl), "Old form of --session-for"))
  ),
  maxAge: option("max-age", secondsOf(MaxAge), "The greatest age of a token, from 1m to 15m; default: 10m"),
  end: lasting("it is trusted", old(option("expires-at", Expiry, "Old form of --until")))
}

export interface TrustOptions {
  readonly github: string | undefined
  readonly gitlab: string | undefined
  readonly kubernetes: string | undefined
  readonly buildkite: string | undefined
  readonly circleci: string | undefined
  readonly issuer: string | undefined
  readonly environment: string | undefined
  readonly ref: string | undefined
  readonly claim: ReadonlyArray<readonly [pointer: string, value: string]>
  readonly jwks: string | undefined
  readonly repositoryId: string | undefined
  readonly ownerId: string | undefined
  readonly projectId: string | undefined
  readonly apiUrl: string | undefined
}

/** Returns the problem with an invalid combination of options. */
export const trustProblem = (options: TrustOptions): string | undefined => {
  const { buildkite, circleci, claim, environment, github, gitlab, issuer, jwks, kubernetes, ref } = options
  const named = [github, gitlab, kubernetes, buildkite, circleci].filter((each) => each !== undefined).length
  if (named > 1 || (named === 0 && (issuer === undefined || claim.length === 0))) {
    return "name one: --github, --gitlab, --kubernetes, --buildkite, --circleci, or --issuer with --claim"
  }
  if (environment !== undefined && (buildkite ?? circleci) !== undefined) {
    return "--environment is for GitHub and GitLab: give --ref or --claim"
  }
  if (environment !== undefined && ref !== undefined) return "give --environment or --ref, not both"
  if (kubernetes !== undefined && issuer === undefined && jwks === undefined) {
    return "--kubernetes needs the cluster's keys, from kubectl get --raw /openid/v1/jwks, as --jwks FILE; or an --issuer that the server can reach"
  }
  return undefined
}

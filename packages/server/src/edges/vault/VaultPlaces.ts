import { currentActor, delegationOf } from "@coffer/domain/access/Actor"
import type { NotFound } from "@coffer/domain/errors/Errors"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { notVisible } from "../../access/place/NotFound.js"
import type { Namespace } from "../../http/vault/Contract.js"
import { accountOf } from "./KeySessions.js"

/** The namespace of a request, or null. Vault's clients may end it with a slash; the root namespace is empty. */
export const namespaceOf = (headers: Namespace): string | null => {
  const namespace = headers["x-vault-namespace"]?.replace(/\/$/, "")
  return namespace === undefined || namespace === "" ? null : namespace
}

/** Returns a name, or fails as for one that does not exist. The message does not repeat it: it can hold anything. */
const nameAs =
  <Name>(schema: Schema.Schema<Name, string>, what: string) =>
  (text: string): Effect.Effect<Name, NotFound> =>
    Effect.mapError(Schema.decode(schema)(text), () => notVisible(what))

const orgNamed = nameAs(OrgName, "the namespace")
const projectNamed = nameAs(ProjectName, "the project")
const envNamed = nameAs(EnvName, "the environment")

/** The organization that a request names, or else that of its token. Whether it exists is not looked at. */
const orgOf = (headers: Namespace) =>
  Effect.gen(function* () {
    const namespace = namespaceOf(headers)
    if (namespace !== null) return yield* orgNamed(namespace)
    const actor = yield* currentActor
    return delegationOf(actor)?.org.name ?? (yield* accountOf(actor)).orgName
  })

/** The names of a project and its organization. Whether they exist is not looked at. */
export const projectOf = (headers: Namespace, path: { readonly project_name: string }) =>
  Effect.all({ org_name: orgOf(headers), project_name: projectNamed(path.project_name) })

/** The names of an environment, its project and its organization. Whether they exist is not looked at. */
export const envOf = (headers: Namespace, path: { readonly project_name: string; readonly env_name: string }) =>
  Effect.all({
    org_name: orgOf(headers),
    project_name: projectNamed(path.project_name),
    env_name: envNamed(path.env_name)
  })

import {
  AuditAction,
  AuditActor,
  AuditEnv,
  AuditKey,
  AuditProject,
  AuditResourceType
} from "@coffer/domain/audit/AuditFilters"
import type { Settings } from "@coffer/client/internal/Settings"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { codecOf, option, optionalArgument } from "../../grammar/Fields.js"
import { patternPlace } from "../../grammar/PlaceArguments.js"
import { type Codec, completedBy, orOld } from "../../grammar/Specs.js"
import { rangeOptions } from "../../grammar/Times.js"

/** The filters of entries beside the place. */
export const filters = {
  action: option("action", AuditAction),
  actor: option("actor", AuditActor),
  key: option("key", AuditKey),
  ...rangeOptions,
  resourceType: option("resource-type", AuditResourceType)
}

/** The names that entries are about. */
export interface LogPlace {
  readonly org: string | undefined
  /** Undefined for any, or for that of the settings. */
  readonly project: typeof AuditProject.Type | undefined
  readonly env: typeof AuditEnv.Type | undefined
  /** Whether an undefined project is that of the settings. */
  readonly isHere: boolean
}

const codecs = { project: codecOf(AuditProject), env: codecOf(AuditEnv) }

const anyOr = <A>({ decode }: Codec<A>, name: string, text: string | undefined) =>
  text === undefined || text === "*" ? Either.right(undefined) : decode(name, text)

const logPlace: Codec<LogPlace> = {
  value: "text",
  description: "",
  decode: (name, text) =>
    Either.flatMap(patternPlace.decode(name, text), ({ env, org, project }) =>
      Either.all({
        org: Either.right(org),
        project: anyOr(codecs.project, name, project),
        env: anyOr(codecs.env, name, env),
        isHere: Either.right(project === undefined)
      })
    )
}

/** Not the shared options: a project in service.yml must not hide the entries of other projects. */
const oldPlace = { project: option("project", AuditProject), env: option("env", AuditEnv) }

export const about = orOld(
  completedBy(
    "env-path",
    optionalArgument(
      "PLACE",
      logPlace,
      "Only entries about this place, by its names at that time, such as webshop/prod, 'webshop/*' or '*/prod'"
    )
  ),
  oldPlace,
  (names) => Either.right({ ...names, org: undefined, isHere: false })
)

/** The names that entries are about, with the project of the settings. */
export const namesOf = Effect.fnUntraced(function* (settings: Settings | undefined, place: LogPlace | undefined) {
  const { env, isHere = false, project } = place ?? {}
  return { env, project: project ?? (isHere && settings !== undefined ? yield* settings.project : undefined) }
})

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
import { orAny, placeOf, type PlaceOf } from "../../grammar/PlaceArguments.js"
import { completedBy, orOld } from "../../grammar/Specs.js"
import { rangeOptions } from "../../grammar/Times.js"

/** The filters of entries beside the place. */
export const filters = {
  action: option("action", AuditAction),
  actor: option("actor", AuditActor),
  key: option("key", AuditKey),
  ...rangeOptions,
  resourceType: option("resource-type", AuditResourceType)
}

/** The names that entries are about; null for any. */
export type LogPlace = PlaceOf<typeof AuditProject.Type | null, typeof AuditEnv.Type | null>

const logPlace = placeOf(orAny(codecOf(AuditProject)), orAny(codecOf(AuditEnv)))

/** The place that entries are about. */
export const place = completedBy(
  "env-path",
  optionalArgument(
    "PLACE",
    logPlace,
    "Only entries about this place, by its names at that time, such as webshop/prod, 'webshop/*' or '*/prod'"
  )
)

/** Not the shared options: a project in service.yml must not hide the entries of other projects. */
const oldPlace = { project: option("project", AuditProject), env: option("env", AuditEnv) }

/** The same, with the options of earlier releases. */
export const about = orOld(place, oldPlace, ({ env = null, project = null }) =>
  Either.right({ env, project, org: undefined })
)

/** The names that entries are about, with the project of the settings. */
export const namesOf = Effect.fnUntraced(function* (settings: Settings | undefined, about: LogPlace | undefined) {
  const { env, project } = about ?? { env: null, project: null }
  const here = project === undefined && settings !== undefined ? yield* settings.project : undefined
  return { env: env ?? undefined, project: project ?? here }
})

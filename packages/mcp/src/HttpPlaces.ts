import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import { envNameForm, type Form, orgNameForm, projectNameForm } from "@coffer/domain/base/NameForms"
import type * as Brand from "effect/Brand"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Pinned } from "./Failures.js"
import { type FindSettings, otherNames, type Scope } from "./Places.js"

const words = { org: "organization", project: "project", env: "environment" } as const
type Name = keyof typeof words

/** A call names no place, and the address of the tool server does not either. */
class MissingPlace extends Data.TaggedError("MissingSettings")<{
  readonly names: ReadonlyArray<Name>
  readonly message: string
}> {}

const missing = (name: Name) =>
  new MissingPlace({
    names: [name],
    message: `no ${words[name]} is given: pass the parameter ${name}, or add ${name}=… to the address of the tool server`
  })

const merged = (failures: ReadonlyArray<Option.Option<MissingPlace>>): MissingPlace => {
  const found = failures.flatMap((failure) => Option.toArray(failure))
  return new MissingPlace({
    names: found.flatMap(({ names }) => names),
    message: found.map(({ message }) => message).join("; ")
  })
}

/** Finds the place of a call by its parameters, or else by the address of the tool server and the credential. */
export const placesOf =
  (server: ServerUrl, place: Scope, pin: boolean): FindSettings =>
  (given, about) => {
    const chosen = pin ? otherNames(place, given, about) : []
    if (chosen.length > 0) {
      const message = `pin is on, so a call may not choose its ${chosen.join(", ")}: only the configured place is used`
      return Effect.fail(new Pinned({ message }))
    }
    const name = <B extends string>(key: Name, form: Form<B>): Effect.Effect<string & Brand.Brand<B>, MissingPlace> =>
      Effect.suspend(() => {
        const found = given[key] ?? place[key]
        return found !== undefined && form.is(found) ? Effect.succeed(found) : missing(key)
      })
    const org = name("org", orgNameForm)
    const project = name("project", projectNameForm)
    const env = name("env", envNameForm)
    return Effect.succeed({
      server: Effect.succeed(server),
      orgPath: Effect.map(org, (org_name) => ({ org_name })),
      projectPath: Effect.all({ org_name: org, project_name: project }, { mode: "validate" }).pipe(
        Effect.mapError((failures) => merged(Object.values(failures)))
      ),
      envPath: Effect.all({ org_name: org, project_name: project, env_name: env }, { mode: "validate" }).pipe(
        Effect.mapError((failures) => merged(Object.values(failures)))
      )
    })
  }

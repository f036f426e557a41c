import type { Actor, Caller } from "@coffer/domain/access/Actor"
import type { OrgId } from "@coffer/domain/base/Ids"
import { envNameForm, type Form, orgNameForm, projectNameForm } from "@coffer/domain/base/NameForms"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import type { FoundPlace, PlaceNames } from "../place/PlaceRow.js"

const nowhere: PlaceNames = { org: null, project: null, env: null }

/** Returns the name if well-formed, else null: PostgreSQL rejects text with a zero byte. */
const nameIn = (form: Form<string>, text: string | undefined) => (text !== undefined && form.is(text) ? text : null)

/** The names on the path of the request, before the contract has checked them. */
export const namesIn = (context: Context.Context<never>): PlaceNames =>
  Option.match(Context.getOption(context, HttpRouter.RouteContext), {
    onNone: () => nowhere,
    onSome: ({ params }) => ({
      org: nameIn(orgNameForm, params["org_name"]),
      project: nameIn(projectNameForm, params["project_name"]),
      env: nameIn(envNameForm, params["env_name"])
    })
  })

/** A caller with the place that the path names, as one statement read both. */
export class AuthenticatedCaller<A extends Actor = Actor> implements Caller {
  private isTaken = false

  constructor(
    readonly actor: A,
    private readonly names: PlaceNames,
    /** The place as it was then; null if there was none. */
    readonly found: FoundPlace | null
  ) {}

  /** The organization on the path; null if there was none. */
  get orgId(): OrgId | null {
    return this.found?.org.id ?? null
  }

  /** The place, once: rights may have changed since, so the next one must read it. Undefined if the path names another one. */
  takePlace({ env, org, project }: PlaceNames): FoundPlace | null | undefined {
    const isFirst = !this.isTaken
    this.isTaken = true
    const { names } = this
    return isFirst && names.org === org && names.project === project && names.env === env ? this.found : undefined
  }
}

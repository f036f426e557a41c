import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Authentication } from "../access/Actor.js"
import { ServerFacts, ServerSettings } from "../server/ServerFacts.js"
import { response } from "./Response.js"
import { Admission, ForDelegations, Requires, requires } from "./Requirement.js"

export class ServerApi extends HttpApiGroup.make("server")
  .add(
    HttpApiEndpoint.get("show", "/api/server")
      .addSuccess(response(ServerFacts, "What the server offers"))
      .annotate(Requires, "credential")
      .annotate(ForDelegations, "any")
      .annotate(OpenApi.Summary, "Show what this server offers")
      .annotate(OpenApi.Description, "For clients that offer only what the server's settings switch on.")
  )
  .add(
    HttpApiEndpoint.get("settings", "/api/server/settings")
      .addSuccess(response(ServerSettings, "The settings, and how much is on the server"))
      .pipe(requires("superadmin"))
      .annotate(OpenApi.Summary, "List the server's settings and where they come from")
      .annotate(
        OpenApi.Description,
        "For superadmins. As `coffer-server check` prints them: of a secret only whether it is set. Settings change with a restart alone. `usage` has the size of the database and counts of organizations and people."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Server")
  .annotate(OpenApi.Description, "What the server's settings switch on") {}

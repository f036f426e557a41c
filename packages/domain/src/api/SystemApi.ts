import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { NotReady } from "../errors/Errors.js"
import { field } from "../base/Schemas.js"
import { response } from "./Response.js"
import { Admission, Requires } from "./Requirement.js"

const Health = Schema.Struct({ status: field(Schema.Literal("ok"), "always ok") }).annotations({
  identifier: "Health",
  description: "the health of the server"
})

export class SystemApi extends HttpApiGroup.make("system")
  .add(
    HttpApiEndpoint.get("health", "/health")
      .addSuccess(response(Health, "The server is up"))
      .annotate(Requires, "nothing")
      .annotate(OpenApi.Summary, "Check that the server is up")
      .annotate(OpenApi.Description, "Does not use the database.")
  )
  .add(
    HttpApiEndpoint.get("ready", "/health/ready")
      .addSuccess(response(Health, "The server and its database are up"))
      .addError(NotReady)
      .annotate(Requires, "nothing")
      .annotate(OpenApi.Summary, "Check that the database responds and the audit log can be written")
      .annotate(OpenApi.Description, "For load balancers, and for scripts that wait for the server to start.")
  )
  .add(
    HttpApiEndpoint.get("openApi", "/openapi.json")
      .addSuccess(response(Schema.Unknown.annotations({ jsonSchema: { type: "object" } }), "The document"))
      .annotate(Requires, "nothing")
      .annotate(OpenApi.Summary, "Get this API definition as OpenAPI")
      .annotate(OpenApi.Description, "Returns this OpenAPI 3.1 document.")
  )
  .add(
    HttpApiEndpoint.get("docs", "/docs")
      .addSuccess(response(HttpApiSchema.Text({ contentType: "text/html; charset=utf-8" }), "The page"))
      .annotate(Requires, "nothing")
      .annotate(OpenApi.Summary, "Get this API definition as a page")
      .annotate(OpenApi.Description, "Self-contained: the page loads no external resources.")
  )
  .add(
    HttpApiEndpoint.get("llms", "/llms.txt")
      .addSuccess(response(HttpApiSchema.Text({ contentType: "text/plain; charset=utf-8" }), "The index"))
      .annotate(Requires, "nothing")
      .annotate(OpenApi.Summary, "A curated index of the documentation, for language models")
      .annotate(OpenApi.Description, "In the format of https://llmstxt.org.")
  )
  .add(
    HttpApiEndpoint.get("llmsFull", "/llms-full.txt")
      .addSuccess(response(HttpApiSchema.Text({ contentType: "text/plain; charset=utf-8" }), "The text"))
      .annotate(Requires, "nothing")
      .annotate(OpenApi.Summary, "The whole documentation as plain text")
      .annotate(OpenApi.Description, "Returns all pages of the documentation, and this API definition as tables.")
  )
  .middleware(Admission)
  .annotate(OpenApi.Title, "System")
  .annotate(OpenApi.Description, "Health checks and documentation. No credential needed") {}

import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { NotReady } from "../Errors.js"
import { Admission, Requires } from "./Requirement.js"

const Health = Schema.Struct({ status: Schema.Literal("ok") }).annotations({ identifier: "Health" })

export class SystemApi extends HttpApiGroup.make("system")
  .add(
    HttpApiEndpoint.get("health", "/health")
      .addSuccess(Health)
      .annotate(Requires, "nothing")
      .annotate(OpenApi.Summary, "Check that the server is up")
  )
  .add(
    HttpApiEndpoint.get("ready", "/health/ready")
      .addSuccess(Health)
      .addError(NotReady)
      .annotate(Requires, "nothing")
      .annotate(OpenApi.Summary, "Check that the database responds and the audit log can be written")
  )
  .add(
    HttpApiEndpoint.get("openApi", "/openapi.json")
      .addSuccess(Schema.Unknown.annotations({ jsonSchema: { type: "object" } }))
      .annotate(Requires, "nothing")
      .annotate(OpenApi.Summary, "Get this API definition as OpenAPI")
  )
  .add(
    HttpApiEndpoint.get("docs", "/docs")
      .addSuccess(HttpApiSchema.Text({ contentType: "text/html; charset=utf-8" }))
      .annotate(Requires, "nothing")
      .annotate(OpenApi.Summary, "Get this API definition as a page")
  )
  .add(
    HttpApiEndpoint.get("llms", "/llms.txt")
      .addSuccess(HttpApiSchema.Text({ contentType: "text/plain; charset=utf-8" }))
      .annotate(Requires, "nothing")
      .annotate(OpenApi.Summary, "A curated index of the documentation, for language models")
  )
  .add(
    HttpApiEndpoint.get("llmsFull", "/llms-full.txt")
      .addSuccess(HttpApiSchema.Text({ contentType: "text/plain; charset=utf-8" }))
      .annotate(Requires, "nothing")
      .annotate(OpenApi.Summary, "The whole documentation as plain text")
  )
  .middleware(Admission)
  .annotate(OpenApi.Title, "System")
  .annotate(OpenApi.Description, "Health checks and documentation. No credential needed") {}

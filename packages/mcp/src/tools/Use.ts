import { UseRequest, UseResponse } from "@coffer/domain/secrets/UseRequest"
import { Use } from "@coffer/domain/secrets/UseRule"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { afterApproval } from "../Approving.js"
import { reads, requests } from "../Hints.js"
import { pages } from "../Pages.js"
import { plain } from "../Plain.js"
import { parameters, tool } from "../Tool.js"

const when = { use: true } as const

/** A result of a tool comes whole. */
const { stream: _stream, ...requestFields } = UseRequest.fields

export const httpRequest = tool({
  name: "http_request",
  title: "Make a request with a secret",
  description:
    "Makes an HTTP request from the server with the secrets that you name, and returns the status, headers and body of the answer. " +
    "The server puts the values where a rule says: you never see them, and must not write a placeholder. " +
    "Use it to call an API that needs a secret; secret_uses lists what you may call. " +
    "Where the answer has a new key, store keeps it as a secret, and you never see it.",
  hints: requests,
  when,
  parameters: parameters(requestFields),
  at: "env",
  output: UseResponse,
  run: (call, path, { body, body_base64, headers, method, secrets, store, url }, context) =>
    afterApproval(
      call("use", (api) =>
        api.use({
          path,
          payload: {
            method,
            url,
            secrets,
            ...(headers !== undefined && { headers }),
            ...(body !== undefined && { body }),
            ...(body_base64 !== undefined && { body_base64 }),
            ...(store !== undefined && { store })
          }
        })
      ),
      `Approve ${method} ${plain(url)} with ${secrets.join(", ")} of ${path.org_name}/${path.project_name}/${path.env_name}?`,
      path.org_name,
      context
    )
})

/** A model has no use for the place of a value: the server fills it. */
const { place: _place, ...listed } = Use.fields
const ListedUse = Schema.Struct(listed).annotations(Use.ast.annotations)

const uses = pages({
  item: ListedUse,
  nameOf: ({ hosts, key, paths }) => [key, ...hosts, ...paths].join(" "),
  by: "key",
  size: 50
})

export const secretUses = tool({
  name: "secret_uses",
  title: "List what secrets may be used for",
  description:
    "Returns the requests that you may make with http_request: for each secret the hosts, methods and paths, and how many requests are left. " +
    "Use it before http_request, or after USE_REFUSED. It returns no values.",
  hints: reads,
  when,
  parameters: parameters(uses.parameters),
  at: "env",
  output: uses.output,
  run: (call, path, parameters) =>
    call("use", (api) => api.uses({ path })).pipe(Effect.map(({ data }) => uses.page(data, parameters)))
})

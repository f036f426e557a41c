import { NotFound } from "@coffer/domain/errors/Errors"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { NodeRequest } from "../../http/NodeRequest.js"
import { documentPath } from "../../http/Routes.js"
import { documentPages } from "./Documents.js"

const nameIn = (url: string): string => (url.split("?", 1)[0] ?? "").slice("/docs/".length)

/** The documentation page by page, as `llms.txt` links it: a program reads one, and not all of them. */
export const DocumentPagesLive = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function* () {
    const pages = yield* documentPages
    yield* router.get(
      documentPath,
      Effect.flatMap(NodeRequest.current, ({ url }) =>
        Effect.flatten(
          Effect.mapError(
            Effect.fromNullable(pages.get(nameIn(url))),
            () => new NotFound({ message: "no such document: /llms.txt lists them all" })
          )
        )
      )
    )
  })
).pipe(Layer.provide(NodeFileSystem.layer))

import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerError from "@effect/platform/HttpServerError"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ServerConfig } from "../../base/Config.js"
import { NodeRequest } from "../../http/NodeRequest.js"
import { staticResponse } from "../../http/StaticFile.js"
import { homePage } from "../pages/LoginPages.js"
import { assets, fileOf, isAddress } from "./ConsoleAddresses.js"
import { consoleFolder, readConsole } from "./ConsoleFiles.js"
import { ofAsset, ofFile, ofPage } from "./Headers.js"
import { wantsPage } from "./Negotiation.js"

/** The route of the console in logs and metrics: paths would name tenants and keys. */
const route = "/*"

const page = "index.html"

/** The files of the console, and its one page for all of its addresses. What is neither is not found, as elsewhere. */
const makeConsole = Effect.gen(function* () {
  const files = yield* readConsole(consoleFolder)
  const index = files.get(page)
  const notFound = (request: NodeRequest) => new HttpServerError.RouteNotFound({ request })
  return {
    root: Effect.map(NodeRequest.current, ({ headers }) =>
      index === undefined ? homePage() : staticResponse(index, headers, ofPage)
    ),
    rest: Effect.flatMap(NodeRequest.current, (request) => {
      const { headers, info, url } = request
      const name = fileOf(url)
      const file = name === page ? undefined : files.get(name)
      if (file !== undefined) {
        info.route = route
        return Effect.succeed(staticResponse(file, headers, name.startsWith(assets) ? ofAsset : ofFile))
      }
      if (index === undefined || !isAddress(url) || !wantsPage(headers["accept"])) return notFound(request)
      info.route = route
      return Effect.succeed(staticResponse(index, headers, ofPage))
    })
  } as const
})

/** The web console, unless it is switched off. */
export const ConsoleLive = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function* () {
    const { webConsole } = yield* ServerConfig
    if (!webConsole) {
      yield* router.get("/", Effect.succeed(homePage()))
      return
    }
    const { rest, root } = yield* makeConsole
    yield* router.get("/", root)
    yield* router.get("/*", rest)
  })
).pipe(Layer.provide(NodeFileSystem.layer))

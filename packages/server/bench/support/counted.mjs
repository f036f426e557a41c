/** The built server, not bundled, whose parent asks for the steps of its fibers. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Layer from "effect/Layer"
import { loadConfig, ServerConfig } from "../../dist/base/Config.js"
import { ServerLive } from "../../dist/Server.js"
import { makeStepCounter } from "./steps.mjs"

const { begin, counting, end } = makeStepCounter()

process.on("message", (name) => {
  if (name === "begin") begin()
  if (name === "end") process.send(end())
})

ServerLive.pipe(
  Layer.provide(Layer.effect(ServerConfig, loadConfig(process.env))),
  Layer.launch,
  counting,
  NodeRuntime.runMain
)

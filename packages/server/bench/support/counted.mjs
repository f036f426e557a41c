/** The built server, not bundled, whose parent asks for the steps and statements of its fibers. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import Sqlite from "better-sqlite3"
import * as Layer from "effect/Layer"
import { loadConfig, ServerConfig } from "../../dist/base/Config.js"
import { ServerLive } from "../../dist/Server.js"
import { makeStepCounter } from "./steps.mjs"

const { begin, counting, end, statement, statements } = makeStepCounter()

const prototype = Object.getPrototypeOf(new Sqlite(":memory:").prepare("SELECT 1"))
for (const name of ["run", "all", "get"]) {
  const run = prototype[name]
  prototype[name] = function (...values) {
    statement()
    return run.apply(this, values)
  }
}

process.on("message", (name) => {
  if (name === "begin") begin()
  if (name === "end") process.send({ steps: end(), statements: statements() })
})

ServerLive.pipe(
  Layer.provide(Layer.effect(ServerConfig, loadConfig(process.env))),
  Layer.launch,
  counting,
  NodeRuntime.runMain
)

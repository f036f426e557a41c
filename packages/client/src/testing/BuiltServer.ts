import { ServerProcess } from "./ServerProcess.js"
import { findServer, processVariables } from "./TestSettings.js"

/** One for all, so that a folder's server can be started again. */
const masterKey = "c0ffee".padEnd(64, "0")

/** Starts the built server in a folder, with the settings that `coffer-server dev` does not take, and waits until it listens. */
export const startBuiltServer = async (folder: string, variables: NodeJS.ProcessEnv = {}) => {
  const program = findServer()
  if (program === undefined) throw new Error("the server is not built: run npm run build")
  const server = new ServerProcess(program, {
    cwd: folder,
    env: {
      ...processVariables(),
      SERVICE_MASTER_KEY: masterKey,
      SMTP_HOST: "log",
      SERVICE_PORT: "0",
      ...variables
    }
  })
  const [, url = ""] = await server.err.said(/listening on (http:\/\/[\d.:]+)/)
  return { server, url }
}

import {
  CallError,
  CofferError,
  type Connection,
  connect,
  MissingSecretError,
  type Reloaded
} from "@coffer/client/promise"
import { startTestServer } from "@coffer/client/promise/testing"

/** Compiled in every mode of modules, without Node's types and Effect's. */
export const main = async (server: string): Promise<string> => {
  const coffer: Connection = await connect({ server, place: "dev/app/dev", name: "plain 1.0.0" })
  const pool: Reloaded<{ readonly password: string }> = await coffer.reload(["A", "B"], ({ A }) =>
    Promise.resolve({ password: A })
  )
  const length: number = await pool.use(({ password }) => password.length)
  // @ts-expect-error it was not asked for
  await coffer.reload(["A"], ({ B }) => B)
  const path = { org_name: "dev", project_name: "app", env_name: "dev" }
  const { data } = await coffer.call("secrets", (api) => api.list({ path }))
  // @ts-expect-error there is no such call
  await coffer.call("secrets", (api) => api.nothing({ path }))
  // @ts-expect-error the path has no key
  await coffer.call("secrets", (api) => api.get({ path }))
  try {
    coffer.get("NONE")
  } catch (error) {
    if (error instanceof MissingSecretError) return `${length} ${error.key} ${data.map(({ key }) => key).join()}`
    if (error instanceof CofferError && error.reason === "Unauthorized") return error.message
    if (error instanceof CallError && error.reason === "ChangeRequested") return error.request?.id ?? ""
  }
  const keeps: () => Promise<void> = coffer[Symbol.asyncDispose].bind(coffer) as () => Promise<void>
  await keeps()
  const { url } = await startTestServer({ dev: { A: "1" } })
  return url
}

import { setTimeout as sleep } from "node:timers/promises"
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { assert } from "vitest"
import { freshDatabase } from "../support/postgres/Databases.js"
import { Program } from "../support/Program.js"
import { Receiver } from "../webhooks/Receiver.js"
import { isSoak } from "../../../domain/test/support/Runs.js"

const writes = 120
const envs = ["prod", "staging"]

/** Each version in the order in which it came first. */
const firsts = (receiver: Receiver, env: string): ReadonlyArray<number | null> => {
  const seen = new Set<number | null>()
  for (const { event } of receiver.received) if (event.environment === env) seen.add(event.version)
  return [...seen]
}

describe.skipIf(!isSoak)("three servers on one database (npm run test:soak)", () => {
  it.live(
    "send every event at least once, in order within an environment, while those that send are killed and frozen",
    () =>
      Effect.gen(function* () {
        const { url } = yield* freshDatabase()
        yield* Effect.promise(async () => {
          const receiver = await Receiver.start()
          receiver.answer = (response) => void setTimeout(() => response.writeHead(204).end(), 20)
          const start = () =>
            Program.start({ SERVICE_DATABASE_URL: url, SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8" })
          const servers = [await start(), await start(), await start()]
          const [first] = servers
          const token = (await first?.login("ada@example.com")) ?? ""
          const call = async (server: Program, method: string, path: string, body: unknown) => {
            const answer = await server.call(method, `/api/orgs${path}`, { token, body })
            assert.isBelow(answer.status, 300, answer.text)
          }
          const setUp = async (server: Program) => {
            await call(server, "POST", "", { name: "acme" })
            await call(server, "POST", "/acme/projects", { name: "web" })
            await call(server, "POST", "/acme/webhooks", { url: receiver.url, events: ["secret.set"] })
          }
          if (first !== undefined) await setUp(first)

          const sends = ({ log }: Program): boolean => log.includes("this server does the job webhooks")

          /** Kills the server that sends, and starts another. */
          const replaceSender = async () => {
            const [sender] = servers.splice(servers.findIndex(sends), 1)
            await sender?.stop("SIGKILL")
            servers.push(await start())
          }
          /** Stops the server that sends until another has its lease, and lets it go on: it may send what it held, and no more. */
          const freezeSender = async () => {
            const sender = servers.find(sends)
            sender?.signal("SIGSTOP")
            while (!servers.some((server) => server !== sender && sends(server))) await sleep(200)
            sender?.signal("SIGCONT")
          }
          const write = async (env: string) => {
            for (let version = 1; version <= writes; version++) {
              const server = servers[version % servers.length]
              const put = server?.call("PUT", `/api/orgs/acme/projects/web/envs/${env}/secrets/KEY`, {
                token,
                body: { value: String(version) }
              })
              const status = (await put?.catch(() => undefined))?.status
              if (status !== 200) await sleep(200)
              await sleep(100)
            }
          }
          const writing = Promise.all(envs.map(write))
          for (const disturb of [replaceSender, replaceSender, freezeSender]) {
            await sleep(4_000)
            await disturb()
          }
          await writing
          const newest = async (env: string): Promise<number> => {
            const answer = await servers[0]?.call("GET", `/api/orgs/acme/projects/web/envs/${env}/secrets`, { token })
            return answer?.body.data[0].version
          }
          for (const env of envs) {
            const last = await newest(env)
            const expected = Array.from({ length: last }, (_none, index) => index + 1)
            for (let waited = 0; firsts(receiver, env).length < last && waited < 120; waited++) await sleep(1_000)
            assert.deepStrictEqual(firsts(receiver, env), expected)
          }
          await receiver.stop()
          await Promise.all(servers.map((server) => server.stop("SIGKILL")))
        })
      }).pipe(Effect.scoped)
  )
})

import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { type By, type Client, file, fresh } from "./Client.js"
import { folderOf, isThere, run } from "./Run.js"

const program = "vault-action.js"

/** Gives jobs their tokens, as GitHub does. */
const tokenService = async ({ jwt }: By) => {
  const server = createServer(({ headers, url = "" }, response) => {
    const { searchParams } = new URL(url, "http://localhost")
    const isAsked = headers.authorization === "Bearer job" && searchParams.get("audience") === "coffer"
    response.writeHead(isAsked ? 200 : 400, { "content-type": "application/json" })
    response.end(JSON.stringify({ value: jwt }))
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  return server
}

/** vault-action: its dist/index.js, under the name vault-action.js. */
export const vaultAction: Client = {
  isThere: isThere(program),
  absent: /Unable to retrieve result for "webshop\/data\/nope" because it was not found/,
  read: async (by, env) => {
    const folder = fresh(by)
    const variables = file(folder, "env", "")
    const tokens = await tokenService(by)
    const { port } = tokens.address() as AddressInfo
    const ran = await run(process.execPath, [join(folderOf(program) ?? "", program)], {
      HOME: folder,
      GITHUB_ENV: variables,
      GITHUB_OUTPUT: file(folder, "output", ""),
      ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${port}/token?x=1`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: "job",
      INPUT_URL: by.url,
      INPUT_METHOD: "jwt",
      INPUT_JWTGITHUBAUDIENCE: "coffer",
      INPUT_ROLE: by.role,
      INPUT_NAMESPACE: by.namespace,
      INPUT_SECRETS: `webshop/data/${env} DATABASE_URL | DATABASE_URL`
    })
    tokens.close()
    return { ...ran, out: ran.out + readFileSync(variables, "utf8") }
  }
}

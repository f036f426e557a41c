import { spawnSync } from "node:child_process"
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { freePort } from "../support/Port.js"
import { life, started } from "./RealPlatform.js"

const program = "moto_server"
const isThere = spawnSync(program, ["--version"]).error === undefined

const server = Effect.gen(function* () {
  const port = yield* Effect.promise(freePort)
  const url = `http://127.0.0.1:${port}`
  yield* started(program, ["-H", "127.0.0.1", "-p", String(port)], async () => (await fetch(url)).ok)
  const call = async (service: string, target: string, request: Readonly<Record<string, unknown>>) => {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/x-amz-json-1.1",
        "x-amz-target": target,
        authorization: `AWS4-HMAC-SHA256 Credential=AKID/20260131/eu-central-1/${service}/aws4_request, SignedHeaders=host, Signature=0`
      },
      body: JSON.stringify(request)
    })
    return (await response.json()) as Readonly<Record<string, unknown>>
  }
  return { url, call }
})

const place = (url: string) => ({
  ...{ url, region: "eu-central-1", access_key_id: "AKIAIOSFODNN7EXAMPLE", path: "webshop/prod" }
})

describe.skipIf(!isThere)("a server of AWS's protocols (needs moto_server in the PATH)", () => {
  it.scoped("as Secrets Manager takes what is pushed, and tells what others changed", () =>
    Effect.gen(function* () {
      const { call, url } = yield* server
      const ask = (action: string, request: Readonly<Record<string, unknown>>) =>
        call("secretsmanager", `secretsmanager.${action}`, request)
      const idOf = (name: string) => `webshop/prod/${name}`
      const names = async () => {
        const { SecretList } = await ask("ListSecrets", { MaxResults: 100 })
        return (SecretList as ReadonlyArray<{ Name: string }>).map(({ Name }) => Name)
      }
      yield* life({
        kind: "aws-secrets-manager",
        place: place(url),
        // AWS answers with InvalidRequestException that a removed secret can be restored, this server with another error.
        restores: false,
        values: async () => {
          const pairs = (await names()).map(async (id) => {
            const { SecretString } = await ask("GetSecretValue", { SecretId: id })
            return [id.replace("webshop/prod/", ""), String(SecretString)] as const
          })
          return Object.fromEntries(await Promise.all(pairs))
        },
        write: async (name, value) => {
          if (value === null) return ask("DeleteSecret", { SecretId: idOf(name), ForceDeleteWithoutRecovery: true })
          return (await names()).includes(idOf(name))
            ? ask("PutSecretValue", { SecretId: idOf(name), SecretString: value })
            : ask("CreateSecret", { Name: idOf(name), SecretString: value })
        }
      })
    })
  )

  it.scoped("as Parameter Store takes what is pushed, and tells what others changed", () =>
    Effect.gen(function* () {
      const { call, url } = yield* server
      const ask = (action: string, request: Readonly<Record<string, unknown>>) =>
        call("ssm", `AmazonSSM.${action}`, request)
      const values = async (NextToken?: string): Promise<Readonly<Record<string, string>>> => {
        const found = await ask("GetParametersByPath", { Path: "/webshop/prod", WithDecryption: true, NextToken })
        const rows = found["Parameters"] as ReadonlyArray<{ Name: string; Value: string }>
        const here = Object.fromEntries(rows.map(({ Name, Value }) => [Name.replace("/webshop/prod/", ""), Value]))
        const next = found["NextToken"]
        return typeof next === "string" ? { ...here, ...(await values(next)) } : here
      }
      yield* life({
        kind: "aws-parameter-store",
        place: place(url),
        values: () => values(),
        write: (name, value) =>
          value === null
            ? ask("DeleteParameter", { Name: `/webshop/prod/${name}` })
            : ask("PutParameter", {
                ...{ Name: `/webshop/prod/${name}`, Value: value },
                ...{ Type: "SecureString", Overwrite: true }
              })
      })
    })
  )
})

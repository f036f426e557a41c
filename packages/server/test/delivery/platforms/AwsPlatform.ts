import { createHash, createHmac } from "node:crypto"
import { token } from "../KvServer.js"
import { type Answer, type Arrived, jsonOf, type Platform } from "./StandIn.js"

const sha = (text: string) => createHash("sha256").update(text).digest("hex")
const mac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest()

export const accessKeyId = "AKIAIOSFODNN7EXAMPLE"

/** Whether a request is signed, by https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html. */
const isSigned = ({ body, headers, method, url }: Arrived, service: string): boolean => {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/
  const [, id, day = "", region = "", of, names = "", signature] = pattern.exec(headers.authorization ?? "") ?? []
  if (id !== accessKeyId || of !== service || region !== "eu-central-1") return false
  const signed = names.split(";")
  if (!["host", "x-amz-date", "x-amz-target"].every((name) => signed.includes(name))) return false
  const time = String(headers["x-amz-date"])
  if (!time.startsWith(day)) return false
  const canonical = [
    ...[method, url.pathname, url.searchParams.toString()],
    ...signed.map((name) => `${name}:${String(headers[name]).trim()}`),
    ...["", names, sha(body)]
  ].join("\n")
  const text = ["AWS4-HMAC-SHA256", time, `${day}/${region}/${service}/aws4_request`, sha(canonical)].join("\n")
  const key = mac(mac(mac(mac(`AWS4${token}`, day), region), service), "aws4_request")
  return mac(key, text).toString("hex") === signature
}

const refused = (name: string): Answer => ({
  status: 400,
  json: { __type: `com.amazonaws.test#${name}`, message: "as the test says: Canary" }
})

const paged = (rows: ReadonlyArray<unknown>, request: Record<string, unknown>, most: number) => {
  const size = Math.min(Number(request["MaxResults"] ?? most), most)
  const from = Number(request["NextToken"] ?? 0)
  return { rows: rows.slice(from, from + size), ...(from + size < rows.length && { NextToken: String(from + size) }) }
}

/** https://docs.aws.amazon.com/secretsmanager/latest/apireference/Welcome.html */
export const secretsManager = (): Platform => {
  const held = new Map<string, { value: string; version: string; removed: boolean }>()
  let versions = 0
  const put = (id: string, value: string, version = `by-hand-${++versions}`): Answer => {
    held.set(id, { value, version, removed: false })
    return { status: 200, json: { Name: id, VersionId: version } }
  }
  const list = (request: Record<string, unknown>): Answer => {
    const [{ Values: [prefix = ""] = [] } = {}] = (request["Filters"] ?? []) as ReadonlyArray<{
      Values?: ReadonlyArray<string>
    }>
    const all = [...held]
      .filter(([name, { removed }]) => !removed && name.startsWith(prefix))
      .map(([Name, { version }]) => ({
        Name,
        SecretVersionsToStages: { old: ["AWSPREVIOUS"], [version]: ["AWSCURRENT"] }
      }))
    const { rows, ...next } = paged(all, request, 100)
    return { status: 200, json: { SecretList: rows, ...next } }
  }
  return {
    answer: (arrived) => {
      if (!isSigned(arrived, "secretsmanager")) return refused("InvalidSignatureException")
      const request = jsonOf(arrived)
      const action = String(arrived.headers["x-amz-target"]).replace("secretsmanager.", "")
      if (action === "ListSecrets") return list(request)
      const id = String(request["SecretId"] ?? request["Name"])
      const found = held.get(id)
      const [value, version] = [String(request["SecretString"]), String(request["ClientRequestToken"])]
      if (value.length > 65_536 || value === "") return refused("InvalidParameterException")
      if (action === "CreateSecret") {
        if (found?.removed === true) return refused("InvalidRequestException")
        return found === undefined ? put(id, value, version) : refused("ResourceExistsException")
      }
      if (found === undefined) return refused("ResourceNotFoundException")
      if (action === "RestoreSecret") return put(id, found.value, found.version)
      if (found.removed) return refused("InvalidRequestException")
      if (action === "PutSecretValue") return put(id, value, version)
      if (action === "DeleteSecret") {
        held.set(id, { ...found, removed: true })
        return { status: 200, json: { Name: id } }
      }
      return refused("UnknownOperationException")
    },
    values: () =>
      Object.fromEntries(
        [...held]
          .filter(([, one]) => !one.removed)
          .map(([name, { value }]) => [name.replace("webshop/prod/", ""), value])
      ),
    write: (name, value) => {
      const id = `webshop/prod/${name}`
      if (value === null) held.delete(id)
      else put(id, value)
    }
  }
}

/** https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html and API_GetParametersByPath.html */
export const parameterStore = (): Platform => {
  const held = new Map<string, { Value: string; Type: string; Version: number }>()
  const put = (Name: string, Value: string): Answer => {
    const Version = (held.get(Name)?.Version ?? 0) + 1
    held.set(Name, { Value, Type: "SecureString", Version })
    return { status: 200, json: { Version, Tier: "Standard" } }
  }
  return {
    answer: (arrived) => {
      if (!isSigned(arrived, "ssm")) return refused("InvalidSignatureException")
      const request = jsonOf(arrived)
      const action = String(arrived.headers["x-amz-target"]).replace("AmazonSSM.", "")
      if (action === "GetParametersByPath") {
        if (request["WithDecryption"] !== true) return refused("InvalidFilterKey")
        const all = [...held]
          .filter(([name]) => name.startsWith(`${String(request["Path"])}/`))
          .map(([Name, row]) => ({ Name, ...row }))
        const { rows, ...next } = paged(all, request, 10)
        return { status: 200, json: { Parameters: rows, ...next } }
      }
      const name = String(request["Name"])
      if (action === "DeleteParameter")
        return held.delete(name) ? { status: 200, json: {} } : refused("ParameterNotFound")
      const { Overwrite, Type, Value } = request
      if (action !== "PutParameter" || Type !== "SecureString" || typeof Value !== "string")
        return refused("ValidationException")
      if (Value === "" || Value.length > 4096 || Value.includes("{{")) return refused("ValidationException")
      if (held.has(name) && Overwrite !== true) return refused("ParameterAlreadyExists")
      return put(name, Value)
    },
    values: () => Object.fromEntries([...held].map(([name, { Value }]) => [name.replace("/webshop/prod/", ""), Value])),
    write: (name, value) => {
      if (value === null) held.delete(`/webshop/prod/${name}`)
      else put(`/webshop/prod/${name}`, value)
    }
  }
}

import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  AbortMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client
} from "@aws-sdk/client-s3"
import S3rver from "s3rver"
import { afterAll } from "vitest"

process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] = "true"

/** Where the tests store backups: what the BACKUP_S3_ variables name, else an s3rver of their own. */
const given = process.env["BACKUP_S3_ENDPOINT"]

interface Endpoint {
  readonly url: string
  readonly bucket: string
  readonly accessKey: string
  readonly secretKey: string
  readonly region: string
  readonly close: () => Promise<void>
}

const startOwn = async (): Promise<Endpoint> => {
  const directory = mkdtempSync(join(tmpdir(), "coffer-s3-"))
  const bucket = "coffer-backups"
  const server = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory,
    vhostBuckets: false,
    configureBuckets: [{ name: bucket }]
  })
  const { port } = await server.run()
  return {
    url: `http://127.0.0.1:${port}`,
    bucket,
    accessKey: "S3RVER",
    secretKey: "S3RVER",
    region: "us-east-1",
    close: async () => {
      await server.close()
      rmSync(directory, { recursive: true, force: true })
    }
  }
}

const endpoint: Endpoint =
  given === undefined
    ? await startOwn()
    : {
        url: given,
        bucket: process.env["BACKUP_S3_BUCKET"] ?? "",
        accessKey: process.env["BACKUP_S3_ACCESS_KEY"] ?? "",
        secretKey: process.env["BACKUP_S3_SECRET_KEY"] ?? "",
        region: process.env["BACKUP_S3_REGION"] ?? "us-east-1",
        close: () => Promise.resolve()
      }

export const isOwnEndpoint = given === undefined

const client = new S3Client({
  endpoint: endpoint.url,
  region: endpoint.region,
  forcePathStyle: true,
  credentials: { accessKeyId: endpoint.accessKey, secretAccessKey: endpoint.secretKey },
  requestChecksumCalculation: "WHEN_REQUIRED",
  responseChecksumValidation: "WHEN_REQUIRED"
})

const prefixes = new Set<string>()

afterAll(async () => {
  for (const prefix of prefixes) {
    for (const key of await keysBelow(prefix)) await removeObject(key)
    // s3rver knows nothing of unfinished uploads.
    if (!isOwnEndpoint) await abortUploadsBelow(prefix)
  }
  client.destroy()
  await endpoint.close()
})

/** The settings of a server that backs up here, below a prefix that no other test has. */
export const freshSettings = (): Readonly<Record<string, string>> & { readonly BACKUP_S3_PREFIX: string } => {
  const prefix = `test-${randomUUID()}/`
  prefixes.add(prefix)
  return {
    BACKUP_S3_ENDPOINT: endpoint.url,
    BACKUP_S3_BUCKET: endpoint.bucket,
    BACKUP_S3_REGION: endpoint.region,
    BACKUP_S3_ACCESS_KEY: endpoint.accessKey,
    BACKUP_S3_SECRET_KEY: endpoint.secretKey,
    BACKUP_S3_PREFIX: prefix
  }
}

const Bucket = endpoint.bucket

export const keysBelow = async (prefix: string): Promise<ReadonlyArray<string>> => {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket, Prefix: prefix }))
  return Contents.map(({ Key = "" }) => Key)
}

export const readObject = async (Key: string): Promise<Buffer> => {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }))
  return Buffer.from((await Body?.transformToByteArray()) ?? [])
}

export const writeObject = async (Key: string, Body: Uint8Array | string): Promise<void> => {
  await client.send(new PutObjectCommand({ Bucket, Key, Body }))
}

export const copyObject = async (from: string, to: string): Promise<void> => {
  await client.send(new CopyObjectCommand({ Bucket, Key: to, CopySource: `${Bucket}/${from}` }))
}

export const removeObject = async (Key: string): Promise<void> => {
  await client.send(new DeleteObjectCommand({ Bucket, Key }))
}

export const beginUpload = async (Key: string): Promise<void> => {
  await client.send(new CreateMultipartUploadCommand({ Bucket, Key }))
}

export const uploadsBelow = async (Prefix: string): Promise<ReadonlyArray<string>> => {
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix }))
  return Uploads.map(({ Key = "" }) => Key)
}

const abortUploadsBelow = async (Prefix: string): Promise<void> => {
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix }))
  for (const { Key, UploadId } of Uploads) await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }))
}

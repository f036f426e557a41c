import { randomUUID } from "node:crypto"
import {
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client
} from "@aws-sdk/client-s3"
import { inject } from "vitest"

process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] = "true"

const { own, prefix: below, ...endpoint } = inject("store")

/** Whether the tests store backups in an s3rver of their own. */
export const isOwnEndpoint = own

const client = new S3Client({
  endpoint: endpoint.url,
  region: endpoint.region,
  forcePathStyle: true,
  credentials: { accessKeyId: endpoint.accessKey, secretAccessKey: endpoint.secretKey },
  requestChecksumCalculation: "WHEN_REQUIRED",
  responseChecksumValidation: "WHEN_REQUIRED"
})

/** The settings of a server that backs up here, below a prefix that no other test has. */
export const freshSettings = (): Readonly<Record<string, string>> & { readonly BACKUP_S3_PREFIX: string } => ({
  BACKUP_S3_ENDPOINT: endpoint.url,
  BACKUP_S3_BUCKET: endpoint.bucket,
  BACKUP_S3_REGION: endpoint.region,
  BACKUP_S3_ACCESS_KEY: endpoint.accessKey,
  BACKUP_S3_SECRET_KEY: endpoint.secretKey,
  BACKUP_S3_PREFIX: `${below}${randomUUID()}/`
})

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

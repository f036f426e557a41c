import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client
} from "@aws-sdk/client-s3"
import S3rver from "s3rver"
import type { TestProject } from "vitest/node"

/** Where the tests store backups: what the BACKUP_S3_ variables name, else an s3rver of their own. */
interface Store {
  readonly own: boolean
  readonly url: string
  readonly bucket: string
  readonly accessKey: string
  readonly secretKey: string
  readonly region: string
  /** The prefix of everything that one run of the tests stores. */
  readonly prefix: string
}

declare module "vitest" {
  interface ProvidedContext {
    store: Store
  }
}

const startOwn = async (prefix: string): Promise<readonly [Store, () => Promise<void>]> => {
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
  const url = `http://127.0.0.1:${port}`
  const close = async () => {
    await server.close()
    rmSync(directory, { recursive: true, force: true })
  }
  return [
    { own: true, url, bucket, accessKey: "S3RVER", secretKey: "S3RVER", region: "us-east-1", prefix },
    close
  ] as const
}

/** Leaves nothing of the tests in a store that is not theirs. */
const sweep = async ({ accessKey, bucket: Bucket, prefix: Prefix, region, secretKey, url }: Store): Promise<void> => {
  const client = new S3Client({
    endpoint: url,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey }
  })
  for (;;) {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket, Prefix }))
    if (Contents.length === 0) break
    for (const { Key } of Contents) await client.send(new DeleteObjectCommand({ Bucket, Key }))
  }
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix }))
  for (const { Key, UploadId } of Uploads) await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }))
  client.destroy()
}

/** Starts the store before all tests of a run, and ends it after them: files of tests may share a process. */
const startStore = async (project: TestProject): Promise<() => Promise<void>> => {
  const prefix = `test-${randomUUID()}/`
  const url = process.env["BACKUP_S3_ENDPOINT"]
  if (url === undefined) {
    const [store, close] = await startOwn(prefix)
    project.provide("store", store)
    return close
  }
  const store = {
    own: false,
    url,
    bucket: process.env["BACKUP_S3_BUCKET"] ?? "",
    accessKey: process.env["BACKUP_S3_ACCESS_KEY"] ?? "",
    secretKey: process.env["BACKUP_S3_SECRET_KEY"] ?? "",
    region: process.env["BACKUP_S3_REGION"] ?? "us-east-1",
    prefix
  }
  project.provide("store", store)
  return () => sweep(store)
}

export default startStore

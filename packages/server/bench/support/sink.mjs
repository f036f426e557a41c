import { createServer } from "node:http"
import { once } from "node:events"

const xml = (response, text, headers = {}) => {
  response.writeHead(200, { "content-type": "application/xml", ...headers })
  response.end(`<?xml version="1.0" encoding="UTF-8"?>${text}`)
}

/** Starts a minimal S3 server for backups on a free port. It discards all data. */
export const startSink = async () => {
  let bytes = 0
  const server = createServer((request, response) => {
    request.on("data", (chunk) => (bytes += chunk.length))
    request.on("end", () => {
      const { searchParams } = new URL(request.url, "http://localhost")
      if (request.method === "PUT") return response.writeHead(200, { etag: '"0"' }).end()
      if (request.method === "DELETE") return response.writeHead(204).end()
      if (request.method === "POST" && searchParams.has("uploads")) {
        return xml(response, "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>")
      }
      if (request.method === "POST") {
        return xml(response, "<CompleteMultipartUploadResult><ETag>0</ETag></CompleteMultipartUploadResult>")
      }
      xml(response, "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>")
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    env: {
      BACKUP_S3_ENDPOINT: `http://127.0.0.1:${server.address().port}`,
      BACKUP_S3_BUCKET: "coffer",
      BACKUP_S3_REGION: "us-east-1",
      BACKUP_S3_ACCESS_KEY: "bench",
      BACKUP_S3_SECRET_KEY: "bench"
    },
    received: () => bytes,
    stop: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}

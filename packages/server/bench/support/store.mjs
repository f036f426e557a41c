import S3rver from "s3rver"

/** Starts an object store on a free port, with objects as files in a folder. */
export const startStore = async (directory) => {
  const bucket = "coffer"
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
    env: {
      BACKUP_S3_ENDPOINT: `http://127.0.0.1:${port}`,
      BACKUP_S3_BUCKET: bucket,
      BACKUP_S3_ACCESS_KEY: "S3RVER",
      BACKUP_S3_SECRET_KEY: "S3RVER"
    },
    stop: () => server.close()
  }
}

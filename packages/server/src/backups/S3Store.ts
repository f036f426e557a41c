import type { S3Client, S3ClientConfig } from "@aws-sdk/client-s3"
import { Chunk, Duration, Effect, Fiber, Option, Predicate, Redacted, type Scope, Stream } from "effect"
import { Readable } from "node:stream"
import type { S3Settings } from "../Config.js"
import { type ObjectStore, type StoredObject, StoreFailure } from "./ObjectStore.js"
import { SlicedSha256 } from "./SlicedSha256.js"

/** How long the store may take for a small call, and for anything to move in a large one. */
const patience = "60 seconds"
/** The same, for taking back what a failure left. */
const undoPatience = "10 seconds"
const connectionMillis = 10_000
const attempts = 3

const mebibyte = 1024 * 1024
/** S3 takes parts from 5 MiB, and at most 10,000 of them. */
const minPartBytes = 5 * mebibyte
const maxParts = 10_000

const word = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string" && /^[A-Za-z0-9_.-]{1,64}$/.test(value) && value !== "Error" ? [value] : []

/** The code and status that the store or the network gave: its sentences may repeat parts of a request. */
const reasonOf = (error: unknown): string => {
  const code = Predicate.hasProperty(error, "code") ? word(error.code) : []
  const name = Predicate.hasProperty(error, "name") ? word(error.name) : []
  const status =
    Predicate.hasProperty(error, "$metadata") && Predicate.hasProperty(error.$metadata, "httpStatusCode")
      ? [`status ${String(error.$metadata.httpStatusCode)}`]
      : []
  return [...(code.length > 0 ? code : name), ...status].join(", ") || "for an unknown reason"
}

const secondsOf = (duration: Duration.DurationInput): string => `${Duration.toSeconds(duration)} seconds`

const silent = (doing: string, limit: Duration.DurationInput) =>
  new StoreFailure({ store: "object store", doing, reason: `no answer within ${secondsOf(limit)}` })

/** One call to the store; interrupting it ends the request. */
const call = <A>(doing: string, send: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, StoreFailure> =>
  Effect.tryPromise({
    try: send,
    catch: (error) => new StoreFailure({ store: "object store", doing, reason: reasonOf(error) })
  })

const within = (doing: string, limit: Duration.DurationInput) =>
  Effect.timeoutFail({ duration: limit, onTimeout: () => silent(doing, limit) })

/** Fails once nothing has moved for as long as our patience lasts. */
const stalled = (doing: string, moved: () => number) =>
  Effect.gen(function* () {
    let seen = -1
    while (moved() !== seen) {
      seen = moved()
      yield* Effect.sleep(patience)
    }
    return yield* silent(doing, patience)
  })

/**
 * An S3-compatible store, addressed by path. The SDK is loaded here, which nothing else can happen beside: a server that makes
 * no backups does not pay for it, and one that does pays before anybody waits. Each method fails with `StoreFailure`, and within bounded time when nothing moves.
 */
export const makeS3Store = (settings: S3Settings): Effect.Effect<ObjectStore, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { bucket: Bucket, prefix } = settings

    const base: S3ClientConfig = {
      endpoint: settings.endpoint,
      region: settings.region,
      forcePathStyle: true,
      credentials: { accessKeyId: settings.accessKey, secretAccessKey: Redacted.value(settings.secretKey) },
      maxAttempts: attempts,
      retryMode: "standard",
      // Other vendors refuse the checksums that AWS would like; each part's SHA-256 is in its signature anyway.
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
      sha256: SlicedSha256,
      // For each of these that is missing, the SDK reads ~/.aws/config, which fails for a user without a home directory.
      authSchemePreference: [],
      defaultsMode: "standard",
      disableClockSkewCorrection: false,
      disableS3ExpressSessionAuth: false,
      sigv4aSigningRegionSet: [settings.region],
      useArnRegion: false,
      useDualstackEndpoint: false,
      useFipsEndpoint: false,
      userAgentAppId: () => Promise.resolve(undefined)
    }

    const [s3, { Upload }] = yield* Effect.promise(() =>
      Promise.all([import("@aws-sdk/client-s3"), import("@aws-sdk/lib-storage")])
    )
    // Made before anything that uses it, so that it is closed after all of that has been interrupted and cleaned up.
    const client = yield* Effect.acquireRelease(
      Effect.sync(() => new s3.S3Client({ ...base, requestHandler: { connectionTimeout: connectionMillis } })),
      (open) => Effect.sync(() => open.destroy())
    )

    /** A client whose every request ends with the signal: an `Upload` by itself lets the part in flight go on. */
    const endingWith = (signal: AbortSignal): S3Client => {
      const { requestHandler } = client.config
      return new s3.S3Client({
        ...base,
        requestHandler: {
          handle: (...[request, options]: Parameters<typeof requestHandler.handle>) =>
            requestHandler.handle(request, { ...options, abortSignal: signal }),
          updateHttpClientConfig: () => undefined,
          httpHandlerConfigs: () => ({})
        }
      })
    }

    const remove = (name: string, limit: Duration.DurationInput = patience) =>
      Effect.gen(function* () {
        const doing = "delete an object"
        const command = new s3.DeleteObjectCommand({ Bucket, Key: prefix + name })
        yield* call(doing, (abortSignal) => client.send(command, { abortSignal })).pipe(within(doing, limit))
      })

    const abort = (Key: string, UploadId: string, limit: Duration.DurationInput = patience) =>
      Effect.gen(function* () {
        const doing = "abort an upload"
        const command = new s3.AbortMultipartUploadCommand({ Bucket, Key, UploadId })
        yield* call(doing, (abortSignal) => client.send(command, { abortSignal })).pipe(within(doing, limit))
      })

    /** Takes back what a failed upload left: its parts, or the object where only the store's answer was lost. */
    const undo = (name: string, uploadId: string | undefined) =>
      Effect.all(
        [
          ...(uploadId === undefined ? [] : [abort(prefix + name, uploadId, undoPatience)]),
          remove(name, undoPatience)
        ].map((step) =>
          Effect.catchAll(step, (failure) =>
            Effect.logWarning(`an upload failed, and ${failure.message}; the next backup tries again`)
          )
        ),
        { concurrency: "unbounded", discard: true }
        // A fiber of its own: in one that is interrupted, nothing could be given up when its time is over.
      ).pipe(Effect.interruptible, Effect.forkDaemon, Effect.flatMap(Fiber.await))

    /** Stores `size` bytes under a name, in parts of bounded size, one at a time: all of it, or nothing. */
    const put = (name: string, size: number, content: () => AsyncIterable<Uint8Array>) =>
      Effect.gen(function* () {
        const doing = "take the backup"
        const Key = prefix + name
        let moved = 0
        let upload: InstanceType<typeof Upload> | null = null
        const counted = async function* () {
          for await (const piece of content()) {
            moved += piece.length
            yield piece
          }
        }
        const send = (signal: AbortSignal) => {
          const Body = Readable.from(counted(), { objectMode: false })
          signal.addEventListener("abort", () => Body.destroy())
          upload = new Upload({
            client: endingWith(signal),
            params: { Bucket, Key, Body, ContentLength: size, ContentType: "application/octet-stream" },
            partSize: Math.max(minPartBytes, Math.ceil(size / maxParts)),
            queueSize: 1,
            // That is for `undo`, which the signal does not end.
            leavePartsOnError: true
          })
          upload.on("httpUploadProgress", () => (moved += 1))
          return upload.done()
        }
        yield* call(doing, send).pipe(
          Effect.raceFirst(stalled(doing, () => moved)),
          Effect.onError(() => undo(name, upload?.uploadId))
        )
      })

    /** The objects whose names begin so, page by page. */
    const list = Effect.gen(function* () {
      const doing = "list its objects"
      const page = (ContinuationToken: string | undefined) =>
        call(doing, (abortSignal) =>
          client.send(new s3.ListObjectsV2Command({ Bucket, Prefix: prefix, ContinuationToken }), { abortSignal })
        ).pipe(within(doing, patience))
      return yield* Stream.paginateChunkEffect(undefined, (token: string | undefined) =>
        Effect.map(page(token), ({ Contents = [], IsTruncated, NextContinuationToken }) => [
          Chunk.fromIterable(Contents),
          IsTruncated === true && NextContinuationToken !== undefined
            ? Option.some(NextContinuationToken)
            : Option.none()
        ])
      ).pipe(
        Stream.map(({ Key = "", Size = 0 }): StoredObject => ({ name: Key.slice(prefix.length), size: Size })),
        Stream.runCollect,
        Effect.map(Chunk.toReadonlyArray)
      )
    })

    /** An object's bytes, as they come. */
    const read = (name: string): Stream.Stream<Uint8Array, StoreFailure> =>
      Effect.gen(function* () {
        const doing = "give the backup"
        const body = yield* Effect.acquireRelease(
          call(doing, (abortSignal) =>
            client.send(new s3.GetObjectCommand({ Bucket, Key: prefix + name }), { abortSignal })
          ).pipe(
            within(doing, patience),
            Effect.interruptible,
            Effect.map(({ Body }) => (Body instanceof Readable ? Body : Readable.from([])))
          ),
          (body) => Effect.sync(() => body.destroy())
        )
        const pieces: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]()
        return Stream.repeatEffectOption(
          call(doing, (signal) => {
            // The iterator would not end while it waits for the next piece.
            signal.addEventListener("abort", () => body.destroy())
            return pieces.next()
          }).pipe(
            within(doing, patience),
            Effect.mapError(Option.some),
            Effect.flatMap((step) => (step.done === true ? Effect.fail(Option.none()) : Effect.succeed(step.value)))
          )
        )
      }).pipe(Stream.unwrapScoped)

    /** Ends the uploads below a path that a killed process has left; their parts take room, and no list shows them. */
    const abandonUploads = (path: string) =>
      Effect.gen(function* () {
        const doing = "list its unfinished uploads"
        const { Uploads = [] } = yield* call(doing, (abortSignal) =>
          client.send(new s3.ListMultipartUploadsCommand({ Bucket, Prefix: prefix + path }), { abortSignal })
        ).pipe(within(doing, patience))
        for (const { Key = "", UploadId = "" } of Uploads) yield* abort(Key, UploadId)
      })

    return { put, list, read, remove: (name) => remove(name), abandonUploads }
  })

import type { S3Client, S3ClientConfig } from "@aws-sdk/client-s3"
import * as Chunk from "effect/Chunk"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Readable } from "node:stream"
import type { S3Settings } from "../../base/config/BackupSettings.js"
import { type ObjectStore, type StoredObject, StoreFailure } from "./ObjectStore.js"
import { SlicedSha256 } from "./SlicedSha256.js"

/** The timeout of a small call, and of a large one without progress. */
const timeout = "60 seconds"
/** The timeout for cleaning up after a failure. */
const cleanupTimeout = "10 seconds"
const connectionMillis = 10_000
const attempts = 3

const mebibyte = 1024 * 1024
/** S3 requires parts of at least 5 MiB, and allows 10,000. */
const minPartBytes = 5 * mebibyte
const maxParts = 10_000

const word = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string" && /^[A-Za-z0-9_.-]{1,64}$/.test(value) && value !== "Error" ? [value] : []

/** The error code and status, without the message, which may repeat parts of a request. */
const failureCode = (error: unknown): string => {
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
  new StoreFailure({ store: "object store", doing, reason: `no response within ${secondsOf(limit)}` })

/** A call to the store. Interruption aborts the request. */
const call = <A>(doing: string, send: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, StoreFailure> =>
  Effect.tryPromise({
    try: send,
    catch: (error) => new StoreFailure({ store: "object store", doing, reason: failureCode(error) })
  })

const within = (doing: string, limit: Duration.DurationInput) =>
  Effect.timeoutFail({ duration: limit, onTimeout: () => silent(doing, limit) })

/** Fails once there was no progress for the timeout. */
const stalled = (doing: string, moved: () => number) =>
  Effect.gen(function* () {
    let seen = -1
    while (moved() !== seen) {
      seen = moved()
      yield* Effect.sleep(timeout)
    }
    return yield* silent(doing, timeout)
  })

/**
 * An S3-compatible store with path-style addresses. The SDK is loaded here, at startup: loading blocks the event loop, and servers
 * without backups do not need it.
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
      // Other vendors reject AWS's checksums. The signature of each part covers its SHA-256 anyway.
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
      sha256: SlicedSha256,
      // The SDK reads ~/.aws/config for each of these that is unset, which fails for a user without a home directory.
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
    // Acquired first, so that it is closed after everything that uses it.
    const client = yield* Effect.acquireRelease(
      Effect.sync(() => new s3.S3Client({ ...base, requestHandler: { connectionTimeout: connectionMillis } })),
      (open) => Effect.sync(() => open.destroy())
    )

    /** A client whose requests are aborted by the signal. `Upload` alone does not abort the part in flight. */
    const abortableClient = (signal: AbortSignal): S3Client => {
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

    const remove = (name: string, limit: Duration.DurationInput = timeout) =>
      Effect.gen(function* () {
        const doing = "delete an object"
        const command = new s3.DeleteObjectCommand({ Bucket, Key: prefix + name })
        yield* call(doing, (abortSignal) => client.send(command, { abortSignal })).pipe(within(doing, limit))
      })

    const abort = (Key: string, UploadId: string, limit: Duration.DurationInput = timeout) =>
      Effect.gen(function* () {
        const doing = "abort an upload"
        const command = new s3.AbortMultipartUploadCommand({ Bucket, Key, UploadId })
        yield* call(doing, (abortSignal) => client.send(command, { abortSignal })).pipe(within(doing, limit))
      })

    /** Removes the parts of a failed upload, and the object, which exists if only the response was lost. */
    const cleanUp = (name: string, uploadId: string | undefined) =>
      Effect.all(
        [
          ...(uploadId === undefined ? [] : [abort(prefix + name, uploadId, cleanupTimeout)]),
          remove(name, cleanupTimeout)
        ].map((step) =>
          Effect.catchAll(step, (failure) =>
            Effect.logWarning(
              `a failed upload could not be cleaned up: ${failure.message}; the next backup tries again`
            )
          )
        ),
        { concurrency: "unbounded", discard: true }
        // A new fiber, because timeouts do not work in a fiber that is being interrupted.
      ).pipe(Effect.interruptible, Effect.forkDaemon, Effect.flatMap(Fiber.await))

    /** Uploads in parts, one at a time, so that memory is bounded. */
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
            client: abortableClient(signal),
            params: { Bucket, Key, Body, ContentLength: size, ContentType: "application/octet-stream" },
            partSize: Math.max(minPartBytes, Math.ceil(size / maxParts)),
            queueSize: 1,
            // `cleanUp` removes them; the SDK would use the aborted client.
            leavePartsOnError: true
          })
          upload.on("httpUploadProgress", () => (moved += 1))
          return upload.done()
        }
        yield* call(doing, send).pipe(
          Effect.raceFirst(stalled(doing, () => moved)),
          Effect.onError(() => cleanUp(name, upload?.uploadId))
        )
      })

    const list = Effect.gen(function* () {
      const doing = "list its objects"
      const page = (ContinuationToken: string | undefined) =>
        call(doing, (abortSignal) =>
          client.send(new s3.ListObjectsV2Command({ Bucket, Prefix: prefix, ContinuationToken }), { abortSignal })
        ).pipe(within(doing, timeout))
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

    const read = (name: string): Stream.Stream<Uint8Array, StoreFailure> =>
      Effect.gen(function* () {
        const doing = "give the backup"
        const body = yield* Effect.acquireRelease(
          call(doing, (abortSignal) =>
            client.send(new s3.GetObjectCommand({ Bucket, Key: prefix + name }), { abortSignal })
          ).pipe(
            within(doing, timeout),
            Effect.interruptible,
            Effect.map(({ Body }) => (Body instanceof Readable ? Body : Readable.from([])))
          ),
          (body) => Effect.sync(() => body.destroy())
        )
        const pieces: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]()
        return Stream.repeatEffectOption(
          call(doing, (signal) => {
            // Destroying the body ends an iterator that waits for data.
            signal.addEventListener("abort", () => body.destroy())
            return pieces.next()
          }).pipe(
            within(doing, timeout),
            Effect.mapError(Option.some),
            Effect.flatMap((step) => (step.done === true ? Effect.fail(Option.none()) : Effect.succeed(step.value)))
          )
        )
      }).pipe(Stream.unwrapScoped)

    const abandonUploads = (path: string) =>
      Effect.gen(function* () {
        const doing = "list its unfinished uploads"
        const { Uploads = [] } = yield* call(doing, (abortSignal) =>
          client.send(new s3.ListMultipartUploadsCommand({ Bucket, Prefix: prefix + path }), { abortSignal })
        ).pipe(within(doing, timeout))
        for (const { Key = "", UploadId = "" } of Uploads) yield* abort(Key, UploadId)
      })

    return { put, list, read, remove: (name) => remove(name), abandonUploads }
  })

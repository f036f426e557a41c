import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { signed } from "../../use/Placement.js"
import { PlatformFailed } from "../PlatformFailed.js"
import type { Connection } from "../TargetKind.js"
import { textOf } from "./Fields.js"

// https://docs.aws.amazon.com/general/latest/gr/sigv4_signing.html, with the protocol JSON 1.1: errors are 400 with a `__type`.

/** The error of a call that AWS refused, by its name alone; null if it did it. */
export interface AwsAnswer {
  readonly json: unknown
  readonly error: string | null
}

const throttled = /^(Throttling|ThrottlingException|TooManyUpdates|RequestLimitExceeded|LimitExceededException)$/

/** Makes calls of one service: `action` is such as `ssm` and `AmazonSSM.PutParameter`. Errors in `expected` are answers. */
export const awsCall = (
  { ask, credential, place }: Connection,
  service: "secretsmanager" | "ssm",
  action: string,
  request: Readonly<Record<string, unknown>>,
  expected: ReadonlyArray<string> = []
): Effect.Effect<AwsAnswer, PlatformFailed> =>
  Effect.gen(function* () {
    const { access_key_id = "", region = "" } = place
    const url = `${place["url"] ?? `https://${service}.${region}.amazonaws.com`}/`
    const body = JSON.stringify(request)
    const headers = { "content-type": "application/x-amz-json-1.1", "x-amz-target": action }
    const outgoing = yield* Effect.mapError(
      signed(
        { method: "POST", url, headers, body: Buffer.from(body) },
        { in: "aws-sigv4", service, region, access_key_id },
        Redacted.value(credential)
      ),
      (reason) => new PlatformFailed({ reason, isUndone: true })
    )
    const { json, status } = yield* ask({ url, method: "POST", headers: outgoing.headers, body, also: [400] })
    if (status < 400) return { json, error: null }
    // "com.amazonaws…#Name" or "Name".
    const error = (textOf(json, "__type") ?? "").replace(/^.*#/, "")
    if (expected.includes(error)) return { json, error }
    const known = /^[A-Za-z]{1,60}$/.test(error) ? error : "an error"
    return yield* new PlatformFailed({
      reason: throttled.test(error) ? "it asks for fewer calls" : `it answered with ${known}`,
      isUndone: true,
      ...(throttled.test(error) && { retryAfterSeconds: 60 })
    })
  })

/** The name on the platform of a key below the path of the target, and back. */
export const pathOf = ({ place: { path = "" } }: Connection): string => `${path}/`

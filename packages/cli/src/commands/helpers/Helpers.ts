import { SecretKey } from "@coffer/domain/base/Names"
import { spanMillis, spanOrSecondsMillis } from "@coffer/domain/base/Span"
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { command, env, group, nonInteractive, org, project, serverUrl } from "../../grammar/Command.js"
import { argument, option } from "../../grammar/Fields.js"
import { type Codec, old, oneOf } from "../../grammar/Specs.js"
import { toTerminal, write, writeValues } from "../../terminal/Print.js"
import { key } from "../secrets/KeyArguments.js"
import { readCredentials } from "./Credential.js"
import { answerDocker, dockerOperations } from "./DockerHelper.js"
import { answerGit } from "./GitHelper.js"
import { readSecrets, requireTrust, settingsFor } from "./TrustedPlace.js"

const place = { serverUrl, org, project, env, nonInteractive }

const git = command("git", {
  description: "Give git the password of a host, as helpers in service.yml says: git's credential protocol",
  examples: ["printf 'protocol=https\\nhost=github.com\\n\\n' | coffer helper git get"],
  options: { ...place, operation: argument("OPERATION", Schema.String, "What git asks for: get; others are ignored") },
  run: ({ operation, ...options }) => answerGit(operation, options)
})

const docker = command("docker", {
  description:
    "Give Docker the password of a registry, as helpers in service.yml says: what docker-credential-coffer starts",
  examples: ["printf ghcr.io | coffer helper docker get", "coffer helper docker list"],
  // Docker shows what a helper writes to standard output.
  report: (sentence) => write(`${sentence}\n`),
  options: {
    ...place,
    operation: argument(
      "OPERATION",
      Schema.Literal(...dockerOperations),
      "What Docker asks for; store and erase are refused"
    )
  },
  run: ({ operation, ...options }) => answerDocker(operation, options)
})

const span: Codec<number> = {
  value: "text",
  description: "",
  decode: (name, text) => {
    const millis = spanOrSecondsMillis(text)
    return millis >= 60_000 && millis <= spanMillis("36500d")
      ? Either.right(millis)
      : Either.left(`${name} takes a time of at least 1m, such as 15m or 1h`)
  }
}

const timeAfter = (millis: number) => Effect.map(Clock.currentTimeMillis, (now) => new Date(now + millis).toISOString())

const awsKey = (name: string, description: string) => option(name, SecretKey, description)

const aws = command("aws", {
  description: "Print credentials for AWS: for credential_process in the configuration of its tools",
  examples: [
    "coffer helper aws",
    "coffer helper aws --env prod --access-key-id DEPLOY_ID --secret-access-key DEPLOY_KEY"
  ],
  options: {
    ...place,
    accessKeyId: awsKey("access-key-id", "The secret with the id of the access key (AWS_ACCESS_KEY_ID)"),
    secretAccessKey: awsKey("secret-access-key", "The secret with the access key (AWS_SECRET_ACCESS_KEY)"),
    sessionToken: awsKey("session-token", "The secret with the token of a temporary key; none when left out"),
    expiresIn: oneOf(
      option("for", span, "How long AWS's tools keep it before they ask again, such as 1h (default: for ever)"),
      old(option("expires-in", span, "Old form of --for"))
    )
  },
  run: ({
    accessKeyId = "AWS_ACCESS_KEY_ID",
    expiresIn,
    secretAccessKey = "AWS_SECRET_ACCESS_KEY",
    sessionToken,
    ...options
  }) =>
    Effect.gen(function* () {
      const settings = yield* settingsFor(options)
      yield* requireTrust(settings)
      const names = {
        AccessKeyId: accessKeyId,
        SecretAccessKey: secretAccessKey,
        ...(sessionToken === undefined ? {} : { SessionToken: sessionToken })
      }
      const values = yield* readCredentials(settings, options, Object.values(names))
      const members = Array.zip(Object.keys(names), values.map(Redacted.value))
      const until = expiresIn === undefined ? {} : { Expiration: yield* timeAfter(expiresIn) }
      yield* write(`${JSON.stringify({ Version: 1, ...Object.fromEntries(members), ...until })}\n`)
    })
})

const exec = command("exec", {
  description: "Print the value of a secret, for settings that name a command which prints a key",
  examples: ["coffer helper exec API_KEY"],
  options: { ...place, key },
  run: ({ key, ...options }) =>
    Effect.gen(function* () {
      const settings = yield* settingsFor(options)
      yield* requireTrust(settings)
      const secrets = yield* readSecrets(settings, options, [key])
      const value = secrets.get(key)
      const text = value === undefined ? "" : Redacted.value(value)
      yield* (yield* toTerminal) ? writeValues(`${text}\n`, "a pipe gets them as they are") : write(text)
    })
})

export const helperCommand = group("helper", "Give other programs a credential when they ask for one", [
  git,
  docker,
  aws,
  exec
])

import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import { address, bucket, directory, integer, password, prefix, text } from "./SettingFormats.js"
import { joined, problem, satisfying, type Setting } from "./ConfigProblems.js"
import type { Reader } from "./Variables.js"

export interface S3Settings {
  readonly _tag: "S3"
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  readonly accessKey: string
  readonly secretKey: Redacted.Redacted
  /** Prepended to the name of every object; may be empty. */
  readonly prefix: string
}

export interface DirectorySettings {
  readonly _tag: "Directory"
  readonly path: string
}

export interface BackupSettings {
  readonly store: S3Settings | DirectorySettings
  /** 0: no scheduled backups. */
  readonly scheduleHours: number
  readonly retainDailyDays: number
  readonly retainWeeklyWeeks: number
}

/** Settings that have no effect without BACKUP_S3_ENDPOINT. */
const s3Variables = [
  "BACKUP_S3_BUCKET",
  "BACKUP_S3_ACCESS_KEY",
  "BACKUP_S3_SECRET_KEY",
  "BACKUP_S3_SECRET_KEY_FILE",
  "BACKUP_S3_REGION",
  "BACKUP_S3_PREFIX"
]

/** Rejects backup settings that have no effect without a store. A schedule of 0 hours is the default. */
const withoutStore = (settings: Reader): Setting<null> => {
  const others = ["BACKUP_SCHEDULE_HOURS", "BACKUP_RETAIN_DAILY_DAYS", "BACKUP_RETAIN_WEEKLY_WEEKS"]
  const [first] = [...s3Variables, ...others].filter(
    (variable) =>
      settings.given(variable) !== null && (settings.given(variable) !== "0" || variable !== "BACKUP_SCHEDULE_HOURS")
  )
  return first === undefined
    ? Effect.succeed(null)
    : problem(
        "BACKUP_S3_ENDPOINT",
        `is required when ${first} is set, or BACKUP_DIR: without a store there are no backups`
      )
}

const inDirectory = (settings: Reader): Setting<DirectorySettings> => {
  const [first] = s3Variables.filter((variable) => settings.given(variable) !== null)
  return first === undefined
    ? Effect.map(settings.required("BACKUP_DIR", directory), (path) => ({ _tag: "Directory", path }) as const)
    : problem(first, "has no effect with BACKUP_DIR: remove one of them")
}

const inS3 = (settings: Reader): Setting<S3Settings> =>
  Effect.all(
    {
      endpoint: settings.required("BACKUP_S3_ENDPOINT", address),
      region: settings.withDefault("BACKUP_S3_REGION", text, "us-east-1"),
      bucket: settings.required("BACKUP_S3_BUCKET", bucket),
      accessKey: settings.required("BACKUP_S3_ACCESS_KEY", text),
      secretKey: settings.requiredSecret("BACKUP_S3_SECRET_KEY", password),
      prefix: settings.withDefault("BACKUP_S3_PREFIX", prefix, ""),
      only: settings
        .optional("BACKUP_DIR", directory)
        .pipe(
          satisfying("BACKUP_DIR", "and BACKUP_S3_ENDPOINT are both set: remove one of them", (path) => path === null)
        )
    },
    { mode: "validate" }
  ).pipe(Effect.mapBoth({ onFailure: joined, onSuccess: ({ only: _only, ...s3 }) => ({ _tag: "S3", ...s3 }) as const }))

const store = (settings: Reader): Setting<S3Settings | DirectorySettings | null> => {
  if (settings.given("BACKUP_S3_ENDPOINT") !== null) return inS3(settings)
  return settings.given("BACKUP_DIR") !== null ? inDirectory(settings) : withoutStore(settings)
}

/** Reads the settings of backups; null without a store. */
export const backups = (settings: Reader): Setting<BackupSettings | null> =>
  Effect.all(
    {
      store: store(settings),
      scheduleHours: settings.withDefault("BACKUP_SCHEDULE_HOURS", integer(0, 8_760), 0),
      retainDailyDays: settings.withDefault("BACKUP_RETAIN_DAILY_DAYS", integer(0, 3_650), 7),
      retainWeeklyWeeks: settings
        .withDefault("BACKUP_RETAIN_WEEKLY_WEEKS", integer(0, 520), 4)
        .pipe(
          satisfying(
            "BACKUP_RETAIN_WEEKLY_WEEKS",
            "and BACKUP_RETAIN_DAILY_DAYS must not both be 0: no backup would be kept",
            (weeks) => weeks > 0 || settings.given("BACKUP_RETAIN_DAILY_DAYS") !== "0"
          )
        )
    },
    { mode: "validate" }
  ).pipe(
    Effect.mapBoth({
      onFailure: joined,
      onSuccess: ({ store, ...rest }) => (store === null ? null : { store, ...rest })
    })
  )
